"""One-shot games, whose solutions are found by hand."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from spiel_dl.tree import SequenceForm, Treeplex


def matrix_game(payoffs: list[list[float]]) -> SequenceForm:
    """A one-shot game: player 0 picks a row, player 1, unaware of it, a column."""
    matrix = np.array(payoffs)
    sizes = matrix.shape
    zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    treeplexes = [Treeplex(zero, one, np.array([size], np.int32), 1) for size in sizes]
    padded = np.zeros((sizes[0] + 1, sizes[1] + 1))
    padded[1:, 1:] = matrix
    payoffs_array = scipy.sparse.csr_array(padded)
    return SequenceForm((treeplexes[0], treeplexes[1]), payoffs_array, float(np.ptp(matrix)))
