"""Common behaviour of all learners: runs, states, metrics, no side effects."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.algorithms.tensor_cfr import TensorCFRSolver
from spiel_dl.learning.config import RNaDConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.system import tensor_files
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.reference import assert_same_arrays
from tests.small_learners import CRITIC, small_critic, small_learner

RNAD: dict[str, Any] = {"learning_rate": 1e-2, "first_period": 3, "decay_steps": 5}


def with_critic(**settings: Any) -> Learner:
    return small_learner("rnad", critic=CRITIC, **RNAD, **settings)


def critic_by_states() -> Learner:
    policy = small_learner("rnad", **RNAD, max_tree_histories=0).policy(FineTuning())
    return small_critic(blueprint=policy, max_tree_histories=0)


LEARNERS: dict[str, Callable[[], Learner]] = {
    "rnad": with_critic,
    "mmd": lambda: small_learner("mmd", magnet_period=3),
    "ppo": lambda: small_learner("ppo"),
    "critic": small_critic,
}
EVERY = pytest.mark.parametrize("make", list(LEARNERS.values()), ids=list(LEARNERS))


@EVERY
def test_a_run_is_so_many_steps(make: Callable[[], Learner]) -> None:
    run, stepped = make(), make()
    run.run(3)
    run.run(4)
    for _ in range(7):
        stepped.step()
    assert run.num_steps == 7
    assert_same_arrays(run.state(), stepped.state())


@pytest.mark.parametrize(
    "make",
    [*LEARNERS.values(), critic_by_states],
    ids=[*LEARNERS, "critic of a network, by states"],
)
def test_states_and_checkpoints_go_on_to_the_same_parameters(
    make: Callable[[], Learner], tmp_path: Path
) -> None:
    whole = make()
    whole.run(5)
    state = whole.state()
    whole.save(tmp_path / "checkpoint")
    kept = {name: array.copy() for name, array in state.items()}
    whole.run(6)
    # It is a copy, which later steps do not change.
    assert all(np.array_equal(array, state[name]) for name, array in kept.items())
    by_state, by_file = make(), make()
    for resumed in (by_state, by_file):
        resumed.run(2)
    by_state.load_state(state)
    by_file.load(tmp_path / "checkpoint")
    for resumed in (by_state, by_file):
        assert resumed.num_steps == 5
        resumed.run(6)
        assert_same_arrays(resumed.state(), whole.state())
    assert by_file.metrics().keys() == whole.metrics().keys()
    another = LEARNERS["ppo" if make is LEARNERS["rnad"] else "rnad"]()
    with pytest.raises(ValueError, match="has algorithm"):
        another.load(tmp_path / "checkpoint")


def test_states_of_other_learners_are_refused_and_change_nothing() -> None:
    learner, before = with_critic(), with_critic()
    larger = with_critic(hidden_sizes=(9, 8))
    with pytest.raises(ValueError, match=r"state's .* has shape .* of another learner"):
        learner.load_state(larger.state())
    with pytest.raises(ValueError, match="has shape nothing"):
        learner.load_state(LEARNERS["mmd"]().state())
    before.step()
    elsewhere = {**before.state(), "generator": np.zeros(16, np.uint8)}
    with pytest.raises(ValueError, match="a learner on another device"):
        learner.load_state(elsewhere)
    size = len(before.state()["generator"])
    for generator in (np.full(size, 255, np.uint8), np.zeros(size, np.float32)):
        with pytest.raises(ValueError, match="the state's generator cannot be used"):
            learner.load_state({**before.state(), "generator": generator})
    for wrong in ({}, {"num_steps": np.zeros(2)}):
        state = {name: array for name, array in before.state().items() if name != "num_steps"}
        with pytest.raises(ValueError, match=r"num_steps has shape .*, but \(\) is needed"):
            learner.load_state({**state, **wrong})
    assert_same_arrays(learner.state(), with_critic().state())


@EVERY
def test_a_checkpoint_may_leave_out_what_games_have_by_default(
    make: Callable[[], Learner], tmp_path: Path
) -> None:
    learner, path = make(), tmp_path / "checkpoint"
    learner.step()
    learner.save(path)
    arrays, header = tensor_files.load(path)
    tensor_files.save(path, arrays, {**header, "game": "kuhn_poker"})
    same = make()
    assert str(same.game) != "kuhn_poker"
    same.load(path)
    assert same.num_steps == 1
    tensor_files.save(path, arrays, {**header, "game": "kuhn_poker(players=3)"})
    with pytest.raises(ValueError, match=r"has game kuhn.*3.*, not kuhn.*; use the same game"):
        same.load(path)


@EVERY
def test_callers_keep_their_generators_and_threads(make: Callable[[], Learner]) -> None:
    before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    num_threads = torch.get_num_threads()
    learner = make()
    learner.run(3)
    learner.policy()
    learner.load_state(learner.state())
    assert np.array_equal(before[0], np.random.get_state()[1])  # noqa: NPY002
    assert torch.equal(before[1], torch.get_rng_state())
    assert torch.get_num_threads() == num_threads


@EVERY
def test_later_steps_do_not_change_what_was_handed_out(make: Callable[[], Learner]) -> None:
    learner = make()
    learner.run(1)
    policy = learner.policy()
    assert isinstance(policy, ArrayPolicy)
    kept = [strategy.copy() for strategy in policy.strategies]
    learner.run(5)
    for strategy, before in zip(policy.strategies, kept, strict=True):
        np.testing.assert_array_equal(strategy, before)
    found = learner.policy()
    assert isinstance(found, ArrayPolicy)
    is_other = any((a != b).any() for a, b in zip(found.strategies, policy.strategies, strict=True))
    assert is_other == (learner.name != "critic")


def test_a_device_that_torch_has_not_is_refused() -> None:
    message = "device='cuda:99' cannot be used here; take 'cpu', or 'cuda' where torch finds a GPU"
    with pytest.raises(ValueError, match=message):
        small_learner("rnad", options={"device": "cuda:99"})
    with pytest.raises(ValueError, match=message):
        PositionalNetwork(device="cuda:99")
    with pytest.raises(ValueError, match=message):
        TensorCFRSolver("kuhn_poker", device="cuda:99")


def test_metrics_are_those_since_the_last_ones() -> None:
    learner = with_critic()
    learner.run(120)  # terms are read every 100 steps
    metrics = learner.metrics()
    assert metrics["step"] == 120
    assert {"value_loss", "policy_loss", "entropy", "critic_loss", "seconds"} <= metrics.keys()
    assert 0 < metrics["entropy"] <= np.log(2) + 1e-6
    # Games of Kuhn poker have two or three moves.
    moves = metrics["environment_steps_per_second"] / metrics["learner_steps_per_second"]
    assert 2 * 8 <= moves <= 3 * 8
    assert learner.metrics() == {"step": 120}


def test_a_config_may_have_numbers_of_numpy(tmp_path: Path) -> None:
    ours = RNaDConfig(hidden_sizes=(8,), seed=3, learning_rate=0.5)
    theirs = RNaDConfig(
        hidden_sizes=(np.int64(8),),  # type: ignore[arg-type]
        seed=np.int64(3),  # type: ignore[arg-type]
        learning_rate=np.float32(0.5),  # type: ignore[arg-type]
    )
    assert ours == theirs
    assert json.loads(json.dumps(theirs.to_json())) == ours.to_json()
    learner = RNaDSolver("kuhn_poker", theirs)
    learner.run(1)
    learner.save(tmp_path / "learner.safetensors")
    RNaDSolver("kuhn_poker", ours).load(tmp_path / "learner.safetensors")


@pytest.mark.parametrize("num_steps", [0, -1, 1.5, 2.0, True, "3", float("nan"), float("inf")])
def test_only_whole_numbers_of_steps_are_run(num_steps: object) -> None:
    learner = with_critic()
    with pytest.raises(ValueError, match=f"num_steps={num_steps!r} must be"):
        learner.run(num_steps)  # type: ignore[arg-type]
    assert learner.num_steps == 0
