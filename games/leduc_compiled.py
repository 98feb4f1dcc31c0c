"""The compiled form of Leduc poker; `leduc` has the rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spiel_dl.games.compiled import (
    CHANCE,
    NO_ACTION,
    SEATS,
    TERMINAL,
    CompiledRules,
    Games,
    kernel,
    sample,
)
from spiel_dl.games.leduc_betting import NOBODY, BettingTables

_OF_BETTING = ("player", "legal", "action_slot", "card_slots", "successor", "payer", "wager")


class _Constants(NamedTuple):
    """The game, for compiled loops: numbers and tables as in `LeducRules` and `BettingTables`."""

    player: np.ndarray
    legal: np.ndarray
    action_slot: np.ndarray
    card_slots: np.ndarray
    successor: np.ndarray
    payer: np.ndarray
    wager: np.ndarray
    private_deal: np.ndarray
    num_ranks: int
    num_suits: int
    num_kinds: int
    deal_ranks: bool
    max_stake: int


def compiled_leduc(
    betting: BettingTables,
    private_deal: np.ndarray,
    num_ranks: int,
    num_suits: int,
    deal_ranks: bool,
    max_stake: int,
) -> CompiledRules:
    """Steps `LeducState`s.

    Args:
      betting: the betting's tables, on a CPU.
      private_deal: float64 [C], chances of the joint deal of ranks.
      num_ranks: as `LeducRules` has it.
      num_suits: the same.
      deal_ranks: the same.
      max_stake: the same.
    """
    tables: dict[str, Any] = {name: getattr(betting, name).numpy() for name in _OF_BETTING}
    constants = _Constants(
        **tables,
        private_deal=private_deal,
        num_ranks=num_ranks,
        num_suits=num_suits,
        num_kinds=num_ranks if deal_ranks else num_ranks * num_suits,
        deal_ranks=deal_ranks,
        max_stake=max_stake,
    )
    return CompiledRules(_advance, constants, _features)


@kernel
def _advance(
    constants: _Constants,
    node: np.ndarray,
    cards: np.ndarray,
    actions: np.ndarray,
    contributions: np.ndarray,
    games: Games,
) -> None:
    weights = np.empty(max(len(constants.private_deal), constants.num_kinds))
    for game in range(len(node)):
        if constants.player[node[game]] == TERMINAL:
            continue
        if games.action[game] != NO_ACTION:
            action = games.action[game]
            _apply(constants, node, cards, actions, contributions, game, action)
        for event in range(len(games.uniform)):
            if constants.player[node[game]] != CHANCE:
                break
            _weigh_deals(constants, node[game], cards[game], weights)
            outcome = sample(weights, games.uniform[event, game])
            _apply(constants, node, cards, actions, contributions, game, outcome)
        here = node[game]
        games.player[game] = constants.player[here]
        games.legal[game] = constants.legal[here]
        if constants.player[here] == TERMINAL:
            games.returns[game] = _return(constants, cards[game], contributions[game])


@kernel
def _apply(
    constants: _Constants,
    node: np.ndarray,
    cards: np.ndarray,
    actions: np.ndarray,
    contributions: np.ndarray,
    game: int,
    action: int,
) -> None:
    """One action, or one deal."""
    here, num_actions = node[game], constants.legal.shape[1]
    # The transitions of chance do not depend on the outcome, which may exceed A.
    transition = here * num_actions + min(action, num_actions - 1)
    node[game] = constants.successor[transition]
    for slot in range(3):
        if not constants.card_slots[here, slot]:
            continue
        card = action
        if slot < 2 and constants.deal_ranks:
            ranks = constants.num_ranks
            card = action // ranks if slot == 0 else action % ranks
        cards[game, slot] = card
    if constants.action_slot[here] >= 0:
        actions[game, constants.action_slot[here]] = action
    payer = constants.payer[transition]
    if payer != NOBODY:
        stake = max(contributions[game, 0], contributions[game, 1])
        contributions[game, payer] = stake + constants.wager[transition]


@kernel
def _weigh_deals(constants: _Constants, node: int, cards: np.ndarray, weights: np.ndarray) -> None:
    """Writes the probabilities of all deals."""
    if constants.deal_ranks and node == 0:
        weights[:] = constants.private_deal
        return
    weights[:] = 0.0
    weights[: constants.num_kinds] = constants.num_suits if constants.deal_ranks else 1
    for card in cards:
        if card >= 0:
            weights[card] -= 1
    weights /= weights.sum()


@kernel
def _return(constants: _Constants, cards: np.ndarray, contributions: np.ndarray) -> float:
    """Player 0's utility at the end."""
    first, second = contributions[0], contributions[1]
    if first != second:  # Who has folded has not matched the last wager.
        return -first if first < second else second
    suits = 1 if constants.deal_ranks else constants.num_suits
    public = cards[2] // suits
    strength = np.empty(2, np.int64)
    for player in range(2):
        rank = cards[player] // suits
        strength[player] = rank + (rank == public) * constants.num_ranks
    return np.sign(strength[0] - strength[1]) * first


@kernel
def _features(
    constants: _Constants,
    node: np.ndarray,
    cards: np.ndarray,
    actions: np.ndarray,
    contributions: np.ndarray,
    observer: np.ndarray,
    rows: np.ndarray,
) -> None:
    """What observers see, as `leduc_features` has it."""
    num_actions = constants.legal.shape[1]
    suits = 1 if constants.deal_ranks else constants.num_suits
    public_rank = SEATS + constants.num_ranks
    is_pair = public_rank + constants.num_ranks
    betting = is_pair + 3
    share = np.float32(1 / constants.max_stake)
    index = 0
    for game in range(len(observer)):
        player = observer[game]
        if player < 0:
            continue
        row = rows[index]
        index += 1
        row[:] = 0.0
        row[player] = 1.0
        private, public = cards[game, player], cards[game, 2]
        if private >= 0:
            row[SEATS + private // suits] = 1.0
        if public >= 0:
            row[public_rank + public // suits] = 1.0
            row[is_pair] = private // suits == public // suits
        row[is_pair + 1] = np.float32(contributions[game, player]) * share
        row[is_pair + 2] = np.float32(contributions[game, 1 - player]) * share
        for slot in range(actions.shape[1]):
            if actions[game, slot] >= 0:
                row[betting + slot * num_actions + actions[game, slot]] = 1.0
