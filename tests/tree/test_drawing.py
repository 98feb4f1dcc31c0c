"""Draws: those of NumPy, and of what NumPy refuses."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl.tree.drawing import draw, draw_outcome


def test_it_draws_what_numpy_draws() -> None:
    """To the same key by the same number, whatever the sum is in its last digits."""
    rows = np.random.default_rng(1)
    ours, theirs = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(300):
        weights = rows.exponential(size=rows.integers(1, 9))
        probabilities = (weights / weights.sum()).tolist()
        keys = rows.permutation(len(weights)).tolist()
        assert draw(keys, probabilities, ours) == theirs.choice(keys, p=probabilities)
    assert ours.bit_generator.state == theirs.bit_generator.state


def test_sums_that_numpy_refuses_are_drawn_from() -> None:
    generator = np.random.default_rng(0)
    probabilities = [0.25, 0.0, 0.75 - 1e-6]
    with pytest.raises(ValueError, match="do not sum to 1"):
        generator.choice(3, p=probabilities)
    counts = np.bincount([draw((3, 1, 2), probabilities, generator) for _ in range(4000)])
    assert counts[1] == 0
    assert abs(counts[3] - 1000) < 4 * np.sqrt(4000 * 0.25 * 0.75)


def test_chance_is_drawn_from() -> None:
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    generator = np.random.default_rng(0)
    assert {draw_outcome(state, generator) for _ in range(50)} == {0, 1, 2}
