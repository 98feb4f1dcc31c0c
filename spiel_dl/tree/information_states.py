"""A player's information: as a string, which identifies its infoset, and as a tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyspiel

InformationString = Callable[[pyspiel.State, int], str]


class Observations(NamedTuple):
    """A player's observations in some of its infosets.

    Attributes:
      tensors: float32 [N, D], information state tensors.
      legal: bool [N, A], which actions are legal.
    """

    tensors: np.ndarray
    legal: np.ndarray


def check_tensors(game: pyspiel.Game) -> None:
    """Raises a ValueError if a game has no information state tensors."""
    if not game.get_type().provides_information_state_tensor:
        raise ValueError(
            f"{game} has no information state tensors, which networks need; implement "
            "information_state_tensor in the game"
        )


def information_string_function(game: pyspiel.Game) -> InformationString:
    """The function from (state, player) to a perfect-recall string.

    It returns `information_state_string` if the game has it; else the history, if the game has
    perfect information; else the player's own observations and actions, in order.

    Raises:
      ValueError: if the game has neither information states nor observations.
    """
    game_type = game.get_type()
    if game_type.provides_information_state_string:
        return _information_state_string
    if game_type.information == pyspiel.GameType.Information.PERFECT_INFORMATION:
        return _history_string
    if game_type.provides_observation_string:
        return _observation_history
    raise ValueError(
        f"{game}: provides neither information_state_string nor observation_string, so its "
        "infosets are unknown. Implement one of them in the game."
    )


def turn_based_string_function(game: pyspiel.Game) -> InformationString:
    """`information_string_function` of a turn-based game.

    If it was converted from a game with simultaneous moves, the function accepts states of that
    game, too, and returns the converted game's string when the player moves.
    """
    return functools.partial(_turn_based_string, game, information_string_function(game))


def _turn_based_string(
    game: pyspiel.Game, information_string: InformationString, state: pyspiel.State, player: int
) -> str:
    if not state.is_simultaneous_node():
        return information_string(state, player)
    if game.get_type().provides_information_state_string:
        # OpenSpiel's conversion to turns makes a mover's strings so.
        return f"Current player: {player}\n{information_string(state, player)}"
    turn_based = game.new_initial_state()
    for step in state.full_history():
        turn_based.apply_action(step.action)
    if turn_based.current_player() != player:
        # The player does not observe the other one's simultaneous action, so any does.
        turn_based.apply_action(turn_based.legal_actions()[0])
    return information_string(turn_based, player)


def _information_state_string(state: pyspiel.State, player: int) -> str:
    return state.information_state_string(player)


def _history_string(state: pyspiel.State, player: int) -> str:
    del player
    return state.history_str()


def _observation_history(state: pyspiel.State, player: int) -> str:
    replayed = state.get_game().new_initial_state()
    parts = [replayed.observation_string(player)]
    for step in state.full_history():
        replayed.apply_action(step.action)
        if step.player == player:
            parts.append(f"action {step.action}")
        parts.append(replayed.observation_string(player))
    return "\n".join(parts)
