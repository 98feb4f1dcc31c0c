"""Enumerates any two-player zero-sum OpenSpiel game, in C++ or Python, by walking its states."""

from __future__ import annotations

import array
import importlib

import numpy as np
import pyspiel

from spiel_dl.tree.histories import CHANCE_PLAYER, TERMINAL_PLAYER, Histories, refuse_size
from spiel_dl.tree.information_states import information_string_function

_ZERO_SUM_TOLERANCE = 1e-9
# Games whose information state strings are wrong for the player who is not to move: efg_game gives
# both players the label of the mover's infoset.
_INVALID_IDLE_KEYS = frozenset({"efg_game"})


def load_turn_based(game: pyspiel.Game | str) -> pyspiel.Game:
    """Loads a game and converts simultaneous moves to consecutive hidden ones.

    Raises:
      ValueError: if the game cannot be loaded, or if its type tells that it cannot be solved here.
    """
    if isinstance(game, str):
        game = _load_game(game)
    game_type = game.get_type()
    if game.num_players() != 2:
        raise ValueError(
            f"{game}: {game.num_players()} player(s); only two-player games work here."
        )
    if game_type.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(
            f"{game}: its chance is sampled inside the game (SAMPLED_STOCHASTIC), so its histories "
            "cannot be enumerated. Use a version with explicit chance nodes."
        )
    if game_type.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise ValueError(f"{game}: a mean-field game is not a two-player zero-sum game.")
    if game_type.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(game)
    return game


def _load_game(game_string: str) -> pyspiel.Game:
    if "python_" in game_string:
        # Games written in Python register themselves when imported.
        importlib.import_module("open_spiel.python.games")
        importlib.import_module("spiel_dl.games")
    name = game_string.partition("(")[0].strip()
    if name not in pyspiel.registered_names():
        raise ValueError(
            f"OpenSpiel has no game {name!r}; pyspiel.registered_names() lists those it has"
        )
    try:
        return pyspiel.load_game(game_string)
    except Exception as error:  # Whatever a game's factory raises, the game string is wrong.
        raise ValueError(f"OpenSpiel cannot load the game {game_string!r}: {error}") from None


def zero_sum_utility(game: pyspiel.Game, state: pyspiel.State) -> float:
    """Player 0's utility in a terminal state of a two-player game.

    Raises:
      ValueError: if the two players' utilities do not sum to 0.
    """
    utilities: list[float] = state.returns()
    if not abs(utilities[0] + utilities[1]) <= _ZERO_SUM_TOLERANCE:
        raise ValueError(
            f"{game}: not zero-sum. The returns of history {state.history()} are {utilities}. "
            "Only zero-sum games work here."
        )
    return utilities[0]


def enumerate_game(game: pyspiel.Game | str, max_histories: int) -> Histories:
    """All histories of a game.

    Args:
      game: an OpenSpiel game or its game string.
      max_histories: refuse games with more histories than this.

    Raises:
      ValueError: if the game has more or fewer than two players, is not zero-sum, samples its
        chance, does not tell what players know, or has more than `max_histories` histories.
    """
    walk = _Walk(load_turn_based(game), max_histories)
    walk.run()
    return walk.histories()


class _Walk:
    """One depth-first walk, which needs little memory for states.

    Among the histories of one depth, the order of the visit is the breadth-first one.
    """

    def __init__(self, game: pyspiel.Game, max_histories: int):
        self._game = game
        self._max_histories = max_histories
        self._parent = array.array("i")
        self._depth = array.array("i")
        self._action = array.array("i")
        self._player = array.array("b")
        self._chance_reach = array.array("d")
        self._utility = array.array("d")
        self._keys = (array.array("q"), array.array("q"))
        self._strings: tuple[dict[int, str], dict[int, str]] = ({}, {})
        self._idle_keys_valid = game.get_type().short_name not in _INVALID_IDLE_KEYS
        self._information_string = information_string_function(game)

    def run(self) -> None:
        """Visits every history."""
        stack = [(self._game.new_initial_state(), -1, 0, -1, 1.0)]
        while stack:
            state, parent, depth, action, reach = stack.pop()
            index = len(self._parent)
            if index >= self._max_histories:
                refuse_size(self._game, index, depth, self._max_histories)
            player = state.current_player()
            self._parent.append(parent)
            self._depth.append(depth)
            self._action.append(action)
            self._player.append(player)
            self._chance_reach.append(reach)
            depth += 1
            if player == TERMINAL_PLAYER:
                self._utility.append(zero_sum_utility(self._game, state))
                self._keys[0].append(0)
                self._keys[1].append(0)
                continue
            self._utility.append(0.0)
            self._record_keys(state, player)
            # The last child goes first on the stack, so that the first is visited next.
            if player == CHANCE_PLAYER:
                stack.extend(
                    (state.child(outcome), index, depth, outcome, reach * probability)
                    for outcome, probability in reversed(state.chance_outcomes())
                )
            else:
                stack.extend(
                    (state.child(choice), index, depth, choice, reach)
                    for choice in reversed(state.legal_actions())
                )

    def histories(self) -> Histories:
        """The visited histories, breadth first."""
        depth = np.frombuffer(self._depth, np.int32)
        order = np.argsort(depth, kind="stable")
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        parent = np.frombuffer(self._parent, np.int32)[order]
        parent[1:] = position[parent[1:]]
        return Histories(
            game=self._game,
            parent=parent,
            depth=depth[order],
            action=np.frombuffer(self._action, np.int32)[order],
            player=np.frombuffer(self._player, np.int8)[order],
            chance_reach=np.frombuffer(self._chance_reach, np.float64)[order],
            utility=np.frombuffer(self._utility, np.float64)[order],
            infoset_key=np.stack([np.frombuffer(keys, np.int64)[order] for keys in self._keys]),
            idle_keys_valid=self._idle_keys_valid,
            public_key=None,
            rounds_over=None,
            infoset_strings=self._strings,
        )

    def _record_keys(self, state: pyspiel.State, player: int) -> None:
        for observer in (0, 1):
            if observer == player:
                string = self._information_string(state, player)
                key = hash(string)
                self._strings[player][key] = string
            else:
                key = self._idle_key(state, observer)
            self._keys[observer].append(key)

    def _idle_key(self, state: pyspiel.State, observer: int) -> int:
        if not self._idle_keys_valid:
            return 0
        try:
            return hash(self._information_string(state, observer))
        except Exception:
            # Some games refuse, each in its way, to answer for a player who is not to move.
            self._idle_keys_valid = False
            return 0
