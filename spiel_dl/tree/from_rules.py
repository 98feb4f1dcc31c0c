"""Enumerates a game from its `Rules`, level by level, all histories of a level at once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyspiel
import torch

from spiel_dl.games.openspiel import RulesState
from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER, Children, Rules, StateBatch
from spiel_dl.tree.histories import (
    CHANCE_TOLERANCE,
    Histories,
    check_mover,
    game_errors,
    refuse_state,
)
from spiel_dl.tree.row_hash import RowHash
from spiel_dl.tree.size_limit import SizeLimit

# Rows that are expanded at a time, at most, and the memory that their successors may take.
_CHUNK = 1 << 17
_CHUNK_BYTES = 1 << 28
# Rows whose tensors are made at a time: few, because they then stay in the processor's cache.
_KEY_CHUNK = 1 << 12


def enumerate_rules(game: pyspiel.Game, max_histories: int | None = None) -> Histories:
    """All histories of a game with rules.

    Args:
      game: a `spiel_dl.games.openspiel.RulesGame`.
      max_histories: refuse games with more histories than this; None: with more than fit into
        memory.

    Raises:
      ValueError: if the rules break those of `Rules` in some state, or if the game has too many
        histories.
    """
    with SizeLimit(game, max_histories) as limit:
        return _Enumeration(game, limit).run()


class Level(NamedTuple):
    """All histories of one depth: their states and, [N] each, what `Histories` says of them."""

    states: StateBatch
    parent: np.ndarray
    action: np.ndarray
    chance_reach: np.ndarray

    @property
    def size(self) -> int:
        """N."""
        return len(self.parent)

    def columns(self, rules: Rules, keys: InfosetKeys, depth: int) -> dict[str, np.ndarray]:
        """What `Histories` says of a level at a depth, by its names."""
        player = rules.current_player(self.states).numpy()
        utility = np.zeros(self.size)
        over = np.flatnonzero(player == TERMINAL_PLAYER)
        if len(over):
            utility[over] = rules.returns(self.states.take(torch.from_numpy(over))).numpy()
        infoset_key, public_key = keys.of_level(self.states)
        return {
            "parent": self.parent.astype(np.int32),
            "depth": np.full(self.size, depth, np.int32),
            "action": self.action.astype(np.int32),
            "player": player,
            "chance_reach": self.chance_reach,
            "utility": utility,
            "rounds_over": rules.round_index(self.states).numpy(),
            "infoset_key": infoset_key,
            "public_key": public_key,
        }


def histories_of(game: pyspiel.Game, columns: Sequence[Mapping[str, np.ndarray]]) -> Histories:
    """The histories of all levels, whose columns these are."""
    arrays: dict[str, Any] = {
        name: np.concatenate([level[name] for level in columns], axis=-1) for name in columns[0]
    }
    return Histories(game=game, idle_keys_valid=True, infoset_strings=None, **arrays)


class _Enumeration:
    """The levels of a game that were enumerated so far, and how the next one is made."""

    def __init__(self, game: pyspiel.Game, limit: SizeLimit):
        self._game = game
        self._rules: Rules = game.rules
        self._limit = limit
        self._columns: list[dict[str, np.ndarray]] = []
        self._num_seen = 0
        self._depth = 0

    def run(self) -> Histories:
        """All histories of the game."""
        keys = InfosetKeys(self._rules)
        root = self._rules.initial_state(1)
        level = Level(root, np.full(1, -1), np.full(1, -1), np.ones(1))
        while level.size:
            self._limit.look(self._num_seen + level.size, self._depth)
            self._columns.append(level.columns(self._rules, keys, self._depth))
            self._check()
            first, self._num_seen = self._num_seen, self._num_seen + level.size
            self._depth += 1
            level = self._next_level(level, first)
        return histories_of(self._game, self._columns)

    def _check(self) -> None:
        """Looks at the last level.

        Raises:
          ValueError: if somebody else than the players and chance moves, or if a utility is not
            finite.
        """
        player, utility = (self._columns[-1][name] for name in ("player", "utility"))
        known = (player == TERMINAL_PLAYER) | ((player >= CHANCE_PLAYER) & (player <= 1))
        for row in np.flatnonzero(~known)[:1].tolist():
            check_mover(self._game, int(player[row]), self._actions(self._num_seen + row))
        for row in np.flatnonzero(~np.isfinite(utility))[:1].tolist():
            self._refuse(self._num_seen + row, f"returns {utility[row]}, which must be finite")

    def _next_level(self, level: Level, first: int) -> Level:
        """The successors of a level whose histories are numbered from `first`."""
        acting = torch.from_numpy(np.flatnonzero(self._columns[-1]["player"] != TERMINAL_PLAYER))
        row_bytes = _bytes_of_a_row(level.states)
        width = max(self._rules.num_actions, self._rules.num_chance_outcomes)
        chunk = max(1, min(_CHUNK, _CHUNK_BYTES // (row_bytes * width)))
        parts, num_children = [], 0
        for rows in acting.split(chunk):
            batch = level.states.take(rows)
            children = self._expand(batch, first + rows.numpy())
            num_children += len(children.parent)
            self._limit.look(self._num_seen + num_children, self._depth)
            # Room for the chunks to be joined; they are in memory already.
            self._limit.reserve(num_children, row_bytes, self._depth)
            parent = rows[children.parent].numpy()
            reach = level.chance_reach[parent] * children.probability.numpy()
            parts.append(Level(children.states, first + parent, children.action.numpy(), reach))
        columns = list(zip(*parts, strict=True))
        states = type(level.states).concatenate(list(columns[0]))
        return Level(states, *(np.concatenate(column) for column in columns[1:]))

    def _expand(self, batch: StateBatch, histories: np.ndarray) -> Children:
        """The successors of some states, which are those of histories (int [B]).

        Raises:
          ValueError: if the rules raise an error, if nothing can follow one of the states, or if
            chance's probabilities are no distribution.
        """
        try:
            children = self._rules.expand(batch)
        except Exception:
            for row, history in enumerate(histories.tolist()):
                with game_errors(self._game, functools.partial(self._actions, history)):
                    self._rules.expand(batch.take(slice(row, row + 1)))
            raise  # No state by itself does that.
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


def _bytes_of_a_row(states: StateBatch) -> int:
    """What one state of a batch takes in memory."""
    tensors = (getattr(states, field.name) for field in dataclasses.fields(states))
    return sum(tensor[:1].numel() * tensor.element_size() for tensor in tensors)


class InfosetKeys:
    """Keys of infosets and public states: 64-bit hashes of their codes."""

    def __init__(self, rules: Rules):
        """The keys are the same in every process."""
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

    def of_state(self, state: RulesState, player: int) -> int:
        """The infoset key of a player in a state of the game."""
        return int((self._public_keys(state.batch) + self._private_keys(state.batch, player))[0])

    def _public_keys(self, states: StateBatch) -> np.ndarray:
        return self._public(self._rules.public_code(states).numpy())

    def _private_keys(self, states: StateBatch, player: int) -> np.ndarray:
        return self._private(self._rules.private_code(states, player).numpy())
