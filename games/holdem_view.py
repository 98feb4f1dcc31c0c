"""Hold'em's picture of a player's observations, and a summary of the game; see `views`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from spiel_dl.games import blocks, holdem
from spiel_dl.games.blocks import Block
from spiel_dl.games.holdem_cards import RANKS
from spiel_dl.games.sights import Sight, index_of, indices_of

_SUITS = "\u2663\u2666\u2665\u2660"  # Clubs, diamonds, hearts, spades, as cards are numbered.


def draw(game_rules: holdem.HoldemRules, sight: Sight, actions: Collection[int]) -> list[Block]:
    """The cards, the pot and the betting."""
    del actions  # They are buttons.
    amounts = np.unique(game_rules.tree.spent)
    spent = [float(amounts[index_of(contribution)]) for contribution in sight.now["contributions"]]
    later = [np.flatnonzero(line).tolist() for line in sight.past["board"]]
    board = [*game_rules.board, *(card for line in later for card in line)]
    left = len(game_rules.board) + sum(game_rules.betting.board_cards) - len(board)
    hole_cards = _cards(game_rules, np.flatnonzero(sight.now["private_cards"]).tolist())
    rounds: list[list[str]] = [[] for _ in range(game_rules.num_rounds)]
    for number, player, action in moves(game_rules, sight):
        rounds[number].append(f"{sight.name(player)} {game_rules.action_to_string(player, action)}")
    betting = {f"Round {n}": ", ".join(line) for n, line in enumerate(rounds, 1) if line}
    return [
        blocks.cards("Your cards", hole_cards),
        blocks.cards("Board", [*_cards(game_rules, board), *[blocks.card("", mark="back")] * left]),
        blocks.facts(
            {
                "Pot": f"{sum(spent):g}",
                "You put in": f"{spent[sight.player]:g}",
                "Opponent put in": f"{spent[1 - sight.player]:g}",
                **betting,
            }
        ),
    ]


def moves(game_rules: holdem.HoldemRules, sight: Sight) -> list[tuple[int, int, int]]:
    """Each action so far: its round, the player, and the action."""
    return [
        (number, (game_rules.betting.first_players[number] + turn) % 2, action)
        for number, line in enumerate(sight.past["betting"])
        for turn, action in enumerate(indices_of(line))
        if action >= 0
    ]


def summary(game_rules: holdem.HoldemRules) -> str:
    """A summary of the game, in a few lines."""
    rounds = game_rules.num_rounds
    return (
        f"Each player has {game_rules.num_hole} cards that the other does not see. In {rounds} "
        f"round{'s' * (rounds > 1)} of betting they\nadd chips to the pot or give up. Who does not "
        "fold wins it; at a showdown the best hand of up\nto five cards does, made of own ones and "
        "the board's. Results are chips won or lost."
    )


def _cards(game_rules: holdem.HoldemRules, cards: Iterable[int]) -> list[Block]:
    card_blocks = []
    for card in cards:
        rank, suit = divmod(card, game_rules.num_suits)
        mark = "red" if _SUITS[suit] in "\u2666\u2665" else "plain"
        card_blocks.append(blocks.card(f"{RANKS[rank]}{_SUITS[suit]}", mark=mark))
    return card_blocks
