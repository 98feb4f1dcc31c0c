"""The families of games that have a factored form, and the sizes at which it is used."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyspiel

from spiel_dl.factored.abrupt import AbruptGame
from spiel_dl.factored.dice import DiceGame, DiceRules
from spiel_dl.factored.phantom import PhantomGame
from spiel_dl.factored.stones import StoneTensors
from spiel_dl.games import boards
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.factored_form import default_threads
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.from_openspiel import is_same_game, load_turn_based
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.trunk import Trunk, cut

if TYPE_CHECKING:  # With torch, as hold'em's rules.
    from spiel_dl.factored.holdem_trunk import HoldemTrunk

# The most cells of a board: with ten, tables do not fit into the memory of a laptop.
_MOST_CELLS = 9
# Phantom games on boards of at least so many cells have too many histories to list.
_LARGE_BOARD = 6
# The same two bounds for liar's dice.
_MOST_BIDS = 20
_MANY_BIDS = 16
# Hold'em with more histories is too large to list.
_MANY_HISTORIES = 1 << 20
_TIC_TAC_TOE = StoneTensors(9, cell_stride=1, kind_stride=9, num_kinds=3, kinds=(0, 2, 1))
Build = Callable[[int], FactoredGame]


def factored_game(game: pyspiel.Game | str, *, num_threads: int | None = None) -> FactoredGame:
    """The factored form of a game of any size.

    Args:
      game: the game, or its game string.
      num_threads: threads for the payoffs; None: one for each core of this process.

    Raises:
      ValueError: if the game's family has no factored form, or the game is too large.
    """
    turn_based = load_turn_based(game)
    family = _builder(turn_based)
    if family is None:
        raise ValueError(
            f"{turn_based} has no factored form here. These have: phantom_ttt and "
            f"dark_hex, with obstype=reveal-nothing, on 2x2 to {_MOST_CELLS} cells, and "
            "python_phantom_ttt, python_dark_hex, python_abrupt_phantom_ttt and "
            "python_abrupt_dark_hex; "
            f"liars_dice and python_liars_dice with at most {_MOST_BIDS} bids; python_holdem; "
            "and universal_poker by fcpa, fc or limit betting, with at most one deal to the board, "
            "potSize=0 and no handReaches"
        )
    build, _ = family
    return build(default_threads() if num_threads is None else num_threads)


def compile_any(game: AnyGame, *policies: object) -> GameTree | FactoredGame:
    """The compiled form of a game: its list of histories or, where it is too long, factored.

    Arguments and errors are those of `tree.load.compile_game`.
    """
    if isinstance(game, (GameTree, FactoredGame)):
        return game
    turn_based = load_turn_based(game)
    for policy in policies:
        tree = getattr(policy, "tree", None)
        if isinstance(tree, FactoredGame) and is_same_game(tree.game, turn_based):
            return tree
    family = _builder(turn_based)
    if family is None or not family[1]:
        return compile_game(turn_based, *policies)
    return family[0](default_threads())


def cut_any(
    game: AnyGame, depth_limit: DepthLimit, *policies: object
) -> Trunk[GameTree] | HoldemTrunk:
    """The trunk of a game. Of games too large to list, only hold'em on the turn has one.

    Raises:
      ValueError: as `tree.trunk.cut` and `compile_any`, or if the game is another large one.
    """
    check_depth_limit(depth_limit)
    compiled = compile_any(game, *policies)
    if isinstance(compiled, FactoredGame):
        from spiel_dl.factored import holdem, holdem_trunk

        if isinstance(compiled, holdem.HoldemGame):
            return holdem_trunk.cut_holdem(compiled, depth_limit)
    return cut(compile_game(compiled), depth_limit)


def _builder(game: pyspiel.Game) -> tuple[Build, bool] | None:
    """Builds a turn-based game's factored form; whether it is too large to list. None: no form."""
    family = _FAMILIES.get(game.get_type().short_name)
    return None if family is None else family(game, game.get_parameters())


def _phantom(game: pyspiel.Game, parameters: dict[str, Any]) -> tuple[Build, bool] | None:
    """OpenSpiel's phantom games in which players see only their own tries."""
    is_hex = game.get_type().short_name == "dark_hex"
    if parameters["obstype"] != "reveal-nothing":
        return None
    board, tensors = boards.tic_tac_toe(), _TIC_TAC_TOE
    if is_hex:
        sides = (parameters["num_rows"], parameters["num_cols"])
        n = math.prod(sides)
        if min(sides) < 2 or n > _MOST_CELLS:
            return None
        board = boards.hex_board(*sides)
        tensors = StoneTensors(n, cell_stride=9, kind_stride=1, num_kinds=9, kinds=(4, 5, 3))

    def build(num_threads: int) -> FactoredGame:
        if parameters["gameversion"] in ("abrupt", "adh"):
            return AbruptGame.build(game, board, tensors, num_threads=num_threads)
        return PhantomGame.build(
            game, board, tensors, strings_count_turns=is_hex, num_threads=num_threads
        )

    return build, board.num_cells >= _LARGE_BOARD


def _python_phantom(game: pyspiel.Game, parameters: dict[str, Any]) -> tuple[Build, bool] | None:
    """This package's phantom games."""
    del parameters
    board = game.rules.board
    if board.num_cells > _MOST_CELLS:
        return None

    def build(num_threads: int) -> FactoredGame:
        if game.rules.is_abrupt:
            return AbruptGame.build(game, board, None, num_threads=num_threads)
        return PhantomGame.build(game, board, None, num_threads=num_threads, has_waits=True)

    return build, board.num_cells >= _LARGE_BOARD


def _liars_dice(game: pyspiel.Game, parameters: dict[str, Any]) -> tuple[Build, bool] | None:
    rules = DiceRules(
        parameters["numdice"],
        parameters["dice_sides"],
        parameters["bidding_rule"] == "reset-quantity",
    )
    if rules.num_bids > _MOST_BIDS:
        return None

    def build(num_threads: int) -> FactoredGame:
        return DiceGame.build(game, rules, num_threads=num_threads)

    return build, rules.num_bids >= _MANY_BIDS


def _holdem(game: pyspiel.Game, parameters: dict[str, Any]) -> tuple[Build, bool] | None:
    from spiel_dl.factored import holdem, universal_poker  # With torch, as these games' rules.

    is_python = game.get_type().short_name == "python_holdem"
    rules = game.rules if is_python else universal_poker.rules_of(parameters)
    game_class = holdem.HoldemGame if is_python else universal_poker.UniversalPokerGame
    if rules is None:
        return None

    def build(num_threads: int) -> FactoredGame:
        return game_class.build(game, rules, num_threads=num_threads)

    return build, holdem.num_histories(rules) > _MANY_HISTORIES


_FAMILIES = {
    "phantom_ttt": _phantom,
    "dark_hex": _phantom,
    "python_phantom_ttt": _python_phantom,
    "python_dark_hex": _python_phantom,
    "python_abrupt_phantom_ttt": _python_phantom,
    "python_abrupt_dark_hex": _python_phantom,
    "python_holdem": _holdem,
    "universal_poker": _holdem,
    "liars_dice": _liars_dice,
    "python_liars_dice": _liars_dice,
}
