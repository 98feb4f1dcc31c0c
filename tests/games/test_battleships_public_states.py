"""Reconstruction of python_battleships' public states, from boards alone."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
import torch

from spiel_dl.games.battleships import BattleshipsRules
from spiel_dl.games.rules import ConsistentHistories, Rules
from tests.games import enumeration
from tests.games.reconstruction_conformance import assert_equal_states


def _histories(found: ConsistentHistories) -> set[tuple[int, ...]]:
    assert found.complete
    assert bool((found.chance_reach == 1).all())
    return set(map(tuple, found.actions.tolist()))


@pytest.mark.parametrize(
    "rules",
    [
        BattleshipsRules(2, 2, "[2]"),
        BattleshipsRules(3, 2, "[2;2]", allow_repeated_shots=True, num_shots=5),
        BattleshipsRules(3, 2, "[2;1;1]"),
    ],
)
def test_reconstruction_equals_the_generic_search(rules: BattleshipsRules) -> None:
    generator = random.Random(7)
    for _ in range(2):
        for state, _ in enumeration.random_game(rules, generator):
            public = rules.public_tensor(state)[0]
            found = rules.consistent_histories(public)
            expected = Rules.consistent_histories(rules, public)
            assert _histories(found) == _histories(expected)
            ours, theirs = (
                states.take(torch.from_numpy(np.lexsort(states.record.numpy().T)))
                for states in (found.states, expected.states)
            )
            assert_equal_states(ours, theirs, "states differ")


def test_true_history_is_always_among_the_reconstructed_ones() -> None:
    rules, generator = BattleshipsRules(5, 5, "[3;2;2]"), random.Random(11)
    complete = 0
    for _ in range(2):
        for state, actions in enumeration.random_game(rules, generator):
            found = rules.consistent_histories(rules.public_tensor(state)[0], limit=30_000)
            if not found.complete:
                assert found.states.batch_size == len(found.actions) == 0
                continue
            complete += 1
            row = (found.actions == torch.tensor(actions, dtype=torch.int16)).all(dim=1).nonzero()
            assert len(row) == 1
            assert_equal_states(found.states.take(row[0]), state, "states differ")
    assert complete > 20


def test_reconstruction_stops_at_the_limit() -> None:
    rules = BattleshipsRules(3, 3, "[2;2]")
    public = rules.public_tensor(enumeration.play(rules, [9, 9, 12, 12]))[0]
    # 12 places for a first ship, and what it leaves for the second: 88 fleets of each player.
    assert rules.consistent_histories(public).states.batch_size == 88**2
    # 10x10 boards have 3e10 fleets each, far too many to list even one board's.
    rules = BattleshipsRules()
    *_, (state, _) = itertools.islice(enumeration.random_game(rules, random.Random(0)), 20)
    stopped = rules.consistent_histories(rules.public_tensor(state)[0], limit=10_000)
    assert not stopped.complete


def test_reconstruction_refuses_impossible_public_tensors() -> None:
    rules = BattleshipsRules(2, 2, "[2]")
    tile, outcome = 2, 2 + 8 * 4
    start = rules.public_tensor(enumeration.play(rules, [4, 4]))[0]

    def announced(*shots: tuple[int, int], base: torch.Tensor = start) -> torch.Tensor:
        tensor = base.clone()
        for index, (where, what) in enumerate(shots):
            tensor[tile + 4 * index + where] = 1
            tensor[outcome + 3 * index + what] = 1
        return tensor

    assert rules.consistent_histories(announced((0, 1), (0, 0))).states.batch_size == 2 * 2
    impossible = {
        "a ship of two sunk by one shot": announced((0, 2)),
        "hits apart": announced((0, 1), (0, 0), (3, 1)),
        "a shot repeated": announced((0, 0), (0, 0), (0, 0)),
        "only misses": announced((0, 0), (0, 0), (3, 0)),
        "a shot after the end": announced((0, 1), (0, 0), (1, 2), (1, 0)),
        "shots before placements": announced((0, 0), base=torch.zeros_like(start)),
        "second placement first": torch.eye(len(start))[1],
        "a gap between shots": announced((0, 0)).roll(4),
        "everything": torch.ones_like(start),
    }
    for reason, tensor in impossible.items():
        with pytest.raises(ValueError, match="no history has this public tensor"):
            pytest.fail(f"{reason}: {rules.consistent_histories(tensor)}")
