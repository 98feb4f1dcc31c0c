"""Enumerates any two-player zero-sum OpenSpiel game, in C++ or Python, by walking its states."""

from __future__ import annotations

import array
import dataclasses
import difflib
import functools
import hashlib
import importlib
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyspiel

from spiel_dl.tree.histories import (
    CHANCE_PLAYER,
    CHANCE_TOLERANCE,
    TERMINAL_PLAYER,
    Histories,
    InvalidGameError,
    check_mover,
    game_errors,
    refuse_state,
)
from spiel_dl.tree.information_states import information_string_function
from spiel_dl.tree.size_limit import BYTES_PER_STRING, SizeLimit

_ZERO_SUM_TOLERANCE = 1e-9
_OF_DATA = ("efg_game", "nfg_game")
"""Games whose strings without parameters stand for data in memory, and else for a file."""
_FROM_FILES = re.compile(rf"\b({'|'.join(_OF_DATA)})\(\w")
_MAX_ACTION = np.iinfo(np.int32).max
# How games refuse to answer for a player who is not to move: those in C++ and those in Python. Any
# other exception is an error of the game.
_REFUSALS = (pyspiel.SpielError, ValueError, NotImplementedError)
# After this many histories the size limit is looked at.
_LOOK_EVERY = 128


def is_same_game(first: pyspiel.Game, second: pyspiel.Game) -> bool:
    """Whether what was made for one game serves for the other.

    Games are told apart by their names and parameters, those that are left out being the defaults;
    those that were read from a file, which may have been written anew since, by all histories too.
    Games that were made of data in memory (matrices, `load_efg_game`) do not tell their data, so
    each of them is the same as itself alone.
    """
    if first is second:
        return True
    if str(first) != str(second):
        names = {game.get_type().short_name for game in (first, second)}
        if len(names) > 1 or first.get_parameters() != second.get_parameters():
            return False
    if not _says_all(str(first)):
        return False
    return _FROM_FILES.search(str(first)) is None or _contents(_Read(first)) == _contents(
        _Read(second)
    )


def is_game_of(game_string: str, game: pyspiel.Game) -> bool:
    """Whether a game is what a game string says, as a file has kept it.

    Raises:
      ValueError: if there is no such game.
    """
    return game_string == str(game) or is_same_game(load_turn_based(game_string), game)


def check_game_of(state: pyspiel.State, game: pyspiel.Game) -> None:
    """Raises a ValueError if a state is not of a game, or of one that is the same."""
    own = state.get_game()
    if not is_same_game(own, game):
        raise ValueError(f"the state is of {own}, not of {game}; ask in states of that game")


@functools.lru_cache(maxsize=256)
def _says_all(game_string: str) -> bool:
    """Whether a game string says all of the game, those inside it included."""
    registered = pyspiel.registered_names()
    return all(
        name in registered and not (name in _OF_DATA and not parameters)
        for name, parameters in re.findall(r"(\w+)\((\w*)", game_string)
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Read:
    """A game as it was read; games themselves are equal if their strings are."""

    game: pyspiel.Game

    def __hash__(self) -> int:
        return id(self.game)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Read) and self.game is other.game


@functools.lru_cache(maxsize=16)
def _contents(read: _Read) -> str:
    """What tells a game's histories apart from those of others."""
    histories = enumerate_game(read.game)
    found = hashlib.sha256(repr(histories.infoset_strings).encode())
    for integers in (histories.parent, histories.action, histories.player, histories.infoset_key):
        found.update(integers.tobytes())
    for numbers in (histories.chance_reach, histories.utility):
        found.update(numbers.tobytes())
    return found.hexdigest()


def load_turn_based(game: pyspiel.Game | str) -> pyspiel.Game:
    """Loads a game and converts simultaneous moves to consecutive hidden ones.

    Raises:
      ValueError: if the game cannot be loaded, or if its type tells that it cannot be solved here.
    """
    if isinstance(game, str):
        game = _load_game(game)
    if not hasattr(game, "get_type"):
        raise ValueError(
            f"{game!r} is no game but of type {type(game).__name__}; give a game string, a "
            "pyspiel.Game or a compiled game, which come before policies and limits"
        )
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
    _check_first_mover(game)
    return game


def _check_first_mover(game: pyspiel.Game) -> None:
    """Refuses games such as `cached_tree` of a simultaneous game before they are played or learned.

    Their type says that they are sequential. Later states are checked when they are enumerated.
    """
    actions: list[int] = []
    with game_errors(game, lambda: actions):
        state = game.new_initial_state()
        while state.is_chance_node() and state.chance_outcomes():
            actions.append(state.chance_outcomes()[0][0])
            state.apply_action(actions[-1])
        check_mover(game, state.current_player(), actions)


