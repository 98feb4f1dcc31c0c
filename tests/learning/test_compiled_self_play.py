"""Self-play by compiled rules: the same games, observations and learning as by tensors."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spiel_dl.algorithms import mmd, rnad
from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.games.goofspiel_ii import GoofspielIIRules
from spiel_dl.games.leduc import LeducRules
from spiel_dl.games.rules import Rules
from spiel_dl.learning import environments
from spiel_dl.learning.compiled_self_play import ActingNetwork, CompiledSelfPlay
from spiel_dl.learning.self_play import SelfPlay, Trajectories
from spiel_dl.policies.policy_network import PolicyNetwork
from tests.games.test_compiled import LARGE, SMALL

GAMES = {n: LARGE[n] for n in ("goofspiel 8", "battleships 5x5")} | {
    n: SMALL[n] for n in ("leduc", "goofspiel 3, random", "battleships 2x2, repeated")
}
SETTINGS = {"batch_size": 24, "hidden_sizes": (32, 16), "max_tree_histories": 0, "seed": 1}


def acting_network(rules: Rules) -> ActingNetwork:
    environment = BatchedEnvironment(rules, 1)
    size = environment.information_state_tensor().shape[1]
    network = PolicyNetwork(size, rules.num_actions, (32, 16))
    return ActingNetwork(network, 3 * network.initial_parameters(7))


def both_ways(rules: Rules, num_steps: int | None = None) -> tuple[Trajectories, Trajectories]:
    """The second batch of games by compiled loops, and by tensors, from the same seed."""
    steps = num_steps or rules.max_game_length
    ours = CompiledSelfPlay(CompiledEnvironment(rules, 50, seed=2), steps)
    theirs = SelfPlay(BatchedEnvironment(rules, 50, seed=2), steps)
    for self_play in (ours, theirs):
        self_play.play(acting_network(rules))
        self_play.record_histories()
    return ours.play(acting_network(rules)), theirs.play(acting_network(rules))


def check_same_games(ours: Trajectories, theirs: Trajectories) -> None:
    valid = theirs.valid
    assert torch.equal(ours.valid, valid)
    for name in ("legal", "player", "action", "reward"):
        assert torch.equal(getattr(ours, name)[valid], getattr(theirs, name)[valid]), name
    assert torch.equal(ours.reward, theirs.reward)
    assert torch.allclose(ours.behaviour[valid], theirs.behaviour[valid], atol=1e-5)
    seen = ours.distinct_observations()
    assert torch.equal(seen.at_moves(seen.tensors.dense())[valid], theirs.observation[valid])
    histories = ours.distinct_histories()
    assert torch.equal(histories.at_moves(histories.tensors.dense())[valid], theirs.history[valid])


def test_exploration_is_that_by_tensors() -> None:
    exploring = dataclasses.replace(acting_network(LeducRules()), exploration=0.3)
    ours = CompiledSelfPlay(CompiledEnvironment(LeducRules(), 50, seed=2), 8).play(exploring)
    theirs = SelfPlay(BatchedEnvironment(LeducRules(), 50, seed=2), 8).play(exploring)
    assert torch.equal(ours.action[ours.valid], theirs.action[theirs.valid])
    torch.testing.assert_close(ours.behaviour[ours.valid], theirs.behaviour[theirs.valid])


@pytest.mark.parametrize("name", GAMES)
def test_a_network_plays_the_same_games(name: str) -> None:
    ours, theirs = both_ways(GAMES[name])
    assert bool(theirs.valid.any(dim=0).all())
    check_same_games(ours, theirs)


def test_games_that_do_not_end_in_time_are_masked() -> None:
    ours, theirs = both_ways(LeducRules(), num_steps=4)
    assert 0 < int(theirs.valid.any(dim=0).sum()) < 50
    check_same_games(ours, theirs)


def test_what_the_network_said_in_play_is_what_it_says() -> None:
    rules = LeducRules()
    acting = acting_network(rules)
    played = CompiledSelfPlay(CompiledEnvironment(rules, 50), 8).play(acting)
    rows = played.distinct_observations().tensors
    assert rows.evaluation.holds(acting.parameters)
    again = acting.network.outputs(acting.parameters, rows._replace(evaluation=None))
    assert torch.allclose(acting.network.outputs(acting.parameters, rows), again, atol=1e-5)


def test_gradients_come_from_moves_and_nowhere_else() -> None:
    acting = acting_network(LeducRules())
    played = CompiledSelfPlay(CompiledEnvironment(LeducRules(), 50), 8).play(acting)
    seen = played.distinct_observations()
    assert seen.moves is not None  # games of Leduc differ in length
    outputs = torch.rand((len(seen.moves), 3), requires_grad=True)
    weight = torch.rand((*seen.shape, 3))
    at_moves = seen.at_moves(outputs)
    assert not bool(at_moves[played.player < 0].any())
    (at_moves * weight).sum().backward()
    assert torch.equal(outputs.grad, weight[played.player >= 0])


@pytest.mark.parametrize("kind", [rnad.RNaDSolver, mmd.MMDSolver])
@pytest.mark.parametrize("game", ["python_leduc", "python_goofspiel_ii(num_cards=4)"])
def test_learning_is_that_by_tensors(
    kind: type, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = kind(game, kind.default_config(**SETTINGS))
    monkeypatch.setattr(environments, "LARGEST_COMPILED_BATCH", 0)
    by_tensors = kind(game, kind.default_config(**SETTINGS))
    assert isinstance(compiled._self_play, CompiledSelfPlay)
    assert not isinstance(by_tensors._self_play, CompiledSelfPlay)
    first = compiled.parameters.detach().clone()
    for _ in range(3):
        compiled.step()
        by_tensors.step()
    # Adam's first steps go as far whatever the gradient's size, so next to nothing may differ.
    moved = (compiled.parameters - first).abs().detach()
    apart = (compiled.parameters - by_tensors.parameters).abs().detach()
    assert apart.mean() < 0.01 * moved.mean()
    ours, theirs = compiled.metrics(), by_tensors.metrics()
    for term in compiled.terms:
        assert ours[term] == pytest.approx(theirs[term], rel=1e-3, abs=1e-5)


def test_a_checkpoint_continues_to_the_same_bits(tmp_path: Path) -> None:
    config = rnad.RNaDConfig(**SETTINGS, first_period=4)
    whole = rnad.RNaDSolver("python_leduc", config)
    for step in range(11):
        whole.step()
        if step == 4:
            whole.save(tmp_path / "checkpoint.safetensors")
    resumed = rnad.RNaDSolver("python_leduc", config)
    resumed.step()
    resumed.load(tmp_path / "checkpoint.safetensors")
    for _ in range(6):
        resumed.step()
    for name, array in whole.state().items():
        assert np.array_equal(array, resumed.state()[name]), name


@pytest.mark.parametrize("game", ["python_leduc", "python_phantom_ttt"])
@pytest.mark.parametrize("kind", [mmd.MMDSolver, rnad.RNaDSolver])
def test_a_network_of_nans_makes_legal_moves_and_its_losses_tell(kind: Any, game: str) -> None:
    learner = kind(game, kind.default_config(**SETTINGS))
    with torch.no_grad():
        learner.parameters.fill_(torch.nan)
    played = learner.play()
    moved = played.player >= 0
    action = played.action.unsqueeze(-1)
    assert played.valid.any(dim=0).all()
    assert played.legal.gather(-1, action)[moved].all()
    assert played.behaviour.gather(-1, action)[moved].isnan().all()
    with pytest.raises(ValueError, match="is nan at step 1"):
        learner.run(1)


def test_longer_runs_of_chance_than_observed_are_told() -> None:
    rules = GoofspielIIRules(3)
    rules.longest_chance_run = -1  # as if chance never acted
    self_play = CompiledSelfPlay(CompiledEnvironment(rules, 4), 4)
    with pytest.raises(ValueError, match="set the rules' longest_chance_run"):
        self_play.play(acting_network(rules))
