"""Explains the end of a game to one of its players, in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spiel_dl.games import (
    battleships,
    goofspiel_ii,
    holdem,
    holdem_view,
    leduc,
    liars_dice,
    oshi_zumo_ii,
    phantom,
    rules,
    views,
)
from spiel_dl.games.holdem_betting import FOLD
from spiel_dl.games.sights import Sight, index_of, indices_of, see


def ending(game_rules: rules.Rules, state: rules.StateBatch, player: int, utility: float) -> str:
    """The reason for a game's end; empty for games without such a text.

    Args:
      game_rules: the game.
      state: a terminal state (batch dimension 1); the text shows nothing hidden.
      player: 0 or 1, the reader.
      utility: the player's utility.
    """
    explain = _ENDINGS.get(type(game_rules))
    return explain(game_rules, see(game_rules, state, player), utility) if explain else ""


def _choose(utility: float, won: str, lost: str, even: str) -> str:
    return won if utility > 0 else lost if utility < 0 else even


def _of_goofspiel(game_rules: goofspiel_ii.GoofspielIIRules, sight: Sight, utility: float) -> str:
    del game_rules, utility
    points = [index_of(total) for total in sight.now["point_totals"]]
    own, other = points[sight.player], points[1 - sight.player]
    return f"Most points win: you have {own}, your opponent has {other}."


def _of_oshi_zumo(game_rules: oshi_zumo_ii.OshiZumoIIRules, sight: Sight, utility: float) -> str:
    side = _choose(
        utility, "on your opponent's side", "on your side", "in the middle, where nobody wins"
    )
    field, num_rounds = views.wrestlers_field(game_rules, sight), sight.past["round_winners"].sum()
    is_last = num_rounds == game_rules.horizon  # Then nobody pushes any more.
    if not game_rules.optimal_endgame or is_last or field[0] == "W" or field[-1] == "W":
        return f"The wrestler ended {side}."
    return (
        "Somebody could not bid any more; then the other pushes one step for each smallest bid "
        f"that is left. So the wrestler ended {side}, whoever won the rounds above."
    )


def _of_battleships(game_rules: battleships.BattleshipsRules, sight: Sight, utility: float) -> str:
    del sight
    if game_rules.returns_type != "win_loss":
        return "What counts are the values of the ships that were sunk."
    return _choose(
        utility,
        "Your opponent's whole fleet is sunk.",
        "Your whole fleet is sunk.",
        "All shots were fired, and no fleet is sunk.",
    )


def _of_leduc(game_rules: leduc.LeducRules, sight: Sight, utility: float) -> str:
    moves = [
        (move % 2, action)
        for piece in ("first_round", "second_round")
        for move, action in enumerate(indices_of(sight.past[piece]))
        if action >= 0
    ]
    mover, action = moves[-1]
    return _of_poker(sight, utility, mover, game_rules.action_to_string(mover, action) == "Fold")


def _of_holdem(game_rules: holdem.HoldemRules, sight: Sight, utility: float) -> str:
    _, mover, action = holdem_view.moves(game_rules, sight)[-1]
    return _of_poker(sight, utility, mover, action == FOLD)


def _of_poker(sight: Sight, utility: float, last: int, is_folded: bool) -> str:
    if is_folded:
        return f"{sight.name(last).capitalize()} folded."
    return _choose(
        utility,
        "Your hand won the showdown.",
        "Your opponent's hand won the showdown.",
        "The hands of both are worth the same.",
    )


def _of_liars_dice(game_rules: liars_dice.LiarsDiceRules, sight: Sight, utility: float) -> str:
    bidder, bid = views.bids_made(game_rules, sight)[-2]
    caller = "Your opponent" if bidder == "you" else "You"
    was_true = (utility > 0) == (bidder == "you")
    verdict = "true, so who called it loses" if was_true else "a lie, so who called it wins"
    return f"{caller} called the bid {bid} a lie. It was {verdict}."


def _of_phantom(game_rules: phantom.PhantomRules, sight: Sight, utility: float) -> str:
    del sight
    who = _choose(utility, "You have done so.", "Your opponent has done so.", "Nobody has done so.")
    return f"{game_rules.goal} {who}"


_ENDINGS: dict[type, Callable[[Any, Sight, float], str]] = {
    goofspiel_ii.GoofspielIIRules: _of_goofspiel,
    oshi_zumo_ii.OshiZumoIIRules: _of_oshi_zumo,
    battleships.BattleshipsRules: _of_battleships,
    holdem.HoldemRules: _of_holdem,
    leduc.LeducRules: _of_leduc,
    liars_dice.LiarsDiceRules: _of_liars_dice,
    phantom.PhantomRules: _of_phantom,
}
