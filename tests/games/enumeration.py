"""Playing and enumerating `Rules` in tests."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from spiel_dl.games.rules import Rules


def play(rules: Rules, actions: Sequence[int]) -> Any:
    """The state after a history, as a batch of one."""
    state = rules.initial_state()
    for action in actions:
        state = rules.apply(state, torch.tensor([action]))
    return state


def random_game(rules: Rules, generator: random.Random) -> Iterator[tuple[Any, list[int]]]:
    """The states of a random game without chance events, each with its actions from the root."""
    state, actions = rules.initial_state(), []
    while True:
        yield state, actions
        legal = rules.legal_actions(state)[0].nonzero()[:, 0].tolist()
        if not legal:
            return
        actions = [*actions, generator.choice(legal)]
        state = rules.apply(state, torch.tensor(actions[-1:]))


def levels(rules: Rules) -> Iterator[tuple[Any, torch.Tensor]]:
    """All histories, level by level: states and their actions, int64 [H, L]."""
    state, actions = rules.initial_state(), torch.zeros((1, 0), dtype=torch.int64)
    while state.batch_size:
        yield state, actions
        parent, action, _ = rules.successors(state)
        state = rules.apply(state.take(parent), action)
        actions = torch.cat([actions[parent], action[:, None]], dim=1)


def count(rules: Rules) -> tuple[int, int, int]:
    """Histories, root included, and decision infosets of player 0 and of player 1."""
    num_histories, num_infosets = 0, [0, 0]
    for states, _ in levels(rules):
        num_histories += states.batch_size
        for player in (0, 1):
            acting = states.take(rules.current_player(states) == player)
            tensors = rules.information_state_tensor(acting, player)
            num_infosets[player] += len(torch.unique(tensors, dim=0))
    return num_histories, *num_infosets
