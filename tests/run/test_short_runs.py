"""Scripts as users start them: DL-CFR, matches, play, large games and pages of policies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spiel_dl as dl
from spiel_dl.factored.families import factored_game
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.dl_cfr_run import METRIC
from tests.run.scripts import run_cold, succeed

LARGE_GAMES = ["dark_hex(num_rows=2,num_cols=3)", "liars_dice(numdice=1,dice_sides=4)"]


def test_depth_limited_cfr_with_its_comparison(tmp_path: Path) -> None:
    arguments = ("--game=kuhn_poker", "--moves=1", "--run_dir=a", "--iterations=100")
    output, _ = succeed("dl_cfr.py", *arguments, directory=tmp_path)
    for words in (
        "1 moves, 2 leaf public states",
        "solver                           cfr+",
        "the same, CFR+ of the whole game",
    ):
        assert words in output, words
    last = json.loads((tmp_path / "a" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["iteration"] == 100
    assert f"normalised trunk exploitability  {last[METRIC]:.3e}" in output
    # Kuhn's largest utility is 2.
    assert last[METRIC] == pytest.approx(last["trunk_nash_conv"] / 4)
    assert ArrayPolicy.load(tmp_path / "a" / "average_policy.safetensors").tree.num_histories == 58


def test_a_match_is_played_and_reported(tmp_path: Path) -> None:
    arguments = ("--game=kuhn_poker", "--first=cfr+:20", "--second=uniform", "--num_games=200")
    more = ("--output=found/kuhn", "--pairs_at_once=20", "--run_dir=work")
    output, _ = succeed("head_to_head.py", *arguments, *more, directory=tmp_path)
    assert "| cfr+:20 | uniform | 200 |" in output
    for title in ("as player 1 |", "slowest move (s), first |", "± as player 1 |"):
        assert title in output
    found = json.loads((tmp_path / "found" / "kuhn.json").read_text())
    assert "--first=cfr+:20" in found["environment"]["command"]
    assert len(list((tmp_path / "work" / "parts").iterdir())) == 5


def test_each_large_game_has_a_row_that_is_not_computed_again(tmp_path: Path) -> None:
    arguments = ["--policy=uniform", f"--games={';'.join(LARGE_GAMES)}", "--run_dir=work"]
    output, _ = succeed("large_games.py", *arguments, directory=tmp_path)
    assert output.count("infosets; about 0.0 GB, and 0.0 s") == len(LARGE_GAMES)
    rows = [line.split(" | ") for line in output.splitlines() if line.startswith("| ")][2:]
    for row, name in zip(rows, LARGE_GAMES, strict=True):
        game = factored_game(name)
        uniform = dl.ArrayPolicy.uniform(game)
        assert row[0] == f"| {game.game}"
        assert float(row[1]) == pytest.approx(dl.expected_value(game, uniform), abs=1e-6)
        assert float(row[4]) == pytest.approx(dl.exploitability(game, uniform), abs=1e-6)
    again, _ = succeed("large_games.py", *arguments, directory=tmp_path)
    assert "infosets" not in again
    assert again.strip() == output[output.index("\nuniform\n") :].strip()


def test_a_match_with_the_same_seed_is_the_same() -> None:
    arguments = ("--game=python_leduc", "--num_games=3", "--seat=random", "--seed=7")
    output, _ = succeed("play.py", *arguments, typed="1\n" * 12)
    assert "=== Game 3 of 3: you are player" in output
    assert "Final score after 3 games: you " in output
    # Another process, and so another order of what is hashed.
    assert run_cold("play.py", *arguments, typed="1\n" * 12)[:2] == (0, output)


def test_a_new_user_plays_against_search_after_two_commands(tmp_path: Path) -> None:
    run = tmp_path / "run"
    succeed(
        "train.py", "--preset=leduc", "--transformations=pure", "--num_steps=2", "--batch_size=8",
        "--hidden_size=8", "--critic_hidden_size=8", f"--run_dir={run}", directory=tmp_path,
    )  # fmt: skip
    arguments = ["--game=python_leduc", f"--opponent=sepot:{run}", "--seed=1", "--num_games=2"]
    output, _ = succeed("play.py", *arguments, "--iterations=20", typed="1\n" * 8)
    assert "Final score after 2 games: you " in output


def test_a_page_of_a_solved_game(tmp_path: Path) -> None:
    arguments = ("--game=kuhn_poker", "--policy=cfr+:1000", "--moves=3", "--output=out/kuhn.html")
    output, _ = succeed("show.py", *arguments, directory=tmp_path)
    assert "depth limit     3 moves, 6 public states" in output
    page = (tmp_path / "out" / "kuhn.html").read_text(encoding="utf-8")
    assert "<h1>kuhn_poker()</h1>" in page
