"""Rivers by quantiles, and trunks of turns by a network that has learned from them."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from experiments.experiment import run
from experiments.poker import quantile_kernels, resolving, responses, rivers, turn
from spiel_dl.runs.workspace import Workspace
from spiel_dl.value_functions.river import NUM_PARTS


def _value(tree, strategy, node, hands):
    """What player 0 wins on average with two hands."""
    mover, legal, successor, spent, folded = tree
    if mover[node] < 0:
        if folded[node] >= 0:
            return -spent[node] if folded[node] == 0 else spent[node]
        return spent[node] * np.sign(hands[0] - hands[1])
    return sum(
        strategy[node, action, hands[mover[node]]]
        * _value(tree, strategy, successor[node, action], hands)
        for action in np.flatnonzero(legal[node])
    )


def _tree(stack: float):
    parameters = rivers.parameters("2c2d2h2s3c", rivers.POT, stack * rivers.POT)
    return rivers.nodes_of(pyspiel.load_game("python_holdem", parameters).rules)


def test_a_walk_is_what_pairs_of_hands_win_one_by_one() -> None:
    tree, rng = _tree(2.0), np.random.default_rng(0)
    masses = rng.random((2, 3))
    strategy = rng.random((*tree[1].shape, 3)) * tree[1][:, :, None]
    strategy /= np.maximum(strategy.sum(axis=1, keepdims=True), 1e-300)
    pairs = np.array([[_value(tree, strategy, 0, (i, j)) for j in range(3)] for i in range(3)])
    expected = (pairs @ masses[1], -pairs.T @ masses[0])
    for player in (0, 1):
        reach, values = np.zeros((len(tree[0]), 3)), np.zeros((len(tree[0]), 3))
        quantile_kernels._walk(player, tree, masses, strategy, reach, values, False)
        np.testing.assert_allclose(values[0], expected[player], atol=1e-12)


def test_solved_rivers_leave_little_to_gain() -> None:
    tree, rng = _tree(1.0), np.random.default_rng(1)
    masses = rng.random((4, 2, 16))
    masses /= masses.sum(axis=2, keepdims=True)
    found = np.zeros_like(masses)
    quantile_kernels.solve_all(tree, masses, 300, found)
    # Both best responses: what they win together is what is left to gain.
    gaps = (found * masses).sum(axis=(1, 2))
    assert (gaps > 0).all()
    assert gaps.max() < 0.003


def test_the_row_in_small(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivers, "_LOOKS", 1)
    monkeypatch.setattr(rivers, "_OF_A_LOOK", 8)
    settings = dataclasses.replace(
        turn.Settings(), data_seeds=(1,), num_files=2, num_apart=1, seeds=(0,), fewer=(),
        num_steps=3, num_spots=1, num_hands=8, num_iterations=5, tolerance=0.05,
    )  # fmt: skip
    study = turn.Study(settings, Workspace(tmp_path / "work"))
    path = run(turn.TURN, study, tmp_path / "report")
    data = np.load(tmp_path / "work" / "rivers" / "quantiles_1_0.npz")
    assert data["values"].shape == (len(data["stacks"]), 2, NUM_PARTS)
    shares = data["shares"].astype(np.float64)
    total = (data["values"][:, 0] * shares + data["values"][:, 1] * (1 - shares)).mean(axis=1)
    np.testing.assert_allclose(total, 0.0, atol=1e-4)
    assert "showdowns, no network" in path.with_suffix(".md").read_text()


def test_rivers_solved_again_in_small(tmp_path) -> None:
    settings = dataclasses.replace(
        resolving.Settings(), num_spots=1, num_hands=8, blueprints=(3,), num_iterations=20,
        whole_iterations=20, tolerance=0.05,
    )  # fmt: skip
    study = resolving.Study(settings, Workspace(tmp_path / "work"))
    path = run(resolving.RESOLVING, study, tmp_path / "report")
    rows = json.loads(path.with_suffix(".json").read_text())["tables"][resolving._BY_SPOT]
    found = {(row["turn"], row["rivers"]): row["exploitability"] for row in rows}
    assert len(found) == 9 + 8
    assert found["CFR, 3 iterations", "resolving"] < found["CFR, 3 iterations", "as they are"]


def test_responses_in_small(tmp_path) -> None:
    settings = responses.Settings(
        ranges=("QQ, 76s", "JJ, T9s"), models=("folds",), value_iterations=30, iterations=50
    )
    path = run(responses.RESPONSES, responses.Study(settings, Workspace(tmp_path)), tmp_path / "r")
    rows = json.loads(path.with_suffix(".json").read_text())["tables"][responses._ROWS]
    assert len(rows) == 10
    most = {row["player"]: row["gain"] for row in rows if row["method"] == "best response"}
    for row in rows:
        assert 0.0 < row["gain"] <= most[row["player"]] + 1e-6
