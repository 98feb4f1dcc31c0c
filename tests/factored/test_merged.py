"""Matrices whose blocks repeat, beside the same ones written out."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.factored import merged, merged_kernels
from spiel_dl.factored.families import factored_game
from spiel_dl.factored.merged import Expansion
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import check_gradients

SIZE, NUM_LABELS, NUM_LEVELS = 400, 3, 5


def expand(keys: np.ndarray, level: int) -> Expansion:
    """Two or three blocks within, of four kinds on each level, and up to two entries."""
    within, first_edge, edges, first_entry, entries = [], [0], [], [0], []
    for key in keys.tolist():
        draw = np.random.default_rng([level, key])
        if level < NUM_LEVELS:
            for label in range(draw.integers(2, 4)):
                within.append(draw.integers(4))
                edges.append((-1, *draw.integers(1, 50, 2), label))
        entries += draw.integers(0, 9, (draw.integers(3), 2)).tolist() if level > 1 else []
        first_edge.append(len(edges))
        first_entry.append(len(entries))
    return Expansion(
        np.array(within, np.int64),
        np.array(first_edge),
        np.array(edges, np.int32).reshape(-1, 4),
        np.array(first_entry),
        np.array(entries, np.int32).reshape(-1, 2),
        is_plus=level % 2 == 0,
    )


def write_out(matrix: np.ndarray, key: int, level: int, row: int, column: int) -> None:
    found = expand(np.array([key]), level)
    for down, right in found.entries:
        matrix[row + down, column + right] += 1 if found.is_plus else -1
    for after, (_, down, right, _) in zip(found.keys, found.edges, strict=True):
        write_out(matrix, int(after), level + 1, row + down, column + right)


@pytest.mark.parametrize("most_entries", [0, 50, 10**6])
def test_products_are_those_of_the_matrix_written_out(
    most_entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merged, "_MOST_ENTRIES", most_entries)
    matrix, expected = merged.build(2, expand), np.zeros((SIZE, SIZE))
    write_out(expected, 2, 0, 7, 3)
    assert abs(expected).sum() > 50
    source = np.random.default_rng(1).normal(size=SIZE)
    for side, written in enumerate((expected, expected.T)):
        for split in (0, 1):
            target = np.ones(SIZE)
            for part in range(NUM_LABELS):
                begins = np.array([7, 3])
                merged_kernels.add_products(matrix, split, part, side, begins, source, target)
            np.testing.assert_allclose(target, 1 + written @ source, atol=1e-12)


def test_blocks_that_repeat_are_kept_once() -> None:
    matrix = merged.build(2, expand)
    written = np.zeros((SIZE, SIZE))
    write_out(written, 2, 0, 0, 0)
    # Of the third level, four kinds of blocks are listed; there are four to nine of them.
    assert len(matrix.middle) <= 1 + 3 + 4
    assert len(matrix.entries) < abs(written).sum()


def test_gradients_do_not_depend_on_what_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "dark_hex(gameversion=adh,num_rows=2,num_cols=3)"
    monkeypatch.setattr(merged, "_MOST_ENTRIES", 30)  # Fewer than in one level of the game.
    game = factored_game(name, num_threads=2)
    assert len(game.sequence_form.skeletons.edges) > 1000
    check_gradients(game, GameTree.from_game(name))
