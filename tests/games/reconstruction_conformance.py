"""Reconstruction of public states without enumerating the game, against enumeration."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import torch

from spiel_dl.games.rules import Rules, StateBatch


def check_public_states(
    rules: Rules,
    states: StateBatch,
    packed: np.ndarray,
    actions: np.ndarray,
    chance_reach: np.ndarray,
) -> None:
    """`consistent_histories` finds what filtering the enumeration finds, with the same reach.

    Args:
      rules: the game.
      states: all H histories of one length.
      packed: uint8 [H, *], the public tensor's bits, packed.
      actions: int16 [H, length], the actions from the root.
      chance_reach: float64 [H].
    """
    public = rules.public_tensor(states)
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    for index, row in enumerate(first):
        members = np.flatnonzero(group.reshape(-1) == index)
        found = rules.consistent_histories(public[row])
        assert found.complete, "reconstruction gave up"
        expected = _by_actions(actions[members], chance_reach[members])
        actual = _by_actions(found.actions.numpy(), found.chance_reach.numpy())
        assert actual.keys() == expected.keys(), "other histories than in the enumeration"
        for history, reach in expected.items():
            assert math.isclose(actual[history], reach, rel_tol=1e-12), (
                f"consistent_histories: chance_reach {actual[history]} of {history}, not {reach}"
            )
        if len(members) == np.bincount(group.reshape(-1)).max() > 1:
            _check_limit(rules, public[row], len(members))
        order = {history: row for row, history in enumerate(_tuples(actions[members]))}
        rows = [members[order[history]] for history in _tuples(found.actions.numpy())]
        assert_equal_states(
            found.states, states.take(torch.tensor(rows)), "states differ from the actions'"
        )


def _check_limit(rules: Rules, public: torch.Tensor, num_histories: int) -> None:
    """A public state that is too large is not listed."""
    stopped = rules.consistent_histories(public, limit=num_histories - 1)
    assert not stopped.complete, "reconstruction went on beyond its limit"
    sizes = {len(stopped.actions), len(stopped.chance_reach), stopped.states.batch_size}
    assert sizes == {0}, "histories are listed where reconstruction gave up"


def _tuples(actions: np.ndarray) -> list[tuple[int, ...]]:
    return list(map(tuple, actions.tolist()))


def _by_actions(actions: np.ndarray, reach: np.ndarray) -> dict[tuple[int, ...], float]:
    found = dict(zip(_tuples(actions), reach.tolist(), strict=True))
    assert len(found) == len(actions), "a history was found twice"
    return found


def assert_equal_states(ours: StateBatch, theirs: StateBatch, message: str) -> None:
    """Fails with a message where two batches differ."""
    assert type(ours) is type(theirs), f"{message}: {type(ours)} and {type(theirs)}"
    for field in dataclasses.fields(ours):
        mine, yours = getattr(ours, field.name), getattr(theirs, field.name)
        assert mine.dtype == yours.dtype, f"{message}: dtype of {field.name}"
        assert torch.equal(mine, yours), f"{message}: {field.name}"
