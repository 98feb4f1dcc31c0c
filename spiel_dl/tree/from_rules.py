"""Enumerates a game from its `Rules`, level by level, all histories of a level at once."""

from __future__ import annotations

import concurrent.futures
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER, Children, Rules, StateBatch
from spiel_dl.tree.factored_form import default_threads
from spiel_dl.tree.histories import (
    CHANCE_TOLERANCE,
    Histories,
    check_mover,
    game_errors,
    refuse_state,
)
from spiel_dl.tree.row_hash import RowHash
from spiel_dl.tree.size_limit import SizeLimit

# The most states that are expanded at a time, and the memory that their successors may take: few
# stay in the processor's cache. The chunks of a level are divided among cores.
_CHUNK = 1 << 13
_CHUNK_BYTES = 1 << 23
_KEY_CHUNK = 1 << 12


def enumerate_rules(
    game: pyspiel.Game, max_histories: int | None = None, rules: Rules | None = None
) -> Histories:
    """All histories of a game with rules.

    Args:
      game: a turn-based game.
      max_histories: refuse games with more histories than this; None: with more than fit into
        memory.
      rules: the game's; None: those of a `spiel_dl.games.openspiel.RulesGame`.

    Raises:
      ValueError: if the rules break those of `Rules` in some state, or if the game has too many
        histories.
    """
    with SizeLimit(game, max_histories) as limit:
        return _Enumeration(game, rules or game.rules, limit).run()


class Level(NamedTuple):
    """Some or all histories of one depth.

    Attributes:
      states: the rules' states of the histories whose states are kept, batch dimension N.
      columns: arrays by the names of `Histories`' fields: [N], or [2, N] for both players.
    """

    states: StateBatch
    columns: dict[str, np.ndarray]

    @property
    def size(self) -> int:
        """N."""
        return len(self.columns["parent"])

    @staticmethod
    def joined(parts: Sequence[Level]) -> Level:
        """The histories of several parts, in their order."""
        states = type(parts[0].states).concatenate([part.states for part in parts])
        return Level(states, _joined_columns([part.columns for part in parts]))


