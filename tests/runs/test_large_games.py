"""Large games: a finished row is of the files that its policy was made of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from spiel_dl.play import zoo
from spiel_dl.runs import large_games
from spiel_dl.runs.workspace import Workspace


def test_a_name_of_two_games_is_the_one_for_which_the_policy_is() -> None:
    """OpenSpiel's game and the preset's, of this package, are called phantom_ttt."""
    for policy, game in (("mmd:phantom_ttt", "python_phantom_ttt"), ("uniform", "phantom_ttt")):
        found, loaded = large_games._load(policy, "phantom_ttt", "cpu")
        assert found.get_type().short_name == game
        assert loaded.action_probabilities(found.new_initial_state())
    with pytest.raises(ValueError, match=r"mmd:leduc|python_leduc"):
        large_games._load("mmd:leduc", "phantom_ttt", "cpu")


def test_rows_are_of_the_files_behind_all_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.onnx"
    file.write_text("old")
    monkeypatch.setattr(large_games, "_judge", lambda *_: {"value": 0.0})
    monkeypatch.setattr(zoo, "folder", lambda: tmp_path)
    monkeypatch.setattr(zoo, "models", lambda: {"rnad:mine": SimpleNamespace(file="a.onnx")})
    workspace, policy = Workspace(tmp_path / "work"), "abd:0.9:cdbr:rnad:mine"
    for _ in range(2):
        assert large_games.judge_all(workspace, policy, ["game"]) == [{"value": 0.0}]
    file.write_text("new")
    with pytest.raises(ValueError, match=r"its .* is .*, not "):
        large_games.judge_all(workspace, policy, ["game"])
