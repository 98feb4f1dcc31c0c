"""One search of SePoT: from a public state down to a depth limit, on top of a blueprint.

Kubíček et al. (2023), section 4.2. Given the searching player's range and what the opponent could
get in each of its infosets (its *given cfvs*):

  1. The opponent may leave at the root for its given cfv (the resolving gadget), or it chooses
     where to enter, and pays the given cfv (max-margin). Both may be refined. Or it has come by its
     blueprint, and has no choice (unsafe).
  2. At the leaves, the opponent chooses a transformation of its blueprint to follow to the end
     (`value_functions.multi_valued`), against the player's blueprint.
  3. CFR solves this game. The player's average strategy is the answer.

Where the trees come from does not matter: `search.sepot_step` cuts them out of a compiled game,
`search.sepot_played` reconstructs them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from spiel_dl.learning.critics import Critic
from spiel_dl.search.found import Found, Watch
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.solvers import depth_limited, gadgets
from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.solvers.depth_limited import LeafValuer, Leaves
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.gadgets import Gadget
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import RestrictedGame, unrestricted
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves

BestValuer: TypeAlias = Callable[[int, Pair], np.ndarray]
"""The `best_values` of `Leaves`."""


class Root(NamedTuple):
    """Where a search starts.

    Attributes:
      trunk: what it looks at: the game from some public states down to a depth limit.
      histories: int [n], the histories of the trunk's tree that it starts at.
      reach: float64 [n], the searching player's own of these histories, scaled such that its
        product with chance's sums to 1 in each public state.
      is_first: whether no player has moved before, so that the opponent cannot have come otherwise
        than expected.
      prior: float64 [n], the opponent's own reach of these histories by the blueprint; None: not
        known, as only some gadgets ask for it.
      public_states: int [n], which of the search's public states each history is in, from 0 on;
        None: there is one.
    """

    trunk: Trunk
    histories: np.ndarray
    reach: np.ndarray
    is_first: bool
    prior: np.ndarray | None = None
    public_states: np.ndarray | None = None

    def own_range(self, player: int) -> np.ndarray:
        """The searching player's reach of its root infosets: float64 [R_p]."""
        return self._by_infoset(player, self.reach)

    def opponent_range(self, opponent: int) -> np.ndarray:
        """The opponent's reach of its root infosets: float64 [R_-p], 1 in all if it never comes.

        Scaled such that the product of all reaches sums to 1.
        """
        assert self.prior is not None
        chance = self.trunk.tree.chance_reach[self.histories]
        mass = float((self.reach * chance) @ self.prior)
        found = self._by_infoset(opponent, self.prior)
        return found / mass if mass > 0 else np.ones(len(found))

    def gadget(self, player: int, given_cfvs: np.ndarray, config: SearchConfig) -> Gadget:
        """What is put on top for a searching player.

        Args:
          player: who searches.
          given_cfvs: float64 [R_-p], the opponent's.
          config: which gadget, and how it is refined.
        """
        prior = groups = None
        if self.prior is not None:
            prior = self._by_infoset(1 - player, self.prior)
        if self.public_states is not None:
            groups = self._by_infoset(1 - player, self.public_states).astype(np.int64)
        roots = gadgets.Roots(self.own_range(player), prior, given_cfvs, groups=groups)
        form = self.trunk.sequence_form
        return gadgets.put_on_top(config.gadget, form, player, roots, config.refinement)

    def _by_infoset(self, player: int, values: np.ndarray) -> np.ndarray:
        """What histories of one root infoset of a player have in common: float64 [R_p]."""
        found = np.zeros(len(self.trunk.root_infosets[player]))
        found[self.trunk.extent.roots_at(player, self.histories)] = values
        return found


