"""Why a search is worse than its blueprint, where one is: one change at a time.

The cases are those of `sepot.ablation` in which the defaults made a blueprint worse by more
than its bound. Each change is one that could be the cause: too few iterations, what the opponent
is given, the gadget, how far a search looks, which transformations the opponent has behind the
leaves, or the search at the root, which has no gadget: what is chosen there goes by what these
transformations can do, and by nothing else.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from experiments.sepot.blueprints import digest_of, with_exact_critic
from experiments.sepot.evaluation import judge
from experiments.sepot.study import GameStudy, Study
from experiments.study import Experiment
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.depth_limit import DepthLimit

CASES = {
    "battleships_2x2": (("fixed:1", DepthLimit(rounds=1)),),
    "leduc": tuple((name, DepthLimit(plies=1)) for name in ("fixed:4", "fixed:6", "quantal:0.2")),
}
"""By game: blueprints and depth limits with which the defaults are worse."""
DEFAULTS = "the defaults"
CHANGES: dict[str, dict[str, Any]] = {
    DEFAULTS: {},
    "4 times the iterations": {"times": 4},
    "16 times the iterations": {"times": 16},
    "given cfvs of the identity": {"given_cfvs": "critic"},
    "given cfvs of previous searches": {"continual": True},
    "given cfvs of best responses": {"given_cfvs": "best_response"},
    "refined gadget": {"refinement": "ones"},
    "max-margin gadget": {"gadget": "max_margin"},
    "one more level": {"levels": 1},
    "transformations 'paper'": {"transformations": "paper"},
    "transformations 'pure'": {"transformations": "pure"},
    "the first level by the blueprint": {"first_level": 1},
}
"""Of `SearchConfig`; of the iterations, by a factor; of the depth limit, by levels; or of the
critic's transformations."""
_TITLES = {
    "game": "game",
    "blueprint": "blueprint",
    "limit": "depth limit",
    "change": "change",
    "before": "NashConv before",
    "after": "after",
    "players": "exploitability of players 0 and 1, before",
    "players_after": "of players 0 and 1, after",
}


class Item(NamedTuple):
    """One search.

    Attributes:
      study: of the game.
      blueprint: as `ablation.blueprint_of` takes it.
      depth_limit: of searches, before the change.
      change: of `CHANGES`.
    """

    study: GameStudy
    blueprint: str
    depth_limit: DepthLimit
    change: str

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the part; its name is made of them."""
        return {
            "blueprint": self.blueprint,
            "limit": str(self.depth_limit),
            "change": self.change,
            "iterations": self.study.settings.iterations,
            "transformations": self.study.transformations,
            "file": digest_of(self.blueprint),
        }


def measure(item: Item) -> dict[str, Any]:
    """The blueprint and the search, as `evaluation.judge` judges them; for `distributed.map`."""
    study = item.study
    change = dict(CHANGES[item.change])
    limit = item.depth_limit.with_value(item.depth_limit.value + change.pop("levels", 0))
    iterations = study.settings.iterations * change.pop("times", 1)
    effort = Effort(iterations, variant=PREDICTIVE_CFR_PLUS)
    known = change.pop("transformations", study.transformations)
    tree, blueprint, critic = with_exact_critic(study.game, item.blueprint, known)
    start = time.process_time()
    config = SearchConfig(effort=effort, **change)
    policy = SePoTPolicy(tree, blueprint, critic, limit, config=config).to_array_policy()
    seconds = time.process_time() - start
    return {"before": judge(tree, blueprint), "after": judge(tree, policy), "seconds": seconds}


def _compute(study: Study) -> list[dict[str, Any]]:
    return [row for each in study.games(*CASES) for row in _rows(each)]


def _rows(study: GameStudy) -> list[dict[str, Any]]:
    items = [
        Item(study, blueprint, limit, change)
        for blueprint, limit in CASES.get(study.name, ())
        for change, what in CHANGES.items()
        # The defaults have these already.
        if what.get("transformations") != study.transformations
    ]
    named = [(file_name("isolated", *item.settings.values()), item.settings) for item in items]
    found = study.workspace.parts(named, measure, items, f"{study.name}: isolated")
    return [
        {
            "game": study.name,
            "blueprint": item.blueprint,
            "limit": str(item.depth_limit),
            "change": item.change,
            "before": result["before"]["nash_conv"],
            "after": result["after"]["nash_conv"],
            "players": _players(result["before"]),
            "players_after": _players(result["after"]),
            "seconds": result["seconds"],
        }
        for item, result in zip(items, found, strict=True)
    ]


def _players(judged: dict[str, float]) -> str:
    return ", ".join(f"{judged[f'exploitability_{player}']:.3g}" for player in (0, 1))


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    by_change: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_change.setdefault(row["change"], []).append(row)
    return Report(
        ISOLATED.title,
        [
            "NashConv and exploitability are in utility units, exact; critics are exact. Each line "
            "changes one thing of the defaults of the ablation, "
            f"{study.settings.iterations:,} iterations of predictive CFR+ in each search.",
            "The defaults' transformations are named below; the game's first level, where the "
            "search begins at the root, is one round or ply.",
            *(f"{each.describe()}; transformations '{each.transformations}'." for each in games),
        ],
        {"One change at a time": Table(rows, _TITLES)},
        headline="not worse: "
        + ", ".join(
            f"{sum(row['after'] <= row['before'] for row in own)} of {len(own)} with {change}"
            for change, own in by_change.items()
        ),
    )


ISOLATED = Experiment(
    "isolated",
    "Why a search is worse than its blueprint, where one is",
    "NashConv (utility)",
    "",
    _compute,
    _report,
    ("games", "transformations", "iterations"),
)
