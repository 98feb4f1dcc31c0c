"""Policies by name that two programs can compute for themselves from information state tensors.

Needs numpy alone, because peers run it in environments of their own.
"""

import numpy as np

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_HIDDEN = 64
NAMES = ("uniform", "random", "network")
"""Uniform; drawn for each infoset, far from uniform; a network with two hidden layers."""


def probabilities(name: str, tensors: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """A policy at some infosets: float64 [N, A], 0 where illegal.

    Args:
      name: one of `NAMES`.
      tensors: float or bool [N, D], of zeros and ones.
      legal: bool [N, A].
    """
    size, num_actions = tensors.shape[1], legal.shape[1]
    if name == "uniform":
        weights = np.ones(legal.shape)
    elif name == "random":
        # Every infoset has a key of its own, the sum of the keys of its ones.
        keys = np.random.default_rng(1).integers(2**63, size=size, dtype=np.uint64)
        drawn = np.zeros(len(tensors), np.uint64)
        for column in range(size):
            drawn += np.where(tensors[:, column] != 0, keys[column], np.uint64(0))
        steps = np.arange(1, num_actions + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        uniform = _mixed(drawn[:, None] + steps) / 2.0**64
        weights = (-np.log(uniform + 2.0**-65)) ** 4
    else:
        generator = np.random.default_rng(2)
        values = tensors.astype(np.float64)
        for width in (_HIDDEN, _HIDDEN):
            values = np.maximum(values @ (1.5 * generator.normal(size=(values.shape[1], width))), 0)
            values /= 1e-9 + np.sqrt((values**2).mean(axis=1, keepdims=True))
        logits = values @ (generator.normal(size=(_HIDDEN, num_actions)) / 4)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights = np.where(legal, weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Steele, Lea, Flood (2014), the mixing function of SplitMix64."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _MIX[0]
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _MIX[1]
    return numbers ^ (numbers >> np.uint64(31))
