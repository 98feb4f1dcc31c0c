"""Critics trained beside a blueprint: they disturb nothing, resume, and searches are better."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from spiel_dl import DepthLimit, Effort, GameTree, load_policy, nash_conv
from spiel_dl.algorithms import sepot
from spiel_dl.learning.config import CriticConfig
from spiel_dl.learning.critics import ExactCritic, mean_absolute_error
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.reference import assert_same_arrays
from tests.small_learners import small_learner

SMALL: dict[str, Any] = {
    "batch_size": 64,
    "hidden_sizes": (32, 32),
    "target_averaging": 0.01,
    "seed": 3,
}
CRITIC = CriticConfig(hidden_sizes=(64, 64), learning_rate=2e-3, target_averaging=0.01)
LEARNERS: dict[str, Any] = {
    "rnad": {**SMALL, "first_period": 8},
    "mmd": {"hidden_sizes": (16, 16), "magnet_period": 3},
    "ppo": {"hidden_sizes": (16, 16)},
}


def with_critic(game: Any = "kuhn_poker", **settings: Any) -> Any:
    return small_learner("rnad", game, **{"critic": CRITIC, **SMALL, **settings})


def test_defaults_are_those_of_the_paper_but_for_what_is_said() -> None:
    """Kubíček et al. (2023), Table 2; `docs/deviations.md` says what differs, and why."""
    config = CriticConfig()
    assert config.gradient_clip == 10_000
    assert config.c_bar == 1
    assert (config.adam_beta2, config.adam_epsilon) == (0.999, 1e-8)
    assert config.target_averaging == 0.001
    # In the paper 3e-4 throughout, no momentum, 512 units, and values that are not bounded.
    assert (config.learning_rate, config.final_learning_rate) == (1e-2, 5e-4)
    assert (config.adam_beta1, config.hidden_sizes) == (0.9, (256, 256))
    assert config.bounded


@pytest.mark.parametrize("max_tree_histories", [10, 1000])
@pytest.mark.parametrize("name", list(LEARNERS))
def test_the_blueprint_learns_as_it_does_without_critic(name: str, max_tree_histories: int) -> None:
    settings = {**LEARNERS[name], "batch_size": 16, "max_tree_histories": max_tree_histories}
    alone, beside = (small_learner(name, critic=critic, **settings) for critic in (None, CRITIC))
    alone.run(20)
    beside.run(20)
    # The random generator's state among them.
    theirs = beside.state()
    assert_same_arrays(theirs, alone.state())
    metrics = beside.metrics()
    assert metrics.pop("critic_loss") > 0
    assert {k: v for k, v in metrics.items() if "second" not in k} == {
        k: v for k, v in alone.metrics().items() if "second" not in k
    }


def test_search_with_the_trained_critic_improves_the_blueprint() -> None:
    """Measured: NashConv falls from 0.12 to 0.045 and 0.003; the critic's error is 0.014."""
    tree = GameTree.from_game("kuhn_poker")
    learner = with_critic(tree)
    learner.run(700)
    blueprint, critic = learner.policy(), learner.critic()
    exact = ExactCritic(tree, blueprint.strategies, pure_transformations(2))
    assert mean_absolute_error(critic, exact) < 0.05
    before = nash_conv(tree, blueprint)
    for moves, share in ((1, 0.6), (2, 0.2)):
        policy = sepot.SePoTPolicy(tree, blueprint, critic, DepthLimit(moves=moves))
        assert nash_conv(tree, policy.to_array_policy()) < share * before


