"""`run/reproduce_particle.py` as users start it, at small sizes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.scripts import run_script

SCRIPT = "reproduce_particle.py"
GAME = "--game=python_goofspiel_ii(num_cards=3,points_order=descending)"
NETWORK = "--network=self_play/network.safetensors"


def run(directory: Path, experiment: str, *arguments: str) -> tuple[int, str, str]:
    """Runs an experiment in a run directory of its name: exit code, output, errors."""
    flags = (f"--experiment={experiment}", f"--run_dir={experiment}")
    return run_script(SCRIPT, *flags, *arguments, directory=directory)


def test_experiments_write_their_reports(tmp_path: Path) -> None:
    for experiment, arguments, rows in (
        ("linear_targets", ("--num_steps=20", "--num_seeds=1", "--dimension=3"), 4),
        ("public_states", ("--num_cards=4",), 4),
        ("self_play", (GAME, "--num_games=2", "--base=4", "--learning_rate=1e-4"), 2),
        ("match", (GAME, "--num_games=2", NETWORK), 2),
    ):
        code, output, errors = run(tmp_path, experiment, *arguments)
        assert code == 0, errors
        assert f"{experiment}/{experiment}.md" in output
        results = json.loads((tmp_path / experiment / f"{experiment}.json").read_text())
        assert len(results["rows"]) == rows
        report = (tmp_path / experiment / f"{experiment}.md").read_text()
        assert results["title"] in report
        assert report.count("\n|") == rows + 2
    assert (tmp_path / "linear_targets" / "linear_targets.png").stat().st_size > 1000


@pytest.mark.slow
def test_figures_go_on_where_they_were_stopped(tmp_path: Path) -> None:
    tiny = ("--samples=300", "--num_epochs=1", "--base=4", "--regression_width=1", "--num_seeds=1")
    game = "--game=python_goofspiel_ii(num_cards=4,points_order=descending)"
    for experiment, arguments in (
        ("architectures", ("--rounds=1", "--iterations=5")),
        ("fractions", ("--rounds=2", "--played=1", "--fraction=0", "--fraction=1")),
    ):
        for start in range(2):
            code, output, errors = run(tmp_path, experiment, game, *arguments, *tiny)
            assert code == 0, errors
            assert f"{experiment}/{experiment}.md" in output
            results = json.loads((tmp_path / experiment / f"{experiment}.json").read_text())
            assert bool(results["reused"]) == bool(start)
        assert (tmp_path / experiment / f"{experiment}.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("experiment", "arguments", "message"),
    [
        ("match", (GAME,), "pass --network="),
        ("self_play", ("--game=kuhn_poker",), "has no Rules"),
        ("self_play", (GAME, "--learning_rate=0"), "learning_rate=0.0"),
        ("self_play", (GAME, NETWORK, "--base=8"), "--base: a --network has its own"),
        ("architectures", (), "give --domain, or --game"),
        (
            "architectures",
            ("--domain=leduc", GAME, "--rounds=2"),
            "--game, --rounds: a --domain has its own game and depth limit",
        ),
        ("match", (GAME, NETWORK, "--rounds=1", "--plies=1"), "exactly one of moves"),
        ("architectures", ("--game=kuhn_poker", "--moves=9"), "0 public states at 9 moves"),
    ],
)
def test_wrong_input_is_told_and_leaves_nothing(
    experiment: str, arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    code, _, errors = run(tmp_path, experiment, *arguments)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
