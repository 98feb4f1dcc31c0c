"""`run/large_games.py` as users start it."""

from pathlib import Path

import pytest

import spiel_dl as dl
from spiel_dl.factored.families import factored_game
from tests.run.scripts import succeed

GAMES = ["dark_hex(num_rows=2,num_cols=3)", "liars_dice(numdice=1,dice_sides=4)"]


def test_a_row_for_each_game_that_is_not_computed_again(tmp_path: Path) -> None:
    arguments = ["--policy=uniform", f"--games={';'.join(GAMES)}", "--run_dir=work"]
    output, _ = succeed("large_games.py", *arguments, directory=tmp_path)
    assert output.count("infosets; about 0.0 GB, and 0.0 s") == len(GAMES)
    rows = [line.split(" | ") for line in output.splitlines() if line.startswith("| ")][2:]
    for row, name in zip(rows, GAMES, strict=True):
        game = factored_game(name)
        uniform = dl.ArrayPolicy.uniform(game)
        assert row[0] == f"| {game.game}"
        assert float(row[1]) == pytest.approx(dl.expected_value(game, uniform), abs=1e-6)
        assert float(row[4]) == pytest.approx(dl.exploitability(game, uniform), abs=1e-6)
    again, _ = succeed("large_games.py", *arguments, directory=tmp_path)
    assert "infosets" not in again
    assert again.strip() == output[output.index("\nuniform\n") :].strip()
