"""Learned values beside optimal ones: the same search, judged exactly."""

import itertools
from pathlib import Path

import pytest

from experiments.particle.experiments import EXPERIMENTS
from experiments.particle.study import Settings, Study
from experiments.study import run
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlayConfig
from spiel_dl.runs.workspace import Workspace
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions import ExactValue
from spiel_dl.value_functions.particle_module import ParticleSizes

GAME = "python_goofspiel_ii(num_cards=3,points_order=descending)"
SETTINGS = Settings(
    GAME,
    seeds=(3, 4),
    particle=ParticleSizes(base=4, regression_width=1.0),
    play=ParticleSelfPlayConfig(iterations=5),
    search_iterations=(5, 50),
    learned_games=(1, 2),
)
EXPERIMENT = EXPERIMENTS["values"]


def test_every_value_function_is_asked_with_every_gadget(tmp_path: Path) -> None:
    reports = []
    for _ in range(2):
        study = Study(SETTINGS, Workspace(tmp_path / "run"))
        report = EXPERIMENT.report(study)
        reports.append({name: list(table.rows) for name, table in report.tables.items()})
    assert reports[0] == reports[1], "nothing is computed again"
    means, rows = reports[0].values()
    names = ["optimal", "1 games of self-play", "2 games of self-play"]
    every = list(itertools.product(("unsafe", "resolving"), (5, 50), names))
    assert [(row["gadget"], row["iterations"], row["values"]) for row in means] == every
    assert len(rows) == 2 * 2 * (1 + 2 * 2)
    whole = ContinualResolvingPolicy(
        GAME, ExactValue(), DepthLimit(rounds=1), gadget="unsafe", effort=Effort(50)
    )
    found = exploitability.nash_conv(whole.tree, whole.to_array_policy())
    assert means[3]["nash_conv"] == pytest.approx(found)
    own = [row["nash_conv"] for row in rows if row["values"] == names[2]][:2]
    assert means[2]["nash_conv"] == pytest.approx(sum(own) / 2)
    [path] = run(EXPERIMENTS, study, tmp_path / "out", ["values"])
    assert "seeds 3, 4" in path.read_text()


@pytest.mark.parametrize(
    ("nash_convs", "verdict"),
    [
        ((0.01, 0.4, 0.2), "met"),
        ((0.03, 0.4, 0.2), "partly met: 1 of 2 parts hold; not: unsafe, 20 iterations: a tenth"),
        ((0.01, 0.2, 0.4), "partly met: 1 of 2 parts hold; not: unsafe, 20 iterations: less by"),
        ((0.03, 0.2, 0.2), "not met"),
    ],
)
def test_optimal_values_must_be_ten_times_better(
    nash_convs: tuple[float, ...], verdict: str
) -> None:
    names = ("optimal", "150 games of self-play", "600 games of self-play")
    means = [
        {"values": name, "gadget": "unsafe", "iterations": 20, "nash_conv": value}
        for name, value in zip(names, nash_convs, strict=True)
    ]
    assert EXPERIMENT.judge is not None
    assert EXPERIMENT.judge({"Means": means}).verdict.startswith(verdict)


def test_no_games_are_refused() -> None:
    with pytest.raises(ValueError, match=r"learned_games=\(\) must not be empty"):
        Settings(GAME, learned_games=())
