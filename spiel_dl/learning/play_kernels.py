"""Compiled loops of self-play on a CPU, where a torch operation costs more to start than to do."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spiel_dl.games.compiled import Games

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
# Sums whose order may be any, so that many numbers are added at a time.
_sum_jit = numba.njit(cache=True, boundscheck=False, fastmath={"reassoc", "contract"}, nogil=True)
_TERMINAL, _CHANCE = -4, -1  # OpenSpiel's player ids


class MoveArrays(NamedTuple):
    """What is recorded of T moves in each of B games; `sources.Moves` has them as tensors."""

    player: np.ndarray
    legal: np.ndarray
    place: np.ndarray
    behaviour: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    valid: np.ndarray


class ChanceTables(NamedTuple):
    """How chance is played in a compiled game.

    Attributes:
      row: int64 [H], a history's row in the next two tables; 0 where chance does not act.
      cumulative: float64 [N, C], the probability of the outcomes up to each; something above 1 for
        the last one.
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


class Listed(NamedTuple):
    """Numbers that have come up, each once.

    Attributes:
      row_of: int64 [R], by number, its place in `met`; of a number that is not listed, any place.
      met: int64 [T B], the numbers, in the order in which they came first.
    """

    row_of: np.ndarray
    met: np.ndarray


class SeenRows(NamedTuple):
    """What movers see, with their legal actions, each once.

    Attributes:
      rows: float32 [N, D].
      legal: bool [N, A].
      row_of: int64 [S], a hash table by linear probing: the row in each slot; -1: none.
      key: float32 [D], random numbers by which hashes weigh columns.
    """

    rows: np.ndarray
    legal: np.ndarray
    row_of: np.ndarray
    key: np.ndarray

    @staticmethod
    def room(num_rows: int, num_columns: int, num_actions: int) -> SeenRows:
        """Room for so many rows."""
        rows = np.zeros((num_rows, num_columns), np.float32)
        legal, row_of = np.zeros((num_rows, num_actions), bool), np.full(2 * num_rows, -1)
        return SeenRows(rows, legal, row_of, np.random.default_rng(0).random(num_columns, "f4"))


@_inline
def _sampled(probabilities: np.ndarray, legal: np.ndarray, threshold: float) -> int:
    """The first action at which the sum of probabilities exceeds its share of the whole.

    The first legal one if the whole is NaN or infinite: compiled games trust that moves are legal,
    and the learner's losses show what is wrong.
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


@_jit
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


@_jit
def choose(t: int, rows: np.ndarray, threshold: np.ndarray, moves: MoveArrays) -> None:
    """Samples a move in every game.

    Args:
      t: which move of the games.
      rows: float32 [N, A], the policy of the rows that `place` tells of.
      threshold: float64 [T, B], a random number in [0, 1) per move; see `_sampled`.
      moves: `behaviour` and `action` are written: evenly distributed and 0 where nobody moves.
    """
    num_actions = rows.shape[1]
    for game in range(moves.player.shape[1]):
        shares = moves.behaviour[t, game]
        moves.action[t, game] = 0
        if moves.player[t, game] < 0:
            shares[:] = 1 / num_actions
            continue
        row = rows[moves.place[t, game]]
        for action in range(num_actions):
            shares[action] = row[action]
        moves.action[t, game] = _sampled(shares, moves.legal[t, game], threshold[t, game])


@_inline
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


@_jit
def play_chance(history: np.ndarray, uniform: np.ndarray, chance: ChanceTables) -> np.ndarray:
    """Plays chance events where chance acts, as many in a row as there are random numbers.

    Args:
      history: int64 [B], where the games are.
      uniform: float64 [B, N], random numbers in [0, 1).
      chance: the tables.

    Returns:
      Where they are now, int64 [B].
    """
    after = history.copy()
    for game in range(len(after)):
        after[game] = _after_chance(after[game], uniform[game], chance)
    return after


@_jit
def meet_infosets(
    t: int,
    history: np.ndarray,
    tables: TreeTables,
    listed: Listed,
    num_met: int,
    moves: MoveArrays,
) -> int:
    """Lists the infosets that games have come to, each once.

    Args:
      t: which move of the games.
      history: int64 [T + 1, B], where they are before each move.
      tables: the game.
      listed: the infosets.
      num_met: how many have been met before.
      moves: `player`, `legal` and `place` are written.

    Returns:
      How many have been met now.
    """
    for game in range(history.shape[1]):
        here = tables.infoset[history[t, game]]
        mover = tables.mover[here]
        moves.player[t, game], moves.place[t, game] = mover, 0
        for action in range(tables.legal.shape[1]):
            moves.legal[t, game, action] = tables.legal[here, action]
        if mover >= 0:
            num_met = _list(here, listed, num_met)
            moves.place[t, game] = listed.row_of[here]
    return num_met


@_inline
def _list(number: int, listed: Listed, count: int) -> int:
    """Lists a number unless it is listed already; returns how many are."""
    row = listed.row_of[number]
    if row >= count or listed.met[row] != number:
        listed.row_of[number], listed.met[count] = count, number
        count += 1
    return count


@_jit
def list_once(number: np.ndarray, listed: Listed, place: np.ndarray) -> int:
    """Lists numbers (int64 [T, B]), each once; `place` is written: where each is listed."""
    count = 0
    for t in range(number.shape[0]):
        for game in range(number.shape[1]):
            count = _list(number[t, game], listed, count)
            place[t, game] = listed.row_of[number[t, game]]
    return count


@_jit
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
      t: which move of the games.
      history: int64 [T + 1, B], where they are before each move.
      uniform: float64 [T, B, N], random numbers for chance.
      tables: the game.
      chance: its chance.
      moves: with the `action`.
    """
    num_actions = tables.legal.shape[1]
    for game in range(history.shape[1]):
        after = tables.successor[history[t, game] * num_actions + moves.action[t, game]]
        history[t + 1, game] = _after_chance(after, uniform[t, game], chance)


