"""The sequence form of a part of a game: of its trunk, or of the subgames below."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.histories import spans
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex


def form_of_part(
    tree: CompiledTree,
    infosets: tuple[np.ndarray, np.ndarray],
    num_roots: tuple[int, int],
    roots_at: Callable[[int, np.ndarray], np.ndarray],
    terminals: np.ndarray,
    left_out: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[SequenceForm, tuple[np.ndarray, np.ndarray]]:
    """The sequence form of some infosets and terminal histories of a game.

    Args:
      tree: the whole game.
      infosets: for each player, int [I_p], the infosets to keep, increasing.
      num_roots: number of root sequences of each player.
      roots_at: maps a player and histories of the part to its root sequences from which they
        follow: int [n]. Used where the player has not acted in a kept infoset yet.
      terminals: the terminal histories to keep.
      left_out: for each player, int [n], the infosets of the part that are left out, increasing;
        they must have a single action. None: there are none.

    Returns:
      The sequence form, and for each player, int32 [S_p], the sequence of `tree` of each of its
      sequences; 0 for root sequences.
    """
    treeplexes, originals, new_sequences = [], [], []
    for player in (0, 1):
        old = tree.treeplexes[player]
        kept_infosets = infosets[player]
        sizes = old.num_actions[kept_infosets]
        first = num_roots[player] + np.cumsum(sizes) - sizes
        kept_sequences = spans(old.first_sequence[kept_infosets], sizes)
        new_of_old = np.full(old.num_sequences, -1, np.int32)
        new_of_old[kept_sequences] = num_roots[player] + np.arange(len(kept_sequences))
        # A forced move that is left out is replaced by the sequence before it.
        for infoset in [] if left_out is None else left_out[player].tolist():
            new_of_old[old.first_sequence[infoset]] = new_of_old[old.parent_sequence[infoset]]

        def sequences_at(
            histories: np.ndarray, player: int = player, new_of_old: np.ndarray = new_of_old
        ) -> np.ndarray:
            sequences = new_of_old[tree.sequence[player, histories]]
            has_not_acted = np.flatnonzero(sequences < 0)
            sequences[has_not_acted] = roots_at(player, histories[has_not_acted])
            return sequences

        parents = sequences_at(tree.first_history[player][kept_infosets])
        treeplexes.append(
            Treeplex(parents.astype(np.int32), first.astype(np.int32), sizes, num_roots[player])
        )
        roots = np.zeros(num_roots[player], np.int32)
        originals.append(np.concatenate([roots, kept_sequences]).astype(np.int32))
        new_sequences.append(sequences_at(terminals))
    form = SequenceForm.from_terminals(
        (treeplexes[0], treeplexes[1]),
        np.stack(new_sequences),
        tree.utility[terminals] * tree.chance_reach[terminals],
        tree.utility_range,
    )
    return form, (originals[0], originals[1])