class Searcher:
    """Searches with one critic and one configuration.

    Attributes:
      config: where and how to search.
      gap: of the last search, in utility units; NaN: it is not known.
      num_unfinished: how many searches have ended above the tolerance of their effort.
      watch: is told of every search; None: nobody asks.
    """

    def __init__(self, critic: Critic | None, config: SearchConfig):
        """Takes the critic; None if it is never asked."""
        self.config = config
        self.gap = np.nan
        self.num_unfinished = 0
        self.watch: Watch | None = None
        self._critic = critic

    def leaf_values(self, player: int, leaves: LeafSet) -> MultiValuedLeaves | None:
        """The leaves by the critic, for a player who searches; None if there are none."""
        if not leaves.num_public_states:
            return None
        utilities = self.utilities(player, leaves.tree, leaves.histories)
        return MultiValuedLeaves(leaves, player, utilities)

    def utilities(self, player: int, tree: CompiledTree, histories: np.ndarray) -> np.ndarray:
        """Utilities of a player by both players' choices: float [N, K, K']; K = 1 if it has none.

        Args:
          player: who searches.
          tree: a tree of the game.
          histories: int [N], where a player acts.

        Raises:
          ValueError: if there is no critic, or if its values are of another shape.
        """
        if self.config.two_sided:
            pairs = self._checked_critic(tree).pair_values(tree, histories, player)
            return self._checked(pairs, len(histories), "pair_values", "K, K")
        return self._critic_values(tree, histories, player)[:, None, :]

    def _critic_values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """What histories are worth by the opponent's choices: float [N, K]."""
        values = self._checked_critic(tree).values(tree, histories, player)
        return self._checked(values, len(histories), "values", "K")

    def _checked(self, values: np.ndarray, size: int, method: str, others: str) -> np.ndarray:
        """A critic's values, if they are of the shape [size, others]."""
        shape = np.shape(values)
        if len(shape) != 2 + others.count(",") or shape[0] != size:
            raise ValueError(
                f"{type(self._critic).__name__}.{method} returns the shape {list(shape)}; return "
                f"[{size}, {others}], a number for each history and each of K transformations"
            )
        return values

    def needs_cfvs(self, root: Root) -> bool:
        """Whether the opponent of a search that starts there has given cfvs."""
        return not root.is_first and self.config.gadget != "unsafe"

    def critic_cfvs(self, player: int, root: Root) -> np.ndarray:
        """What the opponent gets at the roots from who goes on by the blueprint: float64 [R_-p].

        By its own blueprint, or in each infoset by the transformation that is best there.
        """
        trunk, tree = root.trunk, root.trunk.tree
        values = self._critic_values(tree, root.histories, player)
        if self.config.given_cfvs == "critic":
            values = values[:, :1]
        reach = root.reach * tree.chance_reach[root.histories]
        infoset = trunk.extent.roots_at(1 - player, root.histories)
        cfvs = np.zeros((len(trunk.root_infosets[1 - player]), values.shape[1]))
        np.add.at(cfvs, infoset, -reach[:, None] * values)
        return cfvs.max(axis=1)

    def solve(
        self,
        player: int,
        root: Root,
        given_cfvs: np.ndarray | None,
        leaf_values: MultiValuedLeaves | None,
        fixed: FixedStrategy | None = None,
    ) -> np.ndarray:
        """Solves a depth-limited subgame, and tells it; arguments and errors as for `plans`.

        Returns:
          The player's average realization plan in the trunk, float64 [S_p].
        """
        plans = self.plans(player, root, given_cfvs, leaf_values, fixed)
        if self.watch is not None:
            leaf_cfvs = _leaf_cfvs(root.trunk, plans, leaf_values)
            self.watch(Found(player, root.trunk, plans, leaf_cfvs))
        return plans[player]

    def plans(
        self,
        player: int,
        root: Root,
        given_cfvs: np.ndarray | None,
        leaf_values: MultiValuedLeaves | None,
        fixed: FixedStrategy | None = None,
        effort: Effort | None = None,
    ) -> Pair:
        """Solves a depth-limited subgame for one player.

        Args:
          player: who searches.
          root: where it starts.
          given_cfvs: float64 [R_-p], the opponent's given cfvs, in its utility and of the reach's
            scale. None where none are needed: it comes by the root's prior, or to the root of a
            game with a reach of 1 to all root infosets.
          leaf_values: values the leaves; None if there are none.
          fixed: in which of the trunk's infosets the player is bound, and to what; None: nowhere.
          effort: how long to iterate; None: as the config says.

        Returns:
          Both players' average realization plans in the trunk, float64 [S_p] each.

        Raises:
          ValueError: if an argument does not fit the trunk.
        """
        form, own_range = root.trunk.sequence_form, root.own_range(player)
        if given_cfvs is None:
            other = np.ones(form.treeplexes[1 - player].num_root_sequences)
            if not root.is_first:
                other = root.opponent_range(1 - player)
            gadget = gadgets.unsafe(form, (own_range, other) if player == 0 else (other, own_range))
        else:
            gadget = root.gadget(player, given_cfvs, self.config)
        game = unrestricted(gadget.sequence_form, gadget.root_ranges, gadget.inflows)
        order = (0, 1)
        if fixed is not None:
            # Whoever is bound is player 0 of restricted games.
            order = (player, 1 - player)
            game = _bound(gadget, order, fixed)
        effort = effort or self.config.effort
        if leaf_values is None:
            solution = depth_limited.solve(game, dataclasses.replace(effort, tolerance=None))
        else:
            first, second = (
                new[own]
                for new, own in zip(gadget.new_sequences, root.trunk.leaves.sequences, strict=True)
            )
            sequences = (first, second) if order == (0, 1) else (second, first)
            leaves = Leaves(sequences, *self._valuers(leaf_values, order))
            solution = depth_limited.solve_with_leaves(game, leaves, effort, record=False)
        self.gap = solution.gap
        tolerance = effort.allowed_gap(game.sequence_form.utility_range)
        if tolerance is not None:
            self.num_unfinished += solution.gap > tolerance
        first, second = (solution.plans[order[p]][gadget.new_sequences[p]] for p in (0, 1))
        return first, second

    def _valuers(
        self, leaf_values: MultiValuedLeaves, order: tuple[int, int]
    ) -> tuple[LeafValuer, BestValuer | None]:
        """How the opponent chooses at the leaves, and who answers the other's average chooses.

        The players are those of the game that is solved, in their `order` there.
        """
        if self.config.leaf_choice == "best_response":
            return lambda players, ranges: [
                leaf_values.values_for(order[players[0]], ranges[order[0]], ranges[order[1]])
            ], None
        effort, player = self.config.effort, order[leaf_values.player]
        choices = leaf_values.choices(effort.variant)

        def valuer(players: tuple[int, ...], ranges: Pair) -> Sequence[np.ndarray]:
            side = int(players[0] != player)
            return [choices.update(side, ranges if player == 0 else ranges[::-1])]

        def best_values(who: int, ranges: Pair) -> np.ndarray:
            return choices.best_values(int(who != player), ranges[1 - who])

        return valuer, best_values

    def _checked_critic(self, tree: CompiledTree) -> Critic:
        if self._critic is None:
            raise ValueError(
                f"this search in {tree.game} needs the values of histories, and no critic was "
                "given; pass critic="
            )
        return self._critic


