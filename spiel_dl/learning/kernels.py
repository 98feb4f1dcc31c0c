"""Compiled loops for learning on a CPU, where a torch operation on a batch costs more to start than
to do. Other devices do the same by torch, in the modules that call these."""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.networks.growing_kernels import add_row

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def play_chance(
    history: np.ndarray,
    uniform: np.ndarray,
    row: np.ndarray,
    cumulative: np.ndarray,
    child: np.ndarray,
) -> np.ndarray:
    """Plays chance events where chance acts, as many in a row as there are random numbers.

    Args:
      history: int64 [B], where the games are.
      uniform: float64 [B, N], random numbers in [0, 1).
      row: int64 [H], a history's row in the next two tables; 0 where chance does not act.
      cumulative: float64 [M, C], the probability of the outcomes up to each; something above 1 for
        the last one.
      child: int64 [M, C], the history after each outcome.

    Returns:
      Where they are now, int64 [B].
    """
    after = history.copy()
    for game in range(len(after)):
        after[game] = _after_chance(after[game], uniform[game], row, cumulative, child)
    return after


@numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
def _sampled(probabilities: np.ndarray, legal: np.ndarray, threshold: float) -> int:
    """The first action at which the sum of probabilities exceeds its share of the whole.

    The first legal one if the whole is NaN or infinite: compiled games trust that moves are legal,
    and the learner's losses tell of the probabilities.
    """
    total = 0.0
    for action in range(len(probabilities)):
        total += probabilities[action]
    bound, total = threshold * total, 0.0
    for action in range(len(probabilities)):
        total += probabilities[action]
        if total > bound:
            return action
    for action in range(len(legal)):
        if legal[action]:
            return action
    return 0  # where nobody moves


@_jit
def play_move(
    t: int,
    behaviour: np.ndarray,
    threshold: np.ndarray,
    uniform: np.ndarray,
    action: np.ndarray,
    history: np.ndarray,
    infoset: np.ndarray,
    infoset_legal: np.ndarray,
    successor: np.ndarray,
    infoset_row: np.ndarray,
    row: np.ndarray,
    cumulative: np.ndarray,
    child: np.ndarray,
) -> None:
    """Samples a move in every game, makes it, and plays the chance events after it.

    Args:
      t: which move of the game.
      behaviour: float32 [T, B, A], action probabilities.
      threshold: float64 [T, B], a random number in [0, 1) per move; see `_sampled`.
      uniform: float64 [T, B, N], as in `play_chance`.
      action: int64 [T, B]; row t is written.
      history: int64 [T + 1, B], before each move; row t + 1 is written.
      infoset: int64 [T + 1, B], the same of `infoset_row`.
      infoset_legal: bool [R, A], the legal actions of infosets.
      successor: int64 [H A], the history after (history, action), at history * A + action.
      infoset_row: int64 [H], the row of a history's infoset.
      row: as in `play_chance`, and so are `cumulative` and `child`.
    """
    for game in range(behaviour.shape[1]):
        legal = infoset_legal[infoset[t, game]]
        action[t, game] = _sampled(behaviour[t, game], legal, threshold[t, game])
    make_move(
        t, behaviour.shape[2], uniform, action, history, infoset, successor, infoset_row, row,
        cumulative, child,
    )  # fmt: skip


@_jit
def make_move(
    t: int,
    num_actions: int,
    uniform: np.ndarray,
    action: np.ndarray,
    history: np.ndarray,
    infoset: np.ndarray,
    successor: np.ndarray,
    infoset_row: np.ndarray,
    row: np.ndarray,
    cumulative: np.ndarray,
    child: np.ndarray,
) -> None:
    """As `play_move`, of actions that are given."""
    for game in range(action.shape[1]):
        after = successor[history[t, game] * num_actions + action[t, game]]
        after = _after_chance(after, uniform[t, game], row, cumulative, child)
        history[t + 1, game], infoset[t + 1, game] = after, infoset_row[after]


