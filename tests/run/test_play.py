"""`run/play.py` as users start it."""

from __future__ import annotations

from pathlib import Path

from tests.run.scripts import run_cold, run_script


def play(typed: str, *arguments: str) -> tuple[int, str, str]:
    """Runs the script on what a person types: exit code, standard output, standard error."""
    return run_script("play.py", *arguments, typed=typed)


def test_a_match_with_the_same_seed_is_the_same() -> None:
    arguments = ("--game=python_leduc", "--num_games=3", "--seat=random", "--seed=7")
    code, output, errors = play("1\n" * 12, *arguments)
    assert code == 0, errors
    assert "=== Game 3 of 3: you are player" in output
    assert "Final score after 3 games: you " in output
    # Another process, and so another order of what is hashed.
    assert run_cold("play.py", *arguments, typed="1\n" * 12)[:2] == (0, output)


def test_a_new_user_plays_against_search_after_two_commands(tmp_path: Path) -> None:
    run = tmp_path / "run"
    code, _, errors = run_script(
        "train.py", "--preset=leduc", "--transformations=pure", "--num_steps=2", "--batch_size=8",
        "--hidden_size=8", "--critic_hidden_size=8", f"--run_dir={run}", directory=tmp_path,
    )  # fmt: skip
    assert code == 0, errors
    arguments = ["--game=python_leduc", f"--opponent=sepot:{run}", "--seed=1"]
    code, output, errors = play("1\n" * 8, *arguments, "--num_games=2", "--iterations=20")
    assert code == 0, errors
    assert "Final score after 2 games: you " in output
