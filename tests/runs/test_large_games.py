"""Large games: which game a name means."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_what_is_no_game_is_told_before_others_take_their_time(tmp_path: Path) -> None:
    games = ["phantom_ttt", "chess_"]
    with pytest.raises(ValueError, match="no game 'chess_'"):
        large_games.judge_all(Workspace(tmp_path), "uniform", games, on_message=pytest.fail)
