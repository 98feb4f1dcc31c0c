"""The experiments on search below samples, in a game of seconds."""

from __future__ import annotations

import json

import pytest

from experiments.experiment import run
from experiments.particle_search.curves import CURVES
from experiments.particle_search.study import Settings, Study, budget_of, compiled
from spiel_dl.algorithms import exploitability
from spiel_dl.play.registry import load_array_policy
from spiel_dl.runs.workspace import Workspace

GAME = "goofspiel_4_descending"
GAME_TREE = compiled(GAME)


def test_reports_are_written(tmp_path):
    settings = Settings(
        games=(GAME,),
        blueprints=("uniform",),
        shares=(1.0,),
        methods=("klss", "mmds"),
        iterations=20,
        num_rollouts=2,
    )
    run(CURVES, Study(settings, Workspace(tmp_path / "work")), tmp_path / "reports")
    before = exploitability.exploitability(GAME_TREE, load_array_policy("uniform", GAME_TREE))
    curves = (tmp_path / "reports" / "curves.md").read_text()
    content = json.loads((tmp_path / "reports" / "curves.json").read_text())
    limited = content["tables"]["By game, method and budget"][0]
    assert limited["after"] < limited["before"], "a uniform blueprint is easily bettered"
    assert content["headline"].startswith(f"{limited['method']} {limited['after']:.3g}, worse in 0")
    assert f"{before:.3g}" in curves


def test_settings():
    assert budget_of(GAME_TREE, 0.0001) == 2
    assert budget_of(GAME_TREE, 1.0) == 56
    with pytest.raises(ValueError, match="method 'x'"):
        Settings((GAME,), methods=("x",))
    with pytest.raises(ValueError, match="game 'x'"):
        Settings(games=("x",))
