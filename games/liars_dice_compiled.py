"""The compiled form of liar's dice; `liars_dice` has the rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.games.compiled import (
    CHANCE,
    NO_ACTION,
    SEATS,
    TERMINAL,
    CompiledRules,
    Games,
    inlined,
    kernel,
)


class _Constants(NamedTuple):
    """The constants of a game, for compiled loops.

    Attributes:
      num_dice: dice of each player.
      num_sides: sides of a die.
      faces: int8 [2 d s], the face of each bid.
      quantities: int16 [2 d s], the quantity of each bid.
    """

    num_dice: int
    num_sides: int
    faces: np.ndarray
    quantities: np.ndarray


def compiled_liars_dice(
    num_dice: int, num_sides: int, faces: np.ndarray, quantities: np.ndarray
) -> CompiledRules:
    """Steps `LiarsDiceState`s of a game; the arguments are described by `_Constants`."""
    constants = _Constants(num_dice, num_sides, faces, quantities)
    return CompiledRules(_advance, constants, _features)


@kernel
def _advance(
    constants: _Constants,
    step: np.ndarray,
    dice: np.ndarray,
    was_bid: np.ndarray,
    called: np.ndarray,
    games: Games,
) -> None:
    num_rolls, num_bids = 2 * constants.num_dice, len(constants.faces)
    for game in range(len(step)):
        if called[game]:
            continue
        action = games.action[game]
        if action != NO_ACTION:
            if step[game] < num_rolls:
                _roll(step, dice, game, action)
            elif action == num_bids:
                called[game] = True
            else:
                was_bid[game, action] = True
                step[game] += 1
        for event in range(len(games.uniform)):
            if step[game] >= num_rolls:
                break
            face = min(
                int(games.uniform[event, game] * constants.num_sides), constants.num_sides - 1
            )
            _roll(step, dice, game, face)
        _write_games(constants, step[game], dice[game], was_bid[game], called[game], games, game)


@inlined
def _roll(step: np.ndarray, dice: np.ndarray, game: int, face: int) -> None:
    """Rolls one die."""
    dice[game, step[game]] = face + 1
    step[game] += 1


@kernel
def _write_games(
    constants: _Constants,
    step: int,
    dice: np.ndarray,
    was_bid: np.ndarray,
    called: bool,
    games: Games,
    game: int,
) -> None:
    """Writes the player to act, its legal actions and the return of a game."""
    num_rolls, num_bids = 2 * constants.num_dice, len(constants.faces)
    last = num_bids - 1
    while last >= 0 and not was_bid[last]:
        last -= 1
    games.legal[game] = False
    if step < num_rolls:
        games.player[game] = CHANCE
        return
    if not called:
        games.player[game] = (step - num_rolls) % 2
        games.legal[game, last + 1 :] = True
        games.legal[game, num_bids] = last >= 0
        return
    games.player[game] = TERMINAL
    num_matches = 0
    for face in dice:
        num_matches += face == constants.faces[last] or face == constants.num_sides
    is_own = (step - num_rolls) % 2 == 1
    is_true = num_matches >= constants.quantities[last]
    games.returns[game] = 1.0 if is_true == is_own else -1.0


@kernel
def _features(
    constants: _Constants,
    step: np.ndarray,
    dice: np.ndarray,
    was_bid: np.ndarray,
    called: np.ndarray,
    observer: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Writes the rows of `LiarsDiceRules.features` for each game's observer."""
    num_dice, num_bids = constants.num_dice, len(constants.faces)
    quantity = SEATS + constants.num_sides
    face = quantity + 2 * num_dice
    bids = face + constants.num_sides
    share = np.float32(1 / num_dice)
    index = 0
    for game in range(len(observer)):
        player = observer[game]
        if player < 0:
            continue
        row = rows[index]
        index += 1
        row[:] = 0.0
        row[player] = 1.0
        first = player * num_dice
        if step[game] >= first + num_dice:
            for die in range(num_dice):
                row[SEATS + dice[game, first + die] - 1] += 1.0
            for side in range(constants.num_sides):
                row[SEATS + side] *= share
        bidder, last = 0, -1
        for bid in range(num_bids):
            if was_bid[game, bid]:
                row[bids + (num_bids if bidder != player else 0) + bid] = 1.0
                bidder, last = 1 - bidder, bid
        if last >= 0:
            row[quantity + constants.quantities[last] - 1] = 1.0
            row[face + constants.faces[last] - 1] = 1.0
        row[bids + 2 * num_bids] = called[game]
