"""Mirror-descent search over stepsize, temperature and depth: exact exploitability, exact returns.

Networks learn for a short time, so that there is something to win. Every infoset is searched, and
the action values that are found make one step of each stepsize and temperature. A setting is chosen
by the first networks of each game, and judged by the others. Beside it, the same steps by exact
action values of the network's policy, and the network without search.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.particle_search.steps import (
    exact_values,
    gain,
    searched_values,
    stepped_everywhere,
)
from experiments.particle_search.study import compiled
from experiments.settings import as_json, check_least
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning import checkpoints
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.play.presets import PRESETS
from spiel_dl.policies.array_policy import ArrayPolicy, plans_of
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.best_response import evaluate
from spiel_dl.system.run_directory import CHECKPOINT_FILE

TO_THE_END = 0
EXACT = -1
"""In the place of a depth: exact action values of the network's policy."""
Setting = tuple[int, float, float]
_SOLVERS: dict[str, type[SelfPlayLearner]] = {
    solver.name: solver for solver in (RNaDSolver, MMDSolver)
}
_NAMES = {TO_THE_END: "to the end", EXACT: "exact values"}
AUTHORS = (20.0, 0.003)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Games, networks, and searches.

    Attributes:
      games: presets with `Rules` that are small enough to compile.
      learners: of each game, an algorithm and a seed.
      num_choosing: by so many of them, the first ones, the setting is chosen; 0: it was fixed
        beforehand, and is the first stepsize, temperature and depth.
      num_steps: learner steps of each.
      stepsizes: in units of 1 / utility range.
      temperatures: in utility ranges.
      depths: moves; 0: to the end.
      num_rollouts: games in each search, at least.
      budget: histories in each search, at most.
      most: by which share exploitability may rise.
    """

    games: tuple[str, ...]
    learners: tuple[str, ...] = ("rnad:1", "mmd:1", "rnad:2", "mmd:2", "rnad:3")
    num_choosing: int = 2
    num_steps: int = 300
    stepsizes: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0, 20.0)
    temperatures: tuple[float, ...] = (0.0, 0.003, 0.03)
    depths: tuple[int, ...] = (TO_THE_END, 2, 4)
    num_rollouts: int = 512
    budget: int = 200
    most: float = 0.05

    def __post_init__(self) -> None:
        check_least(self, num_steps=1, num_rollouts=1, budget=1, num_choosing=0, depths=0)
        if self.num_choosing >= len(self.learners):
            raise ValueError(
                f"num_choosing={self.num_choosing} leaves none of {len(self.learners)} networks to "
                "judge by; choose by fewer"
            )
        for each in self.learners:
            algorithm, _, seed = each.partition(":")
            if algorithm not in _SOLVERS or not seed.isdecimal():
                known = ", ".join(_SOLVERS)
                raise ValueError(f"learner {each!r} must be one of {known} and a seed, rnad:1")
        if set(self.games) - set(PRESETS):
            raise ValueError(f"games={self.games} must be some of {', '.join(PRESETS)}")


class Case(NamedTuple):
    """The searches on top of one network."""

    game: str
    learner: str
    settings: Settings

    @property
    def named(self) -> tuple[str, dict[str, Any]]:
        """The name and the settings of a part."""
        told = as_json(self.settings)
        own = {name: told[name] for name in told if name not in ("games", "learners", "most")}
        own.pop("num_choosing")
        return file_name("sweep", self.game, self.learner), {
            "game": self.game,
            "learner": self.learner,
            **own,
        }


class Study(experiment.Study[Settings]):
    """All networks of all games."""

    num_threads = 1


def sweep(case: Case) -> list[dict[str, Any]]:
    """A row of each setting on top of one network; for `distributed.for_each`."""
    tree, settings = compiled(case.game), case.settings
    network = trained(case)
    table = ArrayPolicy.from_policy(tree, network)
    before = evaluate(tree.sequence_form, plans_of(tree, table.strategies)).exploitability
    rows = []
    for depth in (*settings.depths, EXACT):
        start = time.process_time()
        if depth == EXACT:
            values = exact_values(tree, table.strategies)
        else:
            config = MirrorDescentConfig(
                depth=depth or None, num_rollouts=settings.num_rollouts, budget=settings.budget
            )
            values = searched_values(tree, network, config)
        seconds = time.process_time() - start
        for stepsize, temperature in itertools.product(settings.stepsizes, settings.temperatures):
            after = stepped_everywhere(tree, table.strategies, values, stepsize, temperature)
            exploitability = evaluate(tree.sequence_form, plans_of(tree, after)).exploitability
            rows.append(
                {
                    "depth": depth,
                    "stepsize": stepsize,
                    "temperature": temperature,
                    "before": before,
                    "after": exploitability,
                    "gain": gain(tree, after, table.strategies),
                    "seconds": seconds / sum(tree.num_infosets(player) for player in (0, 1)),
                }
            )
    return rows


def trained(case: Case) -> NetworkPolicy:
    """The network of a case, which takes seconds to learn."""
    algorithm, _, seed = case.learner.partition(":")
    torch.set_num_threads(1)
    solver = _SOLVERS[algorithm]
    learner = solver(PRESETS[case.game].game, solver.default_config(seed=int(seed)))
    learner.run(case.settings.num_steps)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / CHECKPOINT_FILE
        learner.save(path)
        network = checkpoints.load_blueprint(path, learner.game)
    assert isinstance(network, NetworkPolicy)
    return network


def _compute(study: Study) -> list[dict[str, Any]]:
    settings = study.settings
    cases = [Case(*each, settings) for each in itertools.product(settings.games, settings.learners)]
    found = study.workspace.parts([each.named for each in cases], sweep, cases, "networks")
    return [
        {
            "game": case.game,
            "learner": case.learner,
            "chooses": settings.learners.index(case.learner) < settings.num_choosing,
            **row,
            "rise": row["after"] / row["before"] - 1,
        }
        for case, rows in zip(cases, found, strict=True)
        for row in rows
    ]


_SETTING = ("depth", "stepsize", "temperature")
_JUDGED, _CHOSEN_BY = "Judged", "All settings"


def _of(rows: Sequence[Mapping[str, Any]], **wanted: Any) -> list[Mapping[str, Any]]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means and extremes over some networks."""
    rises, gains = ([row[name] for row in rows] for name in ("rise", "gain"))
    return {
        "gain": statistics.fmean(gains),
        "least": min(gains),
        "rise": statistics.fmean(rises),
        "worst": max(rises),
    }


