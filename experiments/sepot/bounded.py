"""What the bound on the size of searches costs, exactly.

Kubíček et al. (2023), Table 1, search where a look-ahead has at most 25,000 or 100,000 histories.
In large games that leaves the last rounds to the network, as public states grow faster than what
is left of the game shrinks. Here a small game is searched within bounds that do the same, by exact
critics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from experiments.sepot.blueprints import digest_of, with_exact_critic
from experiments.sepot.earned import BLUEPRINTS, outcome
from experiments.sepot.study import GameStudy, Study
from experiments.study import Experiment
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS

GAMES = ("goofspiel_5_descending",)
Rows = list[dict[str, Any]]
_TITLES = {
    "blueprint": "blueprint",
    "most": "largest search (unique histories)",
    "searched": "infosets searched",
    "before": "blueprint's NashConv",
    "after": "with search",
    "earned": "earned against the blueprint (utility a game)",
}


class Item(NamedTuple):
    """One search.

    Attributes:
      study: of the game.
      blueprint: as `blueprints.blueprint_of` takes it.
      most: unique histories of a search.
    """

    study: GameStudy
    blueprint: str
    most: int

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the part."""
        return {
            "blueprint": self.blueprint,
            "most": self.most,
            "limit": str(self.study.limits[0]),
            "iterations": self.study.settings.iterations,
            "transformations": self.study.transformations,
            "file": digest_of(self.blueprint),
        }


def measure(item: Item) -> dict[str, float]:
    """What a search earns, how exploitable it is and where it is made; for `distributed.map`."""
    study = item.study
    tree, blueprint, critic = with_exact_critic(study.game, item.blueprint, study.transformations)
    effort = Effort(study.settings.iterations, variant=PREDICTIVE_CFR_PLUS)
    config = SearchConfig(max_histories=item.most, effort=effort)
    policy = SePoTPolicy(tree, blueprint, critic, study.limits[0], config=config)
    found = policy.to_array_policy()
    searched = sum(float(each.mean()) for each in policy.step.searched) / 2
    return {**outcome(tree, blueprint, found), "searched": searched}


def _compute(study: Study) -> Rows:
    return [row for each in study.games(*GAMES) for row in _rows(each)]


def _rows(study: GameStudy) -> Rows:
    names = [name.format(game=study.name) for name in study.settings.blueprints or BLUEPRINTS]
    items = [Item(study, name, most) for name in names for most in study.settings.bounds]
    named = [(file_name("bounded", item.blueprint, item.most), item.settings) for item in items]
    found = study.workspace.parts(named, measure, items, f"{study.name}: bounded")
    return [
        {"game": study.name, "blueprint": item.blueprint, **result, "most": item.most}
        for item, result in zip(items, found, strict=True)
    ]


def _report(study: Study, rows: Rows) -> Report:
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    titles = {**_TITLES, "left": "NashConv with search / the blueprint's"}
    panel = Panel("searched", "left", _TITLES["searched"], titles["left"], "linear", "log")
    left = [{**row, "left": row["after"] / row["before"]} for row in rows]
    pictures = [
        Picture(
            file_name("bounded", each.name),
            f"{BOUNDED.title}\n{each.game}",
            [panel],
            {
                name: [row for row in left if (row["game"], row["blueprint"]) == (each.name, name)]
                for name in dict.fromkeys(row["blueprint"] for row in rows)
            },
        )
        for each in games
    ]
    part = [row for row in rows if row["most"] < max(study.settings.bounds)]
    worse = sum(row["after"] > row["before"] for row in part)
    whole = [row for row in rows if row["most"] == max(study.settings.bounds)]
    return Report(
        "",
        [
            "Critics are exact. Returns are exact means over both seats, in utility units. Search "
            f"is SePoT with its defaults, {study.settings.iterations:,} iterations of predictive "
            "CFR+, where the look-ahead has no more histories than allowed; elsewhere it is the "
            "blueprint. Infosets searched are a share of each player's, with equal weights.",
            *(f"{each.describe()}; searches look {each.limits[0]} ahead." for each in games),
        ],
        {"By blueprint and bound": Table(rows, _TITLES)},
        pictures,
        headline=f"worse than the blueprint within a smaller bound: {worse} of {len(part)}; within "
        f"the largest: {sum(row['after'] > row['before'] for row in whole)} of {len(whole)}",
    )


BOUNDED = Experiment(
    "bounded",
    "What the bound on the size of searches costs",
    "NashConv (utility)",
    "",
    _compute,
    _report,
    ("games", "transformations", "limits", "iterations", "blueprints", "bounds"),
)
