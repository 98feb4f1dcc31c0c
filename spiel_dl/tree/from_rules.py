"""Enumerates a game from its `Rules`, level by level, all histories of a level at once."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from spiel_dl.games.rules import TERMINAL_PLAYER, Rules
from spiel_dl.tree.histories import Histories, refuse_size
from spiel_dl.tree.row_hash import RowHash

# Rows that are expanded at a time, which bounds the memory for them.
_CHUNK = 1 << 17
# Rows whose tensors are made at a time: few, because they then stay in the processor's cache.
_KEY_CHUNK = 1 << 12


def enumerate_rules(game: pyspiel.Game, max_histories: int) -> Histories:
    """All histories of a game with rules.

    Args:
      game: a `spiel_dl.games.openspiel.RulesGame`.
      max_histories: refuse games with more histories than this.

    Raises:
      ValueError: if the game has more than `max_histories` histories.
    """
    rules: Rules = game.rules
    keys = InfosetKeys(rules)
    level = _Level(rules.initial_state(1), np.full(1, -1), np.full(1, -1), np.ones(1))
    columns: dict[str, list[np.ndarray]] = collections.defaultdict(list)
    num_seen, depth = 0, 0
    while level.size:
        first, num_seen = num_seen, num_seen + level.size
        if num_seen > max_histories:
            refuse_size(game, num_seen, depth, max_histories)
        infoset_key, public_key = keys.of_level(level.states)
        columns["parent"].append(level.parent.astype(np.int32))
        columns["depth"].append(np.full(level.size, depth, np.int32))
        columns["action"].append(level.action.astype(np.int32))
        columns["player"].append(rules.current_player(level.states).numpy())
        columns["chance_reach"].append(level.chance_reach)
        columns["utility"].append(rules.returns(level.states).numpy())
        columns["infoset_key"].append(infoset_key)
        columns["public_key"].append(public_key)
        columns["rounds_over"].append(rules.round_index(level.states).numpy())
        level = _next_level(rules, level, first)
        depth += 1
    arrays: dict[str, Any] = {
        name: np.concatenate(parts, axis=-1) for name, parts in columns.items()
    }
    return Histories(game=game, idle_keys_valid=True, infoset_strings=None, **arrays)


class _Level(NamedTuple):
    """All histories of one depth: their states and, [N] each, what `Histories` says of them."""

    states: Any
    parent: np.ndarray
    action: np.ndarray
    chance_reach: np.ndarray

    @property
    def size(self) -> int:
        return len(self.parent)


def _next_level(rules: Rules, level: _Level, first: int) -> _Level:
    """The successors of a level whose histories are numbered from `first`."""
    acting = (rules.current_player(level.states) != TERMINAL_PLAYER).nonzero()[:, 0]
    parts = []
    for rows in acting.split(_CHUNK):
        batch = level.states.take(rows)
        row, action, probability = rules.successors(batch)
        parent = rows[row].numpy()
        reach = level.chance_reach[parent] * probability.numpy()
        children = rules.apply(batch.take(row), action)
        parts.append(_Level(children, first + parent, action.numpy(), reach))
    columns = list(zip(*parts, strict=True))
    states = type(level.states).concatenate(list(columns[0]))
    return _Level(states, *(np.concatenate(column) for column in columns[1:]))


class InfosetKeys:
    """Keys of infosets and public states: 64-bit hashes of their codes."""

    def __init__(self, rules: Rules):
        """The keys are the same in every process."""
        self._rules = rules
        state = rules.initial_state()
        self._public = RowHash(rules.public_code(state).shape[1], seed=0)
        self._private = RowHash(rules.private_code(state, 0).shape[1], seed=1)

    def of_level(self, states: Any) -> tuple[np.ndarray, np.ndarray]:
        """Infoset keys (int64 [2, N]) and public keys (int64 [N]) of a batch of N states."""
        infoset_keys, public_keys = [], []
        for start in range(0, max(1, states.batch_size), _KEY_CHUNK):
            batch = states.take(slice(start, start + _KEY_CHUNK))
            public = self._public_keys(batch)
            infoset_keys.append([public + self._private_keys(batch, player) for player in (0, 1)])
            public_keys.append(public)
        return np.concatenate(infoset_keys, axis=1), np.concatenate(public_keys)

    def of_state(self, state: Any, player: int) -> int:
        """The infoset key of a player in a `spiel_dl.games.openspiel.RulesState`."""
        return int((self._public_keys(state.batch) + self._private_keys(state.batch, player))[0])

    def _public_keys(self, states: Any) -> np.ndarray:
        return self._public(self._rules.public_code(states).numpy())

    def _private_keys(self, states: Any, player: int) -> np.ndarray:
        return self._private(self._rules.private_code(states, player).numpy())
