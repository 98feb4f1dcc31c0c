"""Draws: those of NumPy, and of what NumPy refuses."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.tree.drawing import draw


def test_it_draws_what_numpy_draws() -> None:
    """To the same key by the same number, whatever the sum is in its last digits."""
    rows = np.random.default_rng(1)
    ours, theirs = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(300):
        weights = rows.exponential(size=rows.integers(1, 9))
        probabilities = (weights / weights.sum()).tolist()
        keys = sorted(rows.permutation(100)[: len(weights)].tolist())
        by_key = list(zip(keys, probabilities, strict=True))
        drawn = draw(dict(reversed(by_key)), ours.random())
        assert drawn == theirs.choice(keys, p=probabilities)
    assert ours.bit_generator.state == theirs.bit_generator.state


def test_sums_that_numpy_refuses_are_drawn_from() -> None:
    generator = np.random.default_rng(0)
    probabilities = [0.25, 0.0, 0.75 - 1e-6]
    with pytest.raises(ValueError, match="do not sum to 1"):
        generator.choice(3, p=probabilities)
    by_key = dict(zip((3, 1, 2), probabilities, strict=True))
    counts = np.bincount([draw(by_key, generator.random()) for _ in range(4000)])
    assert counts[1] == 0
    assert abs(counts[3] - 1000) < 4 * np.sqrt(4000 * 0.25 * 0.75)
