"""`GameTree`: a game compiled to arrays, with both players' infosets and sequences numbered.

The arrays are what all solvers, value functions and searches of this package run on.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable

import numpy as np
import pyspiel

from spiel_dl.tree import from_openspiel
from spiel_dl.tree import public_states as public_states_lib
from spiel_dl.tree.histories import Histories, check_index, check_player, first_occurrence_ids
from spiel_dl.tree.information_states import (
    InformationString,
    information_string_function,
    turn_based_string_function,
)
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex


@dataclasses.dataclass(frozen=True, eq=False)
class GameTree(Histories):
    """A game compiled to arrays. Build one with `GameTree.from_game`.

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

    @staticmethod
    def from_game(game: pyspiel.Game | str, max_histories: int | None = None) -> GameTree:
        """Compiles a two-player zero-sum perfect-recall OpenSpiel game.

        Games with `Rules` are enumerated from these, others by walking their states. A game with
        simultaneous moves is converted with `pyspiel.convert_to_turn_based`.

        Args:
          game: the game, or its game string.
          max_histories: refuse games with more histories than this; None: with more than fit into
            the memory that is available.

        Raises:
          ValueError: if the game is not of this kind, breaks OpenSpiel's rules in one of its
            states, or is too large (`TooManyHistoriesError`); says what and why. Where random
            playouts show that a game is far beyond the limit, that takes about a second.
        """
        turn_based = from_openspiel.load_turn_based(game)
        if not hasattr(turn_based, "rules"):
            histories = from_openspiel.enumerate_game(turn_based, max_histories)
        else:
            from spiel_dl.tree import from_rules  # It imports torch, which takes a second.

            histories = from_rules.enumerate_rules(turn_based, max_histories)
        return GameTree.from_histories(histories)

    @staticmethod
    def from_histories(histories: Histories) -> GameTree:
        """Numbers the infosets and sequences of an enumerated game.

        Raises:
          ValueError: if the game has imperfect recall, or legal actions differ in an infoset.
        """
        infoset = np.full(histories.num_histories, -1, np.int32)
        acting = [np.flatnonzero(histories.player == player) for player in (0, 1)]
        first_history, first_sequence = [], []
        for player in (0, 1):
            keys = histories.infoset_key[player, acting[player]]
            infoset[acting[player]], position = first_occurrence_ids(keys)
            first = acting[player][position].astype(np.int32)
            firsts = first[infoset[acting[player]]]
            _check_legal_actions(histories, player, acting[player], firsts)
            sizes = histories.num_children[first]
            first_history.append(first)
            first_sequence.append((1 + np.cumsum(sizes) - sizes).astype(np.int32))
        sequence = _last_sequences(histories, infoset, first_sequence)
        treeplexes, sequence_action = [], []
        for player in (0, 1):
            first = first_history[player]
            firsts = first[infoset[acting[player]]]
            _check_recall(histories, player, acting[player], firsts, sequence[player])
            sizes = histories.num_children[first]
            parent_sequence = sequence[player, first]
            treeplexes.append(Treeplex(parent_sequence, first_sequence[player], sizes, 1))
            children = _ranges(histories.first_child[first], sizes)
            sequence_action.append(
                np.concatenate([[-1], histories.action[children]]).astype(np.int32)
            )
        fields = {f.name: getattr(histories, f.name) for f in dataclasses.fields(Histories)}
        return GameTree(
            **fields,
            infoset=infoset,
            sequence=sequence,
            first_history=(first_history[0], first_history[1]),
            treeplexes=(treeplexes[0], treeplexes[1]),
            sequence_action=(sequence_action[0], sequence_action[1]),
        )

    @property
    def num_terminals(self) -> int:
        """Number of terminal histories."""
        return int(np.count_nonzero(self.is_terminal))

    def num_infosets(self, player: int) -> int:
        """Number of decision infosets of a player; ValueError if it is neither 0 nor 1."""
        check_player(player)
        return self.treeplexes[player].num_infosets

    @property
    def num_public_states(self) -> int:
        """Number of public states; terminal histories belong to none."""
        return self.public_states.num_public_states

    @functools.cached_property
    def public_states(self) -> public_states_lib.PublicStates:
        """The partition of the histories into public states; computed on first use."""
        return public_states_lib.of_tree(self)

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

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """The decision infoset of a player in a state of this game.

        If the game was converted from one with simultaneous moves, states of that one do as well.

        Raises:
          ValueError: if the player has no such infoset; or is neither 0 nor 1; or, if the game has
            rules, if the state is of another game.
        """
        check_player(player)
        if self.infoset_strings is None:
            self._check_game_of(state)
        infoset = self._infoset_of[player].get(self._identify(state, player))
        if infoset is None:
            string = self._information_string(state, player)
            raise ValueError(
                f"player {player} has no infoset {string!r} in {self.game}; is the state of "
                "another game, or is it not this player's turn?"
            )
        return infoset

    def infoset_string(self, player: int, infoset: int) -> str:
        """`information_state_string` of a decision infoset; ValueError if there is none such."""
        check_index("infoset", infoset, self.num_infosets(player))
        history = int(self.first_history[player][infoset])
        if self.infoset_strings is None:
            return self._information_string(self.state(history), player)
        return self.infoset_strings[player][int(self.infoset_key[player, history])]

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of a decision infoset: int32 [n]; ValueError if there is none such."""
        check_index("infoset", infoset, self.num_infosets(player))
        return self.sequence_action[player][self.treeplexes[player].sequences(infoset)]

    def _check_game_of(self, state: pyspiel.State) -> None:
        # Keys do not tell games apart as strings mostly do.
        game = state.get_game()
        if game is not self.game and str(game) != str(self.game):
            raise ValueError(
                f"the state is of {game}, not of {self.game}; ask with a state of the tree's game"
            )

    @functools.cached_property
    def _information_string(self) -> InformationString:
        return information_string_function(self.game)

    @functools.cached_property
    def _identify(self) -> Callable[[pyspiel.State, int], Hashable]:
        """What tells a player's infosets apart: their keys or, without rules, their strings."""
        if self.infoset_strings is not None:
            return turn_based_string_function(self.game)
        from spiel_dl.tree import from_rules  # It imports torch, which takes a second.

        return from_rules.InfosetKeys(self.game.rules).of_state

    @functools.cached_property
    def _infoset_of(self) -> tuple[dict[Hashable, int], dict[Hashable, int]]:
        """For each player, from what `_identify` says to decision infoset."""
        tables: list[dict[Hashable, int]] = []
        for player in (0, 1):
            keys = self.infoset_key[player, self.first_history[player]].tolist()
            names: Iterable[Hashable] = keys
            if self.infoset_strings is not None:
                names = [self.infoset_strings[player][key] for key in keys]
            tables.append({name: infoset for infoset, name in enumerate(names)})
        return tables[0], tables[1]