@_jit
def meet_infosets(
    t: int,
    infoset: np.ndarray,
    infoset_legal: np.ndarray,
    mover: np.ndarray,
    player: np.ndarray,
    legal: np.ndarray,
    place: np.ndarray,
    row_of: np.ndarray,
    met: np.ndarray,
    num_met: int,
) -> int:
    """Lists the infosets that games have come to, each once.

    Args:
      t: which move of the games.
      infoset: int64 [T + 1, B], where they are.
      infoset_legal: bool [R, A].
      mover: int8 [R], who moves at infosets; negative: nobody.
      player: int8 [T, B]; row t is written.
      legal: bool [T, B, A]; row t is written.
      place: int64 [T, B], the row of each move among those met; row t is written, 0 where nobody
        moves.
      row_of: int64 [R], the row of each infoset; anything not negative where it was not met.
      met: int64 [T B], the infosets; written from `num_met` on.
      num_met: how many have been met before.

    Returns:
      How many have been met now.
    """
    for game in range(infoset.shape[1]):
        here = infoset[t, game]
        player[t, game], place[t, game] = mover[here], 0
        for a in range(infoset_legal.shape[1]):
            legal[t, game, a] = infoset_legal[here, a]
        if mover[here] < 0:
            continue
        row = row_of[here]
        if row >= num_met or met[row] != here:
            row = num_met
            row_of[here], met[row] = row, here
            num_met += 1
        place[t, game] = row
    return num_met


@numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
def _after_chance(
    history: int,
    uniform: np.ndarray,
    row: np.ndarray,
    cumulative: np.ndarray,
    child: np.ndarray,
) -> int:
    for event in range(len(uniform)):
        here = row[history]
        if here == 0:
            break
        outcome = 0
        while cumulative[here, outcome] <= uniform[event]:
            outcome += 1
        history = child[here, outcome]
    return history


