"""Depth-limited solving below particles.

Šustr et al. (2021), section 5.1: "the full particle algorithm". From some histories of a public
state with both players' reach, the sparse trunk below them is built and solved by DL-CFR at the
ranges that they make. Without a gadget both players come with these ranges, so the solution is
optimal against this belief, and not safe against other ones. Behind a gadget (`Resolved`) the
opponent chooses its own range, within what it could get before.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.solvers import depth_limited, gadgets
from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.solvers.checks import check_values
from spiel_dl.solvers.depth_limited import Leaves
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.solvers.gadgets import Gadget
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


class Resolver(NamedTuple):
    """Who resolves, and what its opponent could get if the player went on as before.

    Attributes:
      player: who resolves.
      gadget: "resolving" or "max_margin".
      given: float64 [N], for each particle what the opponent could get in its infoset there, once
        that is reached: its given cfv divided by its counterfactual reach. Times that of the
        particles alone, it is the given cfv below them. None: both players come with their ranges,
        as at the start of the game.
    """

    player: int
    gadget: str
    given: np.ndarray | None

    def put_on_top(self, trunk: Trunk, particles: Particles, root_ranges: Pair) -> Gadget:
        """Puts the gadget on top of the trunk below particles, at both players' ranges there."""
        if self.given is None:
            return gadgets.unsafe(trunk.sequence_form, root_ranges)
        opponent = 1 - self.player
        tops = np.arange(1, particles.num_particles + 1)
        own, others = (trunk.extent.roots_at(p, tops) for p in (self.player, opponent))
        reach = particles.chance_reach * root_ranges[self.player][own]
        cfvs = np.bincount(others, reach * self.given, minlength=len(root_ranges[opponent]))
        roots = gadgets.Roots(root_ranges[self.player], opponent_cfvs=cfvs)
        return gadgets.put_on_top(self.gadget, trunk.sequence_form, self.player, roots)


@dataclasses.dataclass(frozen=True, eq=False)
class SparseSolution:
    """A solved sparse trunk.

    Attributes:
      particles: those it starts at.
      trunk: the trunk.
      plans: for each player, float64 [S_p], the average realization plan; at root sequences the
        player's range, scaled to sum 1 if it is not 0. Behind a gadget the opponent's are the
        probabilities with which it enters.
      root_cfvs: for each player, float64 [R_p]: the values of the root infosets under both plans,
        leaves at the value function's values of them. Where the player's own range is 0, so that
        its plan says nothing, it plays a best response.
      leaf_cfvs: for each player, float64 [L_p]: the value function's values of the leaves at the
        average ranges; if somebody resolves, their average over the iterations instead, to which a
        player can hold its opponent (`algorithms.continual_resolving` says why).
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
        histories = leaves.histories[here]
        return Particles(
            self.particles.game,
            self.tree.states_of(histories),
            np.stack(reach),
            leaves.chance_reach[here].copy(),
            known_keys=self.tree.infoset_key[:, histories],
        )

    def leaf_values(self, player: int, public_state: int) -> np.ndarray:
        """What a player gets at the leaves of a leaf public state, once its infoset is reached.

        Returns:
          float64 [n], in the order of `leaf_particles`; 0 where chance and the opponent never come.
        """
        leaves = self.trunk.leaves
        reach = leaves.counterfactual_reach(self._leaf_range(0), self._leaf_range(1))[player]
        values = np.divide(self.leaf_cfvs[player], reach, out=np.zeros(len(reach)), where=reach > 0)
        here = slice(*leaves.history_offsets[public_state : public_state + 2])
        return values[leaves.infoset_of_history[player, here]]

    def _leaf_range(self, player: int) -> np.ndarray:
        return self.plans[player][self.trunk.leaves.sequences[player]]


def solve(
    particles: Particles,
    value_function: ValueFunction | None,
    depth_limit: DepthLimit,
    effort: Effort = DEFAULT_EFFORT,
    resolver: Resolver | None = None,
) -> SparseSolution:
    """Builds the sparse trunk below particles and solves it.

    Args:
      particles: where it starts.
      value_function: values the leaves; None if the game ends above them.
      depth_limit: where it ends, counted from the particles.
      effort: how long to iterate, without a tolerance.
      resolver: who resolves; None: nobody.

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
    gadget = gadgets.unsafe(trunk.sequence_form, (first, second))
    if resolver is not None:
        gadget = resolver.put_on_top(trunk, particles, (first, second))
    game = unrestricted(gadget.sequence_form, gadget.root_ranges)

    def without_gadget(plans: Pair) -> Pair:
        first, second = (plan[new] for plan, new in zip(plans, gadget.new_sequences, strict=True))
        return first, second

    if not trunk.leaves.num_public_states or value_function is None:
        nothing = np.zeros(0)
        plans = without_gadget(depth_limited.solve(game, effort).plans)
        return _solution(particles, trunk, plans, (nothing, nothing))
    sequences = trunk.leaves.sequences
    values = bound_to(value_function, trunk.leaves)

    def valuer(players: tuple[int, ...], ranges: Pair) -> Sequence[np.ndarray]:
        return ask(values, players, *ranges)

    first, second = (new[own] for new, own in zip(gadget.new_sequences, sequences, strict=True))
    leaves = Leaves((first, second), valuer)
    found = depth_limited.solve_with_leaves(game, leaves, effort, record=resolver is not None)
    plans, cfvs = without_gadget(found.plans), found.cfvs
    if resolver is None:
        cfv_0, cfv_1 = ask(values, (0, 1), plans[0][sequences[0]], plans[1][sequences[1]])
        cfvs = (cfv_0, cfv_1)
    for each in cfvs:
        check_values(each)
    return _solution(particles, trunk, plans, cfvs)


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
