"""`Learner`: what all that learn from games have in common: steps, metrics, checkpoints.

    learner = rnad.RNaDSolver("leduc_poker")
    learner.run(1000)
    print(learner.metrics())
    policy = learner.policy()  # an open_spiel Policy
    learner.save("leduc.safetensors")

With policy transformations, a critic is trained beside the policy, from the same games:

    learner = rnad.RNaDSolver("leduc_poker", transformations=pure_transformations(3))
    ...
    critic = learner.critic()

One step plays a batch of whole games and learns from them. Nothing in it waits for losses on the
host: they are collected on the device, and looked at every few steps.
"""

from __future__ import annotations

import abc
import dataclasses
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyspiel
import torch
import tqdm
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning.config import NetworkConfig
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.learning.critic_training import CriticConfig, CriticTrainer
from spiel_dl.learning.environments import self_play_of
from spiel_dl.learning.resuming import check_identity, check_num_steps, check_shapes
from spiel_dl.learning.self_play import ActingPolicy, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.networks.devices import check_device
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.system import tensor_files
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, turn_based_game

FILE_KIND = "learner"
"""What a header calls a checkpoint of a learner."""
_STEPS_PER_CHECK = 100
_NUM_MOVES = "num_moves"
_CRITIC_LOSS = "critic_loss"


