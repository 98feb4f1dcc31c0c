"""First moves by search and matches of searches, in games of seconds."""

from __future__ import annotations

import json

import pytest

from experiments.experiment import run
from experiments.particle_search import first_moves, matches
from experiments.particle_search.matches import Search
from experiments.particle_search.study import compiled
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.learning.config import MMDConfig
from spiel_dl.play.registry import load_array_policy
from spiel_dl.runs.workspace import Workspace

GAME = "dark_hex_2x2"


def test_first_moves(tmp_path):
    tree = compiled(GAME)
    learner = MMDSolver(tree.game, MMDConfig(hidden_sizes=(8,), batch_size=8))
    learner.run(2)
    path = tmp_path / "network.safetensors"
    learner.save(path)
    settings = first_moves.Settings(
        GAME, str(path), steps=((1.0, 0.0), (1e-9, 0.0)), depth=10, num_moves=1
    )
    study = first_moves.Study(settings, Workspace(tmp_path / "work"))
    run(first_moves.FIRST_MOVES, study, tmp_path)
    content = json.loads((tmp_path / "first_moves.json").read_text())
    network, searched, same = content["tables"]["By search"]
    expected = exploitability(tree, load_array_policy(str(path), tree))
    assert network["exploitability"] == pytest.approx(expected)
    assert searched["earned"] > 1e-3
    assert searched["exploitability"] != pytest.approx(expected, abs=1e-3)
    assert same["exploitability"] == pytest.approx(expected, abs=1e-6)
    for row in (network, same):
        assert row["earned"] == pytest.approx(0, abs=1e-6)
    assert searched["infosets"] == 2, "one first decision of each player"


def test_matches(tmp_path):
    search = Search("mmds", (("depth", 2), ("num_rollouts", 10), ("budget", 5)), "small")
    settings = matches.Settings(
        "goofspiel_5_descending", "rnad:goofspiel_5_descending", "highest", (search,), num_games=4
    )
    run(matches.MATCHES, matches.Study(settings, Workspace(tmp_path / "work")), tmp_path)
    content = json.loads((tmp_path / "matches.json").read_text())
    control, *searched = content["tables"]["Matches"]
    assert (control["search"], control["share_searched"]) == ("the network, no search", None)
    assert [row["opponent"] for row in searched] == ["the network", "the script, highest"]
    assert all(row["share_searched"] == 1 for row in searched)
