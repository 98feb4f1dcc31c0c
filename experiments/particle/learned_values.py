"""Whether the learned values, or the search that asks them, make particle search exploitable.

Beyond the particle paper: continual resolving with all histories of every public state, by the
optimal value function and by networks of self-play, with and without a gadget. Nothing is sampled,
so what differs is whose values are asked, and what is put on top.
"""

from __future__ import annotations

import functools
import itertools
import statistics
from pathlib import Path
from typing import Any

from experiments.particle.iterations import compiled, learned_network, measured, told_of
from experiments.particle.play import OPPONENTS
from experiments.particle.study import SIZES, Study
from experiments.study import Experiment, Judgement, Tables, deviation, verdict
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.value_functions import ExactValue
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.particle import ParticleNetwork

_OPTIMAL = "optimal"
_GADGETS = ("unsafe", "resolving")
_MEANS, _ALL = "Means", "All searches"
_FEWER = 0.1
Rows = list[dict[str, Any]]


def _compute(study: Study) -> Rows:
    """What the search comes to by each value function, with each gadget."""
    settings = study.settings
    told = told_of(study, VALUES)
    every = [(games, seed) for games in settings.learned_games for seed in settings.seeds]
    paths = {(games, seed): learned_network(study, VALUES, seed, games) for games, seed in every}
    rows = []
    for gadget, iterations in itertools.product(_GADGETS, settings.search_iterations):
        search = {"gadget": gadget, "iterations": iterations}
        own = {**told, "gadget": gadget, "search_iterations": iterations}
        found = study.workspace.part(
            f"optimal-{gadget}-{iterations}",
            own,
            functools.partial(_search, study, gadget, iterations, None),
        )
        rows.append({"values": _OPTIMAL, "seed": None, **search, **found})
        for games, seed in every:
            found = study.workspace.part(
                f"games-{games}-seed-{seed}-{gadget}-{iterations}",
                {**own, "games": games, "seed": seed},
                functools.partial(_search, study, gadget, iterations, paths[games, seed]),
            )
            rows.append({"values": _named(games), "seed": seed, **search, **found})
    return rows


def _search(study: Study, gadget: str, iterations: int, path: Path | None) -> dict[str, float]:
    """The numbers of one search, as `measured` has them; by optimal values without a network."""
    _, limit, _ = study.game_and_play()
    values: ValueFunction = ExactValue()
    if path is not None:
        values = ParticleNetwork.load(path, device=study.settings.device)
    tree, effort = compiled(study), Effort(iterations)
    policy = ContinualResolvingPolicy(tree, values, limit, gadget=gadget, effort=effort)
    return measured(tree, policy.to_array_policy())


def _named(games: int) -> str:
    return f"{games:,} games of self-play"


def _report(study: Study, rows: Rows) -> Report:
    game, limit, play = study.game_and_play()
    means: Rows = []
    for key in dict.fromkeys(map(_key, rows)):
        of = [row for row in rows if _key(row) == key]
        line: dict[str, Any] = dict(zip(_KEY, key, strict=True))
        line |= {name: statistics.fmean(row[name] for row in of) for name in _TITLES}
        if len(of) > 1:
            line["deviation"] = deviation([row["nash_conv"] for row in of])
        means.append(line)
    return Report(
        f"Learned values and optimal ones in {game}",
        [
            f"Continual resolving in blocks of {limit}, from all histories of every public state. "
            f"Networks of self-play, with {play.iterations:,} iterations in each search below at "
            f"most {play.budget:,} particles; seeds {', '.join(map(str, study.settings.seeds))}, "
            "each number of games by itself. All numbers are exact. Returns are means over both "
            "seats, in utility units.",
        ],
        {
            _MEANS: Table(
                means, {**_KEY, **_TITLES, "deviation": "standard deviation of NashConv"}
            ),
            _ALL: Table(rows, {"seed": "seed", **_KEY, **_TITLES}),
        },
    )


def _key(row: Any) -> tuple[Any, ...]:
    """What a row of all searches has in common with those of other seeds."""
    return tuple(row[name] for name in _KEY)


def _judge(tables: Tables) -> Judgement:
    """Whether optimal values take nearly all of the exploitability away, and games some of it."""
    rows, parts = tables[_MEANS], {}
    found = {_key(row): row["nash_conv"] for row in rows}
    names = [name for name in dict.fromkeys(row["values"] for row in rows) if name != _OPTIMAL]
    for gadget, iterations in dict.fromkeys((row["gadget"], row["iterations"]) for row in rows):
        optimal, *learned = (found[name, gadget, iterations] for name in (_OPTIMAL, *names))
        search = f"{gadget}, {iterations:,} iterations"
        parts[f"{search}: a tenth by optimal values"] = optimal <= _FEWER * min(learned)
        for (fewer, before), (more, after) in itertools.pairwise(zip(names, learned, strict=True)):
            parts[f"{search}: less by {more} than by {fewer}"] = after < before
    told = (f"{row['nash_conv']:.3g} by {row['values']}, {row['gadget']}" for row in rows)
    return Judgement(verdict(parts), f"NashConv {'; '.join(told)}")


_KEY = {"values": "values", "gadget": "gadget", "iterations": "iterations in each search"}
_TITLES = {
    "nash_conv": "NashConv, in utility units",
    **{opponent: f"mean return against {opponent}" for opponent in reversed(OPPONENTS)},
}
VALUES = Experiment(
    "values",
    "Learned values and optimal ones",
    "NashConv (utility)",
    "has no such experiment; held is that with optimal values the same search has at most a tenth "
    "of the NashConv that it has with networks of self-play, with and without a gadget, and that "
    "networks of more games have less.",
    _compute,
    _report,
    (
        "game", "depth_limit", "iterations", "play", "learned_games", "search_iterations", "seeds",
        "device", *SIZES,
    ),
    _judge,
)  # fmt: skip