class Learner(abc.ABC):
    """Plays batches of games and learns from them; with policy transformations, a critic, too.

    The critic (Kubíček et al., 2023, section 4.1) values the policy that is handed out, and learns
    from the same games. Whatever else is learned stays the same to the last bit, unless chance acts
    after a move: what it does behind actions that were not made is drawn by the same generator.

    Attributes:
      name: the name of the algorithm, in files.
      terms: the names of the losses and other numbers that `_learn` reports of every step.
      game: the turn-based game.
      config: how to learn.
      num_steps: learner steps done.
    """

    name: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        game: AnyGame,
        config: NetworkConfig,
        *,
        device: torch.device | str,
        batch_size: int,
        max_tree_histories: int,
        transformations: PolicyTransformations | None = None,
        critic: CriticConfig | None = None,
    ):
        """Makes the games and, if there are transformations, a fresh critic.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn.
          device: where games are played and networks live.
          batch_size: games per learner step.
          max_tree_histories: games of at most so many histories are compiled and played by tables.
          transformations: what opponents may do by the critic; None: there is no critic.
          critic: how it learns; None: the defaults.

        Raises:
          ValueError: if the game is none that can be learned here, if a transformation is none for
            it, if there are parameters of a critic without transformations, or if torch cannot
            compute on the device.
        """
        check_device(device)
        if critic is not None and transformations is None:
            raise ValueError(
                f"{critic} is for a critic of policy transformations, of which there are none; "
                "pass transformations= too"
            )
        # A compiled game is played by tables, however large it is.
        self.game = turn_based_game(game)
        self.config = config
        self._self_play = self_play_of(
            game if isinstance(game, GameTree) else self.game,
            batch_size,
            device,
            seed=config.seed,
            max_tree_histories=max_tree_histories,
        )
        self._critic: CriticTrainer | None = None
        if transformations is not None:
            size = self._self_play.record_histories()
            num_actions = self._self_play.environment.legal_actions().shape[1]
            self._critic = CriticTrainer(
                size,
                num_actions,
                transformations,
                critic or CriticConfig(),
                device,
                largest_utility=largest_utility(self.game),
                knows_branches=self._self_play.record_branches(),
            )
        self.num_steps = 0
        self._terms = (*self.terms, *([_CRITIC_LOSS] if self._critic else []))
        self._log = torch.zeros((_STEPS_PER_CHECK, len(self._terms) + 1), device=device)
        self._num_logged = 0
        self._window = _Window()
        self._last_checkpoint = "none"
        self._advance: Callable[[], torch.Tensor] = self._play_and_learn

    @property
    def transformations(self) -> PolicyTransformations | None:
        """What opponents may do by the critic; None if there is no critic."""
        return None if self._critic is None else self._critic.transformations

    def run(self, num_steps: int, *, show_progress: bool = False) -> None:
        """Does so many steps.

        Args:
          num_steps: how many, positive.
          show_progress: show a progress bar on standard error.

        Raises:
          ValueError: if `num_steps` is not a positive whole number, or if a term of a step was NaN
            or infinite.
        """
        for _ in tqdm.trange(check_num_steps(num_steps), unit="step", disable=not show_progress):
            self.step()
        self._read_log()

    def step(self) -> None:
        """Plays a batch of games and learns from them.

        Raises:
          ValueError: if a term of this or one of the last steps was NaN or infinite.
        """
        start = time.perf_counter()
        self._log[self._num_logged] = self._advance()
        self._num_logged += 1
        self.num_steps += 1
        if self._num_logged == _STEPS_PER_CHECK:
            self._read_log()
        self._window.seconds += time.perf_counter() - start

    def _play_and_learn(self) -> torch.Tensor:
        """All that a step does on the device; its terms and its number of moves, float32."""
        trajectories = self._games_of_step()
        terms = self._learn(trajectories)
        if self._critic is not None:
            terms = [*terms, self._critic.learn(trajectories, self.policy_at(trajectories))]
        return torch.stack([*terms, trajectories.valid.sum().to(self._log.dtype)])

    def _games_of_step(self) -> Trajectories:
        """What a step learns from."""
        return self.play()

    def play(self) -> Trajectories:
        """A batch of games by the acting policy, in tensors that the next call overwrites.

        Draws from the same source of chance as `step`.
        """
        return self._self_play.play(self._acting_policy())

    def critic(self) -> NetworkCritic:
        """The critic that was learned so far; later steps do not change it.

        Raises:
          ValueError: if there is none.
        """
        if self._critic is None:
            raise ValueError(
                "this learner has no critic; pass transformations= when it is made to train one"
            )
        return self._critic.critic(self.game)

    @abc.abstractmethod
    def policy(self, fine_tuning: FineTuning | None = None) -> openspiel_policy.Policy:
        """The policy of both players that the critic, if there is one, is a critic of.

        Args:
          fine_tuning: what to do to it; None: nothing.
        """

    def metrics(self) -> dict[str, float]:
        """How learning went since the last call, or since the start.

        Returns:
          The step, the mean of every term over the steps, seconds of stepping, and learner steps
          and environment steps (moves of players) per second of it. Without steps, the step alone.

        Raises:
          ValueError: as `step`.
        """
        start = time.perf_counter()
        self._read_log()
        window, self._window = self._window, _Window()
        window.seconds += time.perf_counter() - start
        means: dict[str, float] = {"step": self.num_steps}
        if window.num_steps:
            names = (*self._terms, _NUM_MOVES)
            means |= {n: s / window.num_steps for n, s in zip(names, window.sums, strict=True)}
            means["seconds"] = window.seconds
            speed = window.num_steps / window.seconds
            means["learner_steps_per_second"] = speed
            means["environment_steps_per_second"] = means.pop(_NUM_MOVES) * speed
        return means

    def settings(self) -> dict[str, Any]:
        """All that says how it learns, as JSON can hold it."""
        return self.config.to_json()

    def state(self) -> dict[str, np.ndarray]:
        """Copies of all that further steps depend on, by name.

        Raises:
          ValueError: if a term of a step, or a parameter, was NaN or infinite.
        """
        self._read_log()
        arrays = {}
        for name, tensor in self._tensors().items():
            if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
                self._refuse(name, "has an entry that is NaN or infinite", self.num_steps)
            arrays[name] = tensor.detach().cpu().numpy().copy()
        arrays["generator"] = self._self_play.environment.generator.get_state().numpy()
        arrays["num_steps"] = np.array(self.num_steps)
        return arrays

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes back to a `state()`; on a CPU, what follows is the same to the last bit.

        Raises:
          ValueError: if it is the state of a learner of another kind or size. Nothing has changed
            then.
        """
        tensors = self._tensors()
        shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        check_shapes(state, {**shapes, "num_steps": ()})
        generator = self._self_play.environment.generator
        wanted = tuple(generator.get_state().shape)
        if (found := state["generator"].shape if "generator" in state else "nothing") != wanted:
            raise ValueError(
                f"the state's generator has shape {found}, but {wanted} is needed: it is the state "
                "of a learner on another device"
            )
        with torch.no_grad():
            for name, tensor in tensors.items():
                tensor.copy_(torch.from_numpy(state[name]))
        generator.set_state(torch.from_numpy(state["generator"]))
        self.num_steps = int(state["num_steps"])
        self._num_logged, self._window = 0, _Window()

    def save(self, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Writes everything that further steps depend on, completely or not at all.

        Args:
          path: the file.
          notes: what else its header is to say, which `load` does not read.

        Raises:
          ValueError: as `state`. Nothing is written then.
        """
        arrays = self.state()
        num_steps = int(arrays.pop("num_steps"))
        tensor_files.save(
            path,
            arrays,
            {
                **(notes or {}),
                **self._identity(),
                "policy": self._described(),
                "num_steps": num_steps,
                "window": dataclasses.asdict(self._window),
            },
        )
        self._last_checkpoint = f"that of step {self.num_steps} ({Path(path)})"

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes back to what `save` wrote; on a CPU, what follows is the same to the last bit.

        Raises:
          ValueError: if the file is of another algorithm, game or config. Nothing has changed then.
        """
        arrays, header = tensor_files.load(path)
        check_identity(path, header, self._identity(), self.game)
        self.load_state({**arrays, "num_steps": np.array(int(header["num_steps"]))})
        window = _Window(**header.get("window", {}))
        # The window of a learner with a critic has one more sum.
        if len(window.sums) == len(self._terms) + 1:
            self._window = window
        self._last_checkpoint = f"that of step {self.num_steps} ({Path(path)})"

    @abc.abstractmethod
    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Changes the parameters; returns the `terms`, scalars each."""

    @abc.abstractmethod
    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        """The acting policy, or its table; see `TableSelfPlay.play`."""

    @abc.abstractmethod
    def policy_at(self, trajectories: Trajectories) -> torch.Tensor:
        """What the policy that is handed out says of all moves: float32 [T, B, A].

        Illegal actions have probability 0.
        """

    @abc.abstractmethod
    def _described(self) -> dict[str, Any]:
        """Says where in a checkpoint the policy is; see `spiel_dl.learning.checkpoints`."""

    def _tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        if self._critic is None:
            return {}
        return {f"critic.{name}": tensor for name, tensor in self._critic.tensors().items()}

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint must have in common with the learner."""
        identity = {
            "kind": FILE_KIND,
            "algorithm": self.name,
            "game": str(self.game),
            "config": self.settings(),
        }
        if self._critic is not None:
            identity["critic"] = self._critic.identity()
        return identity

    def _read_log(self) -> None:
        """Adds the steps since the last reading to the window.

        Raises:
          ValueError: if there is a number among them that is NaN or infinite.
        """
        rows = self._log[: self._num_logged].double().cpu()
        first_step = self.num_steps - self._num_logged + 1
        self._num_logged = 0
        if not bool(rows.isfinite().all()):
            row, column = (~rows.isfinite()).nonzero()[0].tolist()
            name = f"the {self._terms[column].replace('_', ' ')}"
            self._refuse(name, f"is {rows[row, column].item()}", first_step + row)
        self._window.add(rows.sum(dim=0).tolist(), len(rows))

    def _refuse(self, name: str, what: str, step: int) -> None:
        config = self._critic.config if self._critic and "critic" in name else self.config
        raise ValueError(
            f"{name} {what} at step {step}; the last good checkpoint is {self._last_checkpoint}; "
            f"use a smaller learning rate than {config.learning_rate}"
        )


def largest_utility(game: pyspiel.Game) -> float:
    """The largest absolute utility; 1 where all are 0."""
    return max(abs(game.min_utility()), abs(game.max_utility())) or 1.0


@dataclasses.dataclass
class _Window:
    """Steps that metrics have not told of yet: how many, the sums of their terms, seconds."""

    num_steps: int = 0
    sums: list[float] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    def add(self, sums: list[float], num_steps: int) -> None:
        """Adds so many steps."""
        before = self.sums or [0.0] * len(sums)
        self.sums = [old + new for old, new in zip(before, sums, strict=True)]
        self.num_steps += num_steps
