"""Searches within bounds: `experiments.sepot.bounded`."""

from __future__ import annotations

from pathlib import Path

import pytest
from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import UniformRandomPolicy

from spiel_dl.tree.from_openspiel import load_turn_based
from tests.tiny_sepot import report

GAME = "python_goofspiel_ii(num_cards=4,points_order=descending,returns_type=win_loss)"


def test_a_bound_leaves_searches_to_the_blueprint(tmp_path: Path) -> None:
    found = report(
        "bounded", tmp_path, games=(GAME,), bounds=(1, 100, 10_000), iterations=100,
        blueprints=("uniform", "fixed:1"),
    )  # fmt: skip
    rows = found.tables["By blueprint and bound"].rows
    assert [row["most"] for row in rows] == 2 * [1, 100, 10_000]
    for nothing, some, everything in (rows[:3], rows[3:]):
        assert nothing["searched"] == 0
        assert nothing["earned"] == pytest.approx(0, abs=1e-12)
        assert nothing["after"] == nothing["before"]
        assert 0 < some["searched"] < everything["searched"] <= 1
        assert everything["after"] < some["after"] < some["before"]
    game = load_turn_based(GAME)
    assert rows[0]["before"] == pytest.approx(nash_conv(game, UniformRandomPolicy(game)))
