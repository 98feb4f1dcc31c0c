"""`Learner`: the base class of all learners from games: steps, metrics, checkpoints.

    learner = rnad.RNaDSolver("leduc_poker")
    learner.run(1000)
    print(learner.metrics())
    policy = learner.policy()  # an open_spiel Policy
    learner.save("leduc.safetensors")

A subclass does the work of a step, `_advance`, and names what a checkpoint holds.
"""

from __future__ import annotations

import abc
import dataclasses
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyspiel
import torch
import tqdm

from spiel_dl.networks.devices import check_device
from spiel_dl.system import tensor_files
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.from_openspiel import is_game_of

FILE_KIND = "learner"
"""The `kind` of a checkpoint of a learner of policies or critics, in its header."""


class Learner(abc.ABC):
    """Learns step by step; can be saved and resumed.

    A step does not wait for losses on the host: they are collected on the device, and read back
    every few steps.

    Attributes:
      name: the name of the algorithm, in files.
      file_kind: the `kind` of a checkpoint, in its header.
      terms: the names of the losses and other numbers that every step reports.
      steps_per_check: the terms are read back and checked after so many steps.
      game: the turn-based game.
      config: how to learn.
      num_steps: learner steps done.
    """

    name: ClassVar[str]
    file_kind: ClassVar[str] = FILE_KIND
    terms: tuple[str, ...]
    steps_per_check: ClassVar[int] = 100

    def __init__(self, game: pyspiel.Game, config: Any, device: torch.device | str = "cpu"):
        """Starts at step 0.

        Args:
          game: the turn-based game.
          config: how to learn: with a `learning_rate`, and a `to_json`.
          device: on which losses are collected.

        Raises:
          ValueError: if torch cannot compute on the device.
        """
        check_device(device)
        self.game, self.config, self.num_steps = game, config, 0
        self._log = torch.zeros((self.steps_per_check, len(self.terms)), device=device)
        self._num_logged = 0
        self._window = _Window()
        self._last_checkpoint = "none"

    def run(self, num_steps: int, *, show_progress: bool = False) -> None:
        """Does so many steps.

        Args:
          num_steps: how many, positive.
          show_progress: show a progress bar on standard error.

        Raises:
          ValueError: if `num_steps` is not a positive integer, or if a term of a step was NaN
            or infinite.
        """
        num_steps = checked_count("num_steps", num_steps, 1)
        for _ in tqdm.trange(num_steps, unit="step", disable=None if show_progress else True):
            self.step()
        self._read_log()

    def step(self) -> None:
        """One learner step: plays, and learns from it.

        Raises:
          ValueError: if a term of this or one of the last steps was NaN or infinite.
        """
        start = time.perf_counter()
        self._log[self._num_logged] = self._advance()
        self._num_logged += 1
        self.num_steps += 1
        if self._num_logged == self.steps_per_check:
            self._read_log()
        self._window.seconds += time.perf_counter() - start

    @abc.abstractmethod
    def _advance(self) -> torch.Tensor:
        """Does the work of a step on the device; returns its terms, float32 [len(terms)]."""

    def metrics(self) -> dict[str, float]:
        """Means over the steps since the last call, or since the start.

        Returns:
          The step, the mean of every term, the seconds spent in steps, and learner steps per such
          second. Without steps since the last call, the step alone.

        Raises:
          ValueError: as `step`.
        """
        start = time.perf_counter()
        self._read_log()
        window, self._window = self._window, _Window()
        window.seconds += time.perf_counter() - start
        means: dict[str, float] = {"step": self.num_steps}
        if window.num_steps:
            means |= {
                name: total / window.num_steps
                for name, total in zip(self.terms, window.sums, strict=True)
            }
            means["seconds"] = window.seconds
            means["learner_steps_per_second"] = window.num_steps / window.seconds
        return means

    def settings(self) -> dict[str, Any]:
        """All settings of the learner, as JSON can hold them."""
        settings: dict[str, Any] = self.config.to_json()
        return settings

    def state(self) -> dict[str, np.ndarray]:
        """Copies of all arrays that further steps depend on, by name.

        Raises:
          ValueError: if a term of a step, or a parameter, was NaN or infinite.
        """
        self._read_log()
        arrays = {}
        for name, tensor in self._tensors().items():
            if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
                self._raise_not_finite(name, "has an entry that is NaN or infinite", self.num_steps)
            arrays[name] = tensor.detach().cpu().numpy().copy()
        return {**arrays, **self._extra_state(), "num_steps": np.array(self.num_steps)}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes back to a `state()`; on a CPU, what follows is the same to the last bit.

        Raises:
          ValueError: if it is the state of a learner of another kind or size, or incomplete.
            Nothing has changed then.
        """
        tensors = self._tensors()
        for name, tensor in tensors.items():
            _check_shape(state, name, tuple(tensor.shape))
        _check_shape(state, "num_steps", ())
        self._load_extra_state(state)
        with torch.no_grad():
            for name, tensor in tensors.items():
                tensor.copy_(torch.from_numpy(state[name]))
        self.num_steps = int(state["num_steps"])
        self._num_logged, self._window = 0, _Window()

    def save(self, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Writes everything that further steps depend on, completely or not at all.

        Args:
          path: the file.
          notes: further entries of its header, which `load` does not read.

        Raises:
          ValueError: as `state`. Nothing is written then.
        """
        arrays = self.state()
        num_steps = int(arrays.pop("num_steps"))
        header = {**(notes or {}), **self._identity(), **self._header(), "num_steps": num_steps}
        tensor_files.save(path, arrays, {**header, "window": dataclasses.asdict(self._window)})
        self._last_checkpoint = f"that of step {self.num_steps} ({Path(path)})"

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes back to what `save` wrote; on a CPU, what follows is the same to the last bit.

        Raises:
          ValueError: if the file is of another algorithm, game or config. Nothing has changed then.
        """
        arrays, header = tensor_files.load(path)
        for name, value in self._identity().items():
            saved = header.get(name)
            if saved != value and not (name == "game" and _names_game(str(saved), self.game)):
                raise ValueError(
                    f"{path} has {name} {saved}, not {value}; use the same game and settings, or "
                    "another file"
                )
        self.load_state({**arrays, "num_steps": np.array(int(header["num_steps"]))})
        window = _Window(**header.get("window", {}))
        # The window of a learner with a critic has one more sum.
        if len(window.sums) == len(self.terms):
            self._window = window
        self._last_checkpoint = f"that of step {self.num_steps} ({Path(path)})"

    @abc.abstractmethod
    def _tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""

    @abc.abstractmethod
    def _extra_state(self) -> dict[str, np.ndarray]:
        """What else further steps depend on: the random generator, and any buffer of samples."""

    @abc.abstractmethod
    def _load_extra_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes back to an `_extra_state`; a ValueError, and no change, if it is incomplete."""

    def _header(self) -> dict[str, Any]:
        """Further entries of a checkpoint's header."""
        return {}

    def _identity(self) -> dict[str, Any]:
        """The header entries that a checkpoint must have in common with the learner."""
        return {
            "kind": self.file_kind,
            "algorithm": self.name,
            "game": str(self.game),
            "config": self.settings(),
        }

    def _read_log(self) -> None:
        """Adds the terms of the steps since the last call to the window.

        Raises:
          ValueError: if one of them is NaN or infinite.
        """
        rows = self._log[: self._num_logged].double().cpu()
        first_step = self.num_steps - self._num_logged + 1
        self._num_logged = 0
        if not bool(rows.isfinite().all()):
            row, column = (~rows.isfinite()).nonzero()[0].tolist()
            name = f"the {self.terms[column].replace('_', ' ')}"
            self._raise_not_finite(name, f"is {rows[row, column].item()}", first_step + row)
        self._window.add(rows.sum(dim=0).tolist(), len(rows))

    def _raise_not_finite(self, name: str, what: str, step: int) -> None:
        at_once = " and see that the game's tensors are finite" if step == 1 else ""
        raise ValueError(
            f"{name} {what} at step {step}; the last good checkpoint is {self._last_checkpoint}; "
            f"use a smaller learning rate than {self._config_of(name).learning_rate}{at_once}"
        )

    def _config_of(self, name: str) -> Any:
        """The configuration by which the parameter or loss of this name is learned."""
        del name
        return self.config


@dataclasses.dataclass
class _Window:
    """The steps since the last `metrics`: how many, the sums of their terms, their seconds."""

    num_steps: int = 0
    sums: list[float] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    def add(self, sums: list[float], num_steps: int) -> None:
        """Adds `num_steps` steps, given the sums of their terms."""
        before = self.sums or [0.0] * len(sums)
        self.sums = [old + new for old, new in zip(before, sums, strict=True)]
        self.num_steps += num_steps


def _check_shape(state: Mapping[str, np.ndarray], name: str, needed: tuple[int, ...]) -> None:
    shape = state[name].shape if name in state else "nothing"
    if shape != needed:
        raise ValueError(
            f"the state's {name} has shape {shape}, but {needed} is needed: it is that of another "
            "learner"
        )


def _names_game(game_string: str, game: pyspiel.Game) -> bool:
    try:
        return is_game_of(game_string, game)
    except ValueError:  # There is no such game here, or none that can be learned.
        return False
