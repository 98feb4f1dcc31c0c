"""Given cfvs that can be kept, and refined gadgets: exact NashConv of searches in small games.

Critics are exact, which excludes errors of learning; see `gains` for learned ones.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from typing import Any, NamedTuple

from experiments.experiment import OURS, Experiment, Row
from experiments.sepot import study as sepot_study
from experiments.sepot.evaluation import compiled
from experiments.verdicts import Judgement, Tables, grouped, verdict
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play import registry
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.tree.depth_limit import DepthLimit

Rows = list[dict[str, Any]]
_GIVEN_CFVS = ("transformations", "best_response")
_ALL_GAMES, _NASH_CONV = "All games", "NashConv"


@dataclasses.dataclass(frozen=True)
class Settings(sepot_study.Settings):
    """Small games.

    Attributes:
      blueprints: names of policies in `play.registry`, or models of the zoo with {game} in them.
    """

    blueprints: tuple[str, ...] = ("uniform", "random:0", "rnad:{game}")

    @property
    def networks(self) -> tuple[str, ...]:
        """See `Checked.networks`."""
        own = [name for name in self.blueprints if "{game}" in name]
        return tuple(name.format(game=game) for game in self.games for name in own)


Study = sepot_study.Study[Settings]


class _Case(NamedTuple):
    """A blueprint and a search, for `distributed.map`."""

    game: str
    blueprint: str
    transformations: str
    limit: DepthLimit
    config: SearchConfig


def _measure(case: _Case) -> dict[str, float]:
    """NashConv of the blueprint, and of search on top of it by an exact critic."""
    tree = compiled(case.game)
    blueprint = registry.load_array_policy(case.blueprint, tree)
    transformations = transformations_by_name(case.transformations, tree.game)
    critic = ExactCritic(tree, blueprint.strategies, transformations)
    policy = SePoTPolicy(tree, blueprint, critic, case.limit, config=case.config)
    return {
        "before": nash_conv(tree, blueprint),
        "after": nash_conv(tree, policy.to_array_policy()),
    }


def _compute(study: Study) -> Rows:
    """NashConv of all searches."""
    rows: Rows = []
    effort = dataclasses.replace(DEFAULT_EFFORT, iterations=study.settings.iterations)
    for each in study.games():
        names = [name.format(game=each.name) for name in study.settings.blueprints]
        kinds = itertools.product(_GIVEN_CFVS, ("none", "prior", "mixed"))
        cases = [
            _Case(
                each.game,
                name,
                each.transformations,
                each.limits[0],
                SearchConfig(given_cfvs=cfvs, refinement=refinement, effort=effort),
            )
            for name, (cfvs, refinement) in itertools.product(names, kinds)
        ]
        labels = [
            {
                "game": each.name,
                "blueprint": case.blueprint,
                "given_cfvs": case.config.given_cfvs,
                "refinement": case.config.refinement,
            }
            for case in cases
        ]
        common = {
            "transformations": each.transformations,
            "limit": str(each.limits[0]),
            "iterations": effort.iterations,
        }
        parts = [
            (
                file_name("kept", *label.values()),
                {**label, **common, "file": registry.digest(case.blueprint)},
            )
            for label, case in zip(labels, cases, strict=True)
        ]
        found = each.workspace.parts(parts, _measure, cases, f"{each.name}: searches")
        rows += [{**label, **values} for label, values in zip(labels, found, strict=True)]
    return rows


def _totals(rows: Rows) -> Rows:
    """Geometric means of what is left of NashConv, over games and blueprints."""
    return [
        {
            "given_cfvs": cfvs,
            "refinement": refinement,
            "cases": len(own),
            "left": statistics.geometric_mean(row["after"] / row["before"] for row in own),
            "worse": sum(row["after"] > row["before"] for row in own),
        }
        for (cfvs, refinement), own in grouped(rows, "given_cfvs", "refinement").items()
    ]


def _report(study: Study, rows: Rows) -> Report:
    return Report(
        "",
        [
            "Exact NashConv, in utility units, of searches by exact critics of the blueprint.",
            "The kinds of search were chosen after trials in these games and two others.",
            *(f"{each.describe()}; {each.limits[0]} ahead." for each in study.games()),
        ],
        {
            _ALL_GAMES: Table.of(
                _totals(rows),
                given_cfvs="given cfvs",
                left="NashConv, of the blueprint's, geometric mean",
                worse="worse than the blueprint",
            ),
            _NASH_CONV: Table.of(rows, given_cfvs="given cfvs"),
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Judges that refined searches leave less of NashConv, with either kind of given cfvs."""
    left = {(row["given_cfvs"], row["refinement"]): row["left"] for row in tables[_ALL_GAMES]}
    parts = {f"refined, {cfvs}": left[cfvs, "prior"] < left[cfvs, "none"] for cfvs in _GIVEN_CFVS}
    shown = (left["transformations", "none"], left["best_response", "prior"])
    headline = "NashConv left: cfvs of transformations {:.2f}, kept and refined {:.2f}".format(
        *shown
    )
    return Judgement(verdict(parts), headline)


KEPT_CFVS = Experiment(
    name="kept_cfvs",
    title="Given cfvs that can be kept, and refined gadgets, below exact critics",
    metric="NashConv (utility)",
    claim="",
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    version=2,
)
ROWS = (
    Row(
        KEPT_CFVS,
        "sepot",
        Settings(("battleships_2x2", "leduc", "goofspiel_5_descending"), (0,)),
        OURS,
        10,
    ),
)
