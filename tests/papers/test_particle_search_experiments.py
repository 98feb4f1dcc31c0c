"""The experiments on search below samples, in a game of seconds."""

from __future__ import annotations

import pytest

from papers.manifest import PAPERS
from papers.particle_search.study import Settings, budget_of, compiled
from papers.study import run
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
        methods=("klss", "mmds", "klss_growing", "klss_updated"),
        iterations=20,
        num_rollouts=2,
        num_places=1,
        num_samples=2,
    )
    paper = PAPERS["particle_search"]
    study = paper.study(settings, Workspace(tmp_path / "work"))
    paths = run(paper.experiments, study, tmp_path / "reports")
    assert len(paths) == 2
    before = exploitability.exploitability(GAME_TREE, load_array_policy("uniform", GAME_TREE))
    curves = (tmp_path / "reports" / "curves.md").read_text()
    assert "**Verdict:** met" in curves, "a uniform blueprint is easily bettered"
    assert f"{before:.3g}" in curves
    assert "knowledge-limited, growing: num_expansions=100." in curves
    beliefs = (tmp_path / "reports" / "beliefs.md").read_text()
    assert f"| {GAME} | 1 | 0 | " in beliefs


def test_settings():
    assert budget_of(GAME_TREE, 0.0001) == 2
    assert budget_of(GAME_TREE, 1.0) == 56
    with pytest.raises(ValueError, match="method 'x'"):
        Settings(methods=("x",))
    with pytest.raises(ValueError, match="game 'x'"):
        Settings(games=("x",))
