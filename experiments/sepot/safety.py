"""Safety of search: is a player that searches more exploitable than its blueprint?

Kubíček et al. (2023), sections 2, 4.2 and 4.3, and Burch, Johanson, Bowling (2014). Two sources of
the opponent's given cfvs at the root of a search:

  best response      the best-response value against the player's strategy so far. With searches to
                     the end of the game, this is safe.
  identity           the value of the blueprint itself: the paper's, from the critic's identity
                     transformation. A better opponent can get more.

Critics are exact, which excludes errors of learning; the trained network is judged with its own
critic as well.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.experiment import Experiment, Row
from experiments.sepot.evaluation import compiled, judge
from experiments.sepot.study import Trained, TrainedGame, TrainedStudy
from experiments.verdicts import Judgement, Tables, numbers_of, verdict
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.spec import Root
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME, DepthLimit, default_depth_limit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.trunk import cut

Study = TrainedStudy[Trained]
Game = TrainedGame[Trained]
BEST_RESPONSE, IDENTITY = "best response", "identity"
TRAINED_NETWORK = "trained"
_EXACT, _LEARNED = "exact", "learned"
_SUFFIX = ".safetensors"
_TO_THE_END = "to the end"
_COUNTS = "How often"
# Smaller changes are within the error of the solution.
_TOLERANCE = 0.01
_TITLES = {
    "game": "game",
    "blueprint": "blueprint",
    "critic": "critic",
    "cfvs": "given cfvs",
    "limit": "depth limit",
    "first_level": "searches from level",
    "player": "player",
    "change": "change of exploitability by search (utility)",
    "before": "exploitability of the blueprint (utility)",
    "after": "of search (utility)",
}


class Case(NamedTuple):
    """A search by both players.

    Attributes:
      study: the game's study.
      blueprint: a policy's name, see `play.registry`.
      critic: "exact", or "learned" with a checkpoint.
      cfvs: the source of given cfvs, see above.
      depth_limit: depth limit of each search; None: to the end of the game.
      first_level: the level where search starts; the blueprint is played above it.
    """

    study: Game
    blueprint: str
    critic: str
    cfvs: str
    depth_limit: DepthLimit | None
    first_level: int

    @property
    def looks(self) -> str:
        """The depth limit as text."""
        return _TO_THE_END if self.depth_limit is None else str(self.depth_limit)

    @property
    def is_trained(self) -> bool:
        """Whether the blueprint is a learner's checkpoint."""
        return self.blueprint.endswith(_SUFFIX)

    @property
    def settings(self) -> dict[str, Any]:
        """The part's settings; the blueprint's file is named without its folder."""
        path = Path(self.blueprint)
        return {
            "game": self.study.game,
            "blueprint": f"{path.parent.name}-{path.stem}" if self.is_trained else self.blueprint,
            "critic": self.critic,
            "transformations": self.study.transformations,
            "cfvs": self.cfvs,
            "depth_limit": self.looks,
            "first_level": self.first_level,
            "iterations": self.study.settings.iterations,
        }

    @property
    def name(self) -> str:
        """The part's name."""
        settings = self.settings
        words = ("blueprint", "critic", "cfvs", "depth_limit", "first_level", "iterations")
        return file_name("safety", *(settings[word] for word in words))


