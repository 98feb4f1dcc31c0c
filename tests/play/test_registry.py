"""Policies and searches by name: the same as when made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, Effort, GameTree, load_policy
from spiel_dl.algorithms import cfr, sepot
from spiel_dl.play.presets import game_string
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies import opponent_models
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE
from tests.reference import state_after
from tests.small_learners import CRITIC, small_learner

TREE = GameTree.from_game("kuhn_poker")


def same(first: ArrayPolicy, second: ArrayPolicy) -> bool:
    return all(np.array_equal(first.strategies[p], second.strategies[p]) for p in (0, 1))


def test_policies(tmp_path: Path) -> None:
    solver = cfr.CFRPlusSolver(TREE)
    solver.run(50)
    found = load_array_policy("cfr+:50", TREE)
    assert same(found, solver.average_policy())
    assert not same(found, load_array_policy("cfr:50", TREE))
    assert same(load_array_policy("uniform", TREE), ArrayPolicy.uniform(TREE))
    assert same(load_array_policy("random:3", TREE), opponent_models.random_policy(TREE, 3))
    found.save(tmp_path / AVERAGE_POLICY_FILE)
    for path in (tmp_path, tmp_path / AVERAGE_POLICY_FILE):
        assert same(load_array_policy(str(path), TREE), found)


def test_sepot_searches_on_top_of_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    small_learner("rnad", TREE.game, critic=CRITIC).save(path)
    limit = DepthLimit(moves=1)
    effort = Effort(iterations=100)
    config = sepot.SearchConfig(effort=effort)
    expected = sepot.load(path, limit, config=config, game=TREE).to_array_policy()
    assert not same(expected, load_array_policy(str(path), TREE))
    for source in (path, tmp_path):
        name = f"sepot:{source}"
        assert same(load_array_policy(name, TREE, depth_limit=limit, effort=effort), expected)
    # In play it means the same as on a page.
    played = load_policy(name, TREE.game, depth_limit=limit, effort=effort)
    for player in (0, 1):
        for history in TREE.first_history[player].tolist():
            state = TREE.state(history)
            answer = expected.action_probabilities(state)
            assert played.action_probabilities(state) == pytest.approx(answer, abs=1e-6)


def test_search_below_particles_by_name(tmp_path: Path) -> None:
    """With room for everything, it is SePoT; `show` and `head_to_head` ask for it so."""
    game = "python_goofspiel_ii(num_cards=3,points_order=descending)"
    tree = GameTree.from_game(game)
    path = tmp_path / "checkpoint.safetensors"
    small_learner("rnad", tree.game, critic=CRITIC, transformations="paper").save(path)
    state = state_after(game, (1, 0))
    effort = Effort(20)
    expected = load_policy(f"sepot:{path}", effort=effort).action_probabilities(state)
    for name, settings in (("particle_sepot", {}), ("klss", {"order": 9})):
        found = load_policy(f"{name}:{path}", effort=effort, **settings)
        assert found.action_probabilities(state) == pytest.approx(expected, abs=1e-6)
        assert found.answer_was_searched
    network = load_policy(str(path), tree.game).action_probabilities(state)
    searched = load_policy(f"mmds:{path}", stepsize=1e-9, num_rollouts=10)
    assert searched.action_probabilities(state) == pytest.approx(network, abs=1e-6)
    table = load_array_policy(f"mmds:{path}", tree, stepsize=1e-9, num_rollouts=10)
    assert table.action_probabilities(state) == pytest.approx(network, abs=1e-6)


def test_responses_in_both_seats() -> None:
    """Without a player, each player responds to the other one's part of the model."""
    limit = {"depth_limit": DepthLimit(moves=3)}
    both = load_array_policy("cdbr:cfr:2", TREE, **limit)
    lazy = load_policy("cdbr:cfr:2", TREE, **limit)
    for player in (0, 1):
        single = load_array_policy("cdbr:cfr:2", TREE, player=player, **limit)
        np.testing.assert_array_equal(both.strategies[player], single.strategies[player])
        for history in TREE.first_history[player].tolist():
            state = TREE.state(history)
            expected = both.action_probabilities(state)
            assert lazy.action_probabilities(state) == pytest.approx(expected)


def test_who_errs_late_is_an_equilibrium_above_the_limit() -> None:
    limit = DepthLimit(moves=1)
    late = load_array_policy("late:random:1", TREE, depth_limit=limit)
    equilibrium, mistakes = (load_array_policy(n, TREE) for n in ("equilibrium", "random:1"))
    expected = opponent_models.errs_beyond(TREE, limit, equilibrium, mistakes)
    assert same(late, expected)


@pytest.mark.parametrize("name", ["cdbr:uniform", "resolving:zero", "late:uniform"])
def test_searches_have_a_depth_limit_in_games_without_rounds(name: str) -> None:
    """Two moves, as scripts have it."""
    state = TREE.state(int(TREE.first_history[0][0]))
    found = [
        load_policy(name, "kuhn_poker", **limit).action_probabilities(state)
        for limit in ({}, {"depth_limit": DepthLimit(moves=2)})
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["particle_sepot", "klss"])
def test_searches_have_the_same_depth_limit_whoever_says_the_game(kind: str) -> None:
    """In Battleships one move, also where the model alone says the game."""
    for game in (None, game_string("battleships_3x3")):
        policy: Any = load_policy(f"{kind}:rnad:battleships_3x3", game)
        assert policy.policy.source.depth_limit == DepthLimit(moves=1)


def test_files_say_of_which_game_they_are(tmp_path: Path) -> None:
    path = tmp_path / AVERAGE_POLICY_FILE
    ArrayPolicy.uniform(TREE).save(path)
    assert load_policy(str(path)).game == load_policy(path).game == TREE.game
    assert ArrayPolicy.load(path, "kuhn_poker(players=2)").tree.num_histories == TREE.num_histories
    small_learner("rnad").save(tmp_path / "rnad")
    assert str(load_policy(str(tmp_path / "rnad")).game) == str(TREE.game)
    with pytest.raises(ValueError, match=r"cfr:3 does not say of which game it is; pass game="):
        load_policy("cfr:3")