def _leaf_cfvs(trunk: Trunk, plans: Pair, leaf_values: MultiValuedLeaves | None) -> Pair | None:
    """What leaves are worth under two plans, where the opponent chooses best.

    None where both choose, which has no best choice of one alone.
    """
    if leaf_values is None:
        return np.zeros(0), np.zeros(0)
    if leaf_values.continuations.num_choices[0] > 1:
        return None
    ranges = [plans[p][trunk.leaves.sequences[p]] for p in (0, 1)]
    return leaf_values.evaluate(ranges[0], ranges[1])


def _bound(gadget: gadgets.Gadget, order: tuple[int, int], fixed: FixedStrategy) -> RestrictedGame:
    """The game of a gadget in which the searching player, who comes first, is bound somewhere.

    Gadgets leave the searching player's own infosets as they are.
    """
    form, ranges = gadget.sequence_form, gadget.root_ranges
    inflows = gadget.inflows
    if order == (1, 0):
        form, ranges = form.swapped(), ranges[::-1]
        inflows = None if inflows is None else inflows[::-1]
    return unrestricted(form, ranges, inflows)._replace(fixed=fixed)


def opponent_cfvs(
    player: int, trunk: Trunk, plan: np.ndarray, leaf_values: MultiValuedLeaves | None
) -> np.ndarray:
    """The opponent's best-response cfvs at the roots: float64 [R_-p], in its utility.

    Args:
      player: whose plan it responds to.
      trunk: a subgame.
      plan: float64 [S_p], the player's realization plan.
      leaf_values: values the leaves, where the opponent chooses best; None if there are none.
    """
    opponent, form, sequences = 1 - player, trunk.sequence_form, trunk.leaves.sequences
    if leaf_values is not None:
        ranges = [np.zeros(trunk.leaves.num_infosets(p)) for p in (0, 1)]
        ranges[player] = plan[sequences[player]]
        cfvs = [np.zeros(trunk.leaves.num_infosets(p)) for p in (0, 1)]
        cfvs[opponent] = leaf_values.values_for(opponent, ranges[0], ranges[1])
        form = form.with_constants(sequences, (cfvs[0], cfvs[1]))
    num_roots = form.treeplexes[opponent].num_root_sequences
    return best_response(form, opponent, plan).cfv[:num_roots]
