"""Data-biased responses against a linear program over all pure strategies, and at the ends."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.optimize

from spiel_dl.algorithms import data_biased, exploitability
from spiel_dl.algorithms.best_response import best_response_value
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree import GameTree
from spiel_dl.tree.load import compile_game


def blends(tree: GameTree, player: int, model: np.ndarray, trust: np.ndarray) -> list[ArrayPolicy]:
    """All strategies of a player that play the model with some trust, and else a pure strategy."""
    treeplex = tree.treeplexes[player]
    found = []
    for choices in itertools.product(*(range(n) for n in treeplex.num_actions)):
        strategy = np.ones(treeplex.num_sequences)
        for infoset, choice in enumerate(choices):
            own = treeplex.sequences(infoset)
            free = np.eye(int(treeplex.num_actions[infoset]))[choice]
            strategy[own] = trust[infoset] * model[own] + (1 - trust[infoset]) * free
        other = tree.treeplexes[1 - player].uniform_strategy()
        found.append(ArrayPolicy(tree, (strategy, other) if player == 0 else (other, strategy)))
    return found


def utility(tree: GameTree, player: int, own: ArrayPolicy, other: ArrayPolicy) -> float:
    if player == 0:
        return exploitability.expected_value(tree, own, other)
    return -exploitability.expected_value(tree, other, own)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_kuhn_by_a_matrix_of_all_pure_strategies(player: int, seed: int) -> None:
    tree = compile_game("kuhn_poker")
    model = opponent_models.random_policy(tree, seed)
    opponent = 1 - player
    trust = np.random.default_rng(seed).uniform(size=tree.num_infosets(opponent))
    others = blends(tree, opponent, model.strategies[opponent], trust)
    no_trust = np.zeros(tree.num_infosets(player))
    own = blends(tree, player, model.strategies[player], no_trust)
    matrix = np.array([[utility(tree, player, x, y) for y in others] for x in own])
    # max v subject to v <= (matrix^T x) in every column.
    solution = scipy.optimize.linprog(
        c=np.append(np.zeros(len(own)), -1.0),
        A_ub=np.hstack([-matrix.T, np.ones((len(others), 1))]),
        b_ub=np.zeros(len(others)),
        A_eq=np.append(np.ones(len(own)), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * len(own) + [(None, None)],
    )
    response = data_biased.data_biased_response(tree, player, model, trust=trust)
    worst = min(utility(tree, player, response, y) for y in others)
    assert worst == pytest.approx(-solution.fun, abs=1e-9)


@pytest.mark.parametrize("player", [0, 1])
def test_no_trust_is_an_equilibrium_and_full_trust_a_best_response(player: int) -> None:
    tree = compile_game("leduc_poker")
    model = opponent_models.cfr_average(tree, 3)
    count = tree.num_infosets(1 - player)
    safe = data_biased.data_biased_response(tree, player, model, trust=np.zeros(count))
    assert exploitability.player_exploitability(tree, safe, player) == pytest.approx(0, abs=1e-9)
    bold = data_biased.data_biased_response(tree, player, model, trust=np.ones(count))
    most = best_response_value(tree, model, player)
    assert utility(tree, player, bold, model) == pytest.approx(most, abs=1e-9)
    assert exploitability.player_exploitability(tree, bold, player) > 0.1


def test_trust_where_it_is_due_exploits_only_there() -> None:
    """An opponent who is not trusted with a king cannot be exploited there."""
    tree = compile_game("kuhn_poker")
    model = ArrayPolicy.uniform(tree)
    gains = []
    for trusted in ("", "0", "01", "012"):
        cards = [tree.infoset_string(1, infoset)[0] in trusted for infoset in range(6)]
        response = data_biased.data_biased_response(
            tree, 0, model, trust=np.array(cards, np.float64)
        )
        worst = min(
            utility(tree, 0, response, y)
            for y in blends(tree, 1, model.strategies[1], np.array(cards, np.float64))
        )
        gains.append(worst)
    assert gains[0] == pytest.approx(-1 / 18, abs=1e-12)
    assert gains[3] == pytest.approx(0.5, abs=1e-12)
    assert gains == sorted(gains)
    assert len({round(gain, 6) for gain in gains}) == 4


@pytest.mark.parametrize(
    "trust", [np.zeros(5), np.full(6, 1.1), np.full(6, -0.1), np.full(6, np.nan)]
)
def test_trust_must_be_probabilities(trust: np.ndarray) -> None:
    with pytest.raises(ValueError, match="must be 6 numbers between 0 and 1"):
        data_biased.data_biased_response(
            "kuhn_poker", 0, ArrayPolicy.uniform(compile_game("kuhn_poker")), trust=trust
        )
