"""The compiled form of Goofspiel; `goofspiel_ii` has the rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.games.compiled import (
    CHANCE,
    NO_ACTION,
    TERMINAL,
    CompiledRules,
    Games,
    inlined,
    kernel,
    sample,
)
from spiel_dl.games.goofspiel_ii_tables import DECK


class _Constants(NamedTuple):
    """The constants of a game, for compiled loops.

    Attributes:
      player: int8 [E + 1], the player to act at each step; E is the end.
      acting_row: int64 [E], the row whose card the step plays: player 0, player 1, or the deck.
      point_cards: int8 [T], the points of each round in a fixed order; zeros if it is random.
      num_cards: N.
      plays_last_round: whether the last round is played automatically.
      is_win_loss: whether the returns are those of `win_loss`.
    """

    player: np.ndarray
    acting_row: np.ndarray
    point_cards: np.ndarray
    num_cards: int
    plays_last_round: bool
    is_win_loss: bool


def compiled_goofspiel(
    player: np.ndarray,
    point_cards: np.ndarray,
    num_cards: int,
    plays_last_round: bool,
    is_win_loss: bool,
) -> CompiledRules:
    """Steps `GoofspielIIState`s of a game; the arguments are described by `_Constants`."""
    acting_row = np.where(player[:-1] == CHANCE, DECK, player[:-1]).astype(np.int64)
    constants = _Constants(
        player, acting_row, point_cards, num_cards, plays_last_round, is_win_loss
    )
    return CompiledRules(_advance, constants, _features)


@kernel
def _advance(
    constants: _Constants,
    step: np.ndarray,
    played: np.ndarray,
    remaining: np.ndarray,
    games: Games,
) -> None:
    cards = constants.num_cards
    for game in range(len(step)):
        if constants.player[step[game]] == TERMINAL:
            continue
        if games.action[game] != NO_ACTION:
            _play(constants, step, played, remaining, game, games.action[game])
        for event in range(len(games.uniform)):
            if constants.player[step[game]] != CHANCE:
                break
            outcome = sample(remaining[game, DECK * cards :], games.uniform[event, game])
            _play(constants, step, played, remaining, game, outcome)
        player = constants.player[step[game]]
        games.player[game] = player
        for card in range(cards):
            games.legal[game, card] = player >= 0 and remaining[game, player * cards + card]
        if player == TERMINAL:
            games.returns[game] = _return(constants, played[game])


@inlined
def _play(
    constants: _Constants,
    step: np.ndarray,
    played: np.ndarray,
    remaining: np.ndarray,
    game: int,
    card: int,
) -> None:
    """Plays the acting row's card, and then the last round if that is automatic."""
    current_step = step[game]
    num_rows = remaining.shape[1] // constants.num_cards
    row, this_round = constants.acting_row[current_step], current_step // num_rows
    _put(constants, played, remaining, game, row, this_round, card)
    step[game] = current_step + 1
    if constants.plays_last_round and current_step + 1 == len(constants.acting_row):
        for index in range(num_rows):
            # The deck comes first.
            row = DECK if index == 0 and num_rows > DECK else index - (num_rows > DECK)
            last = 0
            while not remaining[game, row * constants.num_cards + last]:
                last += 1
            _put(constants, played, remaining, game, row, this_round + 1, last)


@inlined
def _put(
    constants: _Constants,
    played: np.ndarray,
    remaining: np.ndarray,
    game: int,
    row: int,
    this_round: int,
    card: int,
) -> None:
    """Records one row's card of a round."""
    cards, turns = constants.num_cards, len(constants.point_cards)
    played[game, row * turns + this_round] = card + 1
    remaining[game, row * cards + card] = False


@inlined
def _return(constants: _Constants, played: np.ndarray) -> float:
    """Player 0's utility at the end."""
    turns = len(constants.point_cards)
    difference = 0
    for this_round in range(turns):
        points = constants.point_cards[this_round]
        if not points:
            points = played[DECK * turns + this_round]
        first, second = played[this_round], played[turns + this_round]
        difference += points * ((first > second) - np.int64(first < second))
    if constants.is_win_loss:
        return np.sign(difference)
    return difference / 2


@kernel
def _features(
    constants: _Constants,
    step: np.ndarray,
    played: np.ndarray,
    remaining: np.ndarray,
    observer: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Writes the rows of `GoofspielIIRules.features` for each game's observer."""
    cards, turns = constants.num_cards, len(constants.point_cards)
    num_rows = remaining.shape[1] // cards
    points = 3 * cards
    bids = points + 3
    outcomes = bids + turns * cards
    point_cards = outcomes + turns * 3
    share = np.float32(2 / (cards * (cards + 1)))
    index = 0
    for game in range(len(observer)):
        player = observer[game]
        if player < 0:
            continue
        row = rows[index]
        index += 1
        row[:] = 0.0
        row[2 * cards : points] = 1.0
        for card in range(cards):
            row[card] = remaining[game, player * cards + card]
        is_over = constants.player[step[game]] == TERMINAL
        this_round = turns if is_over else step[game] // num_rows
        won, lost = 0, 0
        for turn in range(min(this_round + 1, turns)):
            card = constants.point_cards[turn]
            if num_rows > DECK:
                card = played[game, DECK * turns + turn]
                if card == 0:
                    break
                row[point_cards + turn * cards + card - 1] = 1.0
            row[2 * cards + card - 1] = 0.0
            own = played[game, player * turns + turn]
            if own:
                row[bids + turn * cards + own - 1] = 1.0
            if turn == this_round:
                row[cards + card - 1] = 1.0
                continue
            other = played[game, (1 - player) * turns + turn]
            row[outcomes + 3 * turn + (0 if own > other else 2 if own < other else 1)] = 1.0
            won += card * (own > other)
            lost += card * (own < other)
        row[points] = np.float32(won) * share
        row[points + 1] = np.float32(lost) * share
        row[points + 2] = np.float32(won - lost) * share
