"""Policies by functions of information state tensors, such as networks trained elsewhere.

For example, `IIG-RL-Benchmark` (github.com/nathanlct/IIG-RL-Benchmark) trains PyTorch modules from
OpenSpiel's information state tensors to logits. `FunctionPolicy(game, network)` plays such a
module, and `load_onnx` reads files of `torch.onnx.export`.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies import asking, sight
from spiel_dl.policies.policy_network import policy_of
from spiel_dl.policies.sight import Sight
from spiel_dl.tree.from_openspiel import check_game_of, is_game_of

Function = Callable[[torch.Tensor], torch.Tensor]
"""From information state tensors, float32 [N, D], to logits of all actions, float [N, A]."""
_OWN_INPUTS = ("observation", "legal")
"""The inputs of files of `adapters.onnx`."""


@dataclasses.dataclass(frozen=True)
class MaskedFunction:
    """A function of tensors and legal actions to probabilities.

    Attributes:
      function: from tensors, float32 [N, D], and legal actions, bool [N, A], to probabilities,
        float [N, A], 0 for illegal actions.
      game: the game string of its file; None: unknown.
      sight: which tensors it takes.
    """

    function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    game: str | None = None
    sight: Sight = "sequences"


class FunctionPolicy(openspiel_policy.Policy):
    """The softmax of a function's logits over the legal actions, or a function's probabilities.

    Attributes:
      function: the function.
      sight: which tensors it takes: sequences of observations, unless its file has another entry.
    """

    sight: Sight

    def __init__(self, game: pyspiel.Game, function: Function | MaskedFunction):
        """Takes a turn-based game with information state tensors, and the function.

        Raises:
          ValueError: if the function is of another game.
        """
        game_string, self.sight = None, MaskedFunction.sight
        if isinstance(function, MaskedFunction):
            game_string, self.sight = function.game, function.sight
        if game_string is not None and not is_game_of(game_string, game):
            raise ValueError(f"the network is of {game_string}, not of {game}")
        super().__init__(game, [0, 1])
        self.function = function

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions.

        Raises:
          ValueError: if the player does not act in the state, or it is of another game; and as
            `act`.
        """
        check_game_of(state, self.game)
        player = asking.acting_player(state, player_id)
        actions = state.legal_actions(player)
        tensor = torch.from_numpy(sight.of_state(state, player, self.sight))
        legal = torch.zeros(1, self.game.num_distinct_actions(), dtype=torch.bool)
        legal[0, actions] = True
        row = self.act(tensor[None], legal)[0]
        return dict(zip(actions, row[actions].tolist(), strict=True))

    @torch.no_grad()
    def act(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """The policy of many decisions at once: float64 [N, A].

        Args:
          observation: float32 [N, D], the function's input.
          legal: bool [N, A].

        Raises:
          ValueError: if the function fails on this input, or returns another shape, or numbers
            that are not finite.
        """
        is_masked = isinstance(self.function, MaskedFunction)
        kind = "probability" if is_masked else "logit"
        try:
            if isinstance(self.function, MaskedFunction):
                answer = self.function.function(observation, legal)
            else:
                answer = self.function(observation)
        except RuntimeError as error:
            raise ValueError(
                f"the function fails on the {observation.shape[1]} numbers of an information state "
                f"of {self.game}; is it of another game? {str(error).strip().splitlines()[-1]}"
            ) from error
        if not isinstance(answer, torch.Tensor):
            raise ValueError(
                f"the function answers with a {type(answer).__name__}; it must give one tensor, a "
                f"{kind} for each of the {legal.shape[1]} actions of {self.game}"
            )
        is_valid = answer.shape == legal.shape and bool(answer.isfinite().all())
        if not is_valid or (is_masked and not (answer >= 0).all()):
            raise ValueError(
                f"the function answers with {tuple(answer.shape)} numbers, for {len(legal)} "
                f"information states and {legal.shape[1]} actions of {self.game}; it must give "
                f"one finite {kind} for each action"
            )
        if not is_masked:
            return policy_of(answer.double(), legal)
        policy = answer.double() * legal
        total = policy.sum(dim=1, keepdim=True)
        if not (total > 0).all():
            raise ValueError(
                f"the function gives all legal actions of {self.game} a probability of 0 somewhere"
            )
        return policy / total


def load_onnx(path: str | Path, device: torch.device | str = "cpu") -> Function | MaskedFunction:
    """The function of an ONNX file, from its one input to its first output.

    A file of `adapters.onnx.write_onnx` takes legal actions, too, and returns probabilities.

    Raises:
      ValueError: if `onnxruntime` is not installed or cannot use the device, the file is not of
        ONNX, or it has other inputs.
    """
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ValueError(f"{path} needs onnxruntime; pip install onnxruntime") from error
    providers = _providers(runtime, torch.device(device))
    try:
        session = runtime.InferenceSession(str(path), providers=providers)
    except Exception as error:  # Its errors have no common class.
        raise ValueError(f"{path} is no file of ONNX: {error}") from error
    names = tuple(each.name for each in session.get_inputs())

    def function(*tensors: torch.Tensor) -> torch.Tensor:
        inputs = {name: x.numpy() for name, x in zip(names, tensors, strict=True)}
        try:
            answer = session.run(None, inputs)[0]
        except Exception as error:  # Its errors have no common class, see above.
            raise RuntimeError(str(error)) from error
        return torch.from_numpy(np.asarray(answer))

    if sorted(names) == sorted(_OWN_INPUTS):
        names = _OWN_INPUTS
        metadata = session.get_modelmeta().custom_metadata_map
        return MaskedFunction(function, metadata.get("game"), metadata.get("sight", "sequences"))
    if len(names) != 1:
        raise ValueError(
            f"{path} has the inputs {', '.join(names)}; it must have one, information state "
            f"tensors, or the two of write_onnx: {', '.join(_OWN_INPUTS)}"
        )
    return function


def _providers(runtime: Any, device: torch.device) -> list[Any]:
    """The execution providers of `onnxruntime` on a device."""
    if device.type == "cpu":
        return ["CPUExecutionProvider"]
    provider = f"{device.type.upper()}ExecutionProvider"
    available = runtime.get_available_providers()
    if provider not in available:
        raise ValueError(
            f"device={str(device)!r} needs {provider}, but this onnxruntime has "
            f"{', '.join(available)}; take 'cpu', or pip install onnxruntime-gpu for 'cuda'"
        )
    return [(provider, {"device_id": device.index or 0}), "CPUExecutionProvider"]
