"""Curves of learners: what the runs' own metrics say, and only of runs that belong together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.learner_curves import write_curves
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.runs.learner_run import run_learner
from spiel_dl.system.run_directory import RunDirectory


def train(path: Path, seed: int, eta: float = 0.2) -> Path:
    config = RNaDConfig(batch_size=8, hidden_sizes=(8, 8), seed=seed, eta=eta)
    learner = RNaDSolver("kuhn_poker", config)
    identity = {
        "game": "kuhn_poker()",
        "algorithm": "rnad",
        "learner": config.to_json(),
        "device": "cpu",
    }
    directory = RunDirectory(path, identity)
    run_learner(learner, directory, 4, steps_per_evaluation=2, show_progress=False)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    path = tmp_path_factory.mktemp("runs")
    return [train(path / str(seed), seed) for seed in (1, 0)]


def test_the_last_iterates_are_reported(runs: list[Path], tmp_path: Path) -> None:
    write_curves(runs, tmp_path / "results" / "kuhn")
    results = json.loads((tmp_path / "results" / "kuhn.json").read_text())
    last = [
        json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["nash_conv"]
        for run in reversed(runs)
    ]
    [rows] = results["tables"].values()
    assert [row["nash_conv"] for row in rows] == last
    assert [row["seed"] for row in rows] == [0, 1]
    assert [row["step"] for row in rows] == [4, 4]
    assert results["mean"] == pytest.approx(np.mean(last))
    # Student's t at 97.5% with one degree of freedom.
    assert results["half_width"] == pytest.approx(12.7062 * abs(last[0] - last[1]) / 2, rel=1e-4)
    text = (tmp_path / "results" / "kuhn.md").read_text()
    assert f"mean {results['mean']:.3g}" in text
    assert text.count("commit ") == 3
    assert (tmp_path / "results" / "kuhn.png").stat().st_size > 0


def test_runs_that_do_not_belong_together_are_refused(runs: list[Path], tmp_path: Path) -> None:
    other = train(tmp_path / "other", 2, eta=0.5)
    output = tmp_path / "report"
    with pytest.raises(ValueError, match=r"more than their seed: eta is 0\.2 and 0\.5"):
        write_curves([*runs, other], output)
    with pytest.raises(ValueError, match=r"same seed; the seeds are \[0, 1, 1\]"):
        write_curves([*runs, runs[0]], output)
    with pytest.raises(ValueError, match=r"holds no run: there is no config\.json"):
        write_curves([tmp_path], output)
    with pytest.raises(ValueError, match="give one run directory or more"):
        write_curves([], output)
    no_learner = RunDirectory(tmp_path / "solver", {"game": "kuhn_poker()"}).path
    with pytest.raises(ValueError, match=r"solver holds no run of a learner; give one of run/"):
        write_curves([no_learner], output)
    young = RunDirectory(tmp_path / "young", {"learner": {"seed": 3}}).path
    with pytest.raises(ValueError, match="young holds no NashConv yet"):
        write_curves([young], output)
    assert not list(tmp_path.glob("report*"))
