"""The sequence form of a part of a game: of its trunk, or of the subgames below."""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex


def form_of_part(
    tree: CompiledTree,
    infosets: tuple[np.ndarray, np.ndarray],
    num_roots: tuple[int, int],
    root: np.ndarray,
    terminals: np.ndarray,
) -> tuple[SequenceForm, tuple[np.ndarray, np.ndarray]]:
    """The sequence form of some infosets and terminal histories of a game.

    Args:
      tree: the whole game.
      infosets: for each player, int [I_p], the infosets to keep, increasing. If an infoset that is
        left out follows one that is kept, or a root, it must have a single action.
      num_roots: number of root sequences of each player.
      root: int64 [2, H], the root sequence from which each history follows. It is read at the
        histories where the player has not acted in a kept infoset yet.
      terminals: the terminal histories to keep.

    Returns:
      The sequence form, and for each player, int32 [S_p], the sequences of `tree` that its
      sequences are; 0 for root sequences.
    """
    treeplexes, originals, new_sequences = [], [], []
    for player in (0, 1):
        old = tree.treeplexes[player]
        kept = infosets[player]
        sizes = old.num_actions[kept]
        first = num_roots[player] + np.cumsum(sizes) - sizes
        new_of_old = np.full(old.num_sequences, -1, np.int64)
        left_out = np.ones(old.num_infosets, np.bool_)
        left_out[kept] = False
        is_kept = old.sequences_of(~left_out)
        new_of_old[is_kept] = num_roots[player] + np.arange(int(sizes.sum()))
        # Forced moves that are left out lead on from the sequence before them.
        left_out &= root[player, tree.first_history[player]] >= 0
        for infoset in np.flatnonzero(left_out & (old.num_actions == 1)).tolist():
            new_of_old[old.sequences(infoset)] = new_of_old[old.parent_sequence[infoset]]
        of_history = new_of_old[tree.sequence[player]]
        of_history = np.where(of_history >= 0, of_history, root[player])
        parents = of_history[tree.first_history[player][kept]]
        treeplexes.append(
            Treeplex(parents.astype(np.int32), first.astype(np.int32), sizes, num_roots[player])
        )
        roots = np.zeros(num_roots[player], np.int32)
        originals.append(np.concatenate([roots, is_kept]).astype(np.int32))
        new_sequences.append(of_history[terminals])
    form = SequenceForm.from_terminals(
        (treeplexes[0], treeplexes[1]),
        np.stack(new_sequences),
        tree.utility[terminals] * tree.chance_reach[terminals],
        tree.utility_range,
    )
    return form, (originals[0], originals[1])
