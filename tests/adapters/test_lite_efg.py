"""Policies there and back, judged by LiteEFG and by us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest

LiteEFG = pytest.importorskip("LiteEFG")

from spiel_dl.adapters.lite_efg import from_lite_efg, to_lite_efg
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.tree.game_tree import GameTree


@pytest.fixture
def solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Its environment of Kuhn poker, and CFR+'s strategy after some iterations."""
    from LiteEFG.baselines import CFRplus

    monkeypatch.setenv("HOME", str(tmp_path))  # It keeps games there.
    environment = LiteEFG.OpenSpielEnv(pyspiel.load_game("kuhn_poker"), traverse_type="Enumerate")
    graph = CFRplus.graph()
    environment.set_graph(graph)
    for _ in range(50):
        graph.update_graph(environment)
        environment.update_strategy(graph.current_strategy())
    return environment, graph.current_strategy()


def test_its_policy_is_judged_alike(solved: tuple[Any, Any]) -> None:
    environment, strategy = solved
    policy = from_lite_efg("kuhn_poker", environment, strategy, "avg-iterate")
    theirs = environment.exploitability(strategy, "avg-iterate")
    assert exploitability("kuhn_poker", policy) == pytest.approx(sum(theirs) / 2, abs=1e-6)
    assert exploitability("kuhn_poker", policy) < 0.05


def test_ours_comes_back(solved: tuple[Any, Any]) -> None:
    environment, strategy = solved
    ours = random_policy(GameTree.from_game("kuhn_poker"), 3)
    to_lite_efg(ours, environment, strategy)
    back = from_lite_efg(ours.tree, environment, strategy)
    for player in (0, 1):
        np.testing.assert_allclose(back.strategies[player], ours.strategies[player], atol=1e-6)
