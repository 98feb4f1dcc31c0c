"""Matches of searches, in a game of seconds."""

from __future__ import annotations

import json

from experiments.experiment import run
from experiments.particle_search import matches
from experiments.particle_search.matches import Search
from spiel_dl.runs.workspace import Workspace


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
