"""Solutions of all subgames of a blueprint, by each method that `refined` compares.

Names of methods: `TODAY` with the gadget, `REFINED` and `EXACT` with gadget and weights, `BEST`.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers import depth_limited, gadgets, refinement
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.refinement import WEIGHTS
from spiel_dl.solvers.restricted_game import unrestricted
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.trunk import Trunk, cut

ITERATIONS = 1000
BEST, TODAY, REFINED, EXACT = "best", "today, {}", "refined, {}, {}", "exact, {}, {}"
RESOLVING, MARGIN = "resolving", "max_margin"


class Subgames(NamedTuple):
    """All subgames of a player's blueprint.

    Attributes:
      tree: the game.
      player: who resolves.
      strategy: float64 [S_p] of the tree, the blueprint.
      trunk: what lies above.
      own_range: float64 [L_p], the player's reach of its leaf infosets.
      prior: float64 [L_-p], the opponent's, by its blueprint.
      cfvs: float64 [L_-p], the given ones.
    """

    tree: GameTree
    player: int
    strategy: np.ndarray
    trunk: Trunk
    own_range: np.ndarray
    prior: np.ndarray
    cfvs: np.ndarray

    @property
    def groups(self) -> np.ndarray:
        """The public states of the opponent's leaf infosets: int [L_-p]."""
        return self.trunk.leaves.public_state_of_infoset(1 - self.player)

    def sums(self, plan: np.ndarray) -> dict[str, float]:
        """How far given cfvs are exceeded, and weighted sums of cfvs, of the largest weight 1."""
        form = self.trunk.leaves.subgames
        cfvs = best_response(form, 1 - self.player, plan).cfv[: len(self.cfvs)]
        found = {"first": float(np.maximum(cfvs - self.cfvs, 0.0).sum())}
        for name in WEIGHTS:
            weights = refinement.weights(name, *self.known_prior)
            found[name] = float(weights @ cfvs / weights.max())
        return found

    @property
    def known_prior(self) -> tuple[np.ndarray, np.ndarray]:
        """What weights are made of: the prior, made known everywhere, and its public states."""
        return refinement.known_prior(self.prior, self.groups), self.groups

    def with_plan(self, plan: np.ndarray) -> np.ndarray:
        """The blueprint with a plan (float64 [S_p]) of the subgames: float64 [S_p] of the tree."""
        leaves, strategy = self.trunk.leaves, self.strategy.copy()
        treeplex = leaves.subgames.treeplexes[self.player]
        below = slice(treeplex.num_root_sequences, None)
        new = behaviour_strategy(treeplex, plan)
        strategy[leaves.subgame_sequences[self.player][below]] = new[below]
        return strategy


def subgames_of(tree: GameTree, limit: DepthLimit, blueprint: ArrayPolicy, player: int) -> Subgames:
    """The subgames of a player's blueprint below a limit, and given cfvs of best responses."""
    trunk, strategies = cut(tree, limit), blueprint.strategies
    leaves = trunk.leaves
    plans = [realization_plan(t, s) for t, s in zip(tree.treeplexes, strategies, strict=True)]
    own, others = (plans[p][trunk.sequences[p]][leaves.sequences[p]] for p in (player, 1 - player))
    below = strategies[player][leaves.subgame_sequences[player]]
    plan = realization_plan(leaves.subgames.treeplexes[player], below, own)
    cfvs = best_response(leaves.subgames, 1 - player, plan).cfv[: len(others)]
    return Subgames(tree, player, strategies[player], trunk, own, others, cfvs)


def solutions(subgames: Subgames) -> list[tuple[str, np.ndarray, float]]:
    """The name, the plan (float64 [S_p]) and the seconds of each method."""
    ways: dict[str, Callable[[], np.ndarray]] = {
        TODAY.format(RESOLVING): functools.partial(_resolve, subgames, None),
        TODAY.format(MARGIN): functools.partial(_margins, subgames, None, False),
        BEST: functools.partial(_best, subgames),
    }
    for name in WEIGHTS:
        ways |= {
            REFINED.format(RESOLVING, name): functools.partial(_resolve, subgames, name),
            EXACT.format(RESOLVING, name): functools.partial(_resolve_exactly, subgames, name),
            REFINED.format(MARGIN, name): functools.partial(_margins, subgames, name, False),
        }
    ways[EXACT.format(MARGIN, "ones")] = functools.partial(_margins, subgames, "ones", True)
    found = []
    for name, way in ways.items():
        # Of the processor: others may use the machine, too.
        start = time.process_time()
        found.append((name, way(), time.process_time() - start))
    return found


def _resolve(subgames: Subgames, weights: str | None) -> np.ndarray:
    """CFR+ on the resolving gadgets of all subgames side by side."""
    floors = None if weights is None else refinement.floors(weights, *subgames.known_prior)
    gadget = gadgets.resolving(
        subgames.trunk.leaves.subgames, subgames.player, subgames.own_range, subgames.cfvs, floors
    )
    return _by_cfr(gadget, subgames.player)


def _resolve_exactly(subgames: Subgames, weights: str) -> np.ndarray:
    return refinement.solve_resolving(
        subgames.trunk.leaves.subgames,
        subgames.player,
        subgames.own_range,
        subgames.cfvs,
        refinement.weights(weights, *subgames.known_prior),
    ).plan


def _best(subgames: Subgames) -> np.ndarray:
    trunk, player = subgames.trunk, subgames.player
    own = realization_plan(
        trunk.sequence_form.treeplexes[player], subgames.strategy[trunk.sequences[player]]
    )
    return refinement.least_exploitable(
        trunk.sequence_form,
        own,
        trunk.leaves.sequences[1 - player],
        trunk.leaves.subgames,
        player,
        subgames.own_range,
        subgames.cfvs,
    )


def _margins(subgames: Subgames, weights: str | None, exact: bool) -> np.ndarray:
    """Max-margin gadgets of all subgames, side by side."""
    prior, groups = subgames.known_prior
    given = (
        subgames.trunk.leaves.subgames,
        subgames.player,
        subgames.own_range,
        subgames.cfvs,
    )
    if exact:
        assert weights is not None
        c = refinement.weights(weights, prior, groups)
        return refinement.solve_max_margin(*given, c, groups=groups).plan
    floors = None
    if weights is not None:
        floors = refinement.floors(weights, prior, groups, margins=True)
    return _by_cfr(gadgets.max_margin(*given, floors, groups), subgames.player)


def _by_cfr(gadget: gadgets.Gadget, player: int) -> np.ndarray:
    game = unrestricted(gadget.sequence_form, gadget.root_ranges, gadget.inflows)
    solution = depth_limited.solve(game, Effort(ITERATIONS))
    return solution.plans[player][gadget.new_sequences[player]]