def chosen(settings: Settings, rows: Sequence[Mapping[str, Any]]) -> Setting | None:
    """The setting that earns most of those that hold the claim on the choosing networks, if any."""
    if not settings.num_choosing:
        return settings.depths[0], settings.stepsizes[0], settings.temperatures[0]
    best: tuple[float, Setting] | None = None
    grid = itertools.product(settings.depths, settings.stepsizes, settings.temperatures)
    for setting in grid:
        wanted = dict(zip(_SETTING, setting, strict=True))
        found = _summary(_of(rows, chooses=True, **wanted))
        holds = found["worst"] <= settings.most and found["least"] > 0
        if holds and (best is None or found["gain"] > best[0]):
            best = found["gain"], setting
    return None if best is None else best[1]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings = study.settings
    setting = chosen(settings, rows)
    told, judged = [], []
    for each in itertools.product(
        (*settings.depths, EXACT), settings.stepsizes, settings.temperatures
    ):
        wanted = dict(zip(_SETTING, each, strict=True))
        row = _summary(_of(rows, chooses=settings.num_choosing > 0, **wanted))
        told.append({**wanted, "depth": _told(each[0]), **row, "chosen": each == setting})
    compared = {"chosen": setting, "the authors'": (max(settings.depths), *AUTHORS)}
    for game in settings.games:
        own = _of(rows, game=game, chooses=False)
        before = statistics.fmean(row["before"] for row in _of(own, depth=EXACT))
        judged.append(
            {"game": game, "setting": "no search", "values": "", "before": before, "after": before}
            | {"worst": 0.0, "gain": 0.0, "least": 0.0}
        )
        for name, used in compared.items():
            if used is None or used[1] not in settings.stepsizes:
                continue
            for depth in (used[0], EXACT):
                found = _of(own, depth=depth, stepsize=used[1], temperature=used[2])
                after = statistics.fmean(row["after"] for row in found)
                row = _summary(found)
                row.pop("rise")
                judged.append(
                    {"game": game, "setting": name, "values": _told(depth)}
                    | {"before": before, "after": after, **row}
                )
    return Report(
        "",
        [
            "Exploitability is half of NashConv, in utility units, of the network's policy after "
            "one step in all infosets; what search earns against the network is exact, too, in "
            "utility ranges, mean of both seats. Stepsizes are in units of 1 / utility range and "
            "temperatures in utility ranges: 20 and 0.003 are 10 and 0.006 of the authors' program "
            "(github.com/StrategoAI/ataraxos), where utilities are from -1 to 1.",
            f"Networks are {', '.join(settings.learners)} after {settings.num_steps} learner "
            f"steps. {_how_chosen(settings)} "
            + ("None was found." if setting is None else f"It is {_setting_told(setting)}."),
            f"A search plays at least {settings.num_rollouts} games from at most {settings.budget} "
            "histories, to the end or for some moves, and on to the player's next decision, where "
            "the network says what it is worth. No infoset has more histories here, so beliefs are "
            "exact. Exact values are those of the network's policy, with nothing sampled.",
        ],
        {
            _JUDGED: Table(
                judged,
                {
                    "game": "game",
                    "setting": "setting",
                    "values": "action values",
                    "before": "network's exploitability (mean)",
                    "after": "with search (mean)",
                    "worst": "worst rise (share)",
                    "gain": "earned against the network (mean)",
                    "least": "least earned",
                },
            ),
            _CHOSEN_BY: Table(
                told,
                {
                    "depth": "depth",
                    "stepsize": "stepsize",
                    "temperature": "temperature",
                    "gain": "earned (mean)",
                    "least": "least earned",
                    "rise": "mean rise (share)",
                    "worst": "worst rise (share)",
                    "chosen": "chosen",
                },
            ),
        },
        more={
            "by_network": [
                row
                for row in rows
                if (row["stepsize"], row["temperature"])
                in {used[1:] for used in compared.values() if used is not None}
            ]
        },
    )


