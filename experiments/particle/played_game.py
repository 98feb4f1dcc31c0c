"""Search below some of the histories that play leads to, judged in the whole subgames.

Šustr et al. (2021), section 6, second experiment, and appendix F. Both players play an equilibrium
down to a depth, and then search: in every public state, the sparse trunk below the kept histories
is solved at the equilibrium's reaches. That the equilibrium was played is common knowledge, so
there is no gadget. Infosets to which no kept history leads are played uniformly.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from spiel_dl.search.particles import action_probabilities, solve_below
from spiel_dl.solvers import linear_program
from spiel_dl.solvers.best_response import FixedStrategy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.base import ValueFunction, Values
from spiel_dl.value_functions.generation import leaf_ranges


@dataclasses.dataclass(frozen=True, eq=False)
class PlayedGame:
    """A game in which both players have played a known strategy down to a depth.

    Attributes:
      played: the trunk above; its leaves are where search starts.
      ranges: for each player, float64 [L_p], its reach of its infosets at these leaves.
      lookahead: how deep the search is, counted from there.
    """

    played: Trunk
    ranges: Values
    lookahead: DepthLimit

    @staticmethod
    def of_strategies(
        tree: GameTree, strategies: Values, depth: DepthLimit, lookahead: DepthLimit
    ) -> PlayedGame:
        """The game after strategies (float64 [S_p]) of the whole game were played to a depth."""
        played = cut(tree, depth)
        above = (strategies[0][played.sequences[0]], strategies[1][played.sequences[1]])
        return PlayedGame(played, leaf_ranges(played, above), lookahead)

    @functools.cached_property
    def reach(self) -> np.ndarray:
        """The probability of every history at which search may start: float64 [N]."""
        leaves = self.played.leaves
        infosets = leaves.infoset_of_history
        return leaves.chance_reach * self.ranges[0][infosets[0]] * self.ranges[1][infosets[1]]

    def search(
        self, kept: np.ndarray, value_function: ValueFunction | None, iterations: int
    ) -> Values:
        """Searches below some of these histories.

        Args:
          kept: positions (int [n]) in the leaves of `played`.
          value_function: values the look-ahead's leaves; None if there are none.
          iterations: of DL-CFR+, in each public state.

        Returns:
          For each player, float64 [S_p], a strategy of the whole game, uniform outside searches.

        Raises:
          ValueError: as `solve_below` does.
        """
        leaves, tree = self.played.leaves, self.played.tree
        strategies = self.uniform_strategies()
        state = np.searchsorted(leaves.history_offsets, kept, side="right") - 1
        for position in np.unique(state):
            particles = self._particles(kept[state == position])
            solution = solve_below(particles, value_function, self.lookahead, Effort(iterations))
            for player in (0, 1):
                infosets = solution.trunk.infosets[player]
                firsts = solution.trunk.tree.first_history[player][infosets]
                for key in solution.trunk.tree.infoset_key[player, firsts].tolist():
                    policy = action_probabilities(solution, player, key)
                    assert policy is not None
                    sequences = tree.treeplexes[player].sequences(self._infoset_of_key[player][key])
                    strategies[player][sequences] = list(policy.values())
        return strategies

    def uniform_strategies(self) -> Values:
        """Uniform play everywhere: for each player, float64 [S_p], of the whole game."""
        first, second = self.played.tree.treeplexes
        return first.uniform_strategy(), second.uniform_strategy()

    def nash_conv(self, strategies: Values) -> float:
        """NashConv of strategies in the look-ahead, with optimal play after it, in utility units.

        Both players have played the known strategies so far. (This is appendix F's trunk
        exploitability, with a chance node in place of the played strategies.)

        Args:
          strategies: for each player, float64 [S_p], of the whole game.
        """
        form = self.played.leaves.subgames
        forms, total = (form, form.swapped()), 0.0
        for player in (0, 1):
            treeplex = form.treeplexes[player]
            sequences = self.played.leaves.subgame_sequences[player]
            tree_infoset = self.played.tree.treeplexes[player].infoset_of_sequence[
                sequences[treeplex.first_sequence]
            ]
            fixed = FixedStrategy(
                np.isin(tree_infoset, self._searched.infosets[player]),
                strategies[player][sequences],
            )
            ranges = (self.ranges[player], self.ranges[1 - player])
            total -= linear_program.solve(
                forms[player], ranges, fixed.plan(treeplex, ranges[0])
            ).value
        return total

    @functools.cached_property
    def _searched(self) -> Trunk:
        """The look-ahead below all histories at which search may start."""
        states = self.played.leaves.public_states.tolist()
        return cut(self.played.tree, self.lookahead, states)

    @functools.cached_property
    def _infoset_of_key(self) -> tuple[dict[int, int], dict[int, int]]:
        """For each player, the decision infoset of the whole game by infoset key."""
        tree = self.played.tree
        first, second = (
            {
                key: infoset
                for infoset, key in enumerate(
                    tree.infoset_key[player, tree.first_history[player]].tolist()
                )
            }
            for player in (0, 1)
        )
        return first, second

    def _particles(self, kept: np.ndarray) -> Particles:
        """Some leaves of one public state, with the reaches of what was played."""
        leaves, tree = self.played.leaves, self.played.tree
        infosets = leaves.infoset_of_history[:, kept]
        return Particles(
            tree.game,
            tree.states_of(leaves.histories[kept]),
            np.stack([self.ranges[player][infosets[player]] for player in (0, 1)]),
            leaves.chance_reach[kept],
        )
