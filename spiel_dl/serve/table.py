"""What workers compute of games: how they go on, and what a person may see of them.

A *place* is what the server keeps of a game: the game string, the actions so far, chance's and
hidden ones included, and the person's seat. What is told of it to the person is told here and
nowhere else, and depends on what its player has seen, until the person asks to see all.
"""

from __future__ import annotations

import functools
import random
import re
from typing import Any, NamedTuple

import pyspiel

from spiel_dl.play import kuhn_view, terminal
from spiel_dl.tree.load import turn_based_game

_MAX_MOVES = 10_000


class Place(NamedTuple):
    """How far a game is.

    Attributes:
      game: the game string.
      history: all actions so far.
      seat: the player that the person is.
      revealed: whether the person has asked to see all.
    """

    game: str
    history: tuple[int, ...]
    seat: int
    revealed: bool = False


@functools.lru_cache(maxsize=16)
def loaded(game: str) -> pyspiel.Game:
    """The turn-based game of a game string.

    Raises:
      ValueError: if there is none that two people could play, or its parameters name files.
    """
    if re.search(r"file|path", game):
        raise ValueError("games that are read from files are not offered here")
    try:
        found = turn_based_game(game)
    except pyspiel.SpielError as error:
        raise ValueError(f"{game!r} cannot be loaded: {error}") from error
    if found.get_type().utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise ValueError(f"{found} is not a zero-sum game, which all games here are")
    terminal.check_readable(found)
    return found


def begin(game: str, seat: int, seed: int) -> tuple[Place, dict[str, Any]]:
    """A new game, after chance's first moves.

    Returns:
      Where it stands, with the complete game string; and what is to be said of the game.

    Raises:
      ValueError: as `loaded`.
    """
    found = loaded(game)
    place = Place(str(found), (), seat)
    about = {
        "game": str(found),
        "summary": terminal.summary(found),
        "utility": [found.min_utility(), found.max_utility()],
    }
    return play_chance(place, seed), about


def state_of(place: Place, length: int | None = None) -> pyspiel.State:
    """The state after the first `length` actions; None: after all."""
    state = loaded(place.game).new_initial_state()
    for action in place.history[:length]:
        state.apply_action(action)
    return state


def play_chance(place: Place, seed: int) -> Place:
    """Plays chance's moves, each drawn with a number that depends on the seed and its turn."""
    state = state_of(place)
    history = list(place.history)
    while state.is_chance_node():
        if len(history) >= _MAX_MOVES:
            raise ValueError(f"a game of more than {_MAX_MOVES:,} moves is not played here")
        history.append(draw(dict(state.chance_outcomes()), seed, len(history)))
        state.apply_action(history[-1])
    return place._replace(history=tuple(history))


def draw(probabilities: dict[int, float], seed: int, turn: int) -> int:
    """One of the keys, at random."""
    generator = random.Random(f"{seed}:{turn}")
    return generator.choices(list(probabilities), list(probabilities.values()))[0]


def move(place: Place, action: int, seed: int) -> Place:
    """The person's move, and chance's after it.

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
    """When the person has seen something new.

    Not after every move: how often the opponent moved unseen is not the person's business.

    Returns:
      Of each moment, the length of the history, and whose turn it was: "you", "opponent", "over".
    """
    state, last = loaded(place.game).new_initial_state(), ("", "")
    found: list[tuple[int, str]] = []
    for length in range(len(place.history) + 1):
        if length:
            state.apply_action(place.history[length - 1])
        if state.is_chance_node():
            continue
        seen = (_turn(state, place.seat), terminal.view(state, place.seat))
        if seen != last:
            found.append((length, seen[0]))
            last = seen
    return found


def see(place: Place, at: int | None = None) -> dict[str, Any]:
    """What the person sees, as the page takes it.

    Args:
      place: where the game stands.
      at: which of the `moments` to look back at; None: the last one.

    Raises:
      ValueError: if there is no such moment.
    """
    all_moments = moments(place)
    now = len(all_moments) - 1
    at = now if at is None else at
    state = state_of(place, length_at(all_moments, at))
    turn = _turn(state, place.seat)
    offered = terminal.options(state) if turn == "you" and at == now else []
    found = {
        "game": place.game,
        "seat": place.seat,
        "at": at,
        "count": len(all_moments),
        "turns": [whose for _, whose in all_moments],
        # The page says elsewhere who the person is.
        "text": _plain(terminal.view(state, place.seat).partition("\n")[2]),
        "picture": _picture(state, place.seat, [option.action for option in offered]),
        "actions": [{"id": option.action, "name": option.name} for option in offered],
        "turn": turn,
        "revealed": place.revealed,
        "has_secrets": not terminal.has_perfect_information(state.get_game()),
        "all": None,
        "result": None,
        "why": "",
    }
    if state.is_terminal():
        returns = [number + 0.0 for number in state.returns()]
        found["result"] = returns if place.seat == 0 else returns[::-1]
        found["why"] = _ending(state, place.seat)
    if place.revealed:
        # What the opponent saw; of a game that is not drawn, the whole state.
        other = _picture(state, 1 - place.seat, [])
        found["all"] = {"text": _plain(str(state)), "picture": other}
    return found


def length_at(all_moments: list[tuple[int, str]], at: int) -> int:
    """The length of the history at one of the `moments`; ValueError if there is none such."""
    if not 0 <= at < len(all_moments):
        raise ValueError(f"there is no moment {at} in this game; it has {len(all_moments)}")
    return all_moments[at][0]


def back_to(place: Place, at: int) -> Place:
    """The game as it was at a moment; ValueError if there is none such."""
    return place._replace(history=place.history[: length_at(moments(place), at)])


def _turn(state: pyspiel.State, seat: int) -> str:
    """Whose turn it is, for the person."""
    if state.is_terminal():
        return "over"
    return "you" if state.current_player() == seat else "opponent"


def _plain(text: str) -> str:
    """A text without the terminal's colours that some games have in it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _picture(state: pyspiel.State, seat: int, actions: list[int]) -> list[dict[str, Any]]:
    game = state.get_game()
    rules = getattr(game, "rules", None)
    if rules is None:
        return kuhn_view.picture(state, seat) if kuhn_view.is_kuhn_poker(game) else []
    from spiel_dl.games import views  # With torch, which other games do without.

    return views.picture(rules, state.batch, seat, actions)


def _ending(state: pyspiel.State, seat: int) -> str:
    game = state.get_game()
    rules = getattr(game, "rules", None)
    if rules is None:
        return kuhn_view.ending(state, seat) if kuhn_view.is_kuhn_poker(game) else ""
    from spiel_dl.games import endings

    return endings.ending(rules, state.batch, seat, state.player_return(seat))