def _load_game(game_string: str) -> pyspiel.Game:
    if "python_" in game_string:
        # OpenSpiel's games written in Python register themselves when imported.
        importlib.import_module("open_spiel.python.games")
    name = game_string.partition("(")[0].strip()
    known = pyspiel.registered_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {near[0]!r}?" if near else "pyspiel.registered_names() lists them."
        raise ValueError(
            f"OpenSpiel has no game {name!r}; {remedy} A game of your own is known once its module "
            "is imported, in scripts by --import=MODULE"
        )
    try:
        _check_parameters(name, pyspiel.game_parameters_from_string(game_string))
        return pyspiel.load_game(game_string)
    except Exception as error:  # Whatever a game's factory raises, the game string is wrong.
        # Games in C++ may say no more than which function of their library failed.
        defaults = ",".join(f"{key}={value}" for key, value in _defaults(name).items())
        raise ValueError(
            f"OpenSpiel cannot load the game {game_string!r}: {error}; give parameters as in "
            f"{name}({defaults})"
        ) from None


def _check_parameters(name: str, parameters: Mapping[str, object]) -> None:
    """Refuses negative numbers, for which games in C++ may take memory that is not theirs."""
    defaults = _defaults(name)
    for key, value in parameters.items():
        default = defaults.get(key)
        if isinstance(value, int) and isinstance(default, int) and value < 0 <= default:
            raise ValueError(f"{key}={value} is negative")


def _defaults(name: str) -> dict[str, object]:
    """The parameters of a game that have a default, and it."""
    types = {each.short_name: each for each in pyspiel.registered_games()}
    return dict(types[name].parameter_specification)


def zero_sum_utility(game: pyspiel.Game, state: pyspiel.State) -> float:
    """Player 0's utility in a terminal state of a two-player game.

    Raises:
      ValueError: if the state does not give two finite utilities that sum to 0.
    """
    utilities: list[float] = list(state.returns())
    if len(utilities) != 2 or not all(map(math.isfinite, utilities)):
        refuse_state(game, state.history(), f"returns {utilities}, which must be 2 finite numbers")
    if abs(utilities[0] + utilities[1]) > _ZERO_SUM_TOLERANCE:
        raise InvalidGameError(
            f"{game}: not zero-sum. The returns of history {state.history()} are {utilities}. "
            "Only zero-sum games work here."
        )
    return utilities[0]


def enumerate_game(game: pyspiel.Game | str, max_histories: int | None = None) -> Histories:
    """All histories of a game.

    Args:
      game: an OpenSpiel game or its game string.
      max_histories: refuse games with more histories than this; None: with more than fit into
        memory.

    Raises:
      ValueError: if the game has more or fewer than two players, is not zero-sum, samples its
        chance, does not tell what players know, breaks OpenSpiel's rules in one of its states, or
        has too many histories.
    """
    turn_based = load_turn_based(game)
    walk = _Walk(turn_based)
    with SizeLimit(turn_based, max_histories) as limit, game_errors(turn_based, walk.actions):
        walk.run(limit)
    return walk.histories()


# A history to come: the state before it, which the last of its children may become; that state's
# number, the depth, the action, chance's reach, whether it is the last child. No NamedTuple, which
# takes longer to make.
_Visit = tuple[pyspiel.State, int, int, int, float, bool]


