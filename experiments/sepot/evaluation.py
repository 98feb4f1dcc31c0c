"""How good a trained network and search on top of it are, by exact exploitability.

Kubíček et al. (2023), section 5.2. The searched policy is read in all public states of the game, as
if each player searched there, and judged as any other policy is.
"""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any, NamedTuple

from spiel_dl.algorithms.exploitability import game_value, player_exploitability
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

TRANSFORMATIONS, CRITIC, SEARCHES = "transformations", "critic", "previous searches"
_SYMMETRIC = ("python_goofspiel_ii", "goofspiel")
"""Short names of games whose value is 0, as both players have the same to do."""


class Search(NamedTuple):
    """One way to search.

    Attributes:
      depth_limit: how deep each search looks.
      cfvs: what the opponent may have instead. `TRANSFORMATIONS`, our default: what the critic says
        of the transformation that is best in each infoset. `CRITIC`, as the paper does it but for
        its section 5.3: what it says of the identity. `SEARCHES`: that of the search before, which
        in blocks is what the best transformation earns.
      iterations: of predictive CFR+.
    """

    depth_limit: DepthLimit
    cfvs: str
    iterations: int

    def config(self) -> SearchConfig:
        """The same for `SePoTPolicy`; it searches in blocks."""
        known = (TRANSFORMATIONS, CRITIC, SEARCHES)
        if self.cfvs not in known:
            raise ValueError(f"cfvs={self.cfvs!r} must be one of {known}")
        return SearchConfig(
            # In blocks, what the search before says is what the best transformation earns.
            given_cfvs=CRITIC if self.cfvs == CRITIC else TRANSFORMATIONS,
            effort=Effort(self.iterations, variant=PREDICTIVE_CFR_PLUS),
        )


class Evaluation(NamedTuple):
    """What is to be judged.

    Attributes:
      game: game string.
      checkpoint: file of a learner with a critic.
      search: on top of it; None: the network alone.
    """

    game: str
    checkpoint: str
    search: Search | None

    @property
    def name(self) -> str:
        """That of a part: the run, the step and the search."""
        path = Path(self.checkpoint)
        place = f"{path.parent.name}-{path.stem}"
        if self.search is None:
            return f"network-{place}"
        return f"search-{place}-{file_name(*self.search)}"

    @property
    def settings(self) -> dict[str, Any]:
        """Those of a part."""
        if self.search is None:
            return {"game": self.game}
        described = {**self.search._asdict(), "depth_limit": str(self.search.depth_limit)}
        return {"game": self.game, "search": described}


def evaluate(evaluation: Evaluation) -> dict[str, Any]:
    """Judges a network, or search on top of it; for `distributed.map`.

    Returns:
      What `judge` says, `searches`, the number of public states that were searched, and `seconds`
      of searching.

    Raises:
      ValueError: if the file is no checkpoint of this game with a critic, or the game cannot be
        searched so.
    """
    tree = compiled(evaluation.game)
    trained = checkpoints.load(evaluation.checkpoint, tree)
    blueprint = ArrayPolicy.from_policy(tree, trained.blueprint)
    if evaluation.search is None:
        return {**judge(tree, blueprint), "searches": 0, "seconds": 0.0}
    start = time.perf_counter()
    limit, config = evaluation.search.depth_limit, evaluation.search.config()
    policy = SePoTPolicy(tree, blueprint, trained.critic, limit, config=config)
    found = policy.to_array_policy()
    seconds = time.perf_counter() - start
    return {**judge(tree, found), "searches": policy.num_searches, "seconds": seconds}


def judge(tree: GameTree, policy: ArrayPolicy) -> dict[str, float]:
    """NashConv and each player's exploitability, in utility units.

    Returns:
      `nash_conv`; `exploitability_0` and `exploitability_1`, what a best response to this player
      earns above the game's value; they sum to NashConv.
    """
    value = _game_value(tree)
    lost = [player_exploitability(tree, policy, p, (value, -value)[p]) for p in (0, 1)]
    return {"nash_conv": sum(lost), "exploitability_0": lost[0], "exploitability_1": lost[1]}


@functools.lru_cache(maxsize=2)
def compiled(game: str) -> GameTree:
    """The compiled game of a game string; each process needs it once."""
    return GameTree.from_game(game)


@functools.lru_cache(maxsize=2)
def _game_value(tree: GameTree) -> float:
    """Player 0's value."""
    if tree.game.get_type().short_name in _SYMMETRIC:
        return 0.0
    return game_value(tree, 0)
