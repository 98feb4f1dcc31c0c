"""Portfolios of all pure strategies behind the leaves of a trunk, in tiny games."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from spiel_dl.algorithms.abd import ByPortfolios, abd_spec
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.portfolios import Portfolios
from spiel_dl.search.respond_to import DEFAULT_EFFORT, ResponsePolicy, response_source
from spiel_dl.search.spec import Root
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.sequence_form import Treeplex


def with_pure_continuations(
    tree: GameTree,
    player: int,
    model: ArrayPolicy,
    limit: DepthLimit,
    *,
    p: float,
    scheme: str,
    exact: bool = False,
    effort: Effort = DEFAULT_EFFORT,
) -> ResponsePolicy:
    """ABD with all pure strategies behind the leaves of a step; the opponent has the model, too."""

    def values(root: Root) -> np.ndarray:
        own, others = (_all_pure(root.trunk.leaves, each) for each in (player, 1 - player))
        others = np.concatenate([model.strategies[1 - player][None], others])
        return ByPortfolios(Portfolios(player, own, others))(root)

    source = response_source(tree, player, model, limit, scheme)
    return ResponsePolicy(source, abd_spec(values, p, exact=exact), effort)


def _all_pure(leaves: LeafSet[GameTree], player: int) -> np.ndarray:
    """For each number k, the k-th pure strategy behind every leaf infoset: float64 [K, S].

    Where an infoset has fewer, they are repeated.
    """
    treeplex = leaves.subgames.treeplexes[player]
    of_tree = leaves.subgame_sequences[player]
    following: list[list[int]] = [[] for _ in range(treeplex.num_sequences)]
    for infoset, parent in enumerate(treeplex.parent_sequence.tolist()):
        following[parent].append(infoset)
    plans = [list(_pure(treeplex, following, s)) for s in range(treeplex.num_root_sequences)]
    largest = max(map(len, plans), default=1)
    found = np.repeat(leaves.tree.treeplexes[player].uniform_strategy()[None], largest, axis=0)
    for own_plans in plans:
        for number in range(largest):
            for infoset, played in own_plans[number % len(own_plans)]:
                own = treeplex.sequences(infoset)
                found[number, of_tree[own]] = np.arange(own.start, own.stop) == played
    return found


def _pure(
    treeplex: Treeplex, following: list[list[int]], sequence: int
) -> Iterator[tuple[tuple[int, int], ...]]:
    """All pure strategies behind a sequence: their infosets, each with the sequence played."""
    choices = []
    for infoset in following[sequence]:
        own = treeplex.sequences(infoset)
        choices.append(
            [
                ((infoset, played), *plan)
                for played in range(own.start, own.stop)
                for plan in _pure(treeplex, following, played)
            ]
        )
    for combined in itertools.product(*choices):
        yield tuple(itertools.chain.from_iterable(combined))