class _Walk:
    """A depth-first walk, which keeps only the states on the way to the history that it visits.

    It visits the histories of one depth in the order of a breadth-first walk.
    """

    def __init__(self, game: pyspiel.Game):
        self._game = game
        self._parent = array.array("i")
        self._depth = array.array("i")
        self._action = array.array("i")
        self._player = array.array("b")
        self._chance_reach = array.array("d")
        self._utility = array.array("d")
        self._keys = (array.array("q"), array.array("q"))
        self._strings: tuple[dict[int, str], dict[int, str]] = ({}, {})
        self._string_bytes = 0
        self._idle_keys_valid = True
        # Whether all idle players so far were told the mover's label, see `_is_movers_label`.
        self._all_movers_labels = True
        self._information_string = information_string_function(game)

    def run(self, limit: SizeLimit) -> None:
        """Visits every history."""
        stack: list[_Visit] = [(self._game.new_initial_state(), -1, 0, -1, 1.0, False)]
        while stack:
            state, parent, depth, action, reach, is_last = stack.pop()
            index = len(self._parent)
            if index >= limit.max_histories:
                limit.refuse(index, depth)
            if index % _LOOK_EVERY == 0:
                limit.look(index, depth, self._string_bytes)
            # Before the game is asked anything, so that its errors name this history.
            self._parent.append(parent)
            self._depth.append(depth)
            self._action.append(action)
            self._chance_reach.append(reach)
            if is_last:
                state.apply_action(action)
            elif parent >= 0:
                state = state.child(action)
            player = state.current_player()
            self._player.append(player)
            if player == TERMINAL_PLAYER:
                self._utility.append(zero_sum_utility(self._game, state))
                self._keys[0].append(0)
                self._keys[1].append(0)
                continue
            self._utility.append(0.0)
            # The last child goes first on the stack, so that the first is visited next.
            is_last, depth = True, depth + 1
            if player == CHANCE_PLAYER:
                self._keys[0].append(self._idle_key(state, 0))
                self._keys[1].append(self._idle_key(state, 1))
                for outcome, probability in reversed(self._chance_outcomes(state)):
                    stack.append((state, index, depth, outcome, reach * probability, is_last))
                    is_last = False
            else:
                for choice in reversed(self._decision(state, player)):
                    stack.append((state, index, depth, choice, reach, is_last))
                    is_last = False

    def actions(self) -> list[int]:
        """The actions to the history that was visited last."""
        actions, history = [], len(self._parent) - 1
        while history > 0:
            actions.append(self._action[history])
            history = self._parent[history]
        return actions[::-1]

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
            idle_keys_valid=self._idle_keys_valid and not self._all_movers_labels,
            public_key=None,
            rounds_over=None,
            infoset_strings=self._strings,
        )

    def _decision(self, state: pyspiel.State, player: int) -> list[int]:
        """Records the keys of a history where a player acts; returns the legal actions.

        Raises:
          ValueError: if none of the two acts, or if the actions cannot be those of a game.
        """
        if player not in (0, 1):
            check_mover(self._game, player, self.actions())
        actions: list[int] = state.legal_actions()
        string = self._information_string(state, player)
        key = hash(string)
        self._keys[player].append(key)
        self._keys[1 - player].append(self._idle_key(state, 1 - player, string))
        if key not in self._strings[player]:
            self._strings[player][key] = string
            self._string_bytes += len(string) + BYTES_PER_STRING
        if not actions:
            refuse_state(self._game, self.actions(), f"has no legal actions for player {player}")
        self._check_actions("legal actions", actions)
        return actions

    def _chance_outcomes(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """Chance's outcomes and their probabilities.

        Raises:
          ValueError: if they are no distribution.
        """
        outcomes: list[tuple[int, float]] = state.chance_outcomes()
        probabilities = [probability for _, probability in outcomes]
        # Written so that NaN is refused as well.
        is_distribution = all(probability >= 0.0 for probability in probabilities) and (
            abs(sum(probabilities) - 1.0) <= CHANCE_TOLERANCE
        )
        if not is_distribution:
            refuse_state(
                self._game,
                self.actions(),
                f"has the chance outcomes {outcomes}, whose probabilities must be at least 0 and "
                "sum to 1",
            )
        self._check_actions("chance outcomes", [outcome for outcome, _ in outcomes])
        return outcomes

    def _check_actions(self, name: str, actions: Sequence[int]) -> None:
        if len(set(actions)) != len(actions):
            refuse_state(self._game, self.actions(), f"has the {name} {actions}; none may be twice")
        if not 0 <= min(actions) <= max(actions) <= _MAX_ACTION:
            refuse_state(
                self._game,
                self.actions(),
                f"has the {name} {actions}; they must be from 0 to {_MAX_ACTION}",
            )

    def _idle_key(self, state: pyspiel.State, observer: int, movers: str | None = None) -> int:
        """The key of a player who does not act; 0 once these keys turned out to be invalid.

        Args:
          state: where it does not act.
          observer: the player.
          movers: what the player who acts knows; None where chance does.
        """
        if not self._idle_keys_valid:
            return 0
        try:
            string = self._information_string(state, observer)
        except _REFUSALS:
            self._idle_keys_valid = False
            return 0
        if self._all_movers_labels and movers is not None:
            self._all_movers_labels = _is_movers_label(string, movers, observer)
        return hash(string)


def _is_movers_label(idle: str, movers: str, observer: int) -> bool:
    """Whether an idle player is told what the mover is told, but for the observer's number.

    `efg_game` does that, also within other games: it labels the mover's infoset for both players.
    Where all strings of a game are like this, they do not say what an idle player knows.
    """
    if len(idle) != len(movers):
        return False
    differences = [pair for pair in zip(idle, movers, strict=True) if pair[0] != pair[1]]
    return differences == [(str(observer), str(1 - observer))]
