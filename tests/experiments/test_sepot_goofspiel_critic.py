"""Exact values in large games of Goofspiel, against a walk through compiled ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from open_spiel.python.algorithms import exploitability as peer
from open_spiel.python.algorithms.expected_game_score import policy_value

from experiments.sepot.goofspiel_critic import GoofspielCritic
from experiments.sepot.goofspiel_tables import (
    Deck,
    best_response_value,
    expected_return,
    nash_conv,
    tables,
)
from experiments.sepot.table_1 import match_seed
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import ExactCritic, RecognisingCritic
from spiel_dl.learning.transformations import action_values, paper_transformations
from spiel_dl.play.history_networks import CriticValues
from spiel_dl.play.matches import play_match
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.search.sepot_config import DEFAULT_EFFORT
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.tiny_sepot import networks, report

GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order={},returns_type={})"


@pytest.mark.parametrize(
    ("num_cards", "order", "returns"),
    [(3, "descending", "win_loss"), (4, "ascending", "point_difference"),
     (4, "descending", "win_loss")],
)  # fmt: skip
def test_values_are_those_of_a_walk_through_the_tree(
    num_cards: int, order: str, returns: str
) -> None:
    game = load_turn_based(GOOFSPIEL.format(num_cards, order, returns))
    size = game.information_state_tensor_size()
    network = PolicyNetwork(size, game.num_distinct_actions(), (16,))
    policy = NetworkPolicy(game, network, 3.0 * network.initial_parameters(0))
    transformations = paper_transformations(action_values(game))
    critic = GoofspielCritic(game, policy.act, transformations)
    tree = GameTree.from_game(game)
    table = ArrayPolicy.from_policy(tree, policy)
    exact = ExactCritic(tree, table.strategies, transformations)
    depths = DepthLimit(rounds=1).depths(tree)
    begin = depths != np.append(-1, depths[tree.parent[1:]])
    histories = np.flatnonzero((tree.player >= 0) & begin)
    assert len(set(depths[histories])) == num_cards - 1
    for player in (0, 1):
        found = critic.values(tree, histories, player)
        np.testing.assert_allclose(found, exact.values(tree, histories, player), atol=2e-6)
        assert np.ptp(found) > 0.5
    deck, other = Deck(game), ArrayPolicy.uniform(tree)
    own, uniform = (
        [tables(deck, act, player)[0] for player in (0, 1)] for act in (policy.act, evenly)
    )
    root = game.new_initial_state()
    for first, second, peers in (
        (own[0], uniform[1], (table, other)),
        (own[0], own[1], (table,) * 2),
    ):
        expected = policy_value(root, list(peers))[0]
        assert expected_return(deck, first, second) == pytest.approx(expected, abs=1e-6)
        assert abs(expected) > 1e-4
    assert nash_conv(deck, *own) == pytest.approx(peer.nash_conv(game, table), abs=1e-6)
    assert best_response_value(deck, 0, own[1]) != pytest.approx(
        best_response_value(deck, 1, own[0])
    )


def evenly(seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    return legal / legal.sum(dim=1, keepdim=True)


def test_a_match_with_exact_values_is_that_of_the_compiled_games_critic(tmp_path: Path) -> None:
    game = load_turn_based(GOOFSPIEL.format(4, "descending", "win_loss"))
    networks(game, tmp_path, 2)
    transformations = paper_transformations(action_values(game))
    limit, most = DepthLimit(rounds=1), 40
    found = report(
        "exact_match", tmp_path, games=(str(game),), network=f"{tmp_path}/{{seed}}.safetensors",
        bounds=(most,), num_games=6, iterations=50, limits=(limit,),
    )  # fmt: skip
    rows = found.tables["All matches"].rows
    assert [(row["network"], row["opponent"]) for row in rows] == [
        ("seed 0", "seed 1"), ("seed 1", "seed 0"),
    ]  # fmt: skip
    tree = GameTree.from_game(game)
    for row, own in zip(rows, (0, 1), strict=True):
        first, second = (
            checkpoints.load(tmp_path / f"{seed}.safetensors", game) for seed in (own, 1 - own)
        )
        table = ArrayPolicy.from_policy(tree, first.blueprint)
        exact = RecognisingCritic(ExactCritic(tree, table.strategies, transformations))
        effort = dataclasses.replace(DEFAULT_EFFORT, iterations=50)
        config = SearchConfig(max_histories=most, effort=effort)
        policy = SePoTPlayPolicy(game, first.blueprint.act, exact, limit, config=config)
        values = CriticValues(first.critic)
        seed = match_seed(own, 1 - own)
        result = play_match(game, policy, second.blueprint, 6, seed, values)
        assert row["mean"] == result.mean_return
        assert row["without_luck"] == pytest.approx(result.without_luck.mean, abs=1e-5)
        assert 0 < row["share_searched"] < 1
    [line] = found.tables["Table 1"].rows
    assert line["mean"] == pytest.approx(np.mean([row["without_luck"] for row in rows]))


@pytest.mark.parametrize(
    "game",
    ["python_goofspiel_ii(num_cards=4)", "python_leduc",
     "python_goofspiel_ii(num_cards=4,points_order=descending,forced_last_round=true)"],
)  # fmt: skip
def test_other_games_are_refused(game: str) -> None:
    with pytest.raises(ValueError, match="is no Goofspiel of 3 cards or more"):
        GoofspielCritic(load_turn_based(game), None, None)


def test_searched_policies_are_those_of_the_compiled_game(tmp_path: Path) -> None:
    game = load_turn_based(GOOFSPIEL.format(4, "descending", "win_loss"))
    checkpoint = networks(game, tmp_path, 1)
    limit, most = DepthLimit(rounds=1), 40
    found = report(
        "earned_large", tmp_path, games=(str(game),), network=str(checkpoint), seeds=(0,),
        bounds=(most,), iterations=50, limits=(limit,),
    )  # fmt: skip
    trained, exact = found.tables["By network and critic"].rows
    tree = GameTree.from_game(game)
    loaded = checkpoints.load(checkpoint, game)
    table = ArrayPolicy.from_policy(tree, loaded.blueprint)
    transformations = paper_transformations(action_values(game))
    effort = dataclasses.replace(DEFAULT_EFFORT, iterations=50)
    config = SearchConfig(max_histories=most, effort=effort)
    for row, critic in (
        (trained, loaded.critic),
        (exact, ExactCritic(tree, table.strategies, transformations)),
    ):
        policy = SePoTPolicy(tree, table, critic, limit, config=config).to_array_policy()
        root = game.new_initial_state()
        as_first = policy_value(root, [policy, table])[0]
        as_second = policy_value(root, [table, policy])[1]
        assert row["before"] == pytest.approx(peer.nash_conv(game, table), abs=1e-5)
        assert row["after"] == pytest.approx(peer.nash_conv(game, policy), abs=1e-4)
        assert row["earned"] == pytest.approx((as_first + as_second) / 2, abs=1e-4)
        assert 0 < row["searched"] < sum(tree.num_infosets(player) for player in (0, 1))
    assert trained["after"] != exact["after"] != exact["before"]


def test_readings_in_large_games_are_those_of_compiled_ones(tmp_path: Path) -> None:
    game = load_turn_based(GOOFSPIEL.format(4, "descending", "win_loss"))
    checkpoint = networks(game, tmp_path, 1)
    shared = {"games": (str(game),), "iterations": 300, "limits": (DepthLimit(rounds=1),)}
    small = report("readings", tmp_path / "small", blueprints=(str(checkpoint),), **shared)
    large = report(
        "readings_large", tmp_path / "large", network=str(checkpoint), seeds=(0,),
        bounds=(100_000,), **shared,
    )  # fmt: skip
    small_rows, large_rows = (each.tables["By search"].rows for each in (small, large))
    assert [row["reading"] for row in small_rows] == [row["reading"] for row in large_rows]
    for expected, row in zip(small_rows, large_rows, strict=True):
        for name in ("before", "after", "earned", "most"):
            assert row[name] == pytest.approx(expected[name], abs=1e-3)
    assert len({round(row["after"], 2) for row in small_rows}) > 3
    earned = {row["reading"]: row["earned"] for row in small_rows}
    assert earned["neither"] > earned["no gadget"] > earned["defaults"]
