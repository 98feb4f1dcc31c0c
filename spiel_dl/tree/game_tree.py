"""`GameTree`: a game compiled to arrays, with both players' infosets and sequences numbered.

The arrays are what all solvers, value functions and searches of this package run on.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
import pyspiel

from spiel_dl.games.features import features, num_features
from spiel_dl.tree import from_openspiel
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.histories import check_index, check_player
from spiel_dl.tree.information_states import (
    InformationString,
    Observations,
    check_tensors,
    information_string_function,
)

_SIMULTANEOUS = pyspiel.GameType.Dynamics.SIMULTANEOUS


@dataclasses.dataclass(frozen=True, eq=False)
class GameTree(CompiledTree):
    """A game compiled to arrays. Build one with `GameTree.from_game`."""

    @staticmethod
    def from_game(game: pyspiel.Game | str, max_histories: int | None = None) -> GameTree:
        """Compiles a two-player zero-sum perfect-recall OpenSpiel game.

        Games with `Rules` are enumerated by these, others by walking their states; large ones by
        the rules of an identical game, if there is one (`tree.twins`). A game with simultaneous
        moves is converted with `pyspiel.convert_to_turn_based`.

        Args:
          game: the game, or its game string.
          max_histories: refuse games with more histories than this; None: with more than fit into
            the memory that is available.

        Raises:
          ValueError: if the game is not of this kind, breaks OpenSpiel's rules in one of its
            states, or is too large (`TooManyHistoriesError`). It takes about two seconds to refuse
            a game that is far beyond the limit by random playouts.
        """
        turn_based = from_openspiel.load_turn_based(game)
        if not hasattr(turn_based, "rules"):
            histories = from_openspiel.enumerate_game(turn_based, max_histories)
        else:
            from spiel_dl.tree import from_rules  # It imports torch, which takes a second.

            histories = from_rules.enumerate_rules(turn_based, max_histories)
        return GameTree.from_histories(histories)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """The decision infoset of a player in a state of this game.

        If the game was converted from one with simultaneous moves, states of that one are accepted.

        Raises:
          ValueError: if the player has no such infoset; or is neither 0 nor 1; or if the state is
            of another game.
        """
        check_player(player)
        own = state.get_game()
        if own is not self.game:
            if self.is_converted and own.get_type().dynamics == _SIMULTANEOUS:
                own = from_openspiel.load_turn_based(own)
            # Games of one string count as one, as in `ArrayPolicy.check_state`; comparing others
            # takes longer.
            if str(own) != str(self.game) and not from_openspiel.is_same_game(own, self.game):
                raise ValueError(
                    f"the state is of {own}, not of {self.game}; ask in states of that game, not "
                    "of another game"
                )
        history = self.find_history(state.history())
        if player == 1 and state.is_simultaneous_node() and self.player[history] == 0:
            # It acts after player 0 in the tree, in the same infoset after every action.
            history = int(self.first_child[history])
        if self.player[history] != player:
            raise ValueError(
                f"player {player} has no infoset in {self.game} after {state.history()}; it is not "
                "this player's turn"
            )
        return int(self.infoset[history])

    def find_history(self, actions: Sequence[int]) -> int:
        """The history after some actions from the root, chance's included.

        Raises:
          ValueError: if the game has no such history.
        """
        history = 0
        for action in actions:
            if self.is_converted and action == pyspiel.INVALID_ACTION:
                continue  # of a player without legal actions in a joint move
            first = self.first_child[history]
            children = self.action[first : first + self.num_children[history]]
            matching = np.flatnonzero(children == action)
            if not len(matching):
                raise ValueError(
                    f"{list(actions)} is no history of {self.game}; is it of another game?"
                )
            history = int(first + matching[0])
        return history

    def observations(self, player: int, begin: int = 0, end: int | None = None) -> Observations:
        """A player's observations in its infosets `begin` to `end` - 1; None: to the last one.

        Raises:
          ValueError: if the game has no information state tensors.
        """
        check_tensors(self.game)
        histories = self.first_history[player][begin:end]
        if hasattr(self.game, "rules"):
            states = self.states_of(histories)
            tensors = self.game.rules.information_state_tensor(states, player).numpy()
        else:
            rows = [self.state(each).information_state_tensor(player) for each in histories]
            size = self.game.information_state_tensor_size()
            tensors = np.array(rows, np.float32).reshape(len(rows), size)
        return Observations(tensors, self.legal_rows(player, begin, end))

    def features(self, player: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Network features of a player's infosets `begin` to `end` - 1: float32 [N, F].

        Raises:
          ValueError: if the game has no features, or if they differ between the first and the last
            history of an infoset. Networks would see hidden information then.
        """
        histories = self.first_history[player][begin:end]
        if hasattr(self.game, "rules"):
            batch: np.ndarray = self.game.rules.features(self.states_of(histories), player).numpy()
            return batch
        first, last = (
            np.array([features(self.state(each), player) for each in chosen], np.float32)
            for chosen in (histories, self.last_history(player)[begin:end])
        )
        if not np.array_equal(first, last, equal_nan=True):
            infoset = int(np.flatnonzero((first != last).any(axis=1))[0]) + (begin or 0)
            raise ValueError(
                f"{self.game}: player {player}'s tensors differ between states that it cannot tell "
                f"apart, of the information state {self.infoset_string(player, infoset)!r}; "
                "networks would see what is hidden. Correct the game's observation_tensor or "
                "information_state_tensor"
            )
        return first.reshape(len(first), num_features(self.game))

    def last_history(self, player: int) -> np.ndarray:
        """The last history of each of a player's infosets: int [N]."""
        acting = np.flatnonzero(self.player == player)
        last: np.ndarray = np.zeros(self.num_infosets(player), np.int64)
        last[self.infoset[acting]] = acting
        return last

    def legal_rows(self, player: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Legal actions in a player's infosets `begin` to `end` - 1: bool [N, A]."""
        treeplex = self.treeplexes[player]
        is_chosen = np.zeros(treeplex.num_infosets, np.bool_)
        is_chosen[begin:end] = True
        sequences = treeplex.sequences_of(is_chosen)
        legal = np.zeros((int(is_chosen.sum()), self.game.num_distinct_actions()), np.bool_)
        rows = treeplex.infoset_of_sequence[sequences] - begin
        legal[rows, self.sequence_action[player][sequences]] = True
        return legal

    def infoset_string(self, player: int, infoset: int) -> str:
        """`information_state_string` of a decision infoset; ValueError if there is none."""
        check_index("infoset", infoset, self.num_infosets(player))
        history = int(self.first_history[player][infoset])
        return self._information_string(self.state(history), player)

    @functools.cached_property
    def _information_string(self) -> InformationString:
        return information_string_function(self.game)
