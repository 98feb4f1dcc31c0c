"""What the caution of a search costs it against its own network, exactly.

SePoT is made to be hard to exploit: its opponent may follow the transformation that is best for it
at every leaf, and may stay out of a subgame for what it is given. Kubíček et al. (2023), Table 1,
play it against a network that does neither. Here one thing at a time is taken from the defaults,
with exact critics: what does search then earn against its network, and how exploitable is it? In
small games that is told by their trees, in Goofspiel with 8 cards as `earned_large` does it.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from experiments.sepot.blueprints import digest_of, with_exact_critic
from experiments.sepot.earned import outcome
from experiments.sepot.earned_large import EXACT, Item, part_of
from experiments.sepot.networks import Networks
from experiments.sepot.search_readings import READINGS, Reading
from experiments.sepot.study import TO_THE_END, GameStudy, Study, within
from experiments.study import Experiment
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.tree.depth_limit import DepthLimit

GAMES = {
    "goofspiel_5_descending": ("mmd:{game}", "rnad:{game}"),
    "goofspiel_5_random": ("mmd:{game}",),
    "leduc": ("mmd:{game}", "rnad:{game}"),
    "battleships_2x2": ("mmd:{game}", "rnad:{game}"),
}
"""Blueprints of the model zoo."""
LARGE_GAMES = ("goofspiel_8_descending",)
Rows: TypeAlias = list[dict[str, Any]]
_TITLES = {
    "game": "game",
    "blueprint": "blueprint",
    "limit": "depth limit",
    "reading": "search",
    "before": "blueprint's NashConv",
    "after": "with search",
    "earned": "earned against the blueprint (utility a game)",
    "most": "earned by a best response",
}


class SmallItem(NamedTuple):
    """One search in a game that is compiled.

    Attributes:
      study: of the game.
      blueprint: as `blueprints.blueprint_of` takes it.
      depth_limit: of searches.
      name: of the reading.
      reading: how it searches.
    """

    study: GameStudy
    blueprint: str
    depth_limit: DepthLimit
    name: str
    reading: Reading

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the part."""
        return {
            "blueprint": self.blueprint,
            "limit": str(self.depth_limit),
            "reading": self.name,
            "iterations": self.study.settings.iterations,
            "transformations": self.study.transformations,
            "file": digest_of(self.blueprint),
        }


def measure(item: SmallItem) -> dict[str, float]:
    """What a search earns, and how exploitable it is; for `distributed.map`."""
    study, reading = item.study, item.reading
    tree, blueprint, critic = with_exact_critic(
        study.game, item.blueprint, study.transformations, may_choose=reading.may_choose
    )
    effort = dataclasses.replace(DEFAULT_EFFORT, iterations=study.settings.iterations)
    config = SearchConfig(effort=effort, **reading.config)
    policy = SePoTPolicy(tree, blueprint, critic, item.depth_limit, config=config)
    return outcome(tree, blueprint, policy.to_array_policy())


def _compute(study: Study) -> Rows:
    return [
        row
        for each in study.games(*GAMES)
        for row in rows_of(each, GAMES.get(each.name, ("mmd:{game}",)), READINGS, "readings")
    ]


def rows_of(
    study: GameStudy, blueprints: Sequence[str], readings: Mapping[str, Reading], what: str
) -> Rows:
    """What searches earn in a small game, and how exploitable they are, by exact critics.

    Args:
      study: of the game; its settings may name other blueprints.
      blueprints: as `blueprints.blueprint_of` takes them, with {game} for the game's name.
      readings: ways to search, by name.
      what: what the parts' names begin with.
    """
    items = [
        SmallItem(study, name.format(game=study.name), limit, each, reading)
        for name in study.settings.blueprints or blueprints
        for limit in study.limits
        for each, reading in readings.items()
    ]
    named = [
        (file_name(what, item.blueprint, str(item.depth_limit), item.name), item.settings)
        for item in items
    ]
    found = study.workspace.parts(named, measure, items, f"{study.name}: {what}")
    labels = ("blueprint", "limit", "reading")
    ends = {limit: study.looks_to_the_end(limit) for limit in study.limits}
    return [
        {
            "game": study.name,
            **{name: item.settings[name] for name in labels},
            "to_the_end": ends[item.depth_limit],
            **result,
        }
        for item, result in zip(items, found, strict=True)
    ]


def _large(study: Study) -> Rows:
    """The same in the game of Table 1, at each bound of the study.

    Raises:
      ValueError: if a network is missing, or a game is none that `Deck` knows.
    """
    rows: Rows = []
    for each in study.games(*LARGE_GAMES):
        networks = Networks(each)
        networks.check()
        for seed in networks.seeds:
            for reading in READINGS:
                for most in study.settings.bounds:
                    labels = {
                        "game": each.name,
                        "blueprint": f"seed {seed}",
                        "limit": str(each.limits[0]),
                        "reading": reading,
                        "to_the_end": False,
                    }
                    rows.append({**labels, **part_of(Item(networks, seed, EXACT, most, reading))})
    return rows


def _report(study: Study, rows: Rows) -> Report:
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    return Report(
        "",
        [
            "Critics are exact. Returns are exact means over both seats, in utility units, against "
            "a blueprint that does not search; what best responses earn is half of NashConv. "
            f"Searches make at most {study.settings.iterations:,} iterations of predictive CFR+.",
            *(f"{name}: {reading.what}." for name, reading in READINGS.items()),
            *(each.describe() + "." for each in games),
            TO_THE_END,
        ],
        {"By search": Table(rows, _TITLES)},
        headline="mean earned and mean change of NashConv: "
        + "; ".join(
            f"{each.name}: "
            + ", ".join(
                f"{reading} {_gain(_of(within(rows), each.name, reading))}" for reading in READINGS
            )
            for each in games
        ),
    )


def _of(rows: Rows, game: str, reading: str) -> Rows:
    return [row for row in rows if (row["game"], row["reading"]) == (game, reading)]


def _gain(rows: Rows) -> str:
    """What search earns, and by how much it changes NashConv: means over the rows, in words."""
    earned = statistics.fmean(row["earned"] for row in rows)
    change = statistics.fmean(row["after"] - row["before"] for row in rows)
    return f"{earned:.4f} and {change:+.3f}"


SEARCH_READINGS = Experiment(
    "readings",
    "What the caution of SePoT's search costs against its own network",
    "mean return (utility)",
    "",
    _compute,
    _report,
    ("games", "transformations", "limits", "iterations", "blueprints"),
)
LARGE_READINGS = dataclasses.replace(
    SEARCH_READINGS,
    name="readings_large",
    title="What the caution of SePoT's search costs in Goofspiel with 8 cards",
    compute=_large,
    uses=("games", "seeds", "transformations", "limits", "iterations", "network", "bounds"),
)
