"""Policies and searches by name: the same as when made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spiel_dl.algorithms import best_response, cfr, exploitability, sepot
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.jobs.solver_run import AVERAGE_POLICY_FILE
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.contestants import SearchOptions, load_contestant
from spiel_dl.play.named_policies import SEPOT, load_policy, load_search
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.effort import Effort
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
    found.save(tmp_path / AVERAGE_POLICY_FILE)
    for path in (tmp_path, tmp_path / AVERAGE_POLICY_FILE):
        assert same(load_policy(str(path), TREE), found)


def test_a_learners_checkpoint(tmp_path: Path) -> None:
    learner = RNaDSolver("kuhn_poker", RNaDConfig(hidden_sizes=(8,), batch_size=16))
    learner.save(tmp_path / "checkpoint.safetensors")
    found = load_policy(str(tmp_path / "checkpoint.safetensors"), TREE)
    assert same(load_policy(str(tmp_path), TREE), found)
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
    effort = Effort(iterations=100)
    for name, config in (
        ("sepot", sepot.SearchConfig.as_printed(effort=effort)),
        ("sepot_continual", sepot.SearchConfig(effort=effort)),
    ):
        expected = sepot.load(path, limit, config=config, game=TREE).to_array_policy()
        assert not same(expected, load_policy(str(path), TREE))
        for source in (path, tmp_path):
            assert same(load_search(f"{name}:{source}", TREE, limit, iterations=100), expected)


def test_sepot_means_the_same_in_play_and_on_a_page(tmp_path: Path) -> None:
    learner = RNaDSolver(
        "kuhn_poker",
        RNaDConfig(hidden_sizes=(8,), batch_size=16),
        transformations=transformations_by_name("pure", TREE.game),
        critic=CriticConfig(hidden_sizes=(8,)),
    )
    learner.save(tmp_path / "checkpoint.safetensors")
    search = SearchOptions(DepthLimit(moves=1), effort=Effort(iterations=50))
    pages = []
    for kind in SEPOT:
        name = f"{kind}:{tmp_path}"
        pages.append(load_search(name, TREE, search.depth_limit, iterations=50))
        played = load_contestant(name, TREE.game, search)
        for player in (0, 1):
            for history in TREE.first_history[player].tolist():
                state = TREE.state(history)
                answer = pages[-1].action_probabilities(state)
                assert played.action_probabilities(state) == pytest.approx(answer, abs=1e-6)
    assert not same(*pages)


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
        ("cfr+:many", "no model 'cfr\\+:many'.* Use uniform, equilibrium"),
        ("cfr+:0", "iterations=0 must be at least 1"),
        ("cfr:0", "iterations=0 must be at least 1"),
    ],
)
def test_unknown_policies(name: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        load_policy(name, TREE)


def test_files_that_hold_no_policy_for_the_game(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"holds no {AVERAGE_POLICY_FILE}"):
        load_policy(str(tmp_path), TREE)
    ArrayPolicy.uniform(GameTree.from_game("matrix_rps")).save(tmp_path / AVERAGE_POLICY_FILE)
    with pytest.raises(ValueError, match="not of kuhn_poker"):
        load_policy(str(tmp_path), TREE)


def test_unknown_searches() -> None:
    limit = DepthLimit(moves=1)
    for name in ("resolving", "cdbr:", "alpha:zero"):
        with pytest.raises(ValueError, match="give one of resolving:VALUES"):
            load_search(name, TREE, limit)
    with pytest.raises(ValueError, match="iterations=0"):
        load_search("resolving:exact", TREE, limit, iterations=0)
    with pytest.raises(ValueError, match="nowhere is neither a learner's checkpoint"):
        load_search("sepot:nowhere", TREE, limit)
