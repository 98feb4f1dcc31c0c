"""Exploitability against wall-clock and environment steps: everybody on one game.

A contender learns up to log-spaced times of wall-clock. At each of them its policy is made and
judged by its exact NashConv. The seconds of a point are those of learning up to it, and those that
making its policy took, as if it had stopped there; judging is not counted, nor is setting up.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from papers.compare import openspiel as theirs
from papers.compare import own as ours
from papers.compare.contender import ComparedGame, Contender, compared_game
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.runs.parts import Parts
from spiel_dl.runs.run_directory import log_spaced_steps, slug

_TENTHS = 10  # times are multiples of a tenth of a second
_POINTS_PER_DECADE = 3
_PYTORCH = "open_spiel.python.pytorch"
_SMALL_NETWORKS = "defaults, but 64 games a step, 2x128 units, learning rate 1e-3"


class Kind(NamedTuple):
    """A contender's description.

    Attributes:
      title: what tables and pictures call it.
      make: from the game and a seed to a fresh contender.
      settings: where its hyperparameters come from.
      module: of OpenSpiel, which may lack what it needs; None if there is nothing to check.
      is_ours: whether it plays our twin of the game.
    """

    title: str
    make: Callable[[ComparedGame, int], Contender]
    settings: str
    module: str | None = None
    is_ours: bool = False


def _mccfr(make: Callable[[ComparedGame, int, str], Contender], sampling: str, code: str) -> Kind:
    def of_sampling(game: ComparedGame, seed: int) -> Contender:
        return make(game, seed, sampling)

    title = f"OpenSpiel {sampling} sampling, {code}"
    return Kind(title, of_sampling, "defaults, as in mccfr_example.py")


KINDS: dict[str, Kind] = {
    "cfr_plus": Kind("CFR+", ours.CFRPlus, "defaults", is_ours=True),
    "dl_cfr": Kind("DL-CFR", ours.DLCFR, "defaults of the network and of training", is_ours=True),
    "particle": Kind("DL-CFR, particles", ours.Particle, "likewise", is_ours=True),
    "rnad": Kind("R-NaD", ours.RNaD, _SMALL_NETWORKS, is_ours=True),
    "sepot": Kind(
        "SePoT", ours.SePoT, f"{_SMALL_NETWORKS}; the paper's 22 transformations", is_ours=True
    ),
    "openspiel_cfr_plus": Kind("OpenSpiel CFR+, C++", theirs.CppCFRPlus, "defaults"),
    "openspiel_outcome_sampling": _mccfr(theirs.PythonMCCFR, "outcome", "Python"),
    "openspiel_external_sampling": _mccfr(theirs.PythonMCCFR, "external", "Python"),
    "openspiel_outcome_sampling_cpp": _mccfr(theirs.CppMCCFR, "outcome", "C++"),
    "openspiel_external_sampling_cpp": _mccfr(theirs.CppMCCFR, "external", "C++"),
    "openspiel_deep_cfr": Kind(
        "OpenSpiel Deep CFR", theirs.DeepCFR, "deep_cfr_pytorch.py", f"{_PYTORCH}.deep_cfr"
    ),
    "openspiel_nfsp": Kind(
        "OpenSpiel NFSP", theirs.NFSP, "nfsp_leduc_pytorch.py", f"{_PYTORCH}.nfsp"
    ),
    "openspiel_escher": Kind(
        "OpenSpiel ESCHER", theirs.Escher, "defaults, as in escher.py", f"{_PYTORCH}.escher"
    ),
}


class Probe(NamedTuple):
    """One of OpenSpiel's learners that did not run when this was written.

    Attributes:
      title: what the report calls it.
      refusal: from the game to the reason, in one line; None if it runs.
      module: as in `Kind`.
    """

    title: str
    refusal: Callable[[ComparedGame], str | None]
    module: str


PROBES: dict[str, Probe] = {
    "openspiel_neurd": Probe("OpenSpiel NeuRD", theirs.neurd_refusal, f"{_PYTORCH}.neurd"),
    "openspiel_ppo": Probe("OpenSpiel PPO", theirs.ppo_refusal, f"{_PYTORCH}.ppo"),
}
NAMES = (*KINDS, *PROBES)


@dataclasses.dataclass(frozen=True)
class CompareConfig:
    """What to compare, and how long.

    Attributes:
      game: "leduc_poker", "goofspiel_4", or a game string that everybody plays as it is.
      seconds: of learning, for each contender.
      contenders: from `NAMES`; empty: all.
      seed: of all of them.
    """

    game: str
    seconds: float = 120.0
    contenders: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 / _TENTHS <= self.seconds < math.inf or self.seed < 0:
            raise ValueError(
                f"seconds={self.seconds} must be at least {1 / _TENTHS} and finite, and seed="
                f"{self.seed} not negative"
            )
        for name in self.contenders:
            if name not in NAMES:
                raise ValueError(f"contender {name!r} must be one of {NAMES}")

    @property
    def names(self) -> tuple[str, ...]:
        """The contenders, in the order of the report."""
        return tuple(name for name in NAMES if name in (self.contenders or NAMES))

    @property
    def file_name(self) -> str:
        """Of the report, without folder and ending."""
        return slug(self.game)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What came out.

    Attributes:
      config: what was asked for.
      game: both twins.
      curves: from a contender's title to its points, as `measure` returns them.
      refusals: from the title of a contender that cannot run here to the reason.
      reused: titles of those that an earlier start had measured.
      commits: of the code that measured, see `Parts.commits`.
    """

    config: CompareConfig
    game: ComparedGame
    curves: Mapping[str, list[dict[str, Any]]]
    refusals: Mapping[str, str]
    reused: Sequence[str]
    commits: Sequence[str]


