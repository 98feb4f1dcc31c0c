"""Treeplexes and the sequence form: the input of all solvers.

Koller, Megiddo, von Stengel (1996): a strategy is a realization plan, one weight per sequence, and
the expected utility is bilinear in the two plans.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import scipy.sparse


class TreeplexArrays(NamedTuple):
    """A `Treeplex` for compiled code: its arrays as uint32.

    `origin` (uint32 [S]) is the parent sequence of each sequence's infoset, 0 for root sequences.
    """

    parent_sequence: np.ndarray
    first_sequence: np.ndarray
    num_actions: np.ndarray
    origin: np.ndarray
    num_root_sequences: int


@dataclasses.dataclass(frozen=True, eq=False)
class Treeplex:
    """One player's strategy space: I infosets, numbered top-down, and S sequences.

    The first `num_root_sequences` sequences have no infoset: the empty sequence of a whole game, or
    one per root infoset of a subgame, whose realization is the player's range. The sequences of
    infoset i follow those of infoset i - 1.

    Attributes:
      parent_sequence: int32 [I], the sequence that leads to an infoset; before its own ones.
      first_sequence: int32 [I], the first sequence of an infoset.
      num_actions: int32 [I], at least 1.
      num_root_sequences: number of root sequences.
    """

    parent_sequence: np.ndarray
    first_sequence: np.ndarray
    num_actions: np.ndarray
    num_root_sequences: int

    @property
    def num_infosets(self) -> int:
        """I, the number of infosets."""
        return len(self.parent_sequence)

    @functools.cached_property
    def num_sequences(self) -> int:
        """S, the number of sequences, root sequences included."""
        return self.num_root_sequences + int(self.num_actions.sum())

    @functools.cached_property
    def arrays(self) -> TreeplexArrays:
        """This treeplex for compiled code."""
        roots = np.zeros(self.num_root_sequences, np.uint32)
        origin = np.repeat(self.parent_sequence, self.num_actions)
        return TreeplexArrays(
            np.ascontiguousarray(self.parent_sequence, np.uint32),
            np.ascontiguousarray(self.first_sequence, np.uint32),
            np.ascontiguousarray(self.num_actions, np.uint32),
            np.concatenate([roots, origin]).astype(np.uint32),
            self.num_root_sequences,
        )

    @functools.cached_property
    def infoset_of_sequence(self) -> np.ndarray:
        """Int32 [S], the infoset of each sequence; -1 for root sequences."""
        roots = np.full(self.num_root_sequences, -1, np.int32)
        infosets = np.arange(self.num_infosets, dtype=np.int32)
        return np.concatenate([roots, np.repeat(infosets, self.num_actions)])

    def sequences(self, infoset: int) -> slice:
        """The sequences of an infoset."""
        first = int(self.first_sequence[infoset])
        return slice(first, first + int(self.num_actions[infoset]))

    def sequences_of(self, infosets: np.ndarray) -> np.ndarray:
        """The sequences of the chosen infosets (bool [I]): int64 [n]."""
        return self.num_root_sequences + np.flatnonzero(np.repeat(infosets, self.num_actions))

    def uniform_strategy(self) -> np.ndarray:
        """The uniform behaviour strategy: float64 [S], 1 at root sequences."""
        uniform = np.repeat(1.0 / self.num_actions, self.num_actions)
        return np.concatenate([np.ones(self.num_root_sequences), uniform])

    def sum_per_infoset(self, values: np.ndarray) -> np.ndarray:
        """Sums values (float64 [S]) over the sequences of each infoset: float64 [I]."""
        if not self.num_infosets:
            return np.zeros(0)
        return np.add.reduceat(values, self.first_sequence)

    def per_sequence(self, values: np.ndarray) -> np.ndarray:
        """Each infoset's value (float64 [I]) at its sequences, 0 at root ones: float64 [S]."""
        roots = np.zeros(self.num_root_sequences)
        return np.concatenate([roots, np.repeat(values, self.num_actions)])

    def constraints(self) -> scipy.sparse.csr_array:
        """The matrix E of E x = e for realization plans x: float64 [R + I, S], sparse.

        The first R rows give the root sequences' weights; in row R + i, the sequences of infoset i
        sum to their parent.
        """
        roots = self.num_root_sequences
        own = np.arange(self.num_sequences)
        row = np.where(own < roots, own, roots + self.infoset_of_sequence)
        infosets = roots + np.arange(self.num_infosets)
        rows = np.concatenate([row, infosets])
        columns = np.concatenate([own, self.parent_sequence])
        data = np.concatenate([np.ones(len(own)), -np.ones(len(infosets))])
        shape = (roots + self.num_infosets, self.num_sequences)
        return scipy.sparse.coo_array((data, (rows, columns)), shape=shape).tocsr()


