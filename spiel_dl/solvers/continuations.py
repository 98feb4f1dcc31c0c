"""Choices at the leaves of a depth-limited game: one player chooses a continuation strategy.

Brown, Sandholm, Amos (2018), "Depth-Limited Solving for Imperfect-Information Games"; Kubíček et
al. (2023), section 4.3. At each of its leaf infosets the *second* side chooses one of K strategies
for the rest of the game; the *first* side has a single continuation. The value of each leaf under
each choice is computed before the first iteration. So this adds one decision per leaf infoset to an
ordinary game in sequence form, with dense payoffs, which are stored in blocks of single precision
and summed in double.

Reading the blocks takes most of an iteration. With alternating updates it takes two sweeps, because
the first side responds to the second side's new choices. But only one of them is complete: the
first side is paid only in infosets that the second side reaches, which are few with regret
matching, and the other blocks are not read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.solvers import continuation_kernels, kernels
from spiel_dl.solvers.continuation_kernels import Blocks
from spiel_dl.solvers.minimizer_state import new_learned
from spiel_dl.solvers.regret_minimization import RELATIVE_TOLERANCE, Pair
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree.histories import counting_order
from spiel_dl.tree.sequence_form import Treeplex

LEAF_CHOICES = ("regret_matching", "best_response")
"""How the second side chooses: as everywhere else, or anew in every iteration."""


def check_leaf_choice(leaf_choice: str) -> None:
    """Raises a ValueError unless it is one of `LEAF_CHOICES`."""
    if leaf_choice not in LEAF_CHOICES:
        raise ValueError(f"leaf_choice={leaf_choice!r} must be one of {LEAF_CHOICES}")


class Continuations(NamedTuple):
    """The payoffs of leaves to the first side, for each choice of the second side.

    Attributes:
      blocks: the payoffs.
      num_infosets: (L_0, L_1), the number of leaf infosets of each side.
    """

    blocks: Blocks
    num_infosets: tuple[int, int]

    @staticmethod
    def of_histories(
        utilities: np.ndarray,
        chance_reach: np.ndarray,
        infosets: np.ndarray,
        num_infosets: tuple[int, int],
    ) -> Continuations:
        """Sums the payoffs of histories that are in the same leaf infosets of both sides.

        Args:
          utilities: float [N, K], the first side's.
          chance_reach: float64 [N].
          infosets: int [2, N], each side's leaf infoset.
          num_infosets: (L_0, L_1).
        """
        order = counting_order(infosets[0], num_infosets[0])[0]
        order = order[counting_order(infosets[1][order], num_infosets[1])[0]]
        key = (infosets[1].astype(np.int64) * num_infosets[0] + infosets[0])[order]
        starts_of_pairs = np.flatnonzero(np.diff(key, prepend=-1, append=-1))
        second, first = np.divmod(key[starts_of_pairs[:-1]], num_infosets[0])
        payoffs = np.empty((len(first), utilities.shape[1]), np.float32)
        continuation_kernels.sum_pairs(
            np.ascontiguousarray(utilities), chance_reach, order, starts_of_pairs, payoffs
        )
        starts = np.searchsorted(second, np.arange(num_infosets[1] + 1))
        return Continuations(Blocks(payoffs, first.astype(np.int32), starts), num_infosets)

    @property
    def num_choices(self) -> int:
        """K."""
        return self.blocks.payoffs.shape[1]

    def values_of_first(self, reach: np.ndarray, choices: np.ndarray) -> np.ndarray:
        """The counterfactual values of the first side's leaf infosets: float64 [L_0].

        Args:
          reach: float64 [L_1], the second side's reach of its leaf infosets.
          choices: float64 [L_1, K], its choices there.
        """
        values = np.empty(self.num_infosets[0])
        continuation_kernels.values_of_first(
            self.blocks, np.ascontiguousarray(reach), np.ascontiguousarray(choices), values
        )
        return values

    def values_of_second(self, reach: np.ndarray) -> np.ndarray:
        """The counterfactual values of the second side's choices: float64 [L_1, K].

        Args:
          reach: float64 [L_0], the first side's reach of its leaf infosets.
        """
        values = np.empty((self.num_infosets[1], self.num_choices))
        continuation_kernels.values_of_second(self.blocks, np.ascontiguousarray(reach), values)
        return values


class ContinuationChoices:
    """Regret minimization over the second side's choices, one update at a time.

    It does what a variant of CFR does in the last infosets of a game; `update` returns their
    values.
    """

    def __init__(
        self,
        continuations: Continuations,
        variant: Weighting,
        utility_range: float,
    ):
        """Starts at uniform choices.

        Args:
          continuations: payoffs of the choices.
          variant: the variant of CFR.
          utility_range: largest minus smallest utility.
        """
        self._continuations = continuations
        self._numbers = variant.numbers
        self._tolerance = RELATIVE_TOLERANCE * utility_range
        # One decision behind each leaf infoset.
        num_roots, num_choices = continuations.num_infosets[1], continuations.num_choices
        leaf_infoset = np.arange(num_roots, dtype=np.int32)
        first = (num_roots + num_choices * leaf_infoset).astype(np.int32)
        sizes = np.full(num_roots, num_choices, np.int32)
        self._treeplex = Treeplex(leaf_infoset, first, sizes, num_roots)
        self._learner = new_learned(self._treeplex)
        self._cfv = np.zeros(self._treeplex.num_sequences)
        self._num_updates = 0

    def update(self, side: int, ranges: Pair) -> np.ndarray:
        """Does one side's part of an iteration; only the second side's choices change.

        Args:
          side: 0 or 1.
          ranges: for each side, float64 [L], its own reach of its leaf infosets.

        Returns:
          float64 [L], the side's counterfactual values under the choices before this update.
        """
        if side == 0:
            choices = self._by_infoset(self._learner.strategy)
            return self._continuations.values_of_first(ranges[1], choices)
        self._num_updates += 1
        iteration = float(self._num_updates)
        continuation_kernels.update_second(
            self._continuations.blocks,
            np.ascontiguousarray(ranges[0]),
            np.ascontiguousarray(ranges[1]),
            self._learner,
            kernels.rates_at(iteration, self._numbers),
            kernels.averaging_weight(iteration, self._numbers),
            self._tolerance,
            self._cfv,
        )
        return self._cfv[: len(ranges[1])].copy()

    def average_choices(self) -> np.ndarray:
        """The average choice in each leaf infoset of the second side: float64 [L_1, K]."""
        return self._by_infoset(behaviour_strategy(self._treeplex, self._learner.average))

    def best_values(self, side: int, range_of_other: np.ndarray) -> np.ndarray:
        """A side's values under its best choices against the other side's average: float64 [L].

        Args:
          side: 0 or 1.
          range_of_other: float64 [L_-s], the other side's average reach of its leaf infosets.
        """
        if side == 1:
            return self._continuations.values_of_second(range_of_other).max(axis=1)
        weights = self.average_choices() * range_of_other[:, None]
        return self._continuations.values_of_first(np.ones(len(weights)), weights)

    def _by_infoset(self, sequences: np.ndarray) -> np.ndarray:
        """The choices' part of values per sequence (float64 [L_1 + L_1 K]): float64 [L_1, K]."""
        return sequences[self._treeplex.num_root_sequences :].reshape(
            -1, self._continuations.num_choices
        )
