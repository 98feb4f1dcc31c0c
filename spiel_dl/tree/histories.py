"""`Histories`: all histories of a game as flat arrays, before infosets are numbered."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import numba
import numpy as np
import pyspiel

if TYPE_CHECKING:
    from spiel_dl.games.rules import Rules, StateBatch

CHANCE_PLAYER = int(pyspiel.PlayerId.CHANCE)
TERMINAL_PLAYER = int(pyspiel.PlayerId.TERMINAL)
CHANCE_TOLERANCE = 1e-5
"""The largest error of the sum of chance's probabilities: games in files round them."""


def is_converted(game: pyspiel.Game) -> bool:
    """Whether OpenSpiel converted a game from one with simultaneous moves to turns."""
    return bool(game.get_type().short_name == "turn_based_simultaneous_game")


@dataclasses.dataclass(frozen=True, eq=False)
class Histories:
    """The H histories of a game, breadth first, so the root comes first; made by enumerations.

    The children of a history are adjacent, in the order of its legal actions.

    Attributes:
      game: the turn-based game that was enumerated.
      parent: int32 [H], -1 at the root.
      depth: int32 [H], number of actions from the root, chance's included.
      action: int32 [H], the action that leads into the history, -1 at the root.
      player: int8 [H], who acts; OpenSpiel's ids: 0, 1, chance -1, terminal -4.
      chance_reach: float64 [H], product of chance's probabilities from the root.
      utility: float64 [H], player 0's utility at terminal histories, 0 elsewhere.
      infoset_key: int64 [2, H]. Where player p acts, equal keys mean the same infoset. Where it
        does not, equal keys at equal depth mean the same information of p.
      idle_keys_valid: whether the keys of a player who does not act are valid.
      public_key: int64 [H], equal for histories of one public state; None if the game has no
        public tensors.
      rounds_over: int16 [H], as the game's rules count them; None for games without rules.
    """

    game: pyspiel.Game
    parent: np.ndarray
    depth: np.ndarray
    action: np.ndarray
    player: np.ndarray
    chance_reach: np.ndarray
    utility: np.ndarray
    infoset_key: np.ndarray
    idle_keys_valid: bool
    public_key: np.ndarray | None
    rounds_over: np.ndarray | None

    @property
    def num_histories(self) -> int:
        """H, the root included."""
        return len(self.parent)

    @functools.cached_property
    def is_terminal(self) -> np.ndarray:
        """Bool [H]."""
        return self.player == TERMINAL_PLAYER

    @functools.cached_property
    def num_children(self) -> np.ndarray:
        """Int32 [H]."""
        return np.bincount(self.parent[1:], minlength=self.num_histories).astype(np.int32)

    @functools.cached_property
    def first_child(self) -> np.ndarray:
        """Int32 [H], a history's first child, which its siblings follow.

        For a history without children it is the number that its first child would have.
        """
        return (1 + np.cumsum(self.num_children) - self.num_children).astype(np.int32)

    @functools.cached_property
    def level_starts(self) -> np.ndarray:
        """Int64 [D + 2]: the histories of depth d are level_starts[d] to level_starts[d + 1]."""
        return np.searchsorted(self.depth, np.arange(self.depth[-1] + 2))

    @functools.cached_property
    def move_number(self) -> np.ndarray:
        """Int16 [H], number of player actions from the root."""
        return self.count_ancestors(self.player >= 0)

    @functools.cached_property
    def ply_number(self) -> np.ndarray:
        """Int16 [H]: player actions from the root, and chance events after the first of them."""
        is_late_chance = (self.player == CHANCE_PLAYER) & (self.move_number > 0)
        plies: np.ndarray = self.count_ancestors(is_late_chance) + self.move_number
        return plies

    @property
    def is_converted(self) -> bool:
        """Whether the game was converted from one with simultaneous moves."""
        return is_converted(self.game)

    @functools.cached_property
    def utility_range(self) -> float:
        """Largest minus smallest utility among the terminal histories."""
        return float(np.ptp(self.utility[self.is_terminal]))

    def count_ancestors(self, is_counted: np.ndarray) -> np.ndarray:
        """The number of each history's ancestors that are counted (bool [H]): int16 [H].

        In games of more than 32,767 moves, it is int32.
        """
        fits = len(self.level_starts) <= np.iinfo(np.int16).max
        count = np.zeros(self.num_histories, np.int16 if fits else np.int32)
        for start, end in self.levels_below_root():
            parent = self.parent[start:end]
            count[start:end] = count[parent] + is_counted[parent]
        return count

    def following(
        self, starts: np.ndarray, ends: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Some histories and all their descendants; takes time in proportion to their number.

        Args:
          starts: int [K], increasing; none of them follows another.
          ends: maps histories (int [n]) and the positions in `starts` of the ones that they follow
            to whether their descendants are left out: bool [n]. None: nowhere.

        Returns:
          The histories, int64 [n], increasing, and the positions in `starts` of the ones that they
          follow.
        """
        level, start = np.asarray(starts, np.int64), np.arange(len(starts))
        levels, starts_by_level = [level], [start]
        while len(level):
            if ends is not None:
                goes_on = ~ends(level, start)
                level, start = level[goes_on], start[goes_on]
            count = self.num_children[level]
            level, start = spans(self.first_child[level], count), np.repeat(start, count)
            levels.append(level)
            starts_by_level.append(start)
        histories, start_positions = np.concatenate(levels), np.concatenate(starts_by_level)
        # The levels of starts of different depths are not in increasing order.
        if len(starts) and self.depth[starts[0]] != self.depth[starts[-1]]:
            order = np.argsort(histories)
            histories, start_positions = histories[order], start_positions[order]
        return histories, start_positions

    def state(self, history: int) -> pyspiel.State:
        """The OpenSpiel state of a history, by replay from the root.

        Raises:
          ValueError: if there is no such history.
        """
        check_index("history", history, self.num_histories)
        actions = []
        while history > 0:
            actions.append(int(self.action[history]))
            history = int(self.parent[history])
        state = self.game.new_initial_state()
        for action in reversed(actions):
            state.apply_action(action)
        return state

    def states_of(self, histories: np.ndarray) -> StateBatch:
        """The rules' states of histories (int [N]) of a game with `Rules`, as one batch."""
        import torch  # The import takes a second, and games without rules do not need it.

        steps = []
        current = np.asarray(histories, np.int64)
        while (current > 0).any():
            steps.append((self.action[current].astype(np.int64), current > 0))
            current = np.where(current > 0, self.parent[current], 0)
        rules: Rules = self.game.rules
        states: StateBatch = rules.initial_state(len(histories))
        for action, moves in reversed(steps):
            # Shorter histories stay at the root: their next states are discarded until they move.
            next_states = rules.apply(states, torch.from_numpy(np.where(moves, action, 0)))
            states = next_states.where(torch.from_numpy(moves), states)
        return states

    @functools.cached_property
    def round_number(self) -> np.ndarray | None:
        """Int16 [H], number of finished rounds of the game; None if the game has no rounds.

        Where a game with simultaneous moves was converted to turns, a round is one joint move; it
        has none if there is a move of one player alone.
        """
        if self.is_converted:
            follows_player_0 = self.player[self.parent] == 0
            follows_player_0[0] = False
            if not np.array_equal(self.player == 1, follows_player_0):
                return None
            return self.count_ancestors(self.player == 1)
        return self.rounds_over

    def levels_below_root(self) -> list[tuple[int, int]]:
        """(start, end) of the histories of depth 1, 2, ..."""
        starts = self.level_starts
        return list(zip(starts[1:-1].tolist(), starts[2:].tolist(), strict=True))


def spans(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The concatenated ranges of given starts and sizes: int64 [n]."""
    ends = np.cumsum(sizes)
    shift = np.repeat(starts - (ends - sizes), sizes)
    numbers: np.ndarray = shift + np.arange(len(shift))
    return numbers


def check_index(name: str, index: int, count: int) -> None:
    """Raises a ValueError if an index is not one of 0 to count - 1.

    NumPy would count negative ones from the end.
    """
    if not 0 <= index < count:
        raise ValueError(f"{name}={index} must be from 0 to {count - 1}")


def check_player(player: int) -> None:
    """Raises a ValueError if `player` is not 0 or 1."""
    if not isinstance(player, int | np.integer) or isinstance(player, bool) or player not in (0, 1):
        raise ValueError(f"player={player!r} must be 0 or 1, an integer")


def first_occurrence_ids(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers distinct keys in the order in which they first occur.

    Args:
      keys: int [N].

    Returns:
      ids: int32 [N], in 0..U-1.
      first: int64 [U], the first position of each id; increasing.
    """
    ids_and_first: tuple[np.ndarray, np.ndarray] = _first_occurrence_ids(keys.astype(np.int64))
    return ids_and_first


def counts_before(ids: np.ndarray) -> np.ndarray:
    """The number of earlier occurrences of each id (int [N], not negative): int64 [N]."""
    order = np.argsort(ids, kind="stable")
    sizes = np.bincount(ids)
    before = np.empty(len(ids), np.int64)
    before[order] = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return before


_jit = numba.njit(cache=True, boundscheck=False, nogil=True)


@_jit
def counting_order(keys: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorts keys (int [N], 0 to `count` - 1), stably.

    Returns:
      order: int32 [N], the positions of key 0, then those of key 1, and so on.
      starts: int32 [`count` + 1], where those of each key start.
    """
    starts = np.zeros(count + 1, np.int32)
    for key in keys:
        starts[key + 1] += 1
    for key in range(count):
        starts[key + 1] += starts[key]
    order, after = np.empty(keys.size, np.int32), starts[:-1].copy()
    for position, key in enumerate(keys):
        order[after[key]] = position
        after[key] += 1
    return order, starts


@_jit
def _first_occurrence_ids(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # A hash table with linear probing, at most half full; sorting takes several times as long. Its
    # size depends on the number of distinct keys, which is small, so it stays in the cache.
    bits = 10
    id_at = np.full(1 << bits, -1, np.int32)
    distinct, first = np.empty(1 << (bits - 1), np.int64), np.empty(1 << (bits - 1), np.int64)
    ids = np.empty(len(keys), np.int32)
    count = 0
    for position, key in enumerate(keys):
        slot = _slot_of(key, id_at, distinct, bits)
        if id_at[slot] < 0:
            if count == len(distinct):
                bits += 1
                id_at = np.full(1 << bits, -1, np.int32)
                distinct = np.concatenate((distinct, np.empty_like(distinct)))
                first = np.concatenate((first, np.empty_like(first)))
                for earlier in range(count):
                    id_at[_slot_of(distinct[earlier], id_at, distinct, bits)] = earlier
                slot = _slot_of(key, id_at, distinct, bits)
            id_at[slot], distinct[count], first[count] = count, key, position
            count += 1
        ids[position] = id_at[slot]
    return ids, first[:count].copy()


@_jit
def _slot_of(key: int, id_at: np.ndarray, distinct: np.ndarray, bits: int) -> np.uint64:
    """The slot of a key in the table, or a free slot for it."""
    # Fibonacci hashing: the highest bits of the product depend on all bits of the key.
    slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
    while id_at[slot] >= 0 and distinct[id_at[slot]] != key:
        slot = (slot + np.uint64(1)) & np.uint64((1 << bits) - 1)
    return slot


class TooManyHistoriesError(ValueError):
    """A game has more histories than allowed."""


class InvalidGameError(ValueError):
    """A game breaks OpenSpiel's rules in one of its states."""


def refuse_state(game: pyspiel.Game, actions: Sequence[int], fault: str) -> NoReturn:
    """Raises the error for a state that breaks OpenSpiel's rules.

    Args:
      game: the game.
      actions: the state's history, chance's outcomes included.
      fault: the error in the state after them, as the end of a sentence.
    """
    raise InvalidGameError(f"{game}: the state after the actions {list(actions)} {fault}")


def check_mover(game: pyspiel.Game, player: int, actions: Sequence[int]) -> None:
    """Refuses a state whose mover is neither a player nor chance, unless it is terminal.

    Args:
      game: a turn-based game.
      player: the state's `current_player`.
      actions: the state's history.

    Raises:
      InvalidGameError: for such a state; with the remedy if players move at the same time.
    """
    if player in (0, 1, CHANCE_PLAYER, TERMINAL_PLAYER):
        return
    if player == pyspiel.PlayerId.SIMULTANEOUS:
        remedy = (
            "leave cached_tree out of the game string"
            if "cached_tree" in str(game)
            else "give the game inside of it, or declare the game as SIMULTANEOUS"
        )
        refuse_state(
            game,
            actions,
            "lets both players move at the same time, but the game's type says that it is "
            f"sequential, so OpenSpiel cannot convert it to turns; {remedy}",
        )
    refuse_state(
        game, actions, f"is player {player}'s; only 0, 1, chance (-1) and terminal (-4) may be"
    )


@contextlib.contextmanager
def game_errors(game: pyspiel.Game, actions: Callable[[], Sequence[int]]) -> Iterator[None]:
    """Turns errors of a game into ones that name the history.

    Args:
      game: the game that is used in this context.
      actions: called after an error; returns the history of the state that raised it.

    Raises:
      InvalidGameError: whenever the game raises anything.
    """
    try:
        yield
    except (InvalidGameError, TooManyHistoriesError, MemoryError):
        raise
    except Exception as error:
        refuse_state(game, actions(), f"raises {type(error).__name__}: {error}")
