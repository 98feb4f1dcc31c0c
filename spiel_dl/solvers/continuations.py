"""Choices at the leaves of a depth-limited game: each player picks how it will go on.

Brown, Sandholm, Amos (2018), "Depth-Limited Solving for Imperfect-Information Games"; Kubíček et
al. (2023), section 4.3. At each of its leaf infosets a player chooses one of a few strategies for
the rest of the game. What a leaf is worth under each pair of choices is known before the first
iteration. So this is one more decision per leaf infoset of an ordinary game in sequence form, whose
payoffs are dense; they are kept in blocks of single precision and summed in double.

Reading the blocks is most of an iteration. One sweep cannot serve both sides if these are updated
in turn, because the first side answers the second side's new choices. But only one of two sweeps is
a whole one: the first side is paid only in those infosets to which the second side comes, which in
regret matching are few, and the rest is not read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spiel_dl.solvers import continuation_kernels, kernels
from spiel_dl.solvers.continuation_kernels import Blocks
from spiel_dl.solvers.minimizer_state import new_learned
from spiel_dl.solvers.regret_minimization import RELATIVE_TOLERANCE, Pair
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree.sequence_form import Treeplex


class Continuations(NamedTuple):
    """What leaves are worth to a *first* side, by its own choice and by that of the second side.

    Attributes:
      blocks: the payoffs.
      num_infosets: (L_0, L_1), how many leaf infosets each side has.
      num_choices: (K_0, K_1).
    """

    blocks: Blocks
    num_infosets: tuple[int, int]
    num_choices: tuple[int, int]

    @staticmethod
    def of_histories(
        utilities: np.ndarray,
        chance_reach: np.ndarray,
        infosets: np.ndarray,
        num_infosets: tuple[int, int],
        dtype: npt.DTypeLike = np.float32,
    ) -> Continuations:
        """Sums histories that neither side tells apart.

        Args:
          utilities: float [N, K_0, K_1], the first side's.
          chance_reach: float64 [N].
          infosets: int [2, N], each side's leaf infoset.
          num_infosets: (L_0, L_1).
          dtype: of the payoffs that are kept: float32, or float64 in twice the memory.
        """
        num_choices = (utilities.shape[1], utilities.shape[2])
        order = continuation_kernels.counting_order(infosets[0], num_infosets[0])
        order = order[continuation_kernels.counting_order(infosets[1][order], num_infosets[1])]
        key = (infosets[1].astype(np.int64) * num_infosets[0] + infosets[0])[order]
        starts_of_pairs = np.flatnonzero(np.diff(key, prepend=-1, append=-1))
        second, first = np.divmod(key[starts_of_pairs[:-1]], num_infosets[0])
        starts = num_choices[0] * np.searchsorted(second, np.arange(num_infosets[1] + 1))
        columns = num_choices[0] * first[:, None] + np.arange(num_choices[0])
        payoffs = np.empty((len(first), num_choices[0] * num_choices[1]), dtype)
        flat = np.ascontiguousarray(utilities).reshape(len(utilities), -1)
        continuation_kernels.sum_pairs(flat, chance_reach, order, starts_of_pairs, payoffs)
        rows = payoffs.reshape(-1, num_choices[1])
        blocks = Blocks(rows, columns.reshape(-1).astype(np.int32), starts)
        return Continuations(blocks, num_infosets, num_choices)

    def values(self, side: int, weights: np.ndarray) -> np.ndarray:
        """What each choice of a side earns it: float64 [L, K].

        Args:
          side: 0 or 1.
          weights: float64 [L_-s, K_-s], the other side's reach of its choices.
        """
        weights = np.ascontiguousarray(weights)
        values = np.empty((self.num_infosets[side], self.num_choices[side]))
        if side == 1:
            continuation_kernels.values_of_second(self.blocks, weights.reshape(-1), values)
            return values
        everywhere = np.ones(len(weights))
        continuation_kernels.values_of_first(self.blocks, everywhere, weights, values.reshape(-1))
        return values


class ContinuationChoices:
    """Both sides learn their choices by regret minimization, one update at a time.

    It is what a variant of CFR does in the last infosets of a game; `update` says what these are
    worth to the infosets above.
    """

    def __init__(
        self,
        continuations: Continuations,
        variant: Weighting,
        utility_range: float,
    ):
        """Starts at uniform choices.

        Args:
          continuations: what there is to choose.
          variant: the variant of CFR.
          utility_range: largest minus smallest utility.
        """
        self._continuations = continuations
        self._numbers = variant.numbers
        self._tolerance = RELATIVE_TOLERANCE * utility_range
        self._treeplexes = [self._treeplex(side) for side in (0, 1)]
        self._learners = [new_learned(t) for t in self._treeplexes]
        self._cfvs = [np.zeros(t.num_sequences) for t in self._treeplexes]
        self._num_updates = [0, 0]

    def update(self, side: int, ranges: Pair) -> np.ndarray:
        """Does one side's part of an iteration.

        Args:
          side: 0 or 1.
          ranges: for each side, float64 [L], its own reach of its leaf infosets.

        Returns:
          float64 [L], the side's counterfactual values under the choices before this update.
        """
        self._num_updates[side] += 1
        self._learners[0].realization[: len(ranges[0])] = ranges[0]
        kernels.realize(self._treeplexes[0].arrays, self._learners[0])
        if side == 0:
            self._update_first(ranges[1])
        else:
            self._update_second(ranges[1])
        return self._cfvs[side][: len(ranges[side])].copy()

    def average_choices(self, side: int) -> np.ndarray:
        """The average choice in each leaf infoset of a side: float64 [L, K]."""
        average = self._learners[side].average
        return self._by_infoset(side, behaviour_strategy(self._treeplexes[side], average))

    def best_values(self, side: int, range_of_other: np.ndarray) -> np.ndarray:
        """What a side's best choices earn it against the other side's average: float64 [L].

        Args:
          side: 0 or 1.
          range_of_other: float64 [L_-s], the other side's average reach of its leaf infosets.
        """
        weights = self.average_choices(1 - side) * range_of_other[:, None]
        return self._continuations.values(side, weights).max(axis=1)

    def _update_first(self, range_of_second: np.ndarray) -> None:
        choices = self._by_infoset(1, self._learners[1].strategy)
        cfv = self._cfvs[0]
        cfv[: self._treeplexes[0].num_root_sequences] = 0.0
        continuation_kernels.values_of_first(
            self._continuations.blocks,
            np.ascontiguousarray(range_of_second),
            choices,
            cfv[self._below(0)],
        )
        kernels.update_player(
            self._treeplexes[0].arrays,
            self._learners[0],
            self._num_updates[0],
            self._numbers,
            self._tolerance,
            cfv,
        )

    def _update_second(self, range_of_second: np.ndarray) -> None:
        iteration = float(self._num_updates[1])
        continuation_kernels.update_second(
            self._continuations.blocks,
            self._learners[0].realization[self._below(0)],
            np.ascontiguousarray(range_of_second),
            self._learners[1],
            kernels.rates(iteration, self._numbers),
            kernels.average(iteration, self._numbers),
            self._tolerance,
            self._cfvs[1],
        )

    def _below(self, side: int) -> slice:
        """The sequences of a side's choices."""
        return slice(self._treeplexes[side].num_root_sequences, None)

    def _by_infoset(self, side: int, sequences: np.ndarray) -> np.ndarray:
        """A side's choices (of float64 [L + L K]) by leaf infosets: float64 [L, K]."""
        shape = (self._continuations.num_infosets[side], self._continuations.num_choices[side])
        return sequences[self._below(side)].reshape(shape)

    def _treeplex(self, side: int) -> Treeplex:
        """One decision behind each leaf infoset."""
        num_roots = self._continuations.num_infosets[side]
        num_choices = self._continuations.num_choices[side]
        leaf = np.arange(num_roots, dtype=np.int32)
        first = (num_roots + num_choices * leaf).astype(np.int32)
        return Treeplex(leaf, first, np.full(num_roots, num_choices, np.int32), num_roots)
