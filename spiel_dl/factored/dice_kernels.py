"""Compiled tables and loops of liar's dice. See `dice`.

Public states are sets of bids, as numbers: bit b is 1 if bid b was made. Bids ascend, so a set
determines their order. Player 0 acts in sets of even size. Half a set's number, rounded down, is
its number among the player's sets.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.games.compiled import kernel


@kernel
def mover(bids):
    """The player who acts after a set of bids."""
    size = 0
    while bids:
        size += bids & 1
        bids >>= 1
    return size & 1


@kernel
def last_bid(bids):
    """The highest bid of a set, -1 if it is empty."""
    last = -1
    while bids:
        last += 1
        bids >>= 1
    return last


@kernel
def number_sets(num_bids, num_hands):
    """Numbers both players' sequences: set after set of bids, hand after hand.

    Returns:
      first_sequence: int64 [2, M / 2], the first sequence in each of a player's sets of bids.
      num_actions: int64 [M], M = 2^num_bids: the higher bids, and calling unless there is no bid.
    """
    num_sets = 1 << num_bids
    first_sequence = np.empty((2, num_sets // 2), np.int64)
    num_actions = np.empty(num_sets, np.int64)
    following = np.ones(2, np.int64)
    for bids in range(num_sets):
        player = mover(bids)
        num_actions[bids] = num_bids - 1 - last_bid(bids) + (1 if bids else 0)
        first_sequence[player, bids >> 1] = following[player]
        following[player] += num_hands * num_actions[bids]
    return first_sequence, num_actions


@kernel
def treeplex_arrays(player, num_bids, num_hands, first_sequence, num_actions):
    """Parent sequence, first sequence and number of actions of a player's infosets: int32 [I]."""
    num_infosets = num_hands << (num_bids - 1)
    parent = np.zeros(num_infosets, np.int32)
    first = np.empty(num_infosets, np.int32)
    actions = np.empty(num_infosets, np.int32)
    for bids in range(1 << num_bids):
        if mover(bids) != player:
            continue
        before = bids ^ (1 << last_bid(bids)) if bids else 0
        own_bid = last_bid(before)  # The player's last bid.
        for hand in range(num_hands):
            infoset = (bids >> 1) * num_hands + hand
            first[infoset] = first_sequence[player, bids >> 1] + hand * num_actions[bids]
            actions[infoset] = num_actions[bids]
            if own_bid >= 0:
                earlier = before ^ (1 << own_bid)
                start = first_sequence[player, earlier >> 1] + hand * num_actions[earlier]
                parent[infoset] = start + own_bid - last_bid(earlier) - 1
    return parent, first, actions


@kernel
def add_calls(begin, end, player, tables, plan, cfv):
    """Writes the payoffs of calls after some sets of bids to a player's last sequences before them.

    Args:
      begin, end: the range of sets, from 1 on.
      player: the player.
      tables: `DiceTables`.
      plan: float64 [S_-p], the opponent's realization plan.
      cfv: float64 [S_p], written.
    """
    first_sequence, num_actions, chance, matches, quantity = tables
    num_hands = chance.size
    num_counts = matches.max() + 1
    weight = np.empty(num_counts)
    for bids in range(begin, end):
        last = last_bid(bids)
        before = bids ^ (1 << last)
        caller = mover(bids)
        # Both players' last sequences: that of the first hand, and the step from hand to hand.
        call = first_sequence[caller, bids >> 1] + num_actions[bids] - 1
        bid = first_sequence[1 - caller, before >> 1] + last - last_bid(before) - 1
        if player == caller:
            own, own_step, other, other_step = call, num_actions[bids], bid, num_actions[before]
        else:
            own, own_step, other, other_step = bid, num_actions[before], call, num_actions[bids]
        weight[:] = 0.0
        for hand in range(num_hands):
            weight[matches[last, hand]] += chance[hand] * plan[other + hand * other_step]
        for hand in range(num_hands):
            needed = quantity[last] - matches[last, hand]
            value = 0.0  # The caller wins if too few dice match.
            for number in range(num_counts):
                value += weight[number] if number < needed else -weight[number]
            cfv[own + hand * own_step] = chance[hand] * (value if player == caller else -value)
