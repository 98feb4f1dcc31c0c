"""Compiled loops of self-play on a CPU, where torch operations cost more to start than to do."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spiel_dl.games.compiled import CHANCE, TERMINAL, Games, inlined, kernel

# The order of additions is free, so that many numbers are added at a time.
_sum_jit = numba.njit(cache=True, boundscheck=False, fastmath={"reassoc", "contract"}, nogil=True)


class MoveArrays(NamedTuple):
    """The record of T moves in each of B games; `sources.Moves` has the same as tensors."""

    player: np.ndarray
    legal: np.ndarray
    row_index: np.ndarray
    behaviour: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    valid: np.ndarray


class ChanceTables(NamedTuple):
    """The chance events of a compiled game.

    Attributes:
      row: int64 [H], a history's row in the next two tables; 0 where chance does not act.
      cumulative: float64 [N, C], the cumulative probability of the outcomes; above 1 from the last
        one on.
      child: int64 [N, C], the history after each outcome.
    """

    row: np.ndarray
    cumulative: np.ndarray
    child: np.ndarray


class TreeTables(NamedTuple):
    """A compiled game; `TreeEnvironment` has most of them as tensors.

    Attributes:
      mover: int8 [R], who moves at an infoset; negative: nobody.
      legal: bool [R, A].
      infoset: int64 [H], the row of a history's infoset.
      successor: int64 [H A], the history after (history, action), at history * A + action.
    """

    mover: np.ndarray
    legal: np.ndarray
    infoset: np.ndarray
    successor: np.ndarray


class ListedNumbers(NamedTuple):
    """Distinct numbers below R, in the order in which they were listed.

    Attributes:
      index_of: int64 [R], the index of each number in `numbers`; arbitrary if it is not listed.
      numbers: int64 [T B], the listed numbers; arbitrary beyond them.
    """

    index_of: np.ndarray
    numbers: np.ndarray


class ObservationTable(NamedTuple):
    """Distinct observations of movers, with their legal actions.

    Attributes:
      rows: float32 [N, D], the observations.
      legal: bool [N, A].
      row_of_slot: int64 [S], a hash table by linear probing: the row in each slot; -1: none.
      key: float32 [D], random weights of the columns in hashes.
    """

    rows: np.ndarray
    legal: np.ndarray
    row_of_slot: np.ndarray
    key: np.ndarray

    @staticmethod
    def empty(num_rows: int, num_columns: int, num_actions: int) -> ObservationTable:
        """A table without observations, for up to `num_rows` of them."""
        rows = np.zeros((num_rows, num_columns), np.float32)
        legal, row_of_slot = np.zeros((num_rows, num_actions), bool), np.full(2 * num_rows, -1)
        key = np.random.default_rng(0).random(num_columns, "f4")
        return ObservationTable(rows, legal, row_of_slot, key)


@inlined
def _sampled(probabilities: np.ndarray, legal: np.ndarray, threshold: float) -> int:
    """The first action whose cumulative probability exceeds `threshold` times the total.

    The first legal one if the total is NaN or infinite: compiled games do not check that moves are
    legal, and the learner's losses show what is wrong.
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
    return 0


