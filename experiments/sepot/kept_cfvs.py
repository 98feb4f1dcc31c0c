"""Given cfvs that can be kept, and refined gadgets: exact NashConv of searches in small games.

Exact critics exclude errors of learning. Learned ones, each of a blueprint that does not change,
have those of small games; `gains` has larger ones.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from typing import Annotated, Any, NamedTuple

from experiments.experiment import OURS, Experiment, Row
from experiments.sepot import study as sepot_study
from experiments.sepot.evaluation import compiled
from experiments.verdicts import Judgement, Tables, grouped, verdict
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.config import CriticConfig
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play import registry
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.system.parameters import Bounds
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

Rows = list[dict[str, Any]]
_GIVEN_CFVS = ("transformations", "best_response")
_ALL_GAMES, _NASH_CONV = "All games", "NashConv"


@dataclasses.dataclass(frozen=True)
class Settings(sepot_study.Settings):
    """Small games; seeds are those of critics.

    Attributes:
      blueprints: names of policies in `play.registry`, or models of the zoo with {game} in them.
      critic_steps: learner steps of each critic, alone; 0: critics are exact.
    """

    blueprints: tuple[str, ...] = ("uniform", "random:0", "rnad:{game}")
    critic_steps: Annotated[int, Bounds(0)] = 0

    @property
    def networks(self) -> tuple[str, ...]:
        """See `Checked.networks`."""
        own = [name for name in self.blueprints if "{game}" in name]
        return tuple(name.format(game=game) for game in self.games for name in own)


Study = sepot_study.Study[Settings]


class _Case(NamedTuple):
    """A blueprint and its critic, for `distributed.map`."""

    game: str
    blueprint: str
    seed: int
    transformations: str
    limit: DepthLimit
    iterations: int
    critic_steps: int


def _measure(case: _Case) -> Rows:
    """NashConv of the blueprint, and of each kind of search on top of it."""
    tree = compiled(case.game)
    blueprint = registry.load_array_policy(case.blueprint, tree)
    critic, before = _critic(case, tree, blueprint), nash_conv(tree, blueprint)
    effort, rows = dataclasses.replace(DEFAULT_EFFORT, iterations=case.iterations), []
    for cfvs, refinement in itertools.product(_GIVEN_CFVS, ("none", "prior", "mixed")):
        config = SearchConfig(given_cfvs=cfvs, refinement=refinement, effort=effort)
        policy = SePoTPolicy(tree, blueprint, critic, case.limit, config=config)
        after = nash_conv(tree, policy.to_array_policy())
        kind = {"given_cfvs": cfvs, "refinement": refinement}
        rows.append({**kind, "before": before, "after": after})
    return rows


def _critic(case: _Case, tree: GameTree, blueprint: ArrayPolicy) -> Critic:
    transformations = transformations_by_name(case.transformations, tree.game)
    if not case.critic_steps:
        return ExactCritic(tree, blueprint.strategies, transformations)
    config = CriticConfig(seed=case.seed, decay_steps=case.critic_steps)
    learner = CriticLearner(tree, blueprint, transformations, config)
    learner.run(case.critic_steps)
    return learner.critic()


def _compute(study: Study) -> Rows:
    """NashConv of all searches."""
    settings, rows = study.settings, []
    for each in study.games():
        cases = [
            _Case(
                each.game,
                name.format(game=each.name),
                seed,
                each.transformations,
                each.limits[0],
                settings.iterations,
                settings.critic_steps,
            )
            for name, seed in itertools.product(settings.blueprints, settings.seeds)
        ]
        parts = [
            (
                file_name("kept", case.blueprint, case.seed),
                {
                    **case._asdict(),
                    "limit": str(case.limit),
                    "file": registry.digest(case.blueprint),
                },
            )
            for case in cases
        ]
        found = each.workspace.parts(parts, _measure, cases, f"{each.name}: searches")
        for case, own in zip(cases, found, strict=True):
            labels = {"game": each.name, "blueprint": case.blueprint, "critic": case.seed}
            rows += [{**labels, **row} for row in own]
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
    steps = study.settings.critic_steps
    return Report(
        "",
        [
            "Exact NashConv, in utility units, of searches by critics of the blueprint; "
            + (f"they learned for {steps:,} steps." if steps else "they are exact."),
            "The kinds of search were chosen after trials with exact critics in these games and "
            "two others.",
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
    """Judges that searches leave less of NashConv if refined, and if cfvs can be kept as well."""
    left = {(row["given_cfvs"], row["refinement"]): row["left"] for row in tables[_ALL_GAMES]}
    parts = {f"refined, {cfvs}": left[cfvs, "prior"] < left[cfvs, "none"] for cfvs in _GIVEN_CFVS}
    shown = (left["transformations", "none"], left["best_response", "prior"])
    parts["kept and refined"] = shown[1] < shown[0]
    headline = "NashConv left: cfvs of transformations {:.2f}, kept and refined {:.2f}".format(
        *shown
    )
    return Judgement(verdict(parts), headline)


KEPT_CFVS = Experiment(
    name="kept_cfvs",
    title="Given cfvs that can be kept, and refined gadgets, in small games",
    metric="NashConv (utility)",
    claim="",
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    version=2,
)
_GAMES = ("battleships_2x2", "leduc", "goofspiel_5_descending")
ROWS = (
    Row(KEPT_CFVS, "sepot", Settings(_GAMES, (0,)), OURS, 10),
    Row(
        KEPT_CFVS,
        "sepot/learned_critics",
        Settings(_GAMES, (0, 1, 2), blueprints=("rnad:{game}",), critic_steps=20_000),
        OURS,
        45,
    ),
)
