"""Runs of a solver in a directory: metrics, interruptions anywhere, resumption to the last bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyspiel
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, ExactValue, GameTree
from spiel_dl.algorithms import cfr
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.runs import solver_run
from spiel_dl.runs.solver_run import PLOT_FILE, run_solver
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE, RunDirectory, read_run
from tests.reference import Killed, assert_same_policy
from tests.trees import compiled

LIARS_DICE = "liars_dice(numdice=1,dice_sides=3)"
CONFIG = {"game": "kuhn_poker()"}
FILES = {
    "config.json",
    "environment.jsonl",
    "metrics.jsonl",
    "checkpoint.safetensors",
    AVERAGE_POLICY_FILE,
    PLOT_FILE,
}
SOLVERS: dict[str, Callable[[GameTree], cfr.CFRSolver | DLCFRSolver]] = {
    "pcfr+": lambda tree: cfr.CFRSolver(tree, variant="pcfr+"),
    "simultaneous": lambda tree: cfr.CFRPlusSolver(tree, alternating_updates=False),
    "dl_cfr": lambda tree: DLCFRSolver(tree, ExactValue(1e-3), DepthLimit(moves=2)),
}


def run(
    solver: cfr.CFRSolver | DLCFRSolver, path: Path, iterations: int, *, resume: bool = False
) -> ArrayPolicy:
    directory = RunDirectory(path, {"game": str(solver.game)}, resume=resume)
    return run_solver(
        solver, directory, iterations, label="a", points_per_decade=4, show_progress=False
    )


def test_a_run_leaves_all_its_files_and_true_metrics(tmp_path: Path) -> None:
    kuhn = compiled("kuhn_poker")
    policy = run(cfr.CFRPlusSolver(kuhn), tmp_path, 100)
    assert {file.name for file in tmp_path.iterdir()} == FILES
    assert (tmp_path / PLOT_FILE).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert json.loads((tmp_path / "config.json").read_text()) == CONFIG
    text = (tmp_path / "metrics.jsonl").read_text()
    assert text.endswith("\n")
    metrics = [json.loads(line) for line in text.splitlines()]
    # Powers of 10^(1/4): 1, 1.8, 3.2, 5.6, 10, 17.8, 31.6, 56.2, 100.
    assert [line["iteration"] for line in metrics] == [1, 2, 3, 6, 10, 18, 32, 56, 100]
    names = {"iteration", "solving_seconds", "nash_conv", "exploitability"}
    assert all(set(line) == names for line in metrics)
    seconds = [line["solving_seconds"] for line in metrics]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    solver = cfr.CFRPlusSolver(kuhn)
    for line in metrics:
        solver.run(line["iteration"] - solver.iteration)
        expected = pyspiel.nash_conv(solver.game, solver.average_policy().to_pyspiel())
        assert line["nash_conv"] == pytest.approx(expected, abs=1e-9)
        assert line["exploitability"] == line["nash_conv"] / 2
    for one in (policy, ArrayPolicy.load(tmp_path / AVERAGE_POLICY_FILE)):
        assert_same_policy(one, solver.average_policy())


@pytest.mark.parametrize(
    ("method", "moment"), [("append_metrics", "after"), ("save_checkpoint", "before")]
)
def test_a_run_killed_at_every_file_ends_with_the_same_bits(
    method: str, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kills a run at every second call of a method until it gets through."""
    monkeypatch.setattr(solver_run.plots, "plot_panels", lambda *_, **__: None)
    uninterrupted = run(cfr.CFRPlusSolver(compiled(LIARS_DICE)), tmp_path / "whole", 300)
    original = getattr(RunDirectory, method)
    calls = 0

    def fragile(*args: object) -> None:
        nonlocal calls
        calls += 1
        kill = calls % 2 == 1 and calls < 40
        if kill and moment == "before":
            raise Killed
        original(*args)
        if kill:
            raise Killed

    num_kills = 0
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, method, fragile)
        for attempt in range(100):
            solver = cfr.CFRPlusSolver(compiled(LIARS_DICE))
            try:
                resumed = run(solver, tmp_path / "torn", 300, resume=attempt > 0)
                break
            except Killed:
                num_kills += 1
    assert num_kills >= 1
    assert_same_policy(resumed, uninterrupted)
    assert_same_policy(ArrayPolicy.load(tmp_path / "torn" / AVERAGE_POLICY_FILE), uninterrupted)
    columns = [
        [(line["iteration"], line["nash_conv"]) for line in read_run(tmp_path / name).metrics]
        for name in ("whole", "torn")
    ]
    assert columns[0] == columns[1]


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_resumes_to_the_last_bit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liars_dice = compiled(LIARS_DICE)
    monkeypatch.setattr(solver_run.plots, "plot_panels", lambda *_, **__: None)
    uninterrupted = run(SOLVERS[name](liars_dice), tmp_path / "whole", 150)
    run(SOLVERS[name](liars_dice), tmp_path / "parts", 37)
    resumed = run(SOLVERS[name](liars_dice), tmp_path / "parts", 150, resume=True)
    assert_same_policy(resumed, uninterrupted)
    iterations = [line["iteration"] for line in read_run(tmp_path / "parts").metrics]
    assert iterations == [1, 2, 3, 6, 10, 18, 32, 37, 56, 100, 150]


def test_a_checkpoint_of_another_game_is_refused(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path, CONFIG)
    run_solver(cfr.CFRPlusSolver("kuhn_poker"), directory, 5, label="a", show_progress=False)
    message = r"checkpoint of kuhn_poker\(\), not of turn_based_\w+\(game=matrix_rps\(\)\)"
    with pytest.raises(ValueError, match=message):
        run_solver(cfr.CFRPlusSolver("matrix_rps"), directory, 5, label="a", show_progress=False)
