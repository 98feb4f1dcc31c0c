"""What search earns against its own network with critics that have not learned for long, exactly.

In large games nobody knows how wrong a critic is, only how far it is from itself a round later
(`residuals`). Here critics of a small game's network learn for more and more steps. What their
residuals are, how wrong they are and what search by them earns is all known there, so that it can
be told what search earns by critics whose residuals are those of a large game.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from typing import Any, NamedTuple

import numpy as np

from experiments.sepot.blueprints import digest_of, with_exact_critic
from experiments.sepot.earned import mean_return
from experiments.sepot.evaluation import TRANSFORMATIONS, Search
from experiments.sepot.residuals import Valued, residuals
from experiments.sepot.study import GameStudy, Study
from experiments.study import Experiment
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.sepot import SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play import registry
from spiel_dl.play.tally import student_half_width
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

GAMES = ("goofspiel_5_descending",)
BLUEPRINTS = ("rnad:{game}",)
"""Networks of the zoo, or checkpoints."""
STEPS = (500, 1000, 2000, 4000, 8000, 16_000)
"""How many steps critics learn for; their learning rate falls until the last one."""
_TITLES = {
    "blueprint": "network",
    "steps": "critic's learner steps",
    "residual": "largest residual of a round (share of the utility range)",
    "error": "error (root mean square, share of the utility range)",
    "limit": "depth limit",
    "nash_conv": "NashConv with search",
    "earned": "earned against the network (utility a game)",
    "half_width": "± (95 %, t, over critics)",
}


class Item(NamedTuple):
    """A critic.

    Attributes:
      study: of the game.
      blueprint: name of the network.
      steps: how long it learns; 0: it is exact.
      seed: of its parameters and games.
    """

    study: GameStudy
    blueprint: str
    steps: int
    seed: int

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the part; its name is made of the blueprint, the steps and the seed."""
        settings = self.study.settings
        return {
            "blueprint": self.blueprint,
            "steps": self.steps,
            "seed": self.seed,
            "limits": [str(limit) for limit in self.study.limits],
            "iterations": settings.iterations,
            "transformations": self.study.transformations,
            "critic": settings.critic.to_json(),
            "exploration": settings.exploration,
            "batch_size": settings.learner.batch_size,
            "num_histories": settings.num_histories,
            "file": digest_of(self.blueprint),
        }


def measure(item: Item) -> dict[str, Any]:
    """A critic's residual and error, and what searches by it are worth; for `distributed.map`."""
    study = item.study
    tree, blueprint, exact = with_exact_critic(study.game, item.blueprint, study.transformations)
    told = {"before": exploitability.nash_conv(tree, blueprint)}
    if not item.steps:
        return {**told, "searches": _searches(study, tree, blueprint, exact)}
    learner = _learner(item, tree, blueprint)
    for _ in range(item.steps):
        learner.step()
    critic = learner.critic()
    path = registry.path_in(item.blueprint)
    if path is None:
        raise ValueError(f"{item.blueprint} is no network; residuals are of those")
    act = checkpoints.load_blueprint(path, tree.game).act
    known = transformations_by_name(study.transformations, tree.game)
    valued = Valued(act, critic, known)
    rounds = residuals(tree.game, valued, study.settings.num_histories, item.seed)
    return {
        **told,
        "residual": max(row["all"] for row in rounds),
        "error": _error(tree, critic, exact),
        "searches": _searches(study, tree, blueprint, critic),
    }


def _learner(item: Item, tree: GameTree, blueprint: ArrayPolicy) -> CriticLearner:
    settings = item.study.settings
    return CriticLearner(
        tree,
        blueprint,
        transformations_by_name(item.study.transformations, tree.game),
        dataclasses.replace(settings.critic, seed=item.seed, decay_steps=item.steps),
        batch_size=settings.learner.batch_size,
        exploration=settings.exploration,
    )


def _error(tree: GameTree, critic: Critic, exact: ExactCritic) -> float:
    """How wrong values are in all histories in which a player acts, as a share of their range."""
    histories = np.flatnonzero(tree.player >= 0)
    errors = [
        critic.values(tree, histories, player) - exact.values(tree, histories, player)
        for player in (0, 1)
    ]
    return float(np.sqrt(np.mean(np.square(errors)))) / tree.utility_range


