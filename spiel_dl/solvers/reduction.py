"""Reduces a game to what decides it, for solvers that read expected utilities and regrets only.

Payoffs are *lifted*: the weights of an infoset's sequences sum to that of its parent sequence. So
if all of them are paid against an opponent's sequence, the payoff of the first may as well be the
parent's, and the others keep what theirs differ by. No expected utility changes, and no regret: the
cfvs of the infoset's actions all fall by one number. Then infosets are dropped in which nothing is
paid any more, nor below: their regrets are 0, so their strategies stay uniform. Little is left of
games whose result is often certain before the end: in Goofspiel with 7 cards, a seventh of the
payoffs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from spiel_dl.solvers import reduction_kernels
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex

# Smaller games, by their payoffs and sequences, are solved before they would be reduced.
_LEAST_SIZE = 2**16


def reduce_form(form: SequenceForm) -> tuple[SequenceForm, tuple[np.ndarray, np.ndarray]]:
    """Reduces a game; a small one stays as it is.

    Args:
      form: a game in which no weights enter infosets but those of their parent sequences.

    Returns:
      The game, with all root sequences, and for each player, int64 [S_p], the sequence of `form` of
      each of its sequences, increasing. What is played at the others makes no difference.
    """
    first, second = (np.arange(treeplex.num_sequences) for treeplex in form.treeplexes)
    if form.payoffs.nnz + len(first) + len(second) < _LEAST_SIZE:
        return form, (first, second)
    payoffs = _lift_payoffs(form)
    is_paid = [np.diff(payoffs.indptr) > 0, np.bincount(payoffs.indices, minlength=len(second)) > 0]
    for player, constants in enumerate(form.constants or ()):
        is_paid[player] |= constants != 0.0
    first_treeplex, first = _paid_part(form.treeplexes[0], is_paid[0])
    second_treeplex, second = _paid_part(form.treeplexes[1], is_paid[1])
    column = np.zeros(payoffs.shape[1], np.int32)
    column[second] = np.arange(len(second))
    entries = payoffs.data, column[payoffs.indices], np.append(payoffs.indptr[first], payoffs.nnz)
    reduced = SequenceForm(
        (first_treeplex, second_treeplex),
        scipy.sparse.csr_array(entries, shape=(len(first), len(second))),
        form.utility_range,
        form.constants and (form.constants[0][first], form.constants[1][second]),
    )
    return reduced, (first, second)


def _paid_part(treeplex: Treeplex, is_paid: np.ndarray) -> tuple[Treeplex, np.ndarray]:
    """The infosets with a sequence that is paid (bool [S]), there or below, and their sequences."""
    is_needed, num_roots = is_paid.copy(), treeplex.num_root_sequences
    while True:
        infosets = np.logical_or.reduceat(is_needed, treeplex.first_sequence)
        parents = treeplex.parent_sequence[infosets]
        if is_needed[parents].all():
            break
        is_needed[parents] = True
    sequences = np.concatenate([np.arange(num_roots), treeplex.sequences_of(infosets)])
    number = np.zeros(treeplex.num_sequences, np.int32)
    number[sequences] = np.arange(len(sequences))
    first, sizes = number[treeplex.first_sequence[infosets]], treeplex.num_actions[infosets]
    return Treeplex(number[parents], first, sizes, num_roots), sequences


def _lift_payoffs(form: SequenceForm) -> scipy.sparse.csr_array:
    """The payoffs, float64 [S_0, S_1], lifted as far as possible."""
    payoffs, num_payoffs = form.payoffs, form.payoffs.nnz + 1
    while payoffs.nnz < num_payoffs:
        num_payoffs = payoffs.nnz
        for treeplex in form.treeplexes[::-1]:
            payoffs = _lift_rows(payoffs.T.tocsr(), treeplex)
    payoffs.sort_indices()
    return payoffs


def _lift_rows(payoffs: scipy.sparse.csr_array, treeplex: Treeplex) -> scipy.sparse.csr_array:
    """Lifts payoffs of rows, a player's sequences, as far as possible; overwrites the matrix."""
    starts, columns, values = payoffs.indptr, payoffs.indices, payoffs.data
    is_used = np.diff(starts) > 0
    following = np.arange(1, len(columns) + 1, dtype=np.int32)
    following[starts[1:][is_used] - 1] = -1
    head = np.where(is_used, starts[:-1], -1).astype(np.int32)
    reduction_kernels.lift(treeplex.arrays, payoffs.shape[1], columns, values, following, head)
    starts, entries = reduction_kernels.listed(following, head)
    lifted = scipy.sparse.csr_array((values[entries], columns[entries], starts), payoffs.shape)
    lifted.eliminate_zeros()
    return lifted
