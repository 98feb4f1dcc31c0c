"""Compiled loop over pairs of bids in goofspiel. See `goofspiel`."""

from __future__ import annotations

import numba

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def add_pairs(utilities, outcomes, own_last, others_last, plan, cfv):
    """Adds what the last decisions pay.

    Args:
      utilities: float64 [Q, 3^n], by order of prizes and outcomes.
      outcomes: int16 [m, m], of pairs of bids.
      own_last, others_last: int32 [m, m], both players' last sequences.
      plan: float64 [Q, L], the opponent's weights of its last sequences.
      cfv: float64 [Q, L], updated.
    """
    for order in range(utilities.shape[0]):
        for own in range(outcomes.shape[0]):
            for other in range(outcomes.shape[1]):
                cfv[order, own_last[own, other]] += (
                    utilities[order, outcomes[own, other]] * plan[order, others_last[own, other]]
                )
