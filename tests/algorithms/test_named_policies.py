"""Policies and searches by name: the same as when made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spiel_dl.algorithms import best_response, cfr, exploitability, opponent_models, sepot
from spiel_dl.algorithms.array_policy import ArrayPolicy
from spiel_dl.algorithms.named_policies import load_policy, load_search
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.algorithms.solver_run import POLICY_FILE
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.tree import DepthLimit, GameTree

TREE = GameTree.from_game("kuhn_poker")


def same(first: ArrayPolicy, second: ArrayPolicy) -> bool:
    return all(np.array_equal(first.strategies[p], second.strategies[p]) for p in (0, 1))


def test_policies(tmp_path: Path) -> None:
    solver = cfr.CFRPlusSolver(TREE)
    solver.run(50)
    found = load_policy("cfr+:50", TREE)
    assert same(found, solver.average_policy())
    assert not same(found, load_policy("cfr:50", TREE))
    assert same(load_policy("uniform", TREE), ArrayPolicy.uniform(TREE))
    assert same(load_policy("random:3", TREE), opponent_models.random_policy(TREE, 3))
    found.save(tmp_path / POLICY_FILE)
    for path in (tmp_path, tmp_path / POLICY_FILE):
        assert same(load_policy(str(path), TREE), found)


def test_a_learners_checkpoint(tmp_path: Path) -> None:
    learner = RNaDSolver("kuhn_poker", RNaDConfig(hidden_sizes=(8,), batch_size=16))
    learner.save(tmp_path / "checkpoint.safetensors")
    found = load_policy(str(tmp_path / "checkpoint.safetensors"), TREE)
    state = TREE.state(int(TREE.first_history[0][0]))
    expected = learner.policy().action_probabilities(state)
    assert found.action_probabilities(state) == pytest.approx(expected, abs=1e-6)


def test_continual_resolving_is_nearly_an_equilibrium() -> None:
    found = load_search("resolving:exact", TREE, DepthLimit(moves=1), iterations=300)
    assert exploitability.exploitability(TREE, found) < 0.02


def test_sepot_searches_on_top_of_a_checkpoint(tmp_path: Path) -> None:
    learner = RNaDSolver(
        "kuhn_poker",
        RNaDConfig(hidden_sizes=(8,), batch_size=16),
        transformations=transformations_by_name("pure", TREE.game),
        critic=CriticConfig(hidden_sizes=(8,)),
    )
    path = tmp_path / "checkpoint.safetensors"
    learner.save(path)
    limit = DepthLimit(moves=1)
    found = load_search(f"sepot:{path}", TREE, limit, iterations=100)
    config = sepot.SearchConfig(effort=sepot.SearchEffort(iterations=100))
    assert same(found, sepot.load(path, limit, config, TREE).to_array_policy())
    assert not same(found, load_policy(str(path), TREE))


@pytest.mark.parametrize("player", [0, 1])
def test_a_response_that_sees_the_whole_game_is_a_best_response(player: int) -> None:
    uniform = ArrayPolicy.uniform(TREE)
    found = load_search("cdbr:uniform", TREE, DepthLimit(moves=3), player=player)
    policies = (found, uniform) if player == 0 else (uniform, found)
    value = exploitability.expected_value(TREE, *policies)
    best = best_response.best_response_value(TREE, uniform, player)
    assert (value if player == 0 else -value) == pytest.approx(best)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nobody", "no policy 'nobody'; give one of uniform"),
        ("cfr+:many", r"number of iterations, such as cfr\+:1000"),
        ("cfr+:0", r"number of iterations, such as cfr\+:1000"),
        ("cfr:0", "iterations=0 must be at least 1"),
    ],
)
def test_unknown_policies(name: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        load_policy(name, TREE)


def test_files_that_hold_no_policy_for_the_game(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"holds no {POLICY_FILE}"):
        load_policy(str(tmp_path), TREE)
    ArrayPolicy.uniform(GameTree.from_game("matrix_rps")).save(tmp_path / POLICY_FILE)
    with pytest.raises(ValueError, match="not of kuhn_poker"):
        load_policy(str(tmp_path), TREE)


def test_unknown_searches() -> None:
    limit = DepthLimit(moves=1)
    for name in ("resolving", "cdbr:", "alpha:zero"):
        with pytest.raises(ValueError, match="give one of resolving:VALUES"):
            load_search(name, TREE, limit)
    with pytest.raises(ValueError, match="iterations=0"):
        load_search("resolving:exact", TREE, limit, iterations=0)
    with pytest.raises(ValueError, match="cannot read the file nowhere"):
        load_search("sepot:nowhere", TREE, limit)