@_jit
def meet_movers(
    t: int,
    games: Games,
    by_player: tuple[np.ndarray, np.ndarray],
    seen: SeenRows,
    num_met: int,
    moves: MoveArrays,
) -> int:
    """Lists what movers see, together with their legal actions, each once.

    Args:
      t: which move of the games.
      games: who moves, and how.
      by_player: what each player sees, float32 [M, D], in the games in which one moves, in order;
        only the movers' rows are read. May begin where `seen` ends.
      seen: what was seen before; what is new is added.
      num_met: how many rows it has.
      moves: `player`, `legal` and `place` are written.

    Returns:
      How many rows it has now.
    """
    index = 0
    for game in range(len(games.player)):
        moves.player[t, game], moves.place[t, game] = games.player[game], 0
        legal = games.legal[game]
        for action in range(len(legal)):
            moves.legal[t, game, action] = legal[action]
        if games.player[game] < 0:
            continue
        row, index = by_player[games.player[game]][index], index + 1
        slot = _hash(row, seen.key) % len(seen.row_of)
        while seen.row_of[slot] >= 0 and not (
            _is_same(seen.rows[seen.row_of[slot]], row)
            and _is_same(seen.legal[seen.row_of[slot]], legal)
        ):
            slot = (slot + 1) % len(seen.row_of)
        if seen.row_of[slot] < 0:
            seen.row_of[slot] = num_met
            for column in range(len(row)):
                seen.rows[num_met, column] = row[column]
            for action in range(len(legal)):
                seen.legal[num_met, action] = legal[action]
            num_met += 1
        moves.place[t, game] = seen.row_of[slot]
    return num_met


@_sum_jit
def _hash(row: np.ndarray, key: np.ndarray) -> int:
    """A number that is the same for the same row, and hardly ever for another one."""
    total = np.float32(0.0)
    for column in range(len(row)):
        total += row[column] * key[column]
    return int(total * np.float32(2.0**20))


@_inline
def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    num_different = 0  # without a way out, many columns are compared at a time
    for column in range(len(first)):
        num_different += first[column] != second[column]
    return num_different == 0


@_jit
def look_back(last_player: np.ndarray, returns: np.ndarray, moves: MoveArrays) -> bool:
    """Says which moves count, and what they earned.

    Args:
      last_player: int8 [B], who would have to move next.
      returns: float [B], player 0's where the game is over.
      moves: `valid` is written: the moves of games that are over; and `reward`: a game's return at
        its last move, if it is over.

    Returns:
      Whether a row waited for chance inside a game.
    """
    waits = False
    for game in range(moves.player.shape[1]):
        is_over, last = last_player[game] == _TERMINAL, -1
        waits |= last_player[game] < 0 and not is_over
        for t in range(len(moves.player)):
            made = moves.player[t, game] >= 0
            waits |= moves.player[t, game] == _CHANCE
            moves.valid[t, game] = made and is_over
            moves.reward[t, game] = 0.0
            if made:
                last = t
        if is_over and last >= 0:
            moves.reward[last, game] = returns[game]
    return waits
