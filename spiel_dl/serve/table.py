"""Computations of workers on games: moves, and the person's views.

A *place* is a game's position on the server: the game string, all actions so far, including hidden
ones and chance's, and the person's seat. All information that the person gets of it is computed
here, from the information of the person's player only, until the person asks to reveal everything.
"""

from __future__ import annotations

import functools
import random
import re
from typing import Any, NamedTuple

import pyspiel

from spiel_dl.play import kuhn_view, terminal
from spiel_dl.tree import drawing
from spiel_dl.tree.load import turn_based_game

_MAX_MOVES = 10_000


class Place(NamedTuple):
    """A game's position.

    Attributes:
      game: the game string.
      history: all actions so far.
      seat: the person's player.
      revealed: whether the person has asked to reveal everything.
    """

    game: str
    history: tuple[int, ...]
    seat: int
    revealed: bool = False


@functools.lru_cache(maxsize=16)
def loaded(game: str) -> pyspiel.Game:
    """The turn-based game of a game string.

    Raises:
      ValueError: if it cannot be loaded or played by two people, or its parameters name files.
    """
    if re.search(r"file|path", game):
        raise ValueError("games that are read from files are not offered here")
    try:
        turn_based = turn_based_game(game)
    except pyspiel.SpielError as error:
        raise ValueError(f"{game!r} cannot be loaded: {error}") from error
    if turn_based.get_type().utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise ValueError(f"{turn_based} is not a zero-sum game, which all games here are")
    terminal.check_readable(turn_based)
    return turn_based


def begin(game: str, seat: int, seed: int) -> tuple[Place, dict[str, Any]]:
    """Begins a game, and plays chance's first moves.

    Returns:
      Its place, with the complete game string; and a description of the game.

    Raises:
      ValueError: as `loaded`.
    """
    turn_based = loaded(game)
    place = Place(str(turn_based), (), seat)
    about = {
        "game": str(turn_based),
        "summary": terminal.summary(turn_based),
        "utility": [turn_based.min_utility(), turn_based.max_utility()],
    }
    return play_chance(place, seed), about


def state_of(place: Place, length: int | None = None) -> pyspiel.State:
    """The state after the first `length` actions; None: after all."""
    state = loaded(place.game).new_initial_state()
    for action in place.history[:length]:
        state.apply_action(action)
    return state


def play_chance(place: Place, seed: int) -> Place:
    """Plays chance's moves; random numbers depend on the seed and the number of the move."""
    state = state_of(place)
    history = list(place.history)
    while state.is_chance_node():
        if len(history) >= _MAX_MOVES:
            raise ValueError(f"a game of more than {_MAX_MOVES:,} moves is not played here")
        outcomes = dict(state.chance_outcomes())
        if not outcomes:
            raise ValueError(f"{place.game}: a chance node has no outcomes; choose another game")
        history.append(draw(outcomes, seed, len(history)))
        state.apply_action(history[-1])
    return place._replace(history=tuple(history))


def draw(probabilities: dict[int, float], seed: int, turn: int) -> int:
    """Draws one of the keys."""
    return drawing.draw(probabilities, random.Random(f"{seed}:{turn}").random())


def move(place: Place, action: int, seed: int) -> Place:
    """Plays the person's move, and chance's after it.

    Raises:
      ValueError: if it is not the person's turn, or the action is not legal.
    """
    state = state_of(place)
    if state.is_terminal() or state.current_player() != place.seat:
        raise ValueError("it is not your turn")
    if action not in state.legal_actions():
        raise ValueError(f"action {action} is not legal here; choose one of those shown")
    return play_chance(place._replace(history=(*place.history, action)), seed)


def moments(place: Place) -> list[tuple[int, str]]:
    """The moments of a game at which the person's view changed.

    A moment after every move would reveal the number of the opponent's hidden moves.

    Returns:
      Of each moment, the length of the history, and whose turn it was: "you", "opponent", "over".
    """
    state, last = loaded(place.game).new_initial_state(), ("", "")
    changes: list[tuple[int, str]] = []
    for length in range(len(place.history) + 1):
        if length:
            state.apply_action(place.history[length - 1])
        if state.is_chance_node():
            continue
        view = (_turn(state, place.seat), terminal.view(state, place.seat))
        if view != last:
            changes.append((length, view[0]))
            last = view
    return changes


def see(place: Place, at: int | None = None) -> dict[str, Any]:
    """The person's view of a game, for the page.

    Args:
      place: the game's position.
      at: the number of one of the `moments`; None: the last one.

    Raises:
      ValueError: if there is no such moment.
    """
    all_moments = moments(place)
    now = len(all_moments) - 1
    at = now if at is None else at
    state = state_of(place, length_at(all_moments, at))
    turn = _turn(state, place.seat)
    legal_options = terminal.options(state) if turn == "you" and at == now else []
    view = {
        "game": place.game,
        "seat": place.seat,
        "at": at,
        "count": len(all_moments),
        "turns": [turn_then for _, turn_then in all_moments],
        # Without the first line, "You are player N.".
        "text": _plain(terminal.view(state, place.seat).partition("\n")[2]),
        "picture": _picture(state, place.seat, [option.action for option in legal_options]),
        "actions": [{"id": option.action, "name": option.name} for option in legal_options],
        "turn": turn,
        "revealed": place.revealed,
        "has_secrets": not terminal.has_perfect_information(state.get_game()),
        "all": None,
        "result": None,
        "why": "",
    }
    if state.is_terminal():
        returns = [number + 0.0 for number in state.returns()]
        view["result"] = returns if place.seat == 0 else returns[::-1]
        view["why"] = _ending(state, place.seat)
    if place.revealed:
        # The opponent's picture; games without pictures have the whole state as text.
        opponent_picture = _picture(state, 1 - place.seat, [])
        view["all"] = {"text": _plain(str(state)), "picture": opponent_picture}
    return view


def length_at(all_moments: list[tuple[int, str]], at: int) -> int:
    """The length of the history at a moment; ValueError if there is no such moment."""
    if not 0 <= at < len(all_moments):
        raise ValueError(f"there is no moment {at} in this game; it has {len(all_moments)}")
    return all_moments[at][0]


def back_to(place: Place, at: int) -> Place:
    """The place at an earlier moment; ValueError if there is no such moment."""
    return place._replace(history=place.history[: length_at(moments(place), at)])


def _turn(state: pyspiel.State, seat: int) -> str:
    """Whose turn it is, from the person's view: "you", "opponent" or "over"."""
    if state.is_terminal():
        return "over"
    return "you" if state.current_player() == seat else "opponent"


def _plain(text: str) -> str:
    """A text without the terminal's colour codes, which some games use."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _picture(state: pyspiel.State, seat: int, actions: list[int]) -> list[dict[str, Any]]:
    game = state.get_game()
    rules = getattr(game, "rules", None)
    if rules is None:
        return kuhn_view.picture(state, seat) if kuhn_view.is_kuhn_poker(game) else []
    from spiel_dl.games import views  # Imports torch, which other games do not need.

    return views.picture(rules, state.batch, seat, actions)


def _ending(state: pyspiel.State, seat: int) -> str:
    game = state.get_game()
    rules = getattr(game, "rules", None)
    if rules is None:
        return kuhn_view.ending(state, seat) if kuhn_view.is_kuhn_poker(game) else ""
    from spiel_dl.games import endings

    return endings.ending(rules, state.batch, seat, state.player_return(seat))
