"""Readable views of OpenSpiel's Kuhn poker, whose own strings are such as "211" and "2pb"."""

from __future__ import annotations

import pyspiel

from spiel_dl.games import blocks
from spiel_dl.games.blocks import Block

_CARDS = "JQK"
_MOVES = {"p": "pass", "b": "bet"}


def is_kuhn_poker(game: pyspiel.Game) -> bool:
    """Whether a game is Kuhn poker of two players."""
    return bool(game.get_type().short_name == "kuhn_poker" and game.num_players() == 2)


def card_of(text: str) -> str:
    """The card that an information state string begins with; empty before it is dealt."""
    return _CARDS[int(text[0])] if text else ""


def picture(state: pyspiel.State, player: int) -> list[Block]:
    """A player's view of a state, as blocks that a page draws."""
    card, moves = _observation(state, player)
    cards = [
        blocks.card(card, note="yours", mark="plain"),
        blocks.card("?", note="theirs", mark="back"),
    ]
    return [blocks.cards("Cards", cards), blocks.facts({"Moves": ", ".join(moves) or "-"})]


def ending(state: pyspiel.State, player: int) -> str:
    """An explanation of how a game ended, for a player."""
    moves = state.information_state_string(player)[1:]
    if moves.endswith("bp"):
        who = "You" if (len(moves) - 1) % 2 == player else "Your opponent"
        return f"{who} passed on a bet, which gives up the pot."
    return "The higher card won the showdown."


def view(state: pyspiel.State, player: int) -> str:
    """A player's view of a state, as lines of text."""
    lines = [line for block in picture(state, player) for line in blocks.write(block)]
    return "\n".join([f"You are player {player}.", *lines])


def _observation(state: pyspiel.State, player: int) -> tuple[str, list[str]]:
    """The player's card and all moves, for people."""
    text = state.information_state_string(player)
    moves = [
        f"{'you' if number % 2 == player else 'opponent'} {_MOVES[letter]}"
        for number, letter in enumerate(text[1:])
    ]
    return card_of(text) or "not dealt", moves
