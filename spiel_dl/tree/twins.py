"""Games of OpenSpiel in C++ that are one of ours, by whose rules they are listed more quickly."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pyspiel

from spiel_dl.tree.histories import Histories

_NUM_PLAYOUTS = 32


def twin_string(game: pyspiel.Game) -> str | None:
    """The game string of ours that should be the same game, action ids included; None: none is."""
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
    if given["numdice"] != 1:  # With more, dice that are still being rolled are seen otherwise.
        return None
    return (
        f"python_liars_dice(numdice=1,dice_sides={given['dice_sides']},"
        f"bidding_rule={given['bidding_rule']})"
    )


_TWINS = {"goofspiel": _goofspiel, "battleship": _battleship, "liars_dice": _liars_dice}


def is_twin(game: pyspiel.Game, twin: pyspiel.Game) -> bool:
    """Whether two turn-based games look the same in random playouts, always the same ones.

    Who acts, what is possible and how likely, and returns are the same; and where a player acts,
    information states of one game tell each player apart what those of the other do.

    Args:
      game: of OpenSpiel.
      twin: the other one.
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
    """Who acts, what is possible and with which probability of chance, and returns at the end."""
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
      What a walk over the game's states finds, but with other keys of infosets. None: the twin is
      another game, as playouts show.

    Raises:
      ValueError: as there.
    """
    import spiel_dl.games  # Registers them.
    from spiel_dl.tree import from_rules  # It imports torch, which takes a second.

    del spiel_dl
    twin = pyspiel.load_game(twin_string(game))
    if not is_twin(game, twin):
        return None
    found = from_rules.enumerate_rules(game, max_histories, twin.rules)
    # The game itself has neither, and what is known of it shall not depend on its size.
    return dataclasses.replace(found, public_key=None, rounds_over=None)
