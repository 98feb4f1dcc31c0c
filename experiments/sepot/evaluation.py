"""Exact exploitability of a trained network and of search on top of it.

Kubíček et al. (2023), section 5.2. Search runs in all public states of the game, for both players,
and the resulting policy is evaluated like any other.
"""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any, NamedTuple

from experiments.responses.responders import game_value
from spiel_dl.algorithms.exploitability import player_exploitability
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

CRITIC, SEARCHES = "critic", "previous searches"


class Search(NamedTuple):
    """A configuration of search.

    Attributes:
      depth_limit: how deep each search looks.
      cfvs: the source of the opponent's given cfvs. `CRITIC`: the critic's values of the identity.
        `SEARCHES`: the previous search's values, which in blocks are the critic's of the best
        transformation in each infoset.
      iterations: iterations of predictive CFR+.
    """

    depth_limit: DepthLimit
    cfvs: str
    iterations: int

    def config(self) -> SearchConfig:
        """The configuration for `SePoTPolicy`, which searches in blocks."""
        given = {CRITIC: "critic", SEARCHES: "transformations"}
        if self.cfvs not in given:
            raise ValueError(f"cfvs={self.cfvs!r} must be one of {tuple(given)}")
        return SearchConfig(
            given_cfvs=given[self.cfvs],
            refinement="none",
            effort=Effort(self.iterations, variant=PREDICTIVE_CFR_PLUS),
        )


class Evaluation(NamedTuple):
    """A policy to evaluate.

    Attributes:
      game: game string.
      checkpoint: file of a learner with a critic.
      search: search on top of the network; None: the network alone.
    """

    game: str
    checkpoint: str
    search: Search | None

    @property
    def name(self) -> str:
        """The part's name: run, step and search."""
        path = Path(self.checkpoint)
        place = f"{path.parent.name}-{path.stem}"
        if self.search is None:
            return f"network-{place}"
        return f"search-{place}-{file_name(*self.search)}"

    @property
    def settings(self) -> dict[str, Any]:
        """The part's settings."""
        if self.search is None:
            return {"game": self.game}
        described = {**self.search._asdict(), "depth_limit": str(self.search.depth_limit)}
        return {"game": self.game, "search": described}


def evaluate(evaluation: Evaluation) -> dict[str, Any]:
    """Evaluates a network, or search on top of it; for `distributed.map`.

    Returns:
      The results of `judge`, `searches`, the number of public states that were searched, and
      `seconds` of searching.

    Raises:
      ValueError: if the file is no checkpoint of this game with a critic, or the game cannot be
        searched with these settings.
    """
    tree = compiled(evaluation.game)
    trained = checkpoints.load(evaluation.checkpoint, tree)
    blueprint = ArrayPolicy.from_policy(tree, trained.blueprint)
    if evaluation.search is None:
        return {**judge(tree, blueprint), "searches": 0, "seconds": 0.0}
    start = time.perf_counter()
    limit, config = evaluation.search.depth_limit, evaluation.search.config()
    policy = SePoTPolicy(tree, blueprint, trained.critic, limit, config=config)
    searched = policy.to_array_policy()
    seconds = time.perf_counter() - start
    return {**judge(tree, searched), "searches": policy.num_searches, "seconds": seconds}


def judge(tree: GameTree, policy: ArrayPolicy) -> dict[str, float]:
    """NashConv and each player's exploitability, in utility units.

    Returns:
      `nash_conv`; `exploitability_0` and `exploitability_1`, what a best response to this player
      earns above the game's value; they sum to NashConv.
    """
    value = game_value(tree, 0)
    lost = [player_exploitability(tree, policy, p, (value, -value)[p]) for p in (0, 1)]
    return {"nash_conv": sum(lost), "exploitability_0": lost[0], "exploitability_1": lost[1]}


@functools.lru_cache(maxsize=2)
def compiled(game: str) -> GameTree:
    """The compiled game of a game string; each process needs it once."""
    return GameTree.from_game(game)
