"""Kuhn poker for people: OpenSpiel's own strings, such as "211" and "2pb", tell nobody anything."""

from __future__ import annotations

from typing import Any

import pyspiel

_CARDS = "JQK"
_MOVES = {"p": "pass", "b": "bet"}


def is_shown(state: pyspiel.State) -> bool:
    """Whether a state is of this game."""
    return bool(state.get_game().get_type().short_name == "kuhn_poker" and state.num_players() == 2)


def view(state: pyspiel.State, player: int) -> str:
    """What a player sees, as lines of text."""
    card, moves = _seen(state, player)
    return f"You are player {player}.\nYour card: {card}\nMoves: {', '.join(moves) or '-'}"


def picture(state: pyspiel.State, player: int) -> list[dict[str, Any]]:
    """The same as blocks, see `spiel_dl.games.pictures`."""
    card, moves = _seen(state, player)
    cards = [
        {"text": card, "note": "yours", "mark": "plain", "actions": []},
        {"text": "?", "note": "theirs", "mark": "back", "actions": []},
    ]
    rows = [["Moves", *(moves or ["\u2013"])]]
    return [
        {"block": "cards", "title": "Cards", "cards": cards},
        {"block": "table", "title": "Betting", "rows": rows},
    ]


def _seen(state: pyspiel.State, player: int) -> tuple[str, list[str]]:
    text = state.information_state_string(player)
    moves = [
        f"{'you' if number % 2 == player else 'opponent'} {_MOVES[letter]}"
        for number, letter in enumerate(text[1:])
    ]
    return _CARDS[int(text[0])] if text else "not dealt", moves
