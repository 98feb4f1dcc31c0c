"""Which games have a factored form, and when it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyspiel

from spiel_dl.tree.factored import boards
from spiel_dl.tree.factored.factored_form import default_threads
from spiel_dl.tree.factored.factored_game import FactoredGame
from spiel_dl.tree.factored.phantom import PhantomGame
from spiel_dl.tree.factored.stones import StoneTensors
from spiel_dl.tree.from_openspiel import load_turn_based

# The most cells of a board: with ten, tables do not fit into the memory of a laptop.
_MOST_CELLS = 9
# From so many cells on, phantom games have too many histories to list.
_LARGE_BOARD = 6
_TIC_TAC_TOE = StoneTensors(9, cell_stride=1, kind_stride=9, num_kinds=3, kinds=(0, 2, 1))
Build = Callable[[int], FactoredGame]


def factored_game(game: pyspiel.Game | str, *, num_threads: int | None = None) -> FactoredGame:
    """The factored form of a game of any size, if it is of a family that has one.

    Args:
      game: the game, or its game string.
      num_threads: threads for the payoffs; None: as many as this process may use cores.

    Raises:
      ValueError: if the game is of no such family, or too large.
    """
    turn_based = load_turn_based(game)
    found = _find(turn_based)
    if found is None:
        raise ValueError(
            f"{turn_based} has no factored form here. These have: phantom_ttt and "
            f"dark_hex(gameversion=cdh), with obstype=reveal-nothing, on 2x2 to {_MOST_CELLS} cells"
        )
    build, _ = found
    return build(default_threads() if num_threads is None else num_threads)


def factored_game_if_large(game: pyspiel.Game) -> FactoredGame | None:
    """The factored form of a turn-based game that has one and is too large to list; else None."""
    found = _find(game)
    if found is None or not found[1]:
        return None
    return found[0](default_threads())


def _find(game: pyspiel.Game) -> tuple[Build, bool] | None:
    """How a turn-based game is built, and whether it is too large to list; None: it has no form."""
    family = _FAMILIES.get(game.get_type().short_name)
    return None if family is None else family(game, game.get_parameters())


def _phantom_ttt(game: pyspiel.Game, parameters: dict[str, Any]) -> tuple[Build, bool] | None:
    if (parameters["obstype"], parameters["gameversion"]) != ("reveal-nothing", "classical"):
        return None

    def build(num_threads: int) -> FactoredGame:
        return PhantomGame.build(
            game,
            boards.tic_tac_toe(),
            _TIC_TAC_TOE,
            strings_count_turns=False,
            num_threads=num_threads,
        )

    return build, True


def _dark_hex(game: pyspiel.Game, parameters: dict[str, Any]) -> tuple[Build, bool] | None:
    if (parameters["obstype"], parameters["gameversion"]) != ("reveal-nothing", "cdh"):
        return None
    num_rows, num_columns = parameters["num_rows"], parameters["num_cols"]
    num_cells = num_rows * num_columns
    if min(num_rows, num_columns) < 2 or num_cells > _MOST_CELLS:
        return None
    tensors = StoneTensors(num_cells, cell_stride=9, kind_stride=1, num_kinds=9, kinds=(4, 5, 3))

    def build(num_threads: int) -> FactoredGame:
        return PhantomGame.build(
            game,
            boards.hex_board(num_rows, num_columns),
            tensors,
            strings_count_turns=True,
            num_threads=num_threads,
        )

    return build, num_cells >= _LARGE_BOARD


_FAMILIES = {"phantom_ttt": _phantom_ttt, "dark_hex": _dark_hex}