@kernel
def softmax(outputs: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """The softmax over legal actions, as `policy_of` has it: float32 [N, A].

    Args:
      outputs: float32 [N, A or more], logits in the first A columns.
      legal: bool [N, A].
    """
    policy = np.zeros(legal.shape, np.float32)
    for row in range(len(legal)):
        largest, total = np.float32(-np.inf), np.float32(0.0)
        for action in range(legal.shape[1]):
            if legal[row, action] and outputs[row, action] > largest:
                largest = outputs[row, action]
        for action in range(legal.shape[1]):
            if legal[row, action]:
                policy[row, action] = np.exp(outputs[row, action] - largest)
                total += policy[row, action]
        if total == 0:
            policy[row], total = 1.0, np.float32(legal.shape[1])
        policy[row] /= total
    return policy


@kernel
def sample_moves(t: int, policy: np.ndarray, threshold: np.ndarray, moves: MoveArrays) -> None:
    """Samples a move in every game.

    Args:
      t: the index of the move.
      policy: float32 [N, A], the policy at each row that `moves.row_index` points to.
      threshold: float64 [T, B], a random number in [0, 1) per move; see `_sampled`.
      moves: `behaviour` and `action` are written: uniform and 0 where nobody moves.
    """
    num_actions = policy.shape[1]
    for game in range(moves.player.shape[1]):
        behaviour = moves.behaviour[t, game]
        moves.action[t, game] = 0
        if moves.player[t, game] < 0:
            behaviour[:] = 1 / num_actions
            continue
        row = policy[moves.row_index[t, game]]
        for action in range(num_actions):
            behaviour[action] = row[action]
        moves.action[t, game] = _sampled(behaviour, moves.legal[t, game], threshold[t, game])


@inlined
def _after_chance(history: int, uniform: np.ndarray, chance: ChanceTables) -> int:
    for event in range(len(uniform)):
        here = chance.row[history]
        if here == 0:
            break
        outcome = 0
        while chance.cumulative[here, outcome] <= uniform[event]:
            outcome += 1
        history = chance.child[here, outcome]
    return history


@kernel
def play_chance(history: np.ndarray, uniform: np.ndarray, chance: ChanceTables) -> np.ndarray:
    """Plays chance events where chance acts, at most N in a row.

    Args:
      history: int64 [B], the history of each game.
      uniform: float64 [B, N], random numbers in [0, 1).
      chance: the tables.

    Returns:
      The histories after chance, int64 [B].
    """
    after = history.copy()
    for game in range(len(after)):
        after[game] = _after_chance(after[game], uniform[game], chance)
    return after


@kernel
def list_infosets(
    t: int,
    history: np.ndarray,
    tables: TreeTables,
    listed: ListedNumbers,
    num_listed: int,
    moves: MoveArrays,
) -> int:
    """Lists the infosets in which games are before move t, and records who moves.

    Args:
      t: the index of the move.
      history: int64 [T + 1, B], the history of each game before each move.
      tables: the game.
      listed: the infosets so far; new ones are added.
      num_listed: how many are listed.
      moves: `player`, `legal` and `row_index` are written.

    Returns:
      How many infosets are listed now.
    """
    for game in range(history.shape[1]):
        here = tables.infoset[history[t, game]]
        mover = tables.mover[here]
        moves.player[t, game], moves.row_index[t, game] = mover, 0
        for action in range(tables.legal.shape[1]):
            moves.legal[t, game, action] = tables.legal[here, action]
        if mover >= 0:
            num_listed = _list_number(here, listed, num_listed)
            moves.row_index[t, game] = listed.index_of[here]
    return num_listed


@inlined
def _list_number(number: int, listed: ListedNumbers, count: int) -> int:
    """Lists a number unless it is listed already; returns how many are."""
    index = listed.index_of[number]
    if index >= count or listed.numbers[index] != number:
        listed.index_of[number], listed.numbers[count] = count, number
        count += 1
    return count


@kernel
def list_numbers(number: np.ndarray, listed: ListedNumbers, index: np.ndarray) -> int:
    """Lists numbers (int64 [T, B]), and writes the index of each; returns how many are listed."""
    count = 0
    for t in range(number.shape[0]):
        for game in range(number.shape[1]):
            count = _list_number(number[t, game], listed, count)
            index[t, game] = listed.index_of[number[t, game]]
    return count


@kernel
def move_in_tree(
    t: int,
    history: np.ndarray,
    uniform: np.ndarray,
    tables: TreeTables,
    chance: ChanceTables,
    moves: MoveArrays,
) -> None:
    """Makes the moves, and plays chance after them: row t + 1 of `history` is written.

    Args:
      t: the index of the move.
      history: int64 [T + 1, B], the history of each game before each move.
      uniform: float64 [T, B, N], random numbers for chance.
      tables: the game.
      chance: its chance events.
      moves: `action` is read.
    """
    num_actions = tables.legal.shape[1]
    for game in range(history.shape[1]):
        after = tables.successor[history[t, game] * num_actions + moves.action[t, game]]
        history[t + 1, game] = _after_chance(after, uniform[t, game], chance)


@kernel
def list_observations(
    t: int,
    games: Games,
    by_player: tuple[np.ndarray, np.ndarray],
    table: ObservationTable,
    num_listed: int,
    moves: MoveArrays,
) -> int:
    """Lists the observations of those who make move t, and records who moves.

    Args:
      t: the index of the move.
      games: who moves, and the legal actions.
      by_player: each player's features, float32 [M, D], in the M games in which a player moves, in
        order; only the movers' rows are read. May be the memory of `table` behind its rows.
      table: the observations so far; new ones are added.
      num_listed: how many rows it has.
      moves: `player`, `legal` and `row_index` are written.

    Returns:
      How many rows `table` has now.
    """
    index = 0
    for game in range(len(games.player)):
        moves.player[t, game], moves.row_index[t, game] = games.player[game], 0
        legal = games.legal[game]
        for action in range(len(legal)):
            moves.legal[t, game, action] = legal[action]
        if games.player[game] < 0:
            continue
        row, index = by_player[games.player[game]][index], index + 1
        slot = _hash(row, table.key) % len(table.row_of_slot)
        while table.row_of_slot[slot] >= 0 and not (
            _is_same(table.rows[table.row_of_slot[slot]], row)
            and _is_same(table.legal[table.row_of_slot[slot]], legal)
        ):
            slot = (slot + 1) % len(table.row_of_slot)
        if table.row_of_slot[slot] < 0:
            table.row_of_slot[slot] = num_listed
            for column in range(len(row)):
                table.rows[num_listed, column] = row[column]
            for action in range(len(legal)):
                table.legal[num_listed, action] = legal[action]
            num_listed += 1
        moves.row_index[t, game] = table.row_of_slot[slot]
    return num_listed


@_sum_jit
def _hash(row: np.ndarray, key: np.ndarray) -> int:
    """A hash of a row."""
    total = np.float32(0.0)
    for column in range(len(row)):
        total += row[column] * key[column]
    return int(total * np.float32(2.0**20))


@inlined
def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    num_different = 0  # without an early exit, many columns are compared at a time
    for column in range(len(first)):
        num_different += first[column] != second[column]
    return num_different == 0


@kernel
def record_outcomes(last_player: np.ndarray, returns: np.ndarray, moves: MoveArrays) -> bool:
    """Records which moves are valid, and their rewards, once all moves are made.

    Args:
      last_player: int8 [B], who acts after the last move.
      returns: float [B], player 0's where the game is over.
      moves: `valid` is written: the moves of games that are over; and `reward`: a game's return at
        its last move, if it is over.

    Returns:
      Whether chance had to act between moves in some game, or after them.
    """
    waits = False
    for game in range(moves.player.shape[1]):
        is_over, last = last_player[game] == TERMINAL, -1
        waits |= last_player[game] < 0 and not is_over
        for t in range(len(moves.player)):
            made = moves.player[t, game] >= 0
            waits |= moves.player[t, game] == CHANCE
            moves.valid[t, game] = made and is_over
            moves.reward[t, game] = 0.0
            if made:
                last = t
        if is_over and last >= 0:
            moves.reward[last, game] = returns[game]
    return waits
