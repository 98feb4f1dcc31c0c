"""`SelfPlayLearner`: what learners by self-play have in common.

    learner = rnad.RNaDSolver("leduc_poker")
    for _ in range(1000):
        learner.step()
    print(learner.metrics())
    policy = learner.policy()  # an open_spiel Policy
    learner.save("leduc.safetensors")

One step plays a batch of whole games and learns from them. Nothing in it waits for values on the
host: losses are collected on the device, and looked at every few steps.
"""

from __future__ import annotations

import abc
import dataclasses
import math
import os
import time
from pathlib import Path
from typing import Any, ClassVar

import pyspiel
import torch

from spiel_dl.algorithms.array_policy import AnyGame, ArrayPolicy
from spiel_dl.algorithms.network_policy import FineTuning, NetworkPolicy, tabulate
from spiel_dl.io import tensor_files
from spiel_dl.learning.environments import self_play_of
from spiel_dl.learning.policy_network import PolicyNetwork, policy_of
from spiel_dl.learning.self_play import Trajectories
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.game_tree import GameTree

_STEPS_PER_CHECK = 100
_NUM_MOVES = "num_moves"


@dataclasses.dataclass(frozen=True)
class LearnerConfig:
    """What every learner by self-play is told. All counts must be positive.

    Attributes:
      batch_size: games per learner step.
      hidden_sizes: units of the network's hidden layers.
      learning_rate: Adam's.
      adam_beta1: decay of Adam's mean gradient.
      adam_beta2: decay of Adam's mean squared gradient.
      adam_epsilon: Adam's epsilon.
      gradient_clip: bound on every entry of the gradient.
      seed: of the first parameters, of chance and of actions.
      max_tree_histories: games of at most so many histories are compiled and played by tables.
    """

    batch_size: int = 128
    hidden_sizes: tuple[int, ...] = (512, 512)
    learning_rate: float = 3e-4
    adam_beta1: float = 0.0
    adam_beta2: float = 0.999
    adam_epsilon: float = 1e-8
    gradient_clip: float = 10_000.0
    seed: int = 0
    max_tree_histories: int = 200_000

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise ValueError(f"batch_size={self.batch_size} must be positive")
        for name in ("learning_rate", "adam_epsilon", "gradient_clip"):
            self._check(name, 0 < getattr(self, name) < math.inf, "positive and finite")
        for name in ("adam_beta1", "adam_beta2"):
            self._check(name, 0 <= getattr(self, name) < 1, "at least 0 and below 1")

    def _check(self, name: str, is_good: bool, remedy: str) -> None:
        if not is_good:
            raise ValueError(f"{name}={getattr(self, name)} must be {remedy}")

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        fields["hidden_sizes"] = list(self.hidden_sizes)
        return {n: str(v) if v in (math.inf, -math.inf) else v for n, v in fields.items()}


