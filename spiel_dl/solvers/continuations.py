"""Choices at the leaves of a depth-limited game: each player picks how it will go on.

Brown, Sandholm, Amos (2018), "Depth-Limited Solving for Imperfect-Information Games"; Kubíček et
al. (2023), section 4.3. At each of its leaf infosets a player chooses one of a few strategies for
the rest of the game. What a leaf is worth under each pair of choices is known before the first
iteration. So this is one more decision per leaf infoset of an ordinary game in sequence form, whose
payoffs are dense; they are kept in blocks of single precision and summed in double.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.solvers import kernels
from spiel_dl.solvers.regret_minimization import (
    RELATIVE_TOLERANCE,
    Pair,
    Weighting,
    behaviour_strategy,
    new_learner,
)
from spiel_dl.tree.sequence_form import Treeplex


class Continuations(NamedTuple):
    """What leaves are worth to a *first* side, by its own choice and by that of the second side.

    Attributes:
      payoffs: float32 [M, K_0, K_1], of the M pairs of leaf infosets that share histories: chance's
        reach times the first side's utility, summed over these histories.
      infosets: int32 [2, M], each side's leaf infoset.
      num_infosets: (L_0, L_1), how many leaf infosets each side has.
    """

    payoffs: np.ndarray
    infosets: np.ndarray
    num_infosets: tuple[int, int]

    @staticmethod
    def of_histories(
        utilities: np.ndarray,
        chance_reach: np.ndarray,
        infosets: np.ndarray,
        num_infosets: tuple[int, int],
    ) -> Continuations:
        """Sums histories that neither side tells apart.

        Args:
          utilities: float [N, K_0, K_1], the first side's.
          chance_reach: float64 [N].
          infosets: int [2, N], each side's leaf infoset.
          num_infosets: (L_0, L_1).
        """
        key = infosets[0].astype(np.int64) * num_infosets[1] + infosets[1]
        pairs, pair = np.unique(key, return_inverse=True)
        payoffs = np.zeros((len(pairs), *utilities.shape[1:]))
        np.add.at(payoffs, pair, utilities * chance_reach[:, None, None])
        of_pairs = np.stack(np.divmod(pairs, num_infosets[1])) if len(pairs) else infosets[:, :0]
        return Continuations(payoffs.astype(np.float32), of_pairs.astype(np.int32), num_infosets)

    def num_choices(self, side: int) -> int:
        """K of a side."""
        return int(self.payoffs.shape[1 + side])

    def values(self, side: int, weights: np.ndarray) -> np.ndarray:
        """What each choice of a side earns it: float64 [L, K].

        Args:
          side: 0 or 1.
          weights: float64 [L_-s, K_-s], the other side's reach of its choices.
        """
        values = np.zeros((self.num_infosets[side], self.num_choices(side)))
        add = (
            kernels.add_continuations_of_first if side == 0 else kernels.add_continuations_of_second
        )
        add(self.payoffs, self.infosets, np.ascontiguousarray(weights), values)
        return values


class ContinuationChoices:
    """Both sides learn their choices by regret minimization, one update at a time.

    It is what a variant of CFR does in the last infosets of a game; `update` says what these are
    worth to the infosets above.
    """

    def __init__(self, continuations: Continuations, weighting: Weighting, utility_range: float):
        """Starts at uniform choices.

        Args:
          continuations: what there is to choose.
          weighting: the variant of CFR.
          utility_range: largest minus smallest utility.
        """
        self._continuations = continuations
        self._weighting = (weighting.alpha, weighting.beta, weighting.gamma)
        self._tolerance = RELATIVE_TOLERANCE * utility_range
        self._treeplexes = [self._treeplex(side) for side in (0, 1)]
        self._learners = [new_learner(t, weighting.predictive) for t in self._treeplexes]
        self._num_updates = [0, 0]

    def update(self, side: int, ranges: Pair) -> np.ndarray:
        """Does one side's part of an iteration.

        Args:
          side: 0 or 1.
          ranges: for each side, float64 [L], its own reach of its leaf infosets.

        Returns:
          float64 [L], the side's counterfactual values under the choices before this update.
        """
        for each in (0, 1):
            self._learners[each].realization[: len(ranges[each])] = ranges[each]
            kernels.realize(self._treeplexes[each].arrays, self._learners[each])
        values = self._continuations.values(side, self._below_roots(1 - side))
        cfv = np.concatenate([np.zeros(len(values)), values.reshape(-1)])
        self._num_updates[side] += 1
        kernels.update_player(
            self._treeplexes[side].arrays,
            self._learners[side],
            self._num_updates[side],
            self._weighting,
            self._tolerance,
            cfv,
        )
        return cfv[: len(values)]

    def average_choices(self, side: int) -> np.ndarray:
        """The average choice in each leaf infoset of a side: float64 [L, K]."""
        treeplex = self._treeplexes[side]
        average = behaviour_strategy(treeplex, self._learners[side].average)
        return average[treeplex.num_root_sequences :].reshape(treeplex.num_root_sequences, -1)

    def _below_roots(self, side: int) -> np.ndarray:
        num_roots = self._treeplexes[side].num_root_sequences
        return self._learners[side].realization[num_roots:].reshape(num_roots, -1)

    def _treeplex(self, side: int) -> Treeplex:
        """One decision behind each leaf infoset."""
        num_roots = self._continuations.num_infosets[side]
        num_choices = self._continuations.num_choices(side)
        leaf = np.arange(num_roots, dtype=np.int32)
        first = (num_roots + num_choices * leaf).astype(np.int32)
        return Treeplex(leaf, first, np.full(num_roots, num_choices, np.int32), num_roots)