def _last_sequences(
    histories: Histories, infoset: np.ndarray, first_sequence: list[np.ndarray]
) -> np.ndarray:
    """Each player's last sequence at every history: int32 [2, H]."""
    sequence = np.zeros((2, histories.num_histories), np.int32)
    for start, end in histories.levels_below_root():
        parent = histories.parent[start:end]
        sequence[:, start:end] = sequence[:, parent]
        for player in (0, 1):
            moved = np.flatnonzero(histories.player[parent] == player)
            origin = parent[moved]
            choice = start + moved - histories.first_child[origin]
            sequence[player, start + moved] = first_sequence[player][infoset[origin]] + choice
    return sequence


def _check_legal_actions(
    histories: Histories, player: int, acting: np.ndarray, first: np.ndarray
) -> None:
    """Holds the legal actions of a player's histories against those of their infosets' first.

    Raises:
      ValueError: if they differ.
    """
    sizes = histories.num_children[acting]
    differs = acting[sizes != histories.num_children[first]]
    if not len(differs):
        here = histories.action[_ranges(histories.first_child[acting], sizes)]
        there = histories.action[_ranges(histories.first_child[first], sizes)]
        differs = np.repeat(acting, sizes)[here != there]
    if len(differs):
        raise ValueError(
            f"{histories.game}: the legal actions differ between histories of player {player}'s "
            f"infoset {_name_infoset(histories, player, int(differs[0]))}, so its information "
            "states do not tell infosets apart."
        )


def _check_recall(
    histories: Histories, player: int, acting: np.ndarray, first: np.ndarray, sequence: np.ndarray
) -> None:
    """Holds a player's last sequences at its histories against those at their infosets' first.

    Raises:
      ValueError: if they differ.
    """
    differs = acting[sequence[acting] != sequence[first]]
    if len(differs):
        raise ValueError(
            f"{histories.game}: imperfect recall. Player {player}'s infoset "
            f"{_name_infoset(histories, player, int(differs[0]))} is reached with different own "
            "pasts. Only perfect-recall games can be solved here."
        )


def _name_infoset(histories: Histories, player: int, history: int) -> str:
    return repr(information_string_function(histories.game)(histories.state(history), player))


def _ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The integers starts[i] .. starts[i] + sizes[i] - 1 for every i, joined: int64."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(ends[-1] if len(ends) else 0)
