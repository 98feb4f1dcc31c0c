"""Games in which a network acts, in compiled loops: what is asked of it, its answers, its moves."""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.learning.kernels import act, make_move, meet, meet_infosets
from spiel_dl.networks.perceptron_kernels import after_first, first_of_lists, packed_layers

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_TERMINAL, _CHANCE = -4, -1  # OpenSpiel's player ids


@_jit
def decide(
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
    units: tuple[np.ndarray, ...],
    first_row: int,
    packed: np.ndarray,
    threshold: np.ndarray,
    behaviour: np.ndarray,
    action: np.ndarray,
    exploration: float,
) -> int:
    """Decides on a move in every game, always a legal one; see `kernels.meet` and `kernels.act`.

    Args:
      units: per layer, what comes out of it, float32 [T B, units]; written from `first_row` on.
      packed: the network's `perceptron_kernels.packed_layers`.
    """
    num_rows = meet(
        t, mover, may, ones, num_ones, player, legal, place, sequence, begin, end, weight, bias,
        total, known, units[0], first_row,
    )  # fmt: skip
    after_first(units, packed, first_row, num_rows)
    act(t, units[-1], threshold, player, legal, place, behaviour, action, exploration)
    return num_rows


@_jit
def meet_histories(
    first_row: int,
    mover: np.ndarray,
    bits: np.ndarray,
    num_bits: np.ndarray,
    public_size: int,
    private_size: int,
    read: np.ndarray,
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> None:
    """Records the histories before a move in every game, as rows of `GrowingInputs`.

    A history is what everybody knows, then what player 0 alone knows, then player 1; see
    `Rules.history_tensor`. What a player knows begins with two columns that say who it is.

    Args:
      first_row: how many moves there were before.
      mover: int8 [B], who moves; negative: nobody.
      bits: int32 [B, 2, K], as in `games.compiled.Games`, and so is `num_bits`.
      public_size: how many columns everybody knows.
      private_size: how many one player alone knows.
      read: int32 [B, 3], of each player how many of its bits are in the list, and how many were in
        the list at the game's move before; zeros before the first move. Is written.
      ones: int32 [B, 2 K], the columns of each game's ones; is written, as far as they are known.
      sequence: int32 [T B], as in `GrowingInputs`, and so are `begin` and `end`; written from
        `first_row` on.
    """
    row = first_row
    for game in range(len(mover)):
        if mover[game] < 0:
            continue
        before = read[game, 2]
        count = before
        for player in range(2):
            for index in range(read[game, player], num_bits[game, player]):
                column = bits[game, player, index] - 2
                is_private = column >= public_size
                if column >= 0 and (player == 0 or is_private):
                    ones[game, count] = column + player * private_size
                    count += 1
            read[game, player] = num_bits[game, player]
        sequence[row], begin[row], end[row], read[game, 2] = game, before, count, count
        row += 1


@_jit
def play_by_tables(
    parameters: np.ndarray,
    sizes: tuple[int, ...],
    exploration: float,
    table: tuple[np.ndarray, ...],
    inputs: tuple[np.ndarray, ...],
    units: tuple[np.ndarray, ...],
    infoset_legal: np.ndarray,
    mover: np.ndarray,
    player: np.ndarray,
    legal: np.ndarray,
    place: np.ndarray,
    row_of: np.ndarray,
    met: np.ndarray,
    threshold: np.ndarray,
    behaviour: np.ndarray,
    uniform: np.ndarray,
    action: np.ndarray,
    history: np.ndarray,
    infoset: np.ndarray,
    successor: np.ndarray,
    infoset_row: np.ndarray,
    row: np.ndarray,
    cumulative: np.ndarray,
    child: np.ndarray,
) -> int:
    """Plays all moves of all games; see `kernels.meet_infosets`, `act` and `make_move`.

    Args:
      parameters: float32 [P], the network's.
      sizes: see `perceptron_kernels`.
      exploration: share of decisions that are made at random.
      table: the information state tensors of all R infosets, as `ListedInputs.arrays`.
      inputs: T B of these; those of the infosets met are written.
      units: per layer, what comes out of it, float32 [T B, units]; written likewise.

    Returns:
      How many infosets were met.
    """
    packed = packed_layers(parameters, sizes)
    of_table, values_of_table, counts_of_table = table
    column, value, count = inputs
    num_rows = 0
    for t in range(len(action)):
        first_row = num_rows
        num_rows = meet_infosets(
            t, infoset, infoset_legal, mover, player, legal, place, row_of, met, first_row
        )
        if num_rows > first_row:
            for new in range(first_row, num_rows):
                here = met[new]
                count[new] = counts_of_table[here]
                for index in range(column.shape[1]):
                    column[new, index] = of_table[here, index]
                    value[new, index] = values_of_table[here, index]
            news = (
                column[first_row:num_rows], value[first_row:num_rows], count[first_row:num_rows]
            )  # fmt: skip
            first_of_lists(parameters, sizes, news, units[0][first_row:num_rows])
            after_first(units, packed, first_row, num_rows)
        act(t, units[-1], threshold, player, legal, place, behaviour, action, exploration)
        make_move(
            t, behaviour.shape[2], uniform, action, history, infoset, successor, infoset_row,
            row, cumulative, child,
        )  # fmt: skip
    return num_rows


@_jit
def list_once(number: np.ndarray, row_of: np.ndarray, met: np.ndarray, place: np.ndarray) -> int:
    """Lists numbers, each once, in the order in which they come first.

    Args:
      number: int64 [T, B].
      row_of: int64 [more than the largest], anything not negative.
      met: int64 [T B]; the numbers, written as far as there are any.
      place: int64 [T, B]; is written: the row of each number among them.

    Returns:
      How many there are.
    """
    count = 0
    for t in range(number.shape[0]):
        for game in range(number.shape[1]):
            here = number[t, game]
            row = row_of[here]
            if row >= count or met[row] != here:
                row = count
                row_of[here], met[row] = row, here
                count += 1
            place[t, game] = row
    return count


@_jit
def look_back(
    player: np.ndarray,
    last_player: np.ndarray,
    returns: np.ndarray,
    valid: np.ndarray,
    reward: np.ndarray,
) -> bool:
    """Says which moves count, and what they earned.

    Args:
      player: int8 [T, B], who moved; negative: nobody.
      last_player: int8 [B], who would have to move next.
      returns: float [B], player 0's where the game is over.
      valid: bool [T, B]; is written: the moves of games that are over.
      reward: float32 [T, B]; is written: a game's return at its last move, if it is over.

    Returns:
      Whether a row waited for chance inside a game.
    """
    waits = False
    for game in range(player.shape[1]):
        is_over, last = last_player[game] == _TERMINAL, -1
        waits |= last_player[game] < 0 and not is_over
        for t in range(len(player)):
            made = player[t, game] >= 0
            waits |= player[t, game] == _CHANCE
            valid[t, game] = made and is_over
            reward[t, game] = 0.0
            if made:
                last = t
        if is_over and last >= 0:
            reward[last, game] = returns[game]
    return waits