def compare(config: CompareConfig, work_directory: str | os.PathLike[str]) -> Comparison:
    """Measures all contenders, one after the other and each with one thread.

    Args:
      config: what to compare.
      work_directory: of finished parts; who is there is not measured again.

    Raises:
      ValueError: if the game cannot be compiled, a part is of other settings, or one of `PROBES`
        runs after all: there is no contender for it.
    """
    torch.set_num_threads(1)
    game = compared_game(config.game)
    reasons = {name: refusal(name, game) for name in config.names}
    for name in PROBES:
        if name in reasons and reasons[name] is None:
            raise ValueError(
                f"{name} runs with this OpenSpiel, but there is no contender for it yet; leave it "
                "out"
            )
    parts = Parts(Path(work_directory) / config.file_name)
    curves, refusals, reused = {}, {}, []
    for name, reason in reasons.items():
        title = (KINDS.get(name) or PROBES[name]).title
        if reason is not None:
            refusals[title] = reason
            continue
        settings = {
            "game": [str(game.ours.game), str(game.theirs.game)],
            "depth_limit": str(game.depth_limit),
            "hyperparameters": KINDS[name].settings,
            "seconds": config.seconds,
            "seed": config.seed,
        }
        compute = functools.partial(measure, name, game, config.seconds, config.seed)
        curves[title] = parts.get(name, settings, compute)
        if name in parts.reused:
            reused.append(title)
    return Comparison(config, game, curves, refusals, reused, sorted(parts.commits))


def refusal(name: str, game: ComparedGame) -> str | None:
    """Why a contender cannot run here, in one line; None if it can."""
    module = (KINDS.get(name) or PROBES[name]).module
    if module is not None:
        try:
            importlib.import_module(module)
        except ImportError as error:
            return str(error).splitlines()[0]
    return PROBES[name].refusal(game) if name in PROBES else None


def measure(name: str, game: ComparedGame, seconds: float, seed: int) -> list[dict[str, Any]]:
    """One contender's points.

    Args:
      name: one of `KINDS`.
      game: the game.
      seconds: of learning.
      seed: of the contender.

    Returns:
      For each point: learning_seconds, policy_seconds, seconds (their sum), processor_seconds of
      learning, environment_steps unless they are unknown, nash_conv and exploitability, in utility
      units. Times that a contender's step went beyond have no points of their own.
    """
    contender = KINDS[name].make(game, seed)
    tree = game.ours if KINDS[name].is_ours else game.theirs
    learning = processor = 0.0
    points: list[dict[str, Any]] = []
    for tenths in log_spaced_steps(round(seconds * _TENTHS), _POINTS_PER_DECADE):
        if points and tenths / _TENTHS <= learning:
            continue
        start, processor_start = time.perf_counter(), time.process_time()
        contender.advance(tenths / _TENTHS - learning)
        learning += time.perf_counter() - start
        processor += time.process_time() - processor_start
        start = time.perf_counter()
        policy = contender.policy()
        making = time.perf_counter() - start
        value = nash_conv(tree, policy)
        points.append(
            {
                "learning_seconds": learning,
                "policy_seconds": making,
                "seconds": learning + making,
                "processor_seconds": processor,
                "nash_conv": value,
                "exploitability": value / 2,
            }
        )
        if contender.environment_steps is not None:
            points[-1]["environment_steps"] = contender.environment_steps
    return points
