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

_OF_DATA = ("efg_game", "nfg_game")
"""Games whose strings without parameters stand for data in memory, and else for a file."""
# Up to so many histories, no twin is asked for, which imports torch; that takes longer.
_FEW = 1 << 15
_FROM_FILES = re.compile(rf"\b({'|'.join(_OF_DATA)})\(\w")


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
    return _says_all(str(first)) and untold_contents(first) == untold_contents(second)


def untold_contents(game: pyspiel.Game) -> str | None:
    """What tells a game apart that was read from a file or made of data; None: its string does."""
    name = str(game)
    return _contents(_Read(game)) if _FROM_FILES.search(name) or not _says_all(name) else None


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
    """What tells a game's histories apart from those of others, the same in every process."""
    histories = enumerate_game(read.game)
    found = hashlib.sha256()
    # Keys of infosets are hashes that differ from process to process; which are equal does not.
    infosets = [first_occurrence_ids(keys)[0] for keys in histories.infoset_key]
    for integers in (histories.parent, histories.action, histories.player, *infosets):
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
        longer = [each for each in known if name and each.startswith(name)]
        near = difflib.get_close_matches(name, known, n=1) or longer
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


def enumerate_game(game: pyspiel.Game | str, max_histories: int | None = None) -> Histories:
    """All histories of a game: by its states or, if there are many, by the rules of its twin.

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
        if twins.twin_string(turn_based) is not None and not walk.run(limit, _FEW):
            found = twins.enumerate_by_twin(turn_based, max_histories)
            if found is not None:
                return found
        walk.run(limit)
    return walk.histories()
