"""Why a game ended as it did, in a sentence for one of its players."""

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
    """Why a game ended so; empty where nobody has written it down.

    Args:
      game_rules: the game.
      state: a terminal state (batch dimension 1); only what the player sees of it is told.
      player: 0 or 1, who is told.
      utility: the player's.
    """
    tell = _ENDINGS.get(type(game_rules))
    return tell(game_rules, see(game_rules, state, player), utility) if tell else ""


def _one_of(utility: float, won: str, lost: str, even: str) -> str:
    return won if utility > 0 else lost if utility < 0 else even


def _of_goofspiel(game_rules: goofspiel_ii.GoofspielIIRules, sight: Sight, utility: float) -> str:
    del game_rules, utility
    points = [index_of(total) for total in sight.now["point_totals"]]
    own, other = points[sight.player], points[1 - sight.player]
    return f"Most points win: you have {own}, your opponent has {other}."


def _of_oshi_zumo(game_rules: oshi_zumo_ii.OshiZumoIIRules, sight: Sight, utility: float) -> str:
    place = _one_of(
        utility, "on your opponent's side", "on your side", "in the middle, where nobody wins"
    )
    field, num_rounds = views.wrestlers_field(game_rules, sight), sight.past["round_winners"].sum()
    is_last = num_rounds == game_rules.horizon  # Then nobody pushes any more.
    if not game_rules.optimal_endgame or is_last or field[0] == "W" or field[-1] == "W":
        return f"The wrestler ended {place}."
    return (
        "Somebody could not bid any more; then the other pushes one step for each smallest bid "
        f"that is left. So the wrestler ended {place}, whoever won the rounds above."
    )


def _of_battleships(game_rules: battleships.BattleshipsRules, sight: Sight, utility: float) -> str:
    del sight
    if game_rules.returns_type != "win_loss":
        return "What counts are the values of the ships that were sunk."
    return _one_of(
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
    return _one_of(
        utility,
        "Your hand won the showdown.",
        "Your opponent's hand won the showdown.",
        "The hands of both are worth the same.",
    )


def _of_liars_dice(game_rules: liars_dice.LiarsDiceRules, sight: Sight, utility: float) -> str:
    who, bid = views.bids_made(game_rules, sight)[-2]
    caller = "Your opponent" if who == "you" else "You"
    was_true = (utility > 0) == (who == "you")
    told = "true, so who called it loses" if was_true else "a lie, so who called it wins"
    return f"{caller} called the bid {bid} a lie. It was {told}."


def _of_phantom(game_rules: phantom.PhantomRules, sight: Sight, utility: float) -> str:
    del sight
    who = _one_of(utility, "You have done so.", "Your opponent has done so.", "Nobody has done so.")
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