def test_the_critic_is_one_of_the_policy_that_is_handed_out() -> None:
    """The critic evaluates the target network, not the acting network."""
    learner = with_critic(target_averaging=1e-9, target_share=math.inf, learning_rate=1e-2)
    learner.run(30)
    played = learner.play()
    policy = played.observations.at_moves(learner.policy_at(played.observations))
    for player in (0, 1):
        tree, table = learner.policy().tree, learner.policy().strategies[player]
        own = played.valid & (played.player == player)
        assert played.observations.table_row is not None
        numbers = played.observations.at_moves(played.observations.table_row)[own]
        infosets = numbers - (tree.num_infosets(0) if player else 0)
        for infoset, row in zip(infosets.tolist(), policy[own].tolist(), strict=True):
            assert row == pytest.approx(table[tree.treeplexes[player].sequences(infoset)], abs=1e-6)
    valid = played.valid
    assert (policy[valid] - played.behaviour[valid]).abs().max() > 0.05


def test_checkpoints_with_and_without_critic(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    alone = with_critic(critic=None)
    alone.save(path)
    learner = with_critic()
    with pytest.raises(ValueError, match=r"has critic None, not .* or another file"):
        learner.load(path)
    learner.step()
    learner.save(path)
    # A plain learner goes on with the policy alone.
    alone.load(path)
    assert torch.equal(alone.parameters, learner.parameters)
    alone.step()
    assert alone.metrics()["step"] == 2
    with pytest.raises(ValueError, match="this learner has no critic"):
        alone.critic()
    with pytest.raises(ValueError, match="pass transformations= too"):
        small_learner("rnad", options={"critic": CRITIC})


def test_large_games_are_searched_without_being_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are those of the compiled game, of the learner and of its checkpoint."""
    game = "python_goofspiel_ii(num_cards=3,points_order=descending)"
    learner = with_critic(game, batch_size=8, max_tree_histories=10)
    learner.save(tmp_path / "checkpoint.safetensors")
    limit, tree = DepthLimit(rounds=1), GameTree.from_game(game)
    compiled = sepot.load(learner, limit, game=tree)
    assert isinstance(sepot.load(learner, limit), sepot.SePoTPolicy)
    monkeypatch.setattr(sepot, "_MAX_TREE_HISTORIES", 10)
    for source in (learner, tmp_path):
        played = sepot.load(source, limit)
        assert isinstance(played, sepot.SePoTPlayPolicy)
        for history in tree.first_history[1].tolist():
            state = tree.state(history)
            answer = played.action_probabilities(state)
            assert answer == pytest.approx(compiled.action_probabilities(state), abs=1e-6)


@pytest.mark.parametrize("entry", [0, -1])
@pytest.mark.parametrize("where", ["blueprint", "critic"])
def test_nan_names_step_term_and_checkpoint(where: str, entry: int, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    learner = with_critic()
    learner.run(7)
    learner.save(path)
    good = path.read_bytes()
    broken = learner.state()
    broken["parameters" if where == "blueprint" else "critic.parameters"][entry] = math.nan
    learner.load_state(broken)
    for _ in range(3):
        learner.step()
    term, rate = ("value loss", 0.002) if where == "blueprint" else ("critic loss", 0.002)
    message = (
        rf"the {term} is nan at step 8; .* that of step 7 \({re.escape(str(path))}\); use a "
        rf"smaller learning rate than {rate}"
    )
    with pytest.raises(ValueError, match=message):
        learner.save(path)
    assert path.read_bytes() == good


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_networks_on_a_gpu_give_the_same_searches(tmp_path: Path) -> None:
    game = load_turn_based("python_goofspiel_ii(num_cards=4,points_order=descending)")
    sizes = {"batch_size": 16, "max_tree_histories": 10}
    learner = with_critic(game, transformations="paper", **sizes)
    learner.step()
    learner.save(tmp_path / "checkpoint.safetensors")
    search = {"depth_limit": DepthLimit(rounds=1), "effort": Effort(iterations=20)}
    policies = [
        load_policy(f"sepot:{tmp_path}", game, device=device, **search)
        for device in ("cpu", "cuda")
    ]
    state = game.new_initial_state()
    while not state.is_terminal():
        on_cpu, on_gpu = (policy.action_probabilities(state) for policy in policies)
        assert on_gpu == pytest.approx(on_cpu, abs=1e-3)
        state.apply_action(state.legal_actions()[-1])
