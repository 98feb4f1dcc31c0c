"""`run/large_games.py` as users start it."""

from pathlib import Path

import pytest

import spiel_dl as dl
from spiel_dl.tree.factored.families import factored_game
from tests.run.scripts import run_script

GAMES = ["dark_hex(num_rows=2,num_cols=3)", "liars_dice(numdice=1,dice_sides=4)"]


def test_a_line_for_each_game(tmp_path: Path) -> None:
    code, output, errors = run_script(
        "large_games.py", "--policy=uniform", f"--games={';'.join(GAMES)}", directory=tmp_path
    )
    assert code == 0, errors
    lines = output.splitlines()[1:]
    assert len(lines) == len(GAMES)
    for line, name in zip(lines, GAMES, strict=True):
        game = factored_game(name)
        words = line.split()
        uniform = dl.ArrayPolicy.uniform(game)
        assert float(words[3]) == pytest.approx(dl.exploitability(game, uniform), abs=1e-6)
        assert words[-1] == str(game.game)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--games=kuhn_poker"], "error: kuhn_poker() has no factored form here"),
        (["--policy=nobody", f"--games={GAMES[0]}"], "error: no policy 'nobody'"),
    ],
)
def test_wrong_input_is_told(arguments: list[str], message: str, tmp_path: Path) -> None:
    code, output, errors = run_script("large_games.py", *arguments, directory=tmp_path)
    assert code != 0
    assert message in output + errors
    assert "Traceback" not in errors