def _compute(study: Study) -> list[dict[str, Any]]:
    """Exploitability before and after search, by blueprint and source of given cfvs."""
    return [row for each in study.games() for row in _rows(each)]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    return Report(
        SAFETY.title,
        [
            "Exploitability of a player, in utility units, is what a best response to it earns "
            "above the game's value. An equilibrium is not more exploitable than any blueprint; an "
            "increase is what an unsafe search costs.",
            f"{study.settings.iterations:,} iterations of CFR+ in each search. "
            f"`{TRAINED_NETWORK}` is the study's network of its first seed at its last step. From "
            "level 0, the first search starts at the root, without gadget; from level 1, the "
            "blueprint is played down to there.",
            *(f"{each.describe()}." for each in study.games()),
        ],
        {
            _COUNTS: Table.of(
                counts(rows),
                cfvs="given cfvs",
                looks="depth limit",
                worse=f"more exploitable by more than {_TOLERANCE}",
                cases="of",
                largest="largest increase (utility)",
            ),
            "All searches": Table(rows, _TITLES),
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Judges searches to the end with best responses' cfvs (proved safe), and the paper's cfvs."""
    rows = tables[_COUNTS]
    parts = {
        f"{row['cfvs']}, {row['looks']}": not row["worse"]
        for row in rows
        if (row["cfvs"], row["looks"]) == (BEST_RESPONSE, _TO_THE_END) or row["cfvs"] == IDENTITY
    }
    return Judgement(
        verdict(parts),
        "more exploitable: "
        + "; ".join(
            f"{row['worse']} of {row['cases']} ({row['cfvs']}, {row['looks']})" for row in rows
        ),
    )


SAFETY = Experiment(
    name="safety",
    title="Is a player that searches more exploitable than its blueprint?",
    metric="exploitability of a player (utility)",
    claim=(
        "a search to the end of the game with given cfvs of best responses is safe (Burch et "
        "al. 2014, on which section 4.2 builds); held of these, and of the cfvs that the paper "
        f"takes, the identity's: that no player becomes more exploitable by {_TOLERANCE} "
        "utility units. With learned critics it may: in Goofspiel with 5 cards three networks of "
        "five do (`cfvs`)."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    version=3,  # The identity's cfvs go with the ranges that were played; networks see features.
    num_threads=1,
)
ROWS = (
    Row(
        SAFETY,
        "sepot",
        Trained(("leduc", "goofspiel_4_descending"), (11,)),
        minutes=15,
    ),
)


def search_case(case: Case) -> list[dict[str, float]]:
    """Both players' exploitability `before` and `after` a search; for `distributed.map`."""
    tree = compiled(case.study.game)
    blueprint, critic = _load(case, tree)
    effort = Effort(case.study.settings.iterations)
    config = SearchConfig.as_printed(first_level=case.first_level, effort=effort)
    limit = case.depth_limit or beyond(tree)
    policy = SePoTPolicy(tree, blueprint, critic, limit, config=config)
    if case.cfvs == BEST_RESPONSE:
        given_cfvs = functools.partial(_of_best_response, policy=policy)
        policy.spec = dataclasses.replace(policy.spec, given_cfvs=given_cfvs)
    searched = policy.to_array_policy()
    before, after = judge(tree, blueprint), judge(tree, searched)
    keys = ("exploitability_0", "exploitability_1")
    return [{"before": before[key], "after": after[key]} for key in keys]


def _of_best_response(root: Root, _leaves: object, policy: SePoTPolicy) -> np.ndarray:
    """The opponent's best-response cfvs against the player's strategy so far: float64 [R_-p]."""
    tree, player = policy.source.tree, root.player
    states = np.unique(tree.public_states.of_history[root.histories]).tolist()
    rest = cut(tree, BEYOND_THE_GAME, states)
    treeplex = rest.sequence_form.treeplexes[player]
    strategy = policy.source.policy.strategies[player][rest.sequences[player]]
    plan = realization_plan(treeplex, strategy, root.ranges[player])
    cfvs = best_response(rest.sequence_form, root.opponent, plan).cfv
    return cfvs[: len(root.ranges[root.opponent])]


def counts(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """How often search made a player more exploitable, by source of cfvs and kind of limit."""
    labelled = (
        {**row, "looks": _TO_THE_END if row["limit"] == _TO_THE_END else "limited"} for row in rows
    )
    return [
        {
            "cfvs": cfvs,
            "looks": looks,
            "worse": sum(change > _TOLERANCE for change in changes),
            "cases": len(changes),
            "largest": max(changes),
        }
        for (cfvs, looks), changes in numbers_of(labelled, "change", "cfvs", "looks").items()
    ]


def _rows(study: Game) -> list[dict[str, Any]]:
    cases = _cases(study)
    parts = [(case.name, case.settings) for case in cases]
    results = study.workspace.parts(parts, search_case, cases, f"{study.name}: safety")
    return [
        {
            "game": study.name,
            "blueprint": TRAINED_NETWORK if case.is_trained else case.blueprint,
            "critic": case.critic,
            "cfvs": case.cfvs,
            "limit": case.looks,
            "first_level": case.first_level,
            "player": player,
            **values,
            "change": values["after"] - values["before"],
        }
        for case, players in zip(cases, results, strict=True)
        for player, values in enumerate(players)
    ]


def _cases(study: Game) -> list[Case]:
    study.train()
    checkpoint = str(study.checkpoint(study.settings.seeds[0]))
    blueprints = [("uniform", _EXACT), ("random:0", _EXACT)]
    blueprints += [(checkpoint, _EXACT), (checkpoint, _LEARNED)]
    return [
        Case(study, blueprint, critic, cfvs, limit, level)
        for blueprint, critic in blueprints
        for cfvs in (BEST_RESPONSE, IDENTITY)
        for limit in (None, *(each for each in study.limits if not study.looks_to_the_end(each)))
        for level in (0, 1)
    ]


def _load(case: Case, tree: GameTree) -> tuple[ArrayPolicy, Critic]:
    learned: Critic | None = None
    if case.is_trained:
        trained = checkpoints.load(case.blueprint, tree)
        blueprint, learned = ArrayPolicy.from_policy(tree, trained.blueprint), trained.critic
    else:
        blueprint = load_array_policy(case.blueprint, tree)
    if case.critic == _LEARNED:
        if learned is None:
            raise ValueError(f"{case.blueprint} has no learned critic; take critic={_EXACT!r}")
        return blueprint, learned
    transformations = transformations_by_name(case.study.transformations, tree.game)
    return blueprint, ExactCritic(tree, blueprint.strategies, transformations)


def beyond(tree: GameTree) -> DepthLimit:
    """A depth limit beyond the game's end, in a unit that lets search start at every level."""
    return default_depth_limit(tree.game).with_value(int(tree.move_number.max()) + 1)
