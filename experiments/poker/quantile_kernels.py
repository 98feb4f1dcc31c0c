"""Linear CFR on rivers whose hands are quantiles of strength and block no other hands."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True, fastmath=True)


@_jit
def _ends(sign, folded, spent, against, values):
    """Fills `values` [B], the values of hands at a terminal node."""
    size = against.size
    if folded:
        total = 0.0
        for b in range(size):
            total += against[b]
        values[:] = sign * spent * total
        return
    below = 0.0
    for b in range(size):
        values[b] = below
        below += against[b]
    for b in range(size):
        # Weaker hands less better ones.
        values[b] = spent * (2.0 * values[b] + against[b] - below)


@_jit
def _walk(player, tree, masses, strategy, reach, values, best):
    """Fills `values` [N, B], the values of a player's hands at all nodes against a strategy.

    `reach` [N, B] is the opponent's. The player follows `strategy` or, with `best`, takes its best
    action.
    """
    mover, legal, successor, spent, folded = tree
    size = masses.shape[1]
    reach[0] = masses[1 - player]
    for node in range(mover.size):
        for action in range(legal.shape[1]):
            if legal[node, action]:
                child = successor[node, action]
                if mover[node] == player:
                    for b in range(size):
                        reach[child, b] = reach[node, b]
                else:
                    for b in range(size):
                        reach[child, b] = reach[node, b] * strategy[node, action, b]
    for node in range(mover.size - 1, -1, -1):
        if mover[node] < 0:
            sign = -1.0 if folded[node] == player else 1.0
            _ends(sign, folded[node] >= 0, spent[node], reach[node], values[node])
            continue
        is_best = best and mover[node] == player
        values[node] = -np.inf if is_best else 0.0
        for action in range(legal.shape[1]):
            if not legal[node, action]:
                continue
            child = successor[node, action]
            if mover[node] != player:
                for b in range(size):
                    values[node, b] += values[child, b]
            elif is_best:
                for b in range(size):
                    values[node, b] = max(values[node, b], values[child, b])
            else:
                for b in range(size):
                    values[node, b] += strategy[node, action, b] * values[child, b]


@_jit
def _scale(weights, legal, strategy):
    """Normalises positive weights to probabilities, [A, B] each; uniform if there are none."""
    uniform = 1.0 / legal.sum()
    for b in range(weights.shape[1]):
        total = 0.0
        for action in range(legal.size):
            total += max(weights[action, b], 0.0)
        scale = 1.0 / total if total > 0.0 else 0.0
        for action in range(legal.size):
            if legal[action]:
                own = max(weights[action, b], 0.0) * scale
                strategy[action, b] = own if total > 0.0 else uniform


@_jit
def _update(player, tree, iteration, values, own_reach, regret, average, strategy):
    """Updates a player's regrets, average and next strategy from the values at all nodes."""
    mover, legal, successor, _, _ = tree
    size, discount = values.shape[1], iteration / (iteration + 1.0)
    own_reach[0] = 1.0
    for node in range(mover.size):
        for action in range(legal.shape[1]):
            if not legal[node, action]:
                continue
            child = successor[node, action]
            if mover[node] != player:
                for b in range(size):
                    own_reach[child, b] = own_reach[node, b]
                continue
            for b in range(size):
                own = own_reach[node, b] * strategy[node, action, b]
                own_reach[child, b] = own
                average[node, action, b] += iteration * own
                regret[node, action, b] += values[child, b] - values[node, b]
                regret[node, action, b] *= discount
        if mover[node] == player:
            _scale(regret[node], legal[node], strategy[node])


@_jit
def solve(tree, masses, num_iterations, hand_values):
    """Solves a river and computes the values of both players' hands.

    Args:
      tree: for each node the mover, legal actions, successors, the chips that each player has put
        in, and who folded, see `BettingTree`. Parents come before their children.
      masses: float64 [2, B], both ranges.
      num_iterations: iterations of linear CFR.
      hand_values: float64 [2, B], filled with values of best responses to averages.
    """
    mover, legal = tree[0], tree[1]
    shape = (mover.size, legal.shape[1], masses.shape[1])
    regret, average, strategy = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    own_reach = np.zeros((mover.size, masses.shape[1]))
    reach, values = np.zeros_like(own_reach), np.zeros_like(own_reach)
    for node in range(mover.size):
        if mover[node] >= 0:
            _scale(regret[node], legal[node], strategy[node])
    for iteration in range(1, num_iterations + 1):
        for player in range(2):
            _walk(player, tree, masses, strategy, reach, values, False)
            _update(player, tree, iteration, values, own_reach, regret, average, strategy)
    for node in range(mover.size):
        if mover[node] >= 0:
            _scale(average[node], legal[node], strategy[node])
    for player in range(2):
        _walk(player, tree, masses, strategy, reach, values, True)
        hand_values[player] = values[0]


@_jit
def solve_all(tree, masses, num_iterations, hand_values):
    """`solve` for rivers of one tree: `masses` and `hand_values` [n, 2, B]."""
    for row in range(masses.shape[0]):
        solve(tree, masses[row], num_iterations, hand_values[row])