def add_constants(
    treeplexes: tuple[Treeplex, Treeplex],
    constants: tuple[np.ndarray, np.ndarray] | None,
    sequences: tuple[np.ndarray, np.ndarray],
    values: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Constants plus values at some sequences; see `SequenceForm.with_constants`."""
    sums = []
    for player, treeplex in enumerate(treeplexes):
        total = np.zeros(treeplex.num_sequences)
        if constants is not None:
            total += constants[player]
        np.add.at(total, sequences[player], values[player])
        sums.append(total)
    return sums[0], sums[1]


@dataclasses.dataclass(frozen=True, eq=False)
class SequenceForm:
    """A two-player zero-sum game, or a part of one, on sequences.

    Player 0's expected utility of realization plans x and y is x^T A y + c_0^T x - c_1^T y.

    Attributes:
      treeplexes: both players' strategy spaces.
      payoffs: A, player 0's utility times chance's reach, summed over the terminal histories of
        each pair of sequences: float64 [S_0, S_1], sparse, without explicit zeros.
      utility_range: largest minus smallest utility; solvers scale their tolerances by it.
      constants: c_p, float64 [S_p]: p's payoffs of its sequences that do not depend on the opponent
        (gadgets). None: 0.
    """

    treeplexes: tuple[Treeplex, Treeplex]
    payoffs: scipy.sparse.csr_array
    utility_range: float
    constants: tuple[np.ndarray, np.ndarray] | None = None

    @staticmethod
    def from_terminals(
        treeplexes: tuple[Treeplex, Treeplex],
        sequences: np.ndarray,
        weighted_utility: np.ndarray,
        utility_range: float,
    ) -> SequenceForm:
        """Sums terminal histories into payoffs.

        Args:
          treeplexes: both players' strategy spaces.
          sequences: int32 [2, Z], both players' last sequences at the terminal histories.
          weighted_utility: float64 [Z], player 0's utility times chance's reach.
          utility_range: largest minus smallest utility.
        """
        shape = (treeplexes[0].num_sequences, treeplexes[1].num_sequences)
        coordinates = (sequences[0], sequences[1])
        payoffs = scipy.sparse.coo_array((weighted_utility, coordinates), shape=shape).tocsr()
        payoffs.sum_duplicates()
        payoffs.eliminate_zeros()
        return SequenceForm(treeplexes, payoffs, utility_range)

    def payoffs_for(self, player: int) -> scipy.sparse.csr_array:
        """Payoffs of a player, its own sequences as rows: float64 [S_p, S_-p], sparse."""
        return self.payoffs if player == 0 else self._payoffs_for_1

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """The payoff of each of a player's sequences itself: float64 [S_p], a new array.

        That is the payoff against the opponent's realization plan (float64 [S_-p]) at the terminal
        histories where the sequence is the player's last one, plus the sequence's constant. Payoffs
        of longer sequences are not included.
        """
        values = self.payoffs_for(player) @ opponent_plan
        return values if self.constants is None else values + self.constants[player]

    def with_constants(
        self, sequences: tuple[np.ndarray, np.ndarray], values: tuple[np.ndarray, np.ndarray]
    ) -> SequenceForm:
        """The same game with values added to the constants of some sequences.

        Args:
          sequences: for each player, int [n_p], sequences, possibly repeated; for example those
            from which leaf infosets hang.
          values: for each player, float64 [n_p], the values to add; for example the leaf infosets'
            counterfactual values.
        """
        return self.replacing_constants(
            add_constants(self.treeplexes, self.constants, sequences, values)
        )

    def replacing_constants(self, constants: tuple[np.ndarray, np.ndarray]) -> SequenceForm:
        """The same game with these constants instead of its own."""
        return dataclasses.replace(self, constants=constants)

    def embedded(
        self,
        player: int,
        treeplex: Treeplex,
        new_sequences: np.ndarray,
        constants: tuple[np.ndarray, np.ndarray],
    ) -> SequenceForm:
        """The same payoffs in a larger strategy space of a player, with other constants.

        Args:
          player: whose strategy space.
          treeplex: the larger strategy space.
          new_sequences: int [S_p], the number there of each sequence here, all different.
          constants: those of the new form.
        """
        other = self.treeplexes[1 - player]
        old = self.payoffs_for(player).tocoo()
        rows, columns = old.coords
        coordinates = (new_sequences[rows], columns)
        shape = (treeplex.num_sequences, other.num_sequences)
        payoffs = scipy.sparse.coo_array((old.data, coordinates), shape=shape).tocsr()
        # In these payoffs, the player is player 0.
        ordered = constants if player == 0 else constants[::-1]
        form = SequenceForm((treeplex, other), payoffs, self.utility_range, ordered)
        return form if player == 0 else form.swapped()

    def scaled(self, factor: float) -> SequenceForm:
        """The same game in another unit: payoffs and constants times a factor."""
        constants = None
        if self.constants is not None:
            constants = (self.constants[0] * factor, self.constants[1] * factor)
        return SequenceForm(
            self.treeplexes, self.payoffs * factor, self.utility_range * factor, constants
        )

    def swapped(self) -> SequenceForm:
        """The same game with the players' names exchanged."""
        constants = None if self.constants is None else self.constants[::-1]
        return SequenceForm(
            self.treeplexes[::-1], self.payoffs_for(1), self.utility_range, constants
        )

    @functools.cached_property
    def _payoffs_for_1(self) -> scipy.sparse.csr_array:
        return (-self.payoffs.T).tocsr()
