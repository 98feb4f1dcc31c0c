"""Exploitability against seconds of the processor and environment steps: everybody on one game.

An algorithm learns up to log-spaced times of the processor. At each of them its policy is made and
judged by its exact NashConv. The seconds of a point are those of learning up to it, and those that
making its policy took, as if it had stopped there; judging is not counted, nor is setting up.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from experiments import study as papers_study
from experiments.compare import openspiel as theirs
from experiments.compare import own as ours
from experiments.compare.algorithm import Algorithm, ComparedGame, compared_game
from experiments.settings import check_seeds
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.system.steps import log_spaced_steps

_TENTHS = 10  # times are multiples of a tenth of a second
_POINTS_PER_DECADE = 3
_PYTORCH = "open_spiel.python.pytorch"
_PURE = "pure transformations where there are at most 3 actions, else the paper's 22"


class Kind(NamedTuple):
    """An algorithm's description.

    Attributes:
      title: what tables and pictures call it.
      make: from the game and a seed to a fresh algorithm.
      settings: where its hyperparameters come from.
      module: of OpenSpiel, which may lack what it needs; None if there is nothing to check.
      is_ours: whether it plays our twin of the game.
    """

    title: str
    make: Callable[[ComparedGame, int], Algorithm]
    settings: str
    module: str | None = None
    is_ours: bool = False


def _mccfr(make: Callable[[ComparedGame, int, str], Algorithm], sampling: str, code: str) -> Kind:
    def of_sampling(game: ComparedGame, seed: int) -> Algorithm:
        return make(game, seed, sampling)

    title = f"OpenSpiel {sampling} sampling, {code}"
    return Kind(title, of_sampling, "defaults, as in mccfr_example.py")


KINDS: dict[str, Kind] = {
    "cfr_plus": Kind("CFR+", ours.CFRPlus, "defaults", is_ours=True),
    "dl_cfr": Kind("DL-CFR", ours.DLCFR, "defaults of the network and of training", is_ours=True),
    "particle": Kind("DL-CFR, particles", ours.Particle, "likewise", is_ours=True),
    "rnad": Kind("R-NaD", ours.RNaD, "defaults", is_ours=True),
    "sepot": Kind("SePoT", ours.SePoT, f"defaults; {_PURE}", is_ours=True),
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
        "OpenSpiel ESCHER",
        theirs.Escher,
        "defaults, as in escher.py; the average trained anew for each point",
        f"{_PYTORCH}.escher",
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
class Settings:
    """What to compare, and how long.

    Attributes:
      game: "leduc_poker", "goofspiel_4", or a game string that everybody plays as it is.
      seconds: of the processor, of learning, for each algorithm.
      names: from `NAMES`; empty: all.
      seeds: of every algorithm.
    """

    game: str = "leduc_poker"
    seconds: float = 120.0
    names: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        if not 1 / _TENTHS <= self.seconds < math.inf:
            raise ValueError(f"seconds={self.seconds} must be at least {1 / _TENTHS} and finite")
        check_seeds(self.seeds)
        for name in self.names:
            if name not in NAMES:
                raise ValueError(f"algorithm {name!r} must be one of {', '.join(NAMES)}")

    @property
    def chosen(self) -> tuple[str, ...]:
        """The algorithms, in the order of the report."""
        return tuple(name for name in NAMES if name in (self.names or NAMES))


DOMAINS = {game: Settings(game) for game in ("leduc_poker", "goofspiel_4")} | {
    "liars_dice": Settings("liars_dice(numdice=1,dice_sides=4)")
}


class Study(papers_study.Study[Settings]):
    """Both twins of the game."""

    num_threads = 1

    @functools.cached_property
    def game(self) -> ComparedGame:
        """The game, compiled when it is first asked for."""
        return compared_game(self.settings.game)


class Comparison(NamedTuple):
    """What came out.

    Attributes:
      curves: from an algorithm's title to the points of each seed, as `measure` returns them.
      refusals: from the title of an algorithm that cannot run here to the reason.
    """

    curves: Mapping[str, list[list[dict[str, Any]]]]
    refusals: Mapping[str, str]


def compare(study: Study) -> Comparison:
    """Measures all algorithms, one after the other and each with one thread.

    Raises:
      ValueError: if the game cannot be compiled, a part is of other settings, or one of `PROBES`
        runs after all: no algorithm here stands for it.
    """
    settings, game = study.settings, study.game
    reasons = {name: refusal(name, game) for name in settings.chosen}
    for name in PROBES:
        if name in reasons and reasons[name] is None:
            raise ValueError(
                f"{name} runs with this OpenSpiel, but there is no algorithm for it yet; leave it "
                "out"
            )
    curves: dict[str, list[list[dict[str, Any]]]] = {}
    refusals = {}
    for name, reason in reasons.items():
        title = (KINDS.get(name) or PROBES[name]).title
        if reason is not None:
            refusals[title] = reason
            continue
        curves[title] = []
        for seed in settings.seeds:
            told = {
                "game": [str(game.ours.game), str(game.theirs.game)],
                "depth_limit": str(game.depth_limit),
                "hyperparameters": KINDS[name].settings,
                "processor_seconds": settings.seconds,
                "seed": seed,
            }
            compute = functools.partial(measure, name, game, settings.seconds, seed)
            curves[title].append(study.workspace.part(f"{name}-{seed}", told, compute))
    return Comparison(curves, refusals)


def refusal(name: str, game: ComparedGame) -> str | None:
    """Why an algorithm cannot run here, in one line; None if it can."""
    module = (KINDS.get(name) or PROBES[name]).module
    if module is not None:
        try:
            importlib.import_module(module)
        except ImportError as error:
            return str(error).splitlines()[0]
    return PROBES[name].refusal(game) if name in PROBES else None


def measure(name: str, game: ComparedGame, seconds: float, seed: int) -> list[dict[str, Any]]:
    """One algorithm's points.

    Args:
      name: one of `KINDS`.
      game: the game.
      seconds: of learning.
      seed: of the algorithm.

    Returns:
      For each point: learning_seconds, policy_seconds, seconds (their sum), all of the processor,
      environment_steps unless they are unknown, nash_conv and exploitability, in utility units.
      Times that an algorithm's step went beyond have no points of their own.
    """
    algorithm = KINDS[name].make(game, seed)
    tree = game.ours if KINDS[name].is_ours else game.theirs
    learning = 0.0
    points: list[dict[str, Any]] = []
    for tenths in log_spaced_steps(round(seconds * _TENTHS), _POINTS_PER_DECADE):
        if points and tenths / _TENTHS <= learning:
            continue
        start = time.process_time()
        algorithm.advance(tenths / _TENTHS - learning)
        learning += time.process_time() - start
        start = time.process_time()
        policy = algorithm.policy()
        making = time.process_time() - start
        value = nash_conv(tree, policy)
        points.append(
            {
                "learning_seconds": learning,
                "policy_seconds": making,
                "seconds": learning + making,
                "nash_conv": value,
                "exploitability": value / 2,
            }
        )
        if algorithm.environment_steps is not None:
            points[-1]["environment_steps"] = algorithm.environment_steps
    return points