class SelfPlayLearner(abc.ABC):
    """A policy network that learns from games against itself.

    Attributes:
      name: of the algorithm, in files.
      terms: names of what `_learn` reports of every step.
      game: the turn-based game.
      config: how to learn.
      network: the network.
      parameters: float32 [P], its current parameters.
      num_steps: learner steps done.
    """

    name: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]

    def __init__(self, game: AnyGame, config: LearnerConfig, device: torch.device | str = "cpu"):
        """Makes a fresh network.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn.
          device: where games are played and networks live.

        Raises:
          ValueError: if the game is none that can be learned here.
        """
        # A compiled game is played by tables, however large it is.
        self.game: pyspiel.Game = game.game if isinstance(game, GameTree) else load_turn_based(game)
        self.config = config
        self._self_play = self_play_of(
            game if isinstance(game, GameTree) else self.game,
            config.batch_size,
            device,
            seed=config.seed,
            max_tree_histories=config.max_tree_histories,
        )
        environment = self._self_play.environment
        self.network = PolicyNetwork(
            environment.information_state_tensor().shape[1],
            environment.legal_actions().shape[1],
            config.hidden_sizes,
        )
        self.parameters = self.network.initial_parameters(config.seed).to(device)
        self.parameters.requires_grad_()
        self.parameters.grad = torch.zeros_like(self.parameters)
        self.num_steps = 0
        self._optimizer = self._make_optimizer()
        self._log = self.parameters.new_zeros((_STEPS_PER_CHECK, len(self.terms) + 1))
        self._num_logged = 0
        self._window = _Window()
        self._last_checkpoint = "none"

    def step(self) -> None:
        """Plays a batch of games and learns from them.

        Raises:
          ValueError: if a term of this or one of the last steps was NaN or infinite.
        """
        start = time.perf_counter()
        trajectories = self.play()
        terms = self._learn(trajectories)
        row = torch.stack([*terms, trajectories.valid.sum().to(self._log.dtype)])
        self._log[self._num_logged] = row
        self._num_logged += 1
        self.num_steps += 1
        if self._num_logged == _STEPS_PER_CHECK:
            self._read_log()
        self._window.seconds += time.perf_counter() - start

    def play(self) -> Trajectories:
        """A batch of games by the current policy, in tensors that the next call overwrites.

        Draws from the same source of chance as `step`.
        """
        return self._self_play.play(self._act)

    def policy(self, fine_tuning: FineTuning | None = None) -> ArrayPolicy | NetworkPolicy:
        """The policy that was learned so far, for both players.

        Args:
          fine_tuning: what to do to the network's policy; None: nothing.

        Returns:
          An `ArrayPolicy` if the game is compiled, else a `NetworkPolicy`. Later steps do not
          change it.
        """
        parameters = self._policy_parameters().detach().clone()
        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment):
            return tabulate(environment, self.network, parameters, fine_tuning)
        return NetworkPolicy(self.game, self.network, parameters, fine_tuning)

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
            names = (*self.terms, _NUM_MOVES)
            means |= {n: s / window.num_steps for n, s in zip(names, window.sums, strict=True)}
            means["seconds"] = window.seconds
            speed = window.num_steps / window.seconds
            means["learner_steps_per_second"] = speed
            means["environment_steps_per_second"] = means.pop(_NUM_MOVES) * speed
        return means

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything that further steps depend on, completely or not at all.

        Raises:
          ValueError: if a term of a step, or a parameter, was NaN or infinite. Nothing is written.
        """
        self._read_log()
        arrays = {}
        for name, tensor in self._tensors().items():
            if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
                self._refuse(f"{name} has an entry that is NaN or infinite", self.num_steps)
            arrays[name] = tensor.detach().cpu().numpy()
        generator = self._self_play.environment.generator
        arrays["generator"] = generator.get_state().numpy()
        tensor_files.save(path, arrays, {**self._identity(), "num_steps": self.num_steps})
        self._last_checkpoint = f"that of step {self.num_steps} ({Path(path)})"

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes back to what `save` wrote; on a CPU, what follows is the same to the last bit.

        Raises:
          ValueError: if the file is of another algorithm, game or config. Nothing has changed then.
        """
        arrays, header = tensor_files.load(path)
        for name, value in self._identity().items():
            if header.get(name) != value:
                raise ValueError(
                    f"{path} has {name} {header.get(name)}, not {value}; use the same game and "
                    "settings, or another file"
                )
        with torch.no_grad():
            for name, tensor in self._tensors().items():
                tensor.copy_(torch.from_numpy(arrays[name]))
        generator = self._self_play.environment.generator
        generator.set_state(torch.from_numpy(arrays["generator"]))
        self.num_steps = int(header["num_steps"])
        self._num_logged, self._window = 0, _Window()
        self._last_checkpoint = f"that of step {self.num_steps} ({Path(path)})"

    @abc.abstractmethod
    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Changes the parameters; returns the `terms`, scalars each."""

    def _policy_parameters(self) -> torch.Tensor:
        """Parameters of the policy that is handed out."""
        return self.parameters

    def _tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        state = self._optimizer.state[self.parameters]
        return {"parameters": self.parameters, **{f"adam.{n}": t for n, t in state.items()}}

    def _act(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        logits = self.network.evaluate(self.parameters, observation).logits
        return policy_of(logits, legal)

    def _descend(self, loss: torch.Tensor, gradient: torch.Tensor | None = None) -> None:
        """One step of Adam down a loss.

        Args:
          loss: a scalar; or, with a gradient, the network's outputs.
          gradient: the loss's derivative by the outputs.
        """
        config = self.config
        assert self.parameters.grad is not None
        self.parameters.grad.zero_()
        loss.backward(gradient)
        self.parameters.grad.clamp_(-config.gradient_clip, config.gradient_clip)
        self._optimizer.step()

    def _make_optimizer(self) -> torch.optim.Adam:
        """Adam with its moments made, so that a checkpoint can be loaded into them."""
        config = self.config
        optimizer = torch.optim.Adam(
            [self.parameters],
            lr=config.learning_rate,
            betas=(config.adam_beta1, config.adam_beta2),
            eps=config.adam_epsilon,
            fused=True,
        )
        optimizer.state[self.parameters] = {
            "step": torch.zeros((), dtype=torch.float32, device=self.parameters.device),
            "exp_avg": torch.zeros_like(self.parameters),
            "exp_avg_sq": torch.zeros_like(self.parameters),
        }
        return optimizer

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint must have in common with the learner."""
        return {
            "kind": "learner",
            "algorithm": self.name,
            "game": str(self.game),
            "config": self.config.to_json(),
        }

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
            self._refuse(
                f"the {self.terms[column].replace('_', ' ')} is {rows[row, column].item()}",
                first_step + row,
            )
        self._window.add(rows.sum(dim=0).tolist(), len(rows))

    def _refuse(self, what: str, step: int) -> None:
        raise ValueError(
            f"{what} at step {step}; the last good checkpoint is {self._last_checkpoint}; use a "
            f"smaller learning rate than {self.config.learning_rate}"
        )


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
