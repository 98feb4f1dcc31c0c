"""Depth-limited solving below particles.

Šustr et al. (2021), section 5.1: "the full particle algorithm". From some histories of a public
state with both players' reach, the sparse trunk below them is built and solved by DL-CFR at the
ranges that they make. Both players come with these ranges: there is no gadget, so the solution is
optimal against this belief, and not safe against other ones.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
import torch

from spiel_dl.solvers import depth_limited
from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.solvers.checks import check_values
from spiel_dl.solvers.depth_limited import Leaves
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import unrestricted
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.sparse_tree import SparseTree, root_ranges, sparse_trunk
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.base import (
    ValueFunction,
    ask,
    bound_to,
    check_arguments,
    check_value_function,
)

DEFAULT_EFFORT = Effort(iterations=100)


@dataclasses.dataclass(frozen=True, eq=False)
class SparseSolution:
    """A solved sparse trunk.

    Attributes:
      particles: those it starts at.
      trunk: the trunk.
      plans: for each player, float64 [S_p], the average realization plan; at root sequences the
        player's range, scaled to sum 1 if it is not 0.
      root_cfvs: for each player, float64 [R_p]: the values of the root infosets under both plans,
        leaves at the value function's values of them. Where the player's own range is 0, so that
        its plan says nothing, it plays a best response.
      leaf_cfvs: for each player, float64 [L_p]: the value function's values of the leaves.
    """

    particles: Particles
    trunk: Trunk
    plans: Pair
    root_cfvs: Pair
    leaf_cfvs: Pair

    @property
    def tree(self) -> SparseTree:
        """The sparse tree."""
        tree = self.trunk.tree
        assert isinstance(tree, SparseTree)
        return tree

    @functools.cached_property
    def num_bytes(self) -> int:
        """About how much memory its tree takes, counted once: what is cached later is left out."""
        arrays = (*vars(self.tree).values(), *vars(self.tree.states).values())
        return sum(each.nbytes for each in arrays if isinstance(each, (np.ndarray, torch.Tensor)))

    def action_probabilities(self, player: int, infoset_key: int) -> dict[int, float] | None:
        """The average strategy in an infoset of the trunk; None if no particle leads there.

        Args:
          player: who acts.
          infoset_key: as in `tree.from_rules.InfosetKeys`.
        """
        tree, infosets = self.tree, self.trunk.infosets[player]
        keys = tree.infoset_key[player, tree.first_history[player][infosets]]
        found = np.flatnonzero(keys == infoset_key)
        if not len(found):
            return None
        treeplex = self.trunk.sequence_form.treeplexes[player]
        own = treeplex.sequences(int(found[0]))
        probabilities = behaviour_strategy(treeplex, self.plans[player])[own].tolist()
        actions = tree.legal_actions(player, int(infosets[found[0]])).tolist()
        return dict(zip(actions, probabilities, strict=True))

    def leaf_reach(self) -> np.ndarray:
        """The product of chance's and both players' reach of every leaf: float64 [N]."""
        leaves = self.trunk.leaves
        reach = leaves.chance_reach.copy()
        for player in (0, 1):
            reach *= self._leaf_range(player)[leaves.infoset_of_history[player]]
        return reach

    def leaf_particles(self, public_state: int) -> Particles:
        """All leaves of a leaf public state (a position in `trunk.leaves`) as particles."""
        leaves = self.trunk.leaves
        here = slice(*leaves.history_offsets[public_state : public_state + 2])
        reach = [self._leaf_range(p)[leaves.infoset_of_history[p, here]] for p in (0, 1)]
        states = self.tree.states_of(leaves.histories[here])
        return Particles(
            self.particles.game, states, np.stack(reach), leaves.chance_reach[here].copy()
        )

    def _leaf_range(self, player: int) -> np.ndarray:
        return self.plans[player][self.trunk.leaves.sequences[player]]


def solve(
    particles: Particles,
    value_function: ValueFunction | None,
    depth_limit: DepthLimit,
    effort: Effort = DEFAULT_EFFORT,
) -> SparseSolution:
    """Builds the sparse trunk below particles and solves it.

    Args:
      particles: where it starts.
      value_function: values the leaves; None if the game ends above them.
      depth_limit: where it ends, counted from the particles.
      effort: how long to iterate, without a tolerance.

    Raises:
      ValueError: if the trunk cannot be built, if there is a tolerance, if the game goes on at the
        limit and there is no value function or one that solves subgames, which a sparse tree does
        not have, or if its values are not finite.
    """
    check_arguments(value_function, depth_limit)
    check_no_tolerance(effort)
    trunk = sparse_trunk(particles, depth_limit)
    check_value_function(trunk, value_function)
    first, second = (
        reach / reach.sum() if reach.any() else reach for reach in root_ranges(trunk, particles)
    )
    game = unrestricted(trunk.sequence_form, (first, second))
    if not trunk.leaves.num_public_states or value_function is None:
        nothing = np.zeros(0)
        plans = depth_limited.solve(game, effort).plans
        return _solution(particles, trunk, plans, (nothing, nothing))
    sequences = trunk.leaves.sequences
    values = bound_to(value_function, trunk.leaves)

    def valuer(players: tuple[int, ...], ranges: Pair) -> Sequence[np.ndarray]:
        return ask(values, players, *ranges)

    leaves = Leaves(sequences, valuer)
    plans = depth_limited.solve_with_leaves(game, leaves, effort, record=False).plans
    cfv_0, cfv_1 = ask(values, (0, 1), plans[0][sequences[0]], plans[1][sequences[1]])
    check_values(cfv_0)
    check_values(cfv_1)
    return _solution(particles, trunk, plans, (cfv_0, cfv_1))


def _solution(particles: Particles, trunk: Trunk, plans: Pair, leaf_cfvs: Pair) -> SparseSolution:
    """A solution from average plans, and the values of the leaves there."""
    form = trunk.sequence_form
    valued = form.with_constants(trunk.leaves.sequences, leaf_cfvs)
    roots = []
    for player, treeplex in enumerate(form.treeplexes):
        # Best responses to an opponent that has not converged would promise both players too much.
        average = behaviour_strategy(treeplex, plans[player])
        fixed = FixedStrategy(plans[player][treeplex.parent_sequence] > 0, average)
        cfv = best_response(valued, player, plans[1 - player], fixed=fixed).cfv
        roots.append(cfv[: treeplex.num_root_sequences].copy())
    return SparseSolution(particles, trunk, plans, (roots[0], roots[1]), leaf_cfvs)
