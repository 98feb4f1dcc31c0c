"""How wrong a critic may be before search on top of a network is worse than the network.

Exact values get independent normal noise, one number for every history, player and transformation,
of a given standard deviation; nothing else changes. The opponent picks the transformation that is
best for it, so it picks what noise has raised. Search looks by the defaults, at the depth limits
of the other experiments, on top of trained networks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.sepot.blueprints import digest_of, with_exact_critic
from experiments.sepot.evaluation import TRANSFORMATIONS, Search, judge
from experiments.sepot.study import TO_THE_END, GameStudy, Study, within
from experiments.study import Experiment
from spiel_dl.algorithms.sepot import SePoTPolicy
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.play.tally import student_half_width
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

GAMES = ("goofspiel_5_descending", "leduc")
ERRORS = (0.0, 0.001, 0.002, 0.004, 0.008, 0.016)
"""Standard deviations of the noise, as shares of the utility range."""
_TITLES = {
    "game": "game",
    "blueprint": "blueprint",
    "limit": "depth limit",
    "error": "error (share of the utility range)",
    "before": "its NashConv",
    "nash_conv": "with search, mean",
    "half_width": "± (95 %, t, over seeds)",
    "below": "seeds on which it is lower",
}


class NoisyCritic(Critic):
    """An exact critic of one tree whose values are wrong, always by the same numbers.

    Attributes:
      error: standard deviation of the noise, in utility units.
    """

    def __init__(self, exact: ExactCritic, error: float, seed: int):
        """Draws the noise of both players' values."""
        self.error = error
        self._exact = exact
        shape = (2, len(exact.tree.parent), len(exact.strategies[0]))
        self._noise = error * np.random.default_rng(seed).standard_normal(shape)

    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; float64. The tree must be the exact critic's."""
        return self._exact.values(tree, histories, player) + self._noise[player, histories]

    def pair_values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """Not known: raises ValueError."""
        raise ValueError("noise is of the values of single transformations; use two_sided=False")


class Item(NamedTuple):
    """One search.

    Attributes:
      study: of the game.
      blueprint: as `ablation.blueprint_of` takes it.
      depth_limit: of searches.
      error: of the critic, as a share of the utility range.
      seed: of the noise.
    """

    study: GameStudy
    blueprint: str
    depth_limit: DepthLimit
    error: float
    seed: int

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the part; its name is made of them."""
        return {
            "blueprint": self.blueprint,
            "limit": str(self.depth_limit),
            "error": self.error,
            "seed": self.seed,
            "iterations": self.study.settings.iterations,
            "transformations": self.study.transformations,
            "file": digest_of(self.blueprint),
        }


def searched(item: Item) -> tuple[GameTree, ArrayPolicy, ArrayPolicy]:
    """The compiled game, the blueprint, and search on top of it in all public states."""
    study = item.study
    tree, blueprint, exact = with_exact_critic(study.game, item.blueprint, study.transformations)
    critic = NoisyCritic(exact, item.error * tree.utility_range, item.seed)
    config = Search(item.depth_limit, TRANSFORMATIONS, study.settings.iterations).config()
    policy = SePoTPolicy(tree, blueprint, critic, item.depth_limit, config=config)
    return tree, blueprint, policy.to_array_policy()


def measure(item: Item) -> dict[str, float]:
    """NashConv of the blueprint and of search on top of it; for `distributed.map`."""
    tree, *policies = searched(item)
    before, after = (judge(tree, each)["nash_conv"] for each in policies)
    return {"before": before, "nash_conv": after}


def _compute(study: Study) -> list[dict[str, Any]]:
    return [row for each in study.games(*GAMES) for row in _rows(each)]


def items_of(
    study: GameStudy, blueprints: Sequence[str], errors: Sequence[float]
) -> Iterator[Item]:
    """All searches: of every blueprint, at every depth limit, with every error and seed."""
    for blueprint, limit, error in itertools.product(blueprints, study.limits, errors):
        # Without noise, all seeds are the same.
        for seed in study.settings.seeds if error else study.settings.seeds[:1]:
            yield Item(study, blueprint, limit, error, seed)


def by_line(
    items: Sequence[Item], found: Sequence[dict[str, float]]
) -> dict[tuple[str, str, float], list[dict[str, float]]]:
    """What was found of each blueprint, depth limit and error, by all seeds."""
    lines: dict[tuple[str, str, float], list[dict[str, float]]] = {}
    for item, result in zip(items, found, strict=True):
        line = (item.blueprint, str(item.depth_limit), item.error)
        lines.setdefault(line, []).append(result)
    return lines


def _rows(study: GameStudy) -> list[dict[str, Any]]:
    blueprints = study.settings.blueprints or (f"mmd:{study.name}",)
    items = list(items_of(study, blueprints, ERRORS))
    named = [(file_name("critic_errors", *item.settings.values()), item.settings) for item in items]
    found = study.workspace.parts(named, measure, items, f"{study.name}: critic errors")
    rows = []
    ends = {str(limit): study.looks_to_the_end(limit) for limit in study.limits}
    for (blueprint, limit, error), results in by_line(items, found).items():
        values, before = [result["nash_conv"] for result in results], results[0]["before"]
        lower = sum(value < before for value in values)
        rows.append(
            {
                "game": study.name,
                "blueprint": blueprint,
                "limit": limit,
                "error": error,
                "to_the_end": ends[limit],
                "before": before,
                "nash_conv": float(np.mean(values)),
                "half_width": student_half_width(values),
                "values": values,
                "is_lower": lower == len(values),
                "below": f"{lower} of {len(values)}",
            }
        )
    return rows


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    pictures = []
    for game in games:
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row["game"] == game.name:
                groups.setdefault(f"{row['blueprint']}, {row['limit']}", []).append(row)
        panel = Panel(
            "error", "nash_conv", _TITLES["error"], "NashConv (utility), mean ± 95 % over seeds",
            "linear", band=("half_width",),
        )  # fmt: skip
        title = f"{CRITIC_ERRORS.title}\n{game.game}"
        pictures.append(Picture(file_name("critic_errors", game.name), title, (panel,), groups))
    # Lines of a limit come in the order of errors.
    shown = [row for row in within(rows) if row["is_lower"]]
    largest = {(row["game"], row["limit"]): row["error"] for row in shown}
    return Report(
        CRITIC_ERRORS.title,
        [
            "Values are exact but for independent normal noise with this standard deviation, in "
            "every history, for both players and all transformations. NashConv is in utility "
            "units, exact; "
            f"{study.settings.iterations:,} iterations of predictive CFR+ in each search, which "
            "has the defaults else.",
            *(f"{each.describe()}; transformations '{each.transformations}'." for each in games),
            TO_THE_END,
        ],
        {"NashConv by the critic's error": Table(rows, _TITLES)},
        pictures,
        headline="largest error with which search is better on all seeds: "
        + ", ".join(f"{error:g} ({game}, {limit})" for (game, limit), error in largest.items()),
    )


CRITIC_ERRORS = Experiment(
    "critic_errors",
    "How wrong a critic may be",
    "NashConv (utility)",
    "",
    _compute,
    _report,
    ("games", "seeds", "transformations", "limits", "iterations", "blueprints"),
)
