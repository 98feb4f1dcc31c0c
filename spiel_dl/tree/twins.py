"""OpenSpiel games in C++ that are identical to a game of this package, whose rules are faster."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pyspiel

from spiel_dl.tree.histories import Histories

_NUM_PLAYOUTS = 32


def twin_string(game: pyspiel.Game) -> str | None:
    """The string of this package's game that should be identical, action ids included, or None."""
    name, parameters = game.get_type().short_name, game.get_parameters()
    if name == "turn_based_simultaneous_game":
        parameters = parameters["game"]
        name = parameters["name"]
    make = _TWINS.get(name)
    return None if make is None else make(parameters)


def _goofspiel(given: dict[str, Any]) -> str | None:
    if not given["imp_info"] or given["egocentric"] or given["returns_type"] == "total_points":
        return None
    if given["num_turns"] not in (-1, given["num_cards"]):
        return None
    return (
        f"python_goofspiel_ii(num_cards={given['num_cards']},points_order={given['points_order']},"
        f"returns_type={given['returns_type']})"
    )


def _battleship(given: dict[str, Any]) -> str | None:
    width, height = given["board_width"], given["board_height"]
    if given["loss_multiplier"] != 1.0 or given["num_shots"] > width * height:
        return None
    return (
        f"python_battleships(board_width={width},board_height={height},"
        f"ship_sizes={given['ship_sizes']},ship_values={given['ship_values']},"
        f"num_shots={given['num_shots']},returns_type=ship_values,"
        f"allow_repeated_shots={given['allow_repeated_shots']})"
    )


def _liars_dice(given: dict[str, Any]) -> str | None:
    if given["numdice"] != 1:  # With more dice, information states during the rolls differ.
        return None
    return (
        f"python_liars_dice(numdice=1,dice_sides={given['dice_sides']},"
        f"bidding_rule={given['bidding_rule']})"
    )


_TWINS = {"goofspiel": _goofspiel, "battleship": _battleship, "liars_dice": _liars_dice}


def is_twin(game: pyspiel.Game, twin: pyspiel.Game) -> bool:
    """Whether two turn-based games are the same in random playouts, always the same ones.

    Movers, actions, chance's probabilities and returns must be equal; and where a player acts, both
    games' information states must define the same infosets of each player.

    Args:
      game: OpenSpiel's game.
      twin: this package's game.
    """
    generator = random.Random(0)
    names: list[tuple[dict[str, str], dict[str, str]]] = [({}, {}), ({}, {})]
    for _ in range(_NUM_PLAYOUTS):
        states = game.new_initial_state(), twin.new_initial_state()
        while True:
            first, second = map(_fingerprint, states)
            if first != second:
                return False
            _, choices, _ = first
            if not choices:
                break
            for player in (0, 1) if states[0].is_player_node() else ():
                theirs, ours = (state.information_state_string(player) for state in states)
                of_theirs, of_ours = names[player]
                if of_theirs.setdefault(theirs, ours) != ours:
                    return False
                if of_ours.setdefault(ours, theirs) != theirs:
                    return False
            action, _ = generator.choice(choices)
            for state in states:
                state.apply_action(action)
    return True


def _fingerprint(state: pyspiel.State) -> tuple[int, list[tuple[int, float]], list[float]]:
    """The mover, the actions with chance's probabilities, and the returns of a terminal state."""
    if state.is_chance_node():
        choices = [(outcome, round(chance, 12)) for outcome, chance in state.chance_outcomes()]
    else:
        choices = [(action, 1.0) for action in state.legal_actions()]
    returns = list(state.returns()) if state.is_terminal() else []
    return int(state.current_player()), choices, returns


def enumerate_by_twin(game: pyspiel.Game, max_histories: int | None = None) -> Histories | None:
    """All histories of a game that has a `twin_string`, by its twin's rules.

    Args:
      game: a turn-based game.
      max_histories: as in `from_rules.enumerate_rules`.

    Returns:
      The histories of a walk over the game's states, but with other keys of infosets. None if the
      games differ in playouts, or the twin refuses the game's parameters.

    Raises:
      ValueError: as there.
    """
    import spiel_dl.games  # Registers the twins.
    from spiel_dl.tree import from_rules  # It imports torch, which takes a second.

    del spiel_dl
    try:
        twin = pyspiel.load_game(twin_string(game))
    except ValueError:
        return None
    if not is_twin(game, twin):
        return None
    histories = from_rules.enumerate_rules(game, max_histories, twin.rules)
    # A walk over the game gives neither, and results must not depend on how it is listed.
    return dataclasses.replace(histories, public_key=None, rounds_over=None)
