"""`NumberedHistories`: histories whose infosets and sequences are numbered."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Self

import numba
import numpy as np

from spiel_dl.tree.histories import (
    Histories,
    check_index,
    check_player,
    first_occurrence_ids,
    spans,
)
from spiel_dl.tree.information_states import information_string_function
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex

InfosetName = Callable[[int, int], str]
"""Maps a history and a player to the name of the infoset, for errors."""


@dataclasses.dataclass(frozen=True, eq=False)
class NumberedHistories(Histories):
    """Histories with both players' infosets and sequences.

    A player's *decision infosets*, those where it acts, are numbered top-down in the order of their
    first history. So are its sequences; number 0 is the empty one.

    Attributes:
      infoset: int32 [H], the acting player's decision infoset; -1 where no player acts.
      sequence: int32 [2, H], each player's last sequence.
      first_history: for each player, int32 [I_p], the first history of each decision infoset.
      treeplexes: both players' strategy spaces.
      sequence_action: for each player, int32 [S_p]: the action of a sequence, -1 for the empty one.
    """

    infoset: np.ndarray
    sequence: np.ndarray
    first_history: tuple[np.ndarray, np.ndarray]
    treeplexes: tuple[Treeplex, Treeplex]
    sequence_action: tuple[np.ndarray, np.ndarray]

    @classmethod
    def from_histories(
        cls, histories: Histories, name: InfosetName | None = None, **further: Any
    ) -> Self:
        """Numbers the infosets and sequences of an enumerated game.

        Args:
          histories: the game's.
          name: from a history and a player to the name of its infoset, for errors; None: the
            information state string of the history's state.
          further: the fields of the class beyond those of `NumberedHistories`.

        Raises:
          ValueError: if the game has imperfect recall, or legal actions differ in an infoset.
        """
        name = name or functools.partial(_information_state_of, histories)
        infoset = np.full(histories.num_histories, -1, np.int32)
        acting = [np.flatnonzero(histories.player == player) for player in (0, 1)]
        first_history, first_sequence = [], []
        for player in (0, 1):
            keys = histories.infoset_key[player, acting[player]]
            infoset[acting[player]], position = first_occurrence_ids(keys)
            first = acting[player][position].astype(np.int32)
            first_of_infoset = first[infoset[acting[player]]]
            _check_legal_actions(histories, name, player, acting[player], first_of_infoset)
            sizes = histories.num_children[first]
            first_history.append(first)
            first_sequence.append((1 + np.cumsum(sizes) - sizes).astype(np.int32))
        sequence = _last_sequences(
            histories.parent,
            histories.player,
            histories.first_child,
            infoset,
            (first_sequence[0], first_sequence[1]),
        )
        treeplexes, sequence_action = [], []
        for player in (0, 1):
            first = first_history[player]
            first_of_infoset = first[infoset[acting[player]]]
            _check_recall(
                histories, name, player, acting[player], first_of_infoset, sequence[player]
            )
            sizes = histories.num_children[first]
            parent_sequence = sequence[player, first]
            treeplexes.append(Treeplex(parent_sequence, first_sequence[player], sizes, 1))
            children = spans(histories.first_child[first], sizes)
            sequence_action.append(
                np.concatenate([[-1], histories.action[children]]).astype(np.int32)
            )
        fields = {f.name: getattr(histories, f.name) for f in dataclasses.fields(Histories)}
        return cls(
            **fields,
            **further,
            infoset=infoset,
            sequence=sequence,
            first_history=(first_history[0], first_history[1]),
            treeplexes=(treeplexes[0], treeplexes[1]),
            sequence_action=(sequence_action[0], sequence_action[1]),
        )

    @functools.cached_property
    def infoset_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of histories of each player's decision infosets: int64 [I_p] each."""
        sizes_0, sizes_1 = (
            np.bincount(self.infoset[self.player == player], minlength=self.num_infosets(player))
            for player in (0, 1)
        )
        return sizes_0, sizes_1

    def num_infosets(self, player: int) -> int:
        """Number of decision infosets of a player; ValueError if it is neither 0 nor 1."""
        check_player(player)
        return self.treeplexes[player].num_infosets

    @functools.cached_property
    def sequence_form(self) -> SequenceForm:
        """The game's sequence form; computed on first use."""
        terminal = self.is_terminal
        return SequenceForm.from_terminals(
            self.treeplexes,
            self.sequence[:, terminal],
            self.utility[terminal] * self.chance_reach[terminal],
            self.utility_range,
        )

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of a decision infoset: int32 [n]; ValueError if there is none."""
        check_index("infoset", infoset, self.num_infosets(player))
        return self.sequence_action[player][self.treeplexes[player].sequences(infoset)]


_jit = numba.njit(cache=True, boundscheck=False, nogil=True)


@_jit
def _last_sequences(
    parent: np.ndarray,
    player: np.ndarray,
    first_child: np.ndarray,
    infoset: np.ndarray,
    first_sequence: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Each player's last sequence at every history: int32 [2, H]."""
    sequence = np.zeros((2, len(parent)), np.int32)
    for history in range(1, len(parent)):
        above = parent[history]
        sequence[0, history], sequence[1, history] = sequence[0, above], sequence[1, above]
        choice = history - first_child[above]
        if player[above] == 0:
            sequence[0, history] = first_sequence[0][infoset[above]] + choice
        elif player[above] == 1:
            sequence[1, history] = first_sequence[1][infoset[above]] + choice
    return sequence


@_jit
def _first_with_other_actions(
    histories: np.ndarray,
    others: np.ndarray,
    num_children: np.ndarray,
    first_child: np.ndarray,
    action: np.ndarray,
) -> int:
    """The first history whose legal actions differ from those of its counterpart; -1 if none."""
    for history, other in zip(histories, others):  # noqa: B905 - numba knows no strict
        if num_children[history] != num_children[other]:
            return history
        here, there = first_child[history], first_child[other]
        for choice in range(num_children[history]):
            if action[here + choice] != action[there + choice]:
                return history
    return -1


def _check_legal_actions(
    histories: Histories, name: InfosetName, player: int, acting: np.ndarray, first: np.ndarray
) -> None:
    """Compares legal actions of a player's histories with those of their infosets' first ones.

    Raises:
      ValueError: if they differ.
    """
    history = _first_with_other_actions(
        acting, first, histories.num_children, histories.first_child, histories.action
    )
    if history >= 0:
        raise ValueError(
            f"{histories.game}: the legal actions differ between histories of player {player}'s "
            f"infoset {name(history, player)!r}, so its information "
            "states do not tell infosets apart."
        )


def _check_recall(
    histories: Histories,
    name: InfosetName,
    player: int,
    acting: np.ndarray,
    first: np.ndarray,
    sequence: np.ndarray,
) -> None:
    """Compares a player's last sequences at histories with those at their infosets' first ones.

    Raises:
      ValueError: if they differ.
    """
    differs = acting[sequence[acting] != sequence[first]]
    if len(differs):
        raise ValueError(
            f"{histories.game}: imperfect recall. Player {player}'s infoset "
            f"{name(int(differs[0]), player)!r} is reached with different own "
            "pasts. Only perfect-recall games can be solved here."
        )


def _information_state_of(histories: Histories, history: int, player: int) -> str:
    return information_string_function(histories.game)(histories.state(history), player)
