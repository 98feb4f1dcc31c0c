"""Adds choices of both players from portfolios at leaves to a sequence form.

Milec, Kovařík, Lisý (2025), "Adapting Beyond the Depth Limit": the value of a leaf is a matrix,
player 0's utility for each pair of strategies that the players follow from there to the end. A
player chooses one in each of its leaf infosets. So this adds one decision per leaf infoset, with
payoffs where leaf infosets share histories, and the result is an ordinary game: it can be
restricted, solved by linear programming, and evaluated by best responses. `solvers.continuations`
has the same choices in a faster form, for players who are both free.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.sequence_form import SequenceForm, Treeplex


def with_leaf_choices(
    sequence_form: SequenceForm,
    sequences: tuple[np.ndarray, np.ndarray],
    infosets: np.ndarray,
    utilities: np.ndarray,
    chance_reach: np.ndarray,
) -> SequenceForm:
    """The game above N leaves, with a choice added at each leaf infoset.

    Sequences and infosets of the game keep their numbers. After them come the leaf infosets, in
    their order, with K_p sequences each.

    Args:
      sequence_form: the game above the leaves; its constants are left out.
      sequences: for each player, int [L_p], the sequence from which each leaf infoset hangs.
      infosets: int [2, N], each player's leaf infoset.
      utilities: float [N, K_0, K_1], player 0's.
      chance_reach: float64 [N].

    Raises:
      ValueError: if there is not one finite matrix for each leaf.
    """
    valid = utilities.ndim == 3 and len(utilities) == len(chance_reach)
    if not valid or not np.isfinite(utilities).all():
        raise ValueError(
            f"values of leaves have shape {utilities.shape}; give finite numbers of shape "
            f"[{len(chance_reach)}, K_0, K_1], one matrix for each leaf"
        )
    treeplexes, choices = [], []
    for player, old in enumerate(sequence_form.treeplexes):
        num_choices, leaves = utilities.shape[1 + player], sequences[player]
        first = old.num_sequences + num_choices * np.arange(len(leaves))
        treeplexes.append(
            Treeplex(
                np.concatenate([old.parent_sequence, leaves]).astype(np.int32),
                np.concatenate([old.first_sequence, first]).astype(np.int32),
                np.concatenate([old.num_actions, np.full(len(leaves), num_choices)]).astype(
                    np.int32
                ),
                old.num_root_sequences,
            )
        )
        choices.append(first[infosets[player]][:, None] + np.arange(num_choices))
    rows = np.broadcast_to(choices[0][:, :, None], utilities.shape)
    columns = np.broadcast_to(choices[1][:, None, :], utilities.shape)
    weighted = utilities * chance_reach[:, None, None]
    above = sequence_form.payoffs.tocoo()
    data = np.concatenate([above.data, weighted.reshape(-1)])
    at_leaves = np.stack([rows.reshape(-1), columns.reshape(-1)])
    coordinates = np.concatenate([np.stack(above.coords), at_leaves], axis=1)
    both = (treeplexes[0], treeplexes[1])
    return SequenceForm.from_terminals(both, coordinates, data, sequence_form.utility_range)
