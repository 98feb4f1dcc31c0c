"""The betting of Leduc as a finite automaton.

The continuations of a hand depend on the deals made, the betting round, the round's number of
wagers and the player to move; cards and chips do not matter. There are few such combinations, so
the rules step them by table. They are numbered

    0 and 1            private deals: to player 0 (or to both), to player 1 (unused if to both)
    2 ...              first round: wagers w = 0 .. max_raises + 1, each with player 0, 1 to move
    then one           the public deal
    then as many       second round
    then two           ends: by a fold in the first round; otherwise
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.holdem_betting import CALL, FIRST_WAGER, FOLD, NOBODY

NUM_ROUNDS = 2
SECOND_ROUND_FACTOR = 2  # wagers of the second round are twice as large


class BettingTables(NamedTuple):
    """The automaton's N nodes as tables on one device, for A actions.

    The transition of a node and an action is at node * A + action. An illegal action stays.
    """

    player: torch.Tensor  # int8 [N], the player to act, OpenSpiel's ids
    legal: torch.Tensor  # bool [N, A]
    round: torch.Tensor  # int16 [N], completed betting rounds
    deals: torch.Tensor  # float32 [N, D], thermometer of the D private chance events
    action_slot: torch.Tensor  # int8 [N], the column of the next action, or -1
    card_slots: torch.Tensor  # bool [N, 3], the cards that chance deals: player 0's, 1's, public
    is_chance: torch.Tensor  # float64 [N]
    successor: torch.Tensor  # int32 [N * A]
    payer: torch.Tensor  # int8 [N * A], the player whose stake becomes the opponent's plus `wager`
    wager: torch.Tensor  # int32 [N * A], chips


def longest_round(max_raises: int) -> int:
    """The most actions in a round: a check, a bet, all raises, a call."""
    return max_raises + 3


def betting_tables(
    bet_sizes: Sequence[int],
    raise_sizes: Sequence[int],
    max_raises: int,
    joint_deal: bool,
) -> TablesByDevice[BettingTables]:
    """Builds the tables.

    Args:
      bet_sizes: see `LeducRules`.
      raise_sizes: see `LeducRules`.
      max_raises: see `LeducRules`.
      joint_deal: whether a single chance event deals both private cards.
    """
    num_actions = FIRST_WAGER + max(len(bet_sizes), len(raise_sizes))
    per_round = 2 * (max_raises + 2)

    def number(round_index: int, wagers: int = 0, player: int = 0) -> int:
        return 2 + round_index * (per_round + 1) + 2 * wagers + player

    first, public_deal, second, ends = number(0), number(1) - 1, number(1), number(2) - 1
    num_nodes = ends + 2
    player = np.full(num_nodes, rules.TERMINAL_PLAYER, np.int8)
    legal = np.zeros((num_nodes, num_actions), np.bool_)
    rounds = np.zeros(num_nodes, np.int16)
    rounds[public_deal:] = 1
    rounds[-1] = 2
    action_slot = np.full(num_nodes, -1, np.int8)
    successor = np.repeat(np.arange(num_nodes, dtype=np.int32), num_actions).reshape(legal.shape)
    payer = np.full(legal.shape, NOBODY, np.int8)
    wager = np.zeros(legal.shape, np.int32)
    card_slots = np.zeros((num_nodes, 3), np.bool_)
    slots = {0: (0, 1) if joint_deal else (0,), 1: (1,), public_deal: (2,)}
    after_deal = {0: first if joint_deal else 1, 1: first, public_deal: second}
    for deal, after in after_deal.items():
        player[deal] = rules.CHANCE_PLAYER
        successor[deal] = after
        card_slots[deal, list(slots[deal])] = True
    for index, wagers, mover in itertools.product(range(2), range(max_raises + 2), (0, 1)):
        node = number(index, wagers, mover)
        player[node] = mover
        # Players alternate, so the player to move is the parity of the number of actions: the
        # wagers, and the opening check if there was one.
        action_slot[node] = index * longest_round(max_raises) + wagers + (wagers % 2 != mover)
        legal[node, FOLD] = wagers > 0
        if wagers:
            successor[node, FOLD] = ends + index
        is_opening_check = wagers == 0 and mover == 0
        after_round = (public_deal, ends + 1)[index]
        legal[node, CALL] = True
        successor[node, CALL] = number(index, 0, 1) if is_opening_check else after_round
        payer[node, CALL] = mover
        sizes = [] if wagers > max_raises else raise_sizes if wagers else bet_sizes
        columns = slice(FIRST_WAGER, FIRST_WAGER + len(sizes))
        legal[node, columns] = True
        successor[node, columns] = number(index, wagers + 1, 1 - mover)
        payer[node, columns] = mover
        wager[node, columns] = np.array(sizes, np.int32) * (1, SECOND_ROUND_FACTOR)[index]
    dealt = np.minimum(np.arange(num_nodes), 2)
    # A joint deal is a single event, over once both have their card.
    deals = dealt[:, None] >= ((2,) if joint_deal else (1, 2))
    return TablesByDevice(
        BettingTables,
        player=player,
        legal=legal,
        round=rounds,
        deals=deals.astype(np.float32),
        action_slot=action_slot,
        card_slots=card_slots,
        is_chance=(player == rules.CHANCE_PLAYER).astype(np.float64),
        successor=successor.reshape(-1),
        payer=payer.reshape(-1),
        wager=wager.reshape(-1),
    )
