"""Rivers by quantiles, and networks that learn from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.poker import networks, rivers
from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.value_functions.river import NUM_PARTS, balanced


def _value(nodes: rivers.Nodes, strategy: np.ndarray, node: int, hands: tuple[int, int]) -> float:
    """Player 0's mean utility with two hands."""
    if nodes.player[node] < 0:
        if nodes.folded[node] >= 0:
            return -nodes.spent[node] if nodes.folded[node] == 0 else nodes.spent[node]
        return nodes.spent[node] * np.sign(hands[0] - hands[1])
    return sum(
        strategy[node, action, hands[nodes.player[node]]]
        * _value(nodes, strategy, nodes.successor[node, action], hands)
        for action in np.flatnonzero(nodes.legal[node])
    )


def test_a_form_has_what_pairs_of_hands_win_one_by_one() -> None:
    nodes, rng = rivers.nodes_of(2.0), np.random.default_rng(0)
    masses = rng.random((2, 3))
    strategy = rng.random((*nodes.legal.shape, 3)) * nodes.legal[:, :, None]
    strategy /= np.maximum(strategy.sum(axis=1, keepdims=True), 1e-300)
    pairs = np.array([[_value(nodes, strategy, 0, (i, j)) for j in range(3)] for i in range(3)])
    expected = (pairs @ masses[1], -pairs.T @ masses[0])
    form = rivers.form_of(nodes, 3)
    bound = []
    for player, treeplex in enumerate(form.treeplexes):
        own = [strategy[n][nodes.legal[n]].T for n in np.flatnonzero(nodes.player == player)]
        probabilities = np.concatenate([np.ones(3), *(each.ravel() for each in own)])
        everywhere = np.ones(treeplex.num_infosets, np.bool_)
        bound.append(FixedStrategy(everywhere, probabilities))
    for player in (0, 1):
        other = 1 - player
        plan = bound[other].plan(form.treeplexes[other], masses[other])
        found = best_response(form, player, plan, fixed=bound[player])
        np.testing.assert_allclose(found.cfv[:3], expected[player], atol=1e-12)


def test_solved_rivers_leave_little_to_gain() -> None:
    rng = np.random.default_rng(1)
    masses = rng.random((4, 2, 16))
    masses /= masses.sum(axis=2, keepdims=True)
    found = rivers.solve(rivers.form_of(rivers.nodes_of(1.0), 16), masses, 300)
    # Both best responses: what they win together is what is left to gain.
    gaps = (found * masses).sum(axis=(1, 2))
    assert (gaps > 0).all()
    assert gaps.max() < 0.003


def test_a_network_learns_from_the_rivers_of_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivers, "_LOOKS", 1)
    monkeypatch.setattr(rivers, "_OF_A_LOOK", 8)
    rivers.make_quantiles(tmp_path, seed=1, number=1)
    [path] = tmp_path.iterdir()
    data = np.load(path)
    assert data["values"].shape == (len(data["stacks"]), 2, NUM_PARTS)
    shares = data["shares"].astype(np.float64)
    total = (data["values"][:, 0] * shares + data["values"][:, 1] * (1 - shares)).mean(axis=1)
    np.testing.assert_allclose(total, 0.0, atol=1e-4)
    learned = networks.read([path])
    errors = []
    for num_steps in (0, 20):
        network = networks.train(learned, seed=0, num_steps=num_steps)
        with torch.no_grad():
            found = balanced(network.module, learned.inputs)
        errors.append(float((found - learned.values).square().mean()))
    assert errors[1] < errors[0] / 2