@_jit
def go_back(
    value: np.ndarray,
    ratio: np.ndarray,
    cost: np.ndarray,
    reward: np.ndarray,
    player: np.ndarray,
    valid: np.ndarray,
    c_bar: float,
    rho_bar: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Two-player v-trace from the last move to the first; see `learning.vtrace` for the names.

    Args:
      value: V, float [T, B].
      ratio: rho, float [T, B].
      cost: K, float [T, B].
      reward: float [T, B], what the move earned player 0.
      player: int8 [T, B], who moved.
      valid: bool [T, B].
      c_bar: bound on the ratios that carry a target backwards.
      rho_bar: bound on the ratios that correct a value.

    Returns:
      v_t and D + w' v' - V_t, float [T, B] each; V_t and 0 at invalid moves.
    """
    target, error = value.copy(), np.zeros_like(value)
    behind = np.empty((5, 2))
    for game in range(value.shape[1]):
        at_the_end(behind)
        for t in range(len(value) - 1, -1, -1):
            if valid[t, game]:
                own = player[t, game]
                utility = reward[t, game] if own == 0 else -reward[t, game]
                target[t, game], error[t, game] = go_back_a_move(
                    behind, own, value[t, game], ratio[t, game], cost[t, game], utility,
                    c_bar, rho_bar,
                )  # fmt: skip
    return target, error


@numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
def at_the_end(behind: np.ndarray) -> None:
    """Writes what `go_back_a_move` needs to know at the end of a game."""
    behind[:] = 0.0
    behind[2] = 1.0


@numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
def go_back_a_move(
    behind: np.ndarray,
    own: int,
    value: float,
    ratio: float,
    cost: float,
    utility: float,
    c_bar: float,
    rho_bar: float,
) -> tuple[float, float]:
    """One move of `go_back`.

    Args:
      behind: float64 [5, 2], of both players: what each has been paid since its next move, plainly
        and weighted by the ratios, the product of these, and V' and v'; is moved to this move.
      own: the player who moved.
      value: V.
      ratio: rho.
      cost: K.
      utility: what the move earned the player.
      c_bar: as there, and so is `rho_bar`.

    Returns:
      v_t and D + w' v' - V_t.
    """
    paid, weighted, weight, next_value, next_target = behind
    other = 1 - own
    total = paid[own] + utility - cost
    error = weighted[own] + utility + weight[own] * next_target[own] - value
    w = ratio * weight[own]
    corrected = min(rho_bar, w) * (total + next_value[own] - value)
    target = value + corrected + min(c_bar, w) * (next_target[own] - next_value[own])
    # A new stretch begins for the mover, and this move is added to the other's.
    paid[own], weighted[own], weight[own] = 0.0, 0.0, 1.0
    next_value[own], next_target[own] = value, target
    paid[other] += cost - utility
    weighted[other] = cost + ratio * (weighted[other] - utility)
    weight[other] *= ratio
    return target, error


@_jit
def meet(
    t: int,
    mover: np.ndarray,
    may: np.ndarray,
    ones: np.ndarray,
    num_ones: np.ndarray,
    player: np.ndarray,
    legal: np.ndarray,
    place: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    total: np.ndarray,
    known: np.ndarray,
    units: np.ndarray,
    first_row: int,
) -> int:
    """Records what movers know, as rows of `GrowingInputs`, and the first layer of a network.

    Args:
      t: which move of the game.
      mover: int8 [B], who moves; negative: nobody.
      may: bool [B, A], their legal actions.
      ones: int32 [B, 2, K], what each player knows.
      num_ones: int32 [B, 2], how much that is.
      player: int8 [T, B]; row t is written.
      legal: bool [T, B, A]; row t is written.
      place: int64 [T, B], the row of each move; row t is written, 0 where nobody moves.
      sequence: int32 [T B], as in `GrowingInputs`, and so are `begin` and `end`; written from
        `first_row` on.
      weight: float32 [D, H], the first layer's.
      bias: float32 [H], the same.
      total: float32 [2 B, H], the first layer of what players knew at their last move.
      known: int32 [2 B], how much that was; 0 before the first move.
      units: float32 [T B, H]; the rows from `first_row` on are written.
      first_row: how many moves there were before.

    Returns:
      The number of moves there are now.
    """
    row = first_row
    for game in range(len(mover)):
        who = mover[game]
        player[t, game] = who
        legal[t, game] = may[game]
        place[t, game] = 0
        if who < 0:
            continue
        group, count = 2 * game + who, num_ones[game, who]
        sequence[row], begin[row], end[row] = group, known[group], count
        if known[group] == 0:
            total[group] = bias
        add_row(units[row], total[group], weight, ones[game, who, known[group] : count])
        known[group] = count
        place[t, game] = row
        row += 1
    return row


@_jit
def act(
    t: int,
    outputs: np.ndarray,
    threshold: np.ndarray,
    player: np.ndarray,
    legal: np.ndarray,
    place: np.ndarray,
    behaviour: np.ndarray,
    action: np.ndarray,
    exploration: float,
) -> None:
    """Samples a move in every game from the softmax over its legal actions, or at random.

    Args:
      t: which move of the game.
      outputs: float32 [T B, at least A], what the network says of each row; logits come first.
      threshold: float64 [T, B], a random number in [0, 1) per move; see `_sampled`.
      player: int8 [T, B], who moves; negative: nobody.
      legal: bool [T, B, A].
      place: int64 [T, B], the row of each move.
      behaviour: float32 [T, B, A]; row t is written, 0 for illegal actions, unless all are; NaN for
        legal ones if a logit of theirs is.
      action: int64 [T, B]; row t is written, 0 where nobody moves.
      exploration: share of decisions that are made at random.
    """
    num_actions = legal.shape[2]
    for game in range(legal.shape[1]):
        action[t, game] = 0
        if player[t, game] < 0:
            behaviour[t, game] = 1 / num_actions  # like any softmax where nothing is legal
            continue
        behaviour[t, game] = 0.0
        logits, may, shares = outputs[place[t, game]], legal[t, game], behaviour[t, game]
        largest, total, count = np.float32(-np.inf), np.float32(0.0), 0
        for a in range(num_actions):
            if may[a]:
                largest = max(largest, logits[a])
                count += 1
        for a in range(num_actions):
            if may[a]:
                shares[a] = np.exp(logits[a] - largest)
                total += shares[a]
        for a in range(num_actions):
            if may[a]:
                shares[a] = (1 - exploration) * (shares[a] / total) + exploration / count
        action[t, game] = _sampled(shares, may, threshold[t, game])