def _searches(
    study: GameStudy, tree: GameTree, blueprint: ArrayPolicy, critic: Critic
) -> list[dict[str, Any]]:
    """What search in all public states is worth, at every depth limit."""
    found = []
    for limit in study.limits:
        policy = _searched(tree, blueprint, critic, limit, study.settings.iterations)
        found.append(
            {
                "limit": str(limit),
                "nash_conv": exploitability.nash_conv(tree, policy),
                "earned": mean_return(tree, policy, blueprint),
            }
        )
    return found


def _searched(
    tree: GameTree, blueprint: ArrayPolicy, critic: Critic, limit: DepthLimit, iterations: int
) -> ArrayPolicy:
    config = Search(limit, TRANSFORMATIONS, iterations).config()
    return SePoTPolicy(tree, blueprint, critic, limit, config=config).to_array_policy()


def _compute(study: Study) -> list[dict[str, Any]]:
    return [row for each in study.games(*GAMES) for row in _rows(each)]


def _rows(study: GameStudy) -> list[dict[str, Any]]:
    names = [name.format(game=study.name) for name in study.settings.blueprints or BLUEPRINTS]
    seeds = study.settings.seeds
    lines = [(name, steps) for name in names for steps in (*STEPS, 0)]
    groups = [
        [Item(study, *line, seed) for seed in (seeds if line[1] else seeds[:1])] for line in lines
    ]
    items = [item for group in groups for item in group]
    named = [
        (file_name("short_critics", item.blueprint, item.steps, item.seed), item.settings)
        for item in items
    ]
    results = iter(study.workspace.parts(named, measure, items, f"{study.name}: short critics"))
    rows = []
    for (name, steps), group in zip(lines, groups, strict=True):
        found = [next(results) for _ in group]
        mean = functools.partial(_mean, found)
        for number, limit in enumerate(study.limits):
            searches = [each["searches"][number] for each in found]
            earned = [each["earned"] for each in searches]
            rows.append(
                {
                    "game": study.name,
                    "blueprint": name,
                    "steps": steps or "exact",
                    "before": found[0]["before"],
                    "residual": mean("residual") if steps else None,
                    "error": mean("error") if steps else None,
                    "limit": str(limit),
                    "nash_conv": _mean(searches, "nash_conv"),
                    "earned": statistics.fmean(earned),
                    "half_width": student_half_width(earned),
                    "values": earned,
                }
            )
    return rows


def _mean(rows: list[dict[str, Any]], name: str) -> float:
    return statistics.fmean(row[name] for row in rows)


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    learned = [row for row in rows if row["steps"] != "exact"]
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in learned:
        curves.setdefault(f"{row['blueprint']}, {row['limit']}", []).append(row)
    first = rows[0]["limit"]
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    return Report(
        "",
        [
            "Residuals and errors are means over critics, and so are returns, which are exact "
            "means over both seats, in utility units. Search is SePoT with its defaults in all "
            f"public states, by {study.settings.iterations:,} iterations of predictive CFR+.",
            *(
                f"{name} has a NashConv of {before:.3g}; a best response earns half of that "
                "against it."
                for name, before in {row["blueprint"]: row["before"] for row in rows}.items()
            ),
            *(f"{each.describe()}; transformations '{each.transformations}'." for each in games),
        ],
        {"By the steps of critics": Table(rows, _TITLES)},
        [
            Picture(
                "",
                "by the residuals of critics; means over these, bands: 95 %, t",
                [
                    Panel(
                        "residual",
                        "earned",
                        "largest residual",
                        _TITLES["earned"],
                        "log",
                        "linear",
                        ("half_width",),
                    )
                ],
                curves,
            )
        ],
        headline=f"earned with {first}, by residual: "
        + "; ".join(
            f"{row['residual']:.1%}: {row['earned']:.4f}"
            for row in learned
            if row["limit"] == first
        ),
    )


SHORT_CRITICS = Experiment(
    "short_critics",
    "What SePoT earns with critics that have not learned for long",
    "mean return (utility)",
    "",
    _compute,
    _report,
    (
        "games", "seeds", "transformations", "limits", "iterations", "blueprints", "critic",
        "exploration", "num_histories",
    ),
)  # fmt: skip
