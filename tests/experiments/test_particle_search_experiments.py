"""The experiments on search below samples, in a game of seconds."""

from __future__ import annotations

import json

import pytest

from experiments.paper import PAPERS
from experiments.particle_search.study import Settings, budget_of, compiled
from experiments.study import run
from spiel_dl.algorithms import exploitability
from spiel_dl.play.registry import load_array_policy
from spiel_dl.runs.workspace import Workspace

GAME = "goofspiel_4_descending"
HEX = "abrupt_dark_hex_2x2"
GAME_TREE = compiled(GAME)


def test_reports_are_written(tmp_path):
    settings = Settings(
        games=(GAME,),
        blueprints=("uniform",),
        shares=(1.0,),
        methods=("klss", "mmds", "klss_growing", "klss_updated"),
        iterations=20,
        num_rollouts=2,
        num_places=1,
        num_samples=2,
    )
    paper = PAPERS["particle_search"]
    study = paper.study(settings, Workspace(tmp_path / "work"))
    chosen = {name: paper.experiments[name] for name in ("curves",)}
    assert len(run(chosen, study, tmp_path / "reports")) == 1
    before = exploitability.exploitability(GAME_TREE, load_array_policy("uniform", GAME_TREE))
    curves = (tmp_path / "reports" / "curves.md").read_text()
    content = json.loads((tmp_path / "reports" / "curves.json").read_text())
    limited = content["tables"]["By game, method and budget"][0]
    assert limited["after"] < limited["before"], "a uniform blueprint is easily bettered"
    assert content["headline"].startswith(f"{limited['method']} {limited['after']:.3g}, worse in 0")
    assert f"{before:.3g}" in curves
    assert "knowledge-limited, growing: num_expansions=100." in curves


def test_settings():
    assert budget_of(GAME_TREE, 0.0001) == 2
    assert budget_of(GAME_TREE, 1.0) == 56
    with pytest.raises(ValueError, match="method 'x'"):
        Settings(methods=("x",))
    with pytest.raises(ValueError, match="game 'x'"):
        Settings(games=("x",))
    with pytest.raises(ValueError, match="game 'x'"):
        Settings(large_games=("x",))
