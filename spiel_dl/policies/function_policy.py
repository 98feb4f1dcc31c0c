"""Policies of functions on information state tensors: networks that others have trained.

`IIG-RL-Benchmark` (github.com/nathanlct/IIG-RL-Benchmark), for one, trains PyTorch modules from
OpenSpiel's information state tensors to logits. Such a network is saved with
`torch.jit.trace(network, tensors).save(path)`, or with `torch.onnx.export`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies import asking
from spiel_dl.policies.policy_network import policy_of

Function = Callable[[torch.Tensor], torch.Tensor]
"""From information state tensors, float32 [N, D], to logits of all actions, float [N, A]."""


class FunctionPolicy(openspiel_policy.Policy):
    """Plays the softmax of a function's logits over the legal actions.

    Attributes:
      function: the function.
    """

    def __init__(self, game: pyspiel.Game, function: Function):
        """Takes a turn-based game with information state tensors, and the function."""
        super().__init__(game, [0, 1])
        self.function = function

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; a ValueError if the player does not act here."""
        player = asking.acting_player(state, player_id)
        actions = state.legal_actions(player)
        tensor = torch.tensor(state.information_state_tensor(player), dtype=torch.float32)
        legal = torch.zeros(1, self.game.num_distinct_actions(), dtype=torch.bool)
        legal[0, actions] = True
        row = self.act(tensor[None], legal)[0]
        return dict(zip(actions, row[actions].tolist(), strict=True))

    @torch.no_grad()
    def act(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """The policy of many decisions at once: float64 [N, A].

        Args:
          observation: float32 [N, D], information state tensors.
          legal: bool [N, A].

        Raises:
          ValueError: if the function answers with another shape, or numbers that are not finite.
        """
        logits = self.function(observation)
        if logits.shape != legal.shape or not logits.isfinite().all():
            raise ValueError(
                f"the function answers with {tuple(logits.shape)} numbers, for {len(legal)} "
                f"information states and {legal.shape[1]} actions of {self.game}; it must give "
                "one finite logit for each action"
            )
        return policy_of(logits.double(), legal)


def load_torch_script(path: str | Path) -> Function:
    """The function of a file of TorchScript; a ValueError if it is none."""
    try:
        module = torch.jit.load(str(path), map_location="cpu").eval()
    except RuntimeError as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(
            f"{path} is no file of TorchScript, which torch.jit.trace(network, tensors).save(path) "
            f"writes: {first}"
        ) from error
    function: Function = module
    return function


def load_onnx(path: str | Path) -> Function:
    """The function of an ONNX file, whose first input and output count.

    Raises:
      ValueError: if `onnxruntime` is not installed, or the file is none of ONNX.
    """
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ValueError(f"{path} needs onnxruntime; pip install onnxruntime") from error
    try:
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # Its errors have no common class.
        raise ValueError(f"{path} is no file of ONNX: {error}") from error
    name = session.get_inputs()[0].name

    def function(tensors: torch.Tensor) -> torch.Tensor:
        answer = session.run(None, {name: tensors.numpy()})[0]
        return torch.from_numpy(np.asarray(answer))

    return function
