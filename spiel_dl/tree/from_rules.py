"""Enumerates a game from its `Rules`, level by level, all histories of a level at once."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import torch
from torch.nn.functional import linear

from spiel_dl.games.rules import TERMINAL_PLAYER, Rules
from spiel_dl.tree.histories import Histories, refuse_size

# Rows whose tensors are made at a time, which bounds the memory for them.
_CHUNK = 1 << 17
# Sums of integers below 2^53 are exact in float64. Weights of more than 44 bits would gain nothing.
_EXACT_BITS = 53
_MAX_WEIGHT_BITS = 44


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
    """Keys of infosets and public states: 64-bit hashes of their 0/1 tensors.

    Made of two sums of random weights of the bits that are set. A collision among a million
    infosets is less likely than 1 in 10^7.
    """

    def __init__(self, rules: Rules):
        """The keys are the same in every process."""
        self._rules = rules
        generator = torch.Generator().manual_seed(20_231_215)
        sizes = (rules.public_size(True), rules.private_size(True))
        # Even if all bits of a public and a private tensor were set, the sums would stay exact.
        weight_bits = min(_MAX_WEIGHT_BITS, _EXACT_BITS - sum(sizes).bit_length())
        self._public_weights, self._private_weights = (
            # Transposed in memory: with two columns, products are then three times as fast.
            torch.randint(1 << weight_bits, (size, 2), generator=generator)
            .double()
            .t()
            .contiguous()
            for size in sizes
        )

    def of_level(self, states: Any) -> tuple[np.ndarray, np.ndarray]:
        """Infoset keys (int64 [2, N]) and public keys (int64 [N]) of a batch of N states."""
        infoset_keys, public_keys = [], []
        for rows in torch.arange(states.batch_size).split(_CHUNK):
            batch = states.take(rows)
            public = self._public_sums(batch)
            own = [_combine(public + self._private_sums(batch, player)) for player in (0, 1)]
            infoset_keys.append(torch.stack(own))
            public_keys.append(_combine(public))
        return torch.cat(infoset_keys, dim=1).numpy(), torch.cat(public_keys).numpy()

    def of_state(self, state: Any, player: int) -> int:
        """The infoset key of a player in a `spiel_dl.games.openspiel.RulesState`."""
        sums = self._public_sums(state.batch) + self._private_sums(state.batch, player)
        return int(_combine(sums))

    def _public_sums(self, states: Any) -> torch.Tensor:
        return linear(self._rules.public_tensor(states, True).double(), self._public_weights)

    def _private_sums(self, states: Any, player: int) -> torch.Tensor:
        tensor = self._rules.private_tensor(states, player, True)
        return linear(tensor.double(), self._private_weights)


def _combine(sums: torch.Tensor) -> torch.Tensor:
    """One 64-bit hash of two exact sums: float64 [N, 2] -> int64 [N]."""
    # The multiplier is odd, so each half alone is kept whole; the product wraps around.
    return sums[:, 0].long() * 0x2545F4914F6CDD1D + sums[:, 1].long()
