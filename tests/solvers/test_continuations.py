"""Choices at leaves against regret minimization in plain NumPy, history by history."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from spiel_dl.solvers.continuations import ContinuationChoices, Continuations
from spiel_dl.solvers.variants import (
    CFR_PLUS,
    DISCOUNTED_CFR,
    LINEAR_CFR,
    PREDICTIVE_CFR_PLUS,
    Weighting,
)

UTILITY_RANGE = 2.0


class Leaves(NamedTuple):
    """Random leaves; histories may share both infosets, and an infoset may be without any."""

    utilities: np.ndarray
    chance_reach: np.ndarray
    infosets: np.ndarray
    num_infosets: tuple[int, int]

    def continuations(self) -> Continuations:
        return Continuations.of_histories(*self)

    def ranges(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Random ranges, with zeros."""
        rng = np.random.default_rng(seed)
        first, second = (rng.random(n) * (rng.random(n) < 0.7) for n in self.num_infosets)
        return first, second

    def values_of_first(self, weights: np.ndarray) -> np.ndarray:
        """By the definition: float64 [L_0], of the second side's reach of its choices [L_1, K]."""
        values = np.zeros(self.num_infosets[0])
        rows = self.utilities, self.chance_reach, self.infosets.T
        for utility, reach, (first, second) in zip(*rows, strict=True):
            values[first] += reach * utility @ weights[second]
        return values

    def values_of_second(self, first_range: np.ndarray) -> np.ndarray:
        """By the definition: float64 [L_1, K]."""
        values = np.zeros((self.num_infosets[1], self.utilities.shape[1]))
        rows = self.utilities, self.chance_reach, self.infosets.T
        for utility, reach, (first, second) in zip(*rows, strict=True):
            values[second] -= reach * utility * first_range[first]
        return values


def random_leaves(num_choices: int, num_histories: int = 300) -> Leaves:
    rng = np.random.default_rng(num_choices)
    num_infosets = (40, 25)
    infosets = np.stack([rng.integers(0, n - 1, num_histories) for n in num_infosets])
    # A wide block beside many narrow ones.
    infosets[1, : num_histories // 4] = 3
    # Sums of products of multiples of 1/64 are exact in single precision.
    utilities = rng.integers(-64, 65, (num_histories, num_choices)) / 64
    return Leaves(utilities, rng.integers(65, size=num_histories) / 64, infosets, num_infosets)


class PlainChoices:
    """The second side's choices, learned step by step."""

    def __init__(self, shape: tuple[int, int], variant: Weighting):
        self.strategy = np.full(shape, 1 / shape[1])
        self.regret, self.average = np.zeros(shape), np.zeros(shape)
        self.variant, self.iteration = variant, 0

    def update(self, values: np.ndarray, own_range: np.ndarray) -> np.ndarray:
        """The infosets' values under the strategy before the update."""
        self.iteration += 1
        w, t = self.variant, float(self.iteration)
        cfv = (self.strategy * values).sum(axis=1)
        self.average += t**w.gamma * own_range[:, None] * self.strategy
        newest = values - cfv[:, None]
        regret = self.regret + newest
        factors = [{np.inf: 1.0, -np.inf: 0.0}.get(x, t**x / (t**x + 1)) for x in (w.alpha, w.beta)]
        self.regret = np.where(regret > 0, factors[0] * regret, factors[1] * regret)
        positive = np.maximum(self.regret + w.predictive * newest, 0)
        positive[positive <= 1e-12 * UTILITY_RANGE] = 0
        total = positive.sum(axis=1, keepdims=True)
        uniform = np.full_like(positive, 1 / positive.shape[1])
        self.strategy = np.divide(positive, total, out=uniform, where=total > 0)
        return cfv


@pytest.mark.parametrize(
    "variant", [CFR_PLUS, LINEAR_CFR, DISCOUNTED_CFR, PREDICTIVE_CFR_PLUS], ids=str
)
@pytest.mark.parametrize("num_choices", [1, 4, 22])
def test_updates_as_in_plain_numpy(num_choices, variant):
    """Sides in turn, whichever comes first, and also twice in a row."""
    leaves = random_leaves(num_choices)
    choices = ContinuationChoices(leaves.continuations(), variant, UTILITY_RANGE)
    plain = PlainChoices((leaves.num_infosets[1], num_choices), variant)
    for step, side in enumerate([1, 0, 1, 0, 0, 1, 1, 0, 1, 0]):
        first, second = leaves.ranges(step)
        if side == 0:
            expected = leaves.values_of_first(second[:, None] * plain.strategy)
        else:
            expected = plain.update(leaves.values_of_second(first), second)
        np.testing.assert_allclose(choices.update(side, (first, second)), expected, atol=1e-11)
    total = plain.average.sum(axis=1, keepdims=True)
    uniform = np.full_like(plain.average, 1 / num_choices)
    average = np.divide(plain.average, total, out=uniform, where=total > 0)
    np.testing.assert_allclose(choices.average_choices(), average, atol=1e-9)
    best = leaves.values_of_second(first).max(axis=1)
    np.testing.assert_allclose(choices.best_values(1, first), best, atol=1e-11)
    worth = leaves.values_of_first(second[:, None] * average)
    np.testing.assert_allclose(choices.best_values(0, second), worth, atol=1e-9)


def test_runs_repeat_to_the_last_bit_beside_other_leaves():
    """The same leaves once more behind the first ones change nothing, and neither does memory."""
    leaves = random_leaves(7)
    offsets = np.array(leaves.num_infosets)[:, None]
    both = Leaves(
        np.concatenate([leaves.utilities, leaves.utilities]),
        np.concatenate([leaves.chance_reach, leaves.chance_reach]),
        np.concatenate([leaves.infosets, leaves.infosets + offsets], axis=1),
        (2 * leaves.num_infosets[0], 2 * leaves.num_infosets[1]),
    )
    choices = [
        ContinuationChoices(each.continuations(), CFR_PLUS, UTILITY_RANGE)
        for each in (leaves, both)
    ]
    for step in range(20):
        side, ranges = step % 2, leaves.ranges(step)
        alone = choices[0].update(side, ranges)
        beside = choices[1].update(side, (np.tile(ranges[0], 2), np.tile(ranges[1], 2)))
        np.testing.assert_array_equal(beside, np.tile(alone, 2))


def test_single_precision_is_good_to_six_digits():
    leaves = random_leaves(22, num_histories=3000)
    leaves = leaves._replace(utilities=np.random.default_rng(0).uniform(-1, 1, (3000, 22)))
    # No iteration follows another here: regret matching may tell ties apart by rounding.
    first_range = leaves.ranges(0)[0]
    exact = leaves.values_of_second(first_range)
    error = np.abs(leaves.continuations().values_of_second(first_range) - exact).max()
    assert 0 < error < 1e-6 * np.abs(exact).max()