def _how_chosen(settings: Settings) -> str:
    if not settings.num_choosing:
        return "The setting was fixed before these networks were made, and all of them judge it."
    return (
        f"The setting is that which earns most on the first {settings.num_choosing} of each game "
        f"among those that raise exploitability by at most {settings.most:.0%} and win on all of "
        "them; the others judge it."
    )


def _told(depth: int) -> str:
    return _NAMES.get(depth, f"{depth} moves")


def _setting_told(setting: Setting) -> str:
    depth, stepsize, temperature = setting
    return f"{_told(depth)}, stepsize {stepsize:g}, temperature {temperature:g}"


def _judge(tables: Tables, most: float = 0.05) -> Judgement:
    """The chosen setting on the judging networks of each game, by sampled values."""
    rows = [row for row in tables[_JUDGED] if row["setting"] == "chosen"]
    sampled = [row for row in rows if row["values"] != _NAMES[EXACT]]
    parts = {row["game"]: row["worst"] <= most and row["least"] > 0 for row in sampled}
    return Judgement(
        verdict(parts) if parts else "does not hold: no setting was found",
        "; ".join(
            f"{row['game']}: exploitability {row['before']:.3g} to {row['after']:.3g}, worst rise "
            f"{row['worst']:.1%}, earned {row['gain']:.2g} of the utility range"
            for row in sampled
        ),
    )


SWEEP = Experiment(
    name="mirror_descent_sweep",
    title="Mirror-descent search by stepsize, temperature and depth, exactly evaluated",
    metric="exploitability (utility) and return against the network (utility ranges)",
    claim=(
        "has no such experiment; held is that one setting, chosen without the networks that judge "
        "it, wins against each of them and raises the exploitability of none by more than 5 %."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=functools.partial(_judge, most=Settings.most),
)
ROWS = (
    Row(
        SWEEP,
        "particle_search/boards",
        Settings(("dark_hex_2x2", "abrupt_dark_hex_2x2", "goofspiel_4_descending")),
        minutes=5,
    ),
    Row(SWEEP, "particle_search/leduc", Settings(("leduc",)), minutes=6),
    # Of depth 2, the largest step that raised no network's exploitability by more in the sweep of
    # boards; other networks, and a game that was not in it.
    *(
        Row(
            SWEEP,
            f"particle_search/small_steps_{name}",
            Settings(
                games,
                learners=("rnad:4", "mmd:4", "rnad:5", "mmd:5", "rnad:6"),
                num_choosing=0,
                stepsizes=(0.3, 20.0),
                temperatures=(0.0, 0.003),
                depths=(2,),
            ),
            minutes=3,
        )
        for name, games in (
            ("boards", ("dark_hex_2x2", "abrupt_dark_hex_2x2", "goofspiel_4_descending")),
            ("leduc", ("leduc",)),
        )
    ),
)
