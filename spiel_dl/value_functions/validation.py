"""Errors of a `ValueNetwork` on a `Dataset`'s values.

Errors are given in two units. Networks give values at ranges that sum to 1 in a leaf public state,
and are trained on these *normalised* values. Counterfactual values themselves, as in the figures of
Kovařík et al. (2021), are these times the opponent's mass there: *unnormalised*.
"""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.value_functions.samples import Samples
from spiel_dl.value_functions.value_network import ValueNetwork

# Names of errors, and their titles in reports.
ERROR_TITLES = {
    "huber": "Huber (mean)",
    "l1": "L1 (mean)",
    "linf": "L∞ (largest of all)",
    "linf_mean": "L∞ (mean over samples)",
}
UNNORMALISED = "unnormalised_"
_BATCH = 4096


def validation_errors(
    network: ValueNetwork, samples: Samples, numbers: np.ndarray
) -> dict[str, float]:
    """A network's errors over all outputs that count, of some samples.

    Args:
      network: the network.
      samples: those of the network, see `ValueNetwork.samples`.
      numbers: int64 [b], the samples to measure; at least one.

    Returns:
      `huber` (mean Huber loss with its bend at 1 utility unit), `l1` (mean absolute error), `linf`
      (largest absolute error), `linf_mean` (mean over the samples of the largest absolute error in
      a sample), in utility units at ranges that sum to 1; and the same with the prefix
      `unnormalised_`, of errors times the opponent's mass. Errors of conditional networks are those
      of the values of infosets once they are reached; their unnormalised errors are those times the
      counterfactual reach. Infosets that are not reached do not count in their means.
    """
    sums, largest, num_positions = np.zeros((2, 3)), np.zeros(2), 0
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        inputs, targets, is_possible = samples.batch(batch)
        with torch.inference_mode():
            error = (network.module(inputs) - targets).abs().double()
            error = torch.where(is_possible, error, 0.0)
            num_positions += int(is_possible.sum())
            for unit, scaled in enumerate((error, error * samples.opponent_masses(batch))):
                quadratic, sample_maxima = scaled.clamp(max=1.0), scaled.amax(dim=1)
                huber = (quadratic * (scaled - 0.5 * quadratic)).sum()
                sums[unit] += [float(total) for total in (huber, scaled.sum(), sample_maxima.sum())]
                # Unlike Python's own, NumPy's maximum does not lose NaN.
                largest[unit] = np.maximum(largest[unit], float(sample_maxima.max()))
    errors: dict[str, float] = {}
    for unit, prefix in enumerate(("", UNNORMALISED)):
        huber, l1, linf_sum = sums[unit].tolist()
        means = (huber / num_positions, l1 / num_positions, float(largest[unit]))
        values = (*means, linf_sum / len(numbers))
        errors |= {prefix + name: v for name, v in zip(ERROR_TITLES, values, strict=True)}
    return errors