def _joined_columns(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The concatenated columns of several parts, which are emptied."""
    names = tuple(parts[0])
    return {name: np.concatenate([part.pop(name) for part in parts], axis=-1) for name in names}


def histories_of(game: pyspiel.Game, columns: Sequence[dict[str, np.ndarray]]) -> Histories:
    """`Histories` from the columns of all levels, which are emptied."""
    arrays: dict[str, Any] = _joined_columns(columns)
    return Histories(game=game, idle_keys_valid=True, **arrays)


Expand = Callable[[StateBatch, np.ndarray], Children]
"""Maps states and the numbers of their histories (int [B]) to all their successors."""


class LevelBuilder:
    """Builds the levels of a game with rules, or of a part of it."""

    def __init__(self, rules: Rules, expand: Expand | None = None):
        """Expands states by the rules, or by `expand`."""
        self._rules = rules
        self._expand = expand or (lambda states, _: rules.expand(states))
        self._keys = InfosetKeys(rules)

    def level(
        self,
        states: StateBatch,
        depth: int,
        parent: np.ndarray,
        action: np.ndarray,
        chance_reach: np.ndarray,
        *,
        keep_terminal: bool = False,
    ) -> Level:
        """A level from its states and edges; computes movers, utilities, rounds and infoset keys.

        Args:
          states: batch dimension N.
          depth: of all histories.
          parent: int [N].
          action: int [N].
          chance_reach: float64 [N].
          keep_terminal: whether the level keeps the states of terminal histories too.
        """
        rules, size = self._rules, states.batch_size
        player = rules.current_player(states).numpy()
        rounds_over = rules.round_index(states).numpy()
        terminal = np.flatnonzero(player == TERMINAL_PLAYER)
        inner = np.flatnonzero(player != TERMINAL_PLAYER)
        utility = np.zeros(size)
        infoset_key, public_key = np.zeros((2, size), np.int64), np.zeros(size, np.int64)
        inner_states = states
        if len(terminal):
            utility[terminal] = rules.returns(states.take(torch.from_numpy(terminal))).numpy()
            inner_states = states.take(torch.from_numpy(inner))
        if len(inner):
            infoset_key[:, inner], public_key[inner] = self._keys.of_level(inner_states)
        columns = {
            "parent": parent.astype(np.int32),
            "depth": np.full(size, depth, np.int32),
            "action": action.astype(np.int32),
            "player": player,
            "chance_reach": chance_reach,
            "utility": utility,
            "rounds_over": rounds_over,
            "infoset_key": infoset_key,
            "public_key": public_key,
        }
        return Level(states if keep_terminal else inner_states, columns)

    def successors(
        self,
        states: StateBatch,
        histories: np.ndarray,
        chance_reach: np.ndarray,
        depth: int,
        *,
        keep_terminal: bool = False,
    ) -> Iterator[Level]:
        """All successors of some histories, in order, in parts that all cores compute.

        Args:
          states: of histories that are not terminal, batch dimension B, at least 1.
          histories: int64 [B], their numbers.
          chance_reach: float64 [B].
          depth: of the successors.
          keep_terminal: as in `level`.
        """

        def part(rows: slice) -> Level:
            children = self._expand(states.take(rows), histories[rows])
            parent = children.parent.numpy()
            reach = chance_reach[rows][parent] * children.probability.numpy()
            return self.level(
                children.states,
                depth,
                histories[rows][parent],
                children.action.numpy(),
                reach,
                keep_terminal=keep_terminal,
            )

        width = max(self._rules.num_actions, self._rules.num_chance_outcomes)
        chunk = max(1, min(_CHUNK, _CHUNK_BYTES // (bytes_per_state(states) * width)))
        chunks = [slice(start, start + chunk) for start in range(0, states.batch_size, chunk)]
        if len(chunks) == 1:
            yield part(chunks[0])
            return
        with concurrent.futures.ThreadPoolExecutor(default_threads()) as threads:
            yield from threads.map(part, chunks)


class _Enumeration:
    """Enumerates a game, level by level."""

    def __init__(self, game: pyspiel.Game, rules: Rules, limit: SizeLimit):
        self._game = game
        self._rules = rules
        self._limit = limit
        self._columns: list[dict[str, np.ndarray]] = []
        self._num_seen = 0

    def run(self) -> Histories:
        """All histories of the game."""
        builder = LevelBuilder(self._rules, self._expand)
        root, depth = self._rules.initial_state(1), 0
        no_parent = np.full(1, -1)
        level: Iterable[Level] = [builder.level(root, depth, no_parent, no_parent, np.ones(1))]
        while True:
            states, histories, chance_reach = self._add_level(level, depth)
            if not len(histories):
                return histories_of(self._game, self._columns)
            depth += 1
            level = builder.successors(states, histories, chance_reach, depth)

    def _add_level(
        self, level: Iterable[Level], depth: int
    ) -> tuple[StateBatch, np.ndarray, np.ndarray]:
        """Adds a level, part by part.

        Returns:
          The states, numbers (int64 [B]) and chance reaches (float64 [B]) of nonterminal histories.

        Raises:
          ValueError: if there are too many histories, or if one of them breaks the rules.
        """
        rules = self._rules
        batches, numbers, reaches, state_bytes = [], [], [], 0
        for states, columns in level:
            self._columns.append(columns)
            self._check(columns)
            inner = np.flatnonzero(columns["player"] != TERMINAL_PLAYER)
            if len(inner) and depth >= rules.max_game_length + rules.max_chance_nodes:
                self._refuse(
                    self._num_seen + int(inner[0]),
                    f"goes on after max_game_length={rules.max_game_length} moves and "
                    f"max_chance_nodes={rules.max_chance_nodes} chance events",
                )
            numbers.append(self._num_seen + inner)
            reaches.append(columns["chance_reach"][inner])
            batches.append(states)
            self._num_seen += len(columns["parent"])
            state_bytes += states.batch_size * bytes_per_state(states)
            # Concatenating them takes the same memory again.
            self._limit.check(self._num_seen, depth, 2 * state_bytes)
        joined = type(batches[0]).concatenate(batches)
        return joined, np.concatenate(numbers), np.concatenate(reaches)

    def _check(self, columns: dict[str, np.ndarray]) -> None:
        """Checks the columns of the next histories.

        Raises:
          ValueError: if a mover is neither a player nor chance, or if a utility is not finite, or
            larger than the rules say.
        """
        player, utility, rules = columns["player"], columns["utility"], self._rules
        is_valid = (player == TERMINAL_PLAYER) | ((player >= CHANCE_PLAYER) & (player <= 1))
        for row in np.flatnonzero(~is_valid)[:1].tolist():
            check_mover(self._game, int(player[row]), self._actions(self._num_seen + row))
        for row in np.flatnonzero(~np.isfinite(utility))[:1].tolist():
            self._refuse(self._num_seen + row, f"returns {utility[row]}, which must be finite")
        slack = 1e-9 * (rules.max_utility - rules.min_utility)
        is_beyond = (utility < rules.min_utility - slack) | (utility > rules.max_utility + slack)
        is_beyond &= player == TERMINAL_PLAYER
        for row in np.flatnonzero(is_beyond)[:1].tolist():
            self._refuse(
                self._num_seen + row,
                f"returns {utility[row]}, which must be from min_utility={rules.min_utility} to "
                f"max_utility={rules.max_utility}",
            )

    def _expand(self, batch: StateBatch, histories: np.ndarray) -> Children:
        """The successors of the states of some histories (int [B]).

        Raises:
          ValueError: if the rules raise an error, if a state has no successors, or if chance's
            probabilities are no distribution.
        """
        try:
            children = self._rules.expand(batch)
        except Exception:
            for row, history in enumerate(histories.tolist()):
                with game_errors(self._game, functools.partial(self._actions, history)):
                    self._rules.expand(batch.take(slice(row, row + 1)))
            raise  # No single state raises the error.
        if self._rules.num_chance_outcomes:
            self._check_chance(batch, histories)
        counts = np.bincount(children.parent.numpy(), minlength=len(histories))
        for row in np.flatnonzero(counts == 0)[:1].tolist():
            self._refuse(int(histories[row]), "has no legal actions or chance outcomes")
        return children

    def _check_chance(self, batch: StateBatch, histories: np.ndarray) -> None:
        is_chance = (self._rules.current_player(batch) == CHANCE_PLAYER).nonzero()[:, 0]
        chance = self._rules.chance_probabilities(batch.take(is_chance)).numpy()
        # Written so that NaN is refused as well.
        valid = (chance >= 0).all(axis=1) & (abs(chance.sum(axis=1) - 1) <= CHANCE_TOLERANCE)
        for row in np.flatnonzero(~valid)[:1].tolist():
            self._refuse(
                int(histories[is_chance[row]]),
                f"has the chance probabilities {chance[row].tolist()}, which must be at least 0 "
                "and sum to 1",
            )

    def _actions(self, history: int) -> list[int]:
        """The actions to a history."""
        parent, action = (
            np.concatenate([level[name] for level in self._columns])
            for name in ("parent", "action")
        )
        actions = []
        while history > 0:
            actions.append(int(action[history]))
            history = int(parent[history])
        return actions[::-1]

    def _refuse(self, history: int, fault: str) -> NoReturn:
        refuse_state(self._game, self._actions(history), fault)


def bytes_per_state(states: StateBatch) -> int:
    """The memory of one state of a batch, in bytes."""
    return sum(array[:1].nbytes for array in states.arrays())


class InfosetKeys:
    """Keys of infosets and public states: 64-bit hashes of their codes, equal in every process."""

    def __init__(self, rules: Rules):
        """Makes the hash functions."""
        self._rules = rules
        state = rules.initial_state()
        self._public = RowHash(rules.public_code(state).shape[1], seed=0)
        self._private = RowHash(rules.private_code(state, 0).shape[1], seed=1)

    def of_level(self, states: StateBatch) -> tuple[np.ndarray, np.ndarray]:
        """Infoset keys (int64 [2, N]) and public keys (int64 [N]) of a batch of N states."""
        infoset_keys, public_keys = [], []
        for start in range(0, max(1, states.batch_size), _KEY_CHUNK):
            batch = states.take(slice(start, start + _KEY_CHUNK))
            public = self._public_keys(batch)
            infoset_keys.append([public + self._private_keys(batch, player) for player in (0, 1)])
            public_keys.append(public)
        return np.concatenate(infoset_keys, axis=1), np.concatenate(public_keys)

    def _public_keys(self, states: StateBatch) -> np.ndarray:
        return self._public(self._rules.public_code(states).numpy())

    def _private_keys(self, states: StateBatch, player: int) -> np.ndarray:
        return self._private(self._rules.private_code(states, player).numpy())
