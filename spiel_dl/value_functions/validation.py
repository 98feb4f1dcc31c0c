"""How far a `ValueNetwork` is from a `Dataset`'s values.

Errors are given in two units. Networks answer for ranges that sum to 1 in a leaf public state, and
training looks at these *normalised* values. Counterfactual values themselves, which the figures of
Kovařík et al. (2021) are about, are larger or smaller by the opponent's mass there: *unnormalised*.
"""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.value_functions.samples import Samples
from spiel_dl.value_functions.value_network import ValueNetwork

# What is measured, and what to call it in front of people.
ERROR_TITLES = {
    "huber": "Huber (mean)",
    "l1": "L1 (mean)",
    "linf": "L∞ (largest of all)",
    "linf_mean": "L∞ (mean over samples)",
}
UNNORMALISED = "unnormalised_"
# In either unit.
ALL_ERROR_TITLES = {
    **{UNNORMALISED + name: f"{title}, unnormalised" for name, title in ERROR_TITLES.items()},
    **{name: f"{title}, normalised" for name, title in ERROR_TITLES.items()},
}
_BATCH = 4096


def validation_errors(
    network: ValueNetwork, samples: Samples, numbers: np.ndarray
) -> dict[str, float]:
    """A network's errors over all outputs that count, of some samples.

    Args:
      network: the network.
      samples: the network's own, see `ValueNetwork.samples`.
      numbers: int64 [b], which samples; at least one.

    Returns:
      `huber` (mean Huber loss with its bend at 1 utility unit), `l1` (mean absolute error), `linf`
      (largest absolute error), `linf_mean` (mean over the samples of the largest absolute error in
      a sample), in utility units at ranges that sum to 1; and the same with the prefix
      `unnormalised_`, of errors times the opponent's mass.
    """
    normalised, unnormalised = _ErrorSums(), _ErrorSums()
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        inputs, targets, is_possible = samples.batch(batch)
        with torch.inference_mode():
            error = (network.module(inputs) - targets).abs().double()
            error = torch.where(is_possible, error, 0.0)
            num_positions = int(is_possible.sum())
            normalised.add(error, num_positions)
            unnormalised.add(error * samples.opponent_masses(batch), num_positions)
    scaled = {UNNORMALISED + name: value for name, value in unnormalised.means().items()}
    return {**normalised.means(), **scaled}


class _ErrorSums:
    """Sums of absolute errors, batch by batch."""

    def __init__(self) -> None:
        self._huber, self._l1, self._linf, self._linf_sum = 0.0, 0.0, 0.0, 0.0
        self._num_positions, self._num_samples = 0, 0

    def add(self, error: torch.Tensor, num_positions: int) -> None:
        """Adds float64 [b, Q], 0 at all but `num_positions` of its entries."""
        quadratic = error.clamp(max=1.0)
        largest = error.amax(dim=1)
        self._huber += float((quadratic * (error - 0.5 * quadratic)).sum())
        self._l1 += float(error.sum())
        # Unlike Python's own, NumPy's maximum does not lose NaN.
        self._linf = float(np.maximum(self._linf, float(largest.max())))
        self._linf_sum += float(largest.sum())
        self._num_positions += num_positions
        self._num_samples += len(error)

    def means(self) -> dict[str, float]:
        """By the names in `ERROR_TITLES`."""
        values = (
            self._huber / self._num_positions,
            self._l1 / self._num_positions,
            self._linf,
            self._linf_sum / self._num_samples,
        )
        return dict(zip(ERROR_TITLES, values, strict=True))
