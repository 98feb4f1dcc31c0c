"""Loads, compares and enumerates two-player zero-sum OpenSpiel games, in C++ or Python."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import importlib
import re
from collections.abc import Mapping

import pyspiel

from spiel_dl.tree import twins
from spiel_dl.tree.histories import Histories, check_mover, first_occurrence_ids, game_errors
from spiel_dl.tree.size_limit import SizeLimit
from spiel_dl.tree.walk import Walk

_DATA_GAMES = ("efg_game", "nfg_game")
"""Games that are made of data in memory if their strings have no parameters, else of a file."""
# Games with at most this many histories are walked: importing torch for a twin takes longer.
_MAX_WALKED = 1 << 15
_FILE_GAME = re.compile(rf"\b({'|'.join(_DATA_GAMES)})\(\w")


def is_same_game(first: pyspiel.Game, second: pyspiel.Game) -> bool:
    """Whether two games are the same, so that policies and trees of one serve the other.

    Games are compared by names and parameters, defaults included; those that were read from a file,
    which may have changed since, by all histories too. The strings of games that were made of data
    in memory (matrices, `load_efg_game`) do not contain the data, so each of them is the same as
    itself alone.
    """
    if first is second:
        return True
    if str(first) != str(second):
        names = {game.get_type().short_name for game in (first, second)}
        if len(names) > 1 or first.get_parameters() != second.get_parameters():
            return False
    return _is_complete(str(first)) and contents_hash(first) == contents_hash(second)


def contents_hash(game: pyspiel.Game) -> str | None:
    """A hash of a game that was read from a file or made of data; None for all other games."""
    name = str(game)
    needs_hash = _FILE_GAME.search(name) or not _is_complete(name)
    return _digest(_GameIdentity(game)) if needs_hash else None


def is_game_of(game_string: str, game: pyspiel.Game) -> bool:
    """Whether a game is that of a game string, for example of a saved one.

    Raises:
      ValueError: if the string is no game's.
    """
    return game_string == str(game) or is_same_game(load_turn_based(game_string), game)


def check_game_of(state: pyspiel.State, game: pyspiel.Game) -> None:
    """Raises a ValueError unless a state is of the game or of the same one."""
    own = state.get_game()
    if not is_same_game(own, game):
        raise ValueError(f"the state is of {own}, not of {game}; ask in states of that game")


@functools.lru_cache(maxsize=256)
def _is_complete(game_string: str) -> bool:
    """Whether a string defines its game and all games inside it, without data in memory."""
    registered = pyspiel.registered_names()
    return all(
        name in registered and not (name in _DATA_GAMES and not parameters)
        for name, parameters in re.findall(r"(\w+)\((\w*)", game_string)
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _GameIdentity:
    """A cache key that compares games by identity; games are equal if their strings are."""

    game: pyspiel.Game

    def __hash__(self) -> int:
        return id(self.game)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _GameIdentity) and self.game is other.game


@functools.lru_cache(maxsize=16)
def _digest(identity: _GameIdentity) -> str:
    """A hash of all histories of a game, the same in every process."""
    histories = enumerate_game(identity.game)
    digest = hashlib.sha256()
    # Keys of infosets are hashes that differ between processes, but not in which are equal.
    infosets = [first_occurrence_ids(keys)[0] for keys in histories.infoset_key]
    for integers in (histories.parent, histories.action, histories.player, *infosets):
        digest.update(integers.tobytes())
    for numbers in (histories.chance_reach, histories.utility):
        digest.update(numbers.tobytes())
    return digest.hexdigest()


def load_turn_based(game: pyspiel.Game | str) -> pyspiel.Game:
    """Loads a game and converts simultaneous moves to consecutive hidden ones.

    Raises:
      ValueError: if the game cannot be loaded, or if games of its type cannot be solved here.
    """
    if isinstance(game, str):
        game = _load_game(game)
    if not isinstance(game, pyspiel.Game):
        raise ValueError(
            f"{str(game)[:60]!r} is no game but of type {type(game).__name__}; give a game string, "
            "a pyspiel.Game or a compiled game, which come before policies and limits"
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
    """Refuses games whose first decision is simultaneous although their type is sequential.

    `cached_tree` of a simultaneous game is one. Later states are checked when they are enumerated.
    """
    actions: list[int] = []
    with game_errors(game, lambda: actions):
        state = game.new_initial_state()
        while state.is_chance_node() and state.chance_outcomes():
            actions.append(state.chance_outcomes()[0][0])
            state.apply_action(actions[-1])
        check_mover(game, state.current_player(), actions)


def _load_game(game_string: str) -> pyspiel.Game:
    game_string = game_string.strip()
    if "python_" in game_string:
        # OpenSpiel's games written in Python register themselves when imported.
        importlib.import_module("open_spiel.python.games")
    name = game_string.partition("(")[0].strip()
    registered = pyspiel.registered_names()
    if name not in registered:
        completions = [each for each in registered if name and each.startswith(name)]
        near = difflib.get_close_matches(name, registered, n=1) or completions
        remedy = f"did you mean {near[0]!r}?" if near else "pyspiel.registered_names() lists them."
        raise ValueError(
            f"OpenSpiel has no game {name!r}; {remedy} A game of your own is known once its module "
            "is imported, in scripts by --import=MODULE"
        )
    try:
        _check_parameters(name, pyspiel.game_parameters_from_string(game_string))
        return pyspiel.load_game(game_string)
    except Exception as error:  # Whatever a game's factory raises, the game string is wrong.
        # Errors of games in C++ may only name the function that failed.
        defaults = ",".join(f"{key}={value}" for key, value in _defaults(name).items())
        is_refused = isinstance(error, pyspiel.SpielError | ValueError)
        raise ValueError(
            f"OpenSpiel cannot load the game {game_string!r}: {error}; give parameters as in "
            f"{name}({defaults})"
        ) from (None if is_refused else error)  # an error in a game of one's own is shown


def _check_parameters(name: str, parameters: Mapping[str, object]) -> None:
    """Refuses negative numbers, for which games in C++ may access invalid memory."""
    defaults = _defaults(name)
    for key, value in parameters.items():
        default = defaults.get(key)
        if isinstance(value, int) and isinstance(default, int) and value < 0 <= default:
            raise ValueError(f"{key}={value} is negative")


def _defaults(name: str) -> dict[str, object]:
    """The default values of a game's parameters."""
    types = {each.short_name: each for each in pyspiel.registered_games()}
    return dict(types[name].parameter_specification)


def enumerate_game(game: pyspiel.Game | str, max_histories: int | None = None) -> Histories:
    """All histories of a game, by its states or, if there are many, by the rules of its twin.

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
    walk = Walk(turn_based)
    with SizeLimit(turn_based, max_histories) as limit, game_errors(turn_based, walk.actions):
        if twins.twin_string(turn_based) is not None and not walk.run(limit, _MAX_WALKED):
            histories = twins.enumerate_by_twin(turn_based, max_histories)
            if histories is not None:
                return histories
        walk.run(limit)
    return walk.histories()
