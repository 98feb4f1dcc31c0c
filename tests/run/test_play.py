"""`run/play.py` as users start it."""

from __future__ import annotations

from pathlib import Path

from tests.run.scripts import run_cold, succeed


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
