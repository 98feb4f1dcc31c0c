"""Particle search by its number of iterations: exact returns, judged by them."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from open_spiel.python.algorithms import expected_game_score, exploitability

from experiments.particle.experiments import EXPERIMENTS
from experiments.particle.iterations import measured
from experiments.particle.study import Settings, Study
from experiments.study import run
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlayConfig
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.policies.small_policies import HighestActionPolicy, UniformPolicy
from spiel_dl.runs.workspace import Workspace
from spiel_dl.tree import GameTree
from spiel_dl.value_functions.particle_module import ParticleSizes

GAME = "python_goofspiel_ii(num_cards=3,points_order=descending)"
SETTINGS = Settings(
    GAME,
    seeds=(3, 4),
    particle=ParticleSizes(base=4, regression_width=1.0),
    play=ParticleSelfPlayConfig(iterations=5),
    num_games=1,
    equilibrium_iterations=100,
    search_iterations=(1, 5),
)


def test_numbers_are_those_of_openspiel() -> None:
    tree = GameTree.from_game(GAME)
    policy = random_policy(tree, 0)
    found = measured(tree, policy)
    root = tree.game.new_initial_state()
    for name, kind in (("uniform", UniformPolicy), ("highest action", HighestActionPolicy)):
        other = kind(tree.game, [0, 1])
        first, _ = expected_game_score.policy_value(root, [policy, other])
        _, second = expected_game_score.policy_value(root, [other, policy])
        np.testing.assert_allclose(found[name], (first + second) / 2, atol=1e-12)
    theirs = exploitability.nash_conv(tree.game, ArrayPolicy.from_policy(tree, policy).to_tabular())
    np.testing.assert_allclose(found["nash_conv"], theirs, atol=1e-12)


def test_every_network_searches_with_every_number(tmp_path: Path) -> None:
    reports = []
    for _ in range(2):
        study = Study(SETTINGS, Workspace(tmp_path / "run"))
        experiment = EXPERIMENTS["iterations"]
        report = experiment.report(study)
        reports.append({name: list(table.rows) for name, table in report.tables.items()})
    assert reports[0] == reports[1], "nothing is computed again"
    means, rows = reports[0].values()
    assert [(row["seed"], row["iterations"]) for row in rows] == [(3, 1), (3, 5), (4, 1), (4, 5)]
    more = [row["highest action"] for row in rows if row["iterations"] == 5]
    assert means[1]["highest action"] == pytest.approx(np.mean(more))
    assert means[1]["deviation"] == pytest.approx(np.std(more, ddof=1))
    # The last row is an equilibrium's, which cannot lose.
    assert means[-1]["nash_conv"] < 1e-3
    assert means[-1]["highest action"] > -1e-3
    [path] = run(EXPERIMENTS, study, tmp_path / "out", ["iterations"])
    assert "seeds 3, 4" in path.read_text()


@pytest.mark.parametrize(
    ("returns", "verdict"),
    [
        ([-0.3, -0.2, -0.1, -0.1, -0.09, -0.08], "met"),
        (
            [-0.3, -0.2, -0.1, -0.1, -0.15, -0.08],
            "partly met: 1 of 2 parts hold; not: 100 better than 20",
        ),
        ([-0.2, -0.3, -0.4, -0.05, -0.04, -0.1], "not met"),
    ],
)
def test_more_iterations_must_win_more_on_every_seed(returns: list[float], verdict: str) -> None:
    judge = EXPERIMENTS["iterations"].judge
    assert judge is not None
    rows = [
        {"seed": seed, "iterations": iterations, "highest action": value}
        for (seed, iterations), value in zip(
            itertools.product((1, 2), (20, 100, 1000)), returns, strict=True
        )
    ]
    means = [{"iterations": "20", "highest action": -0.2, "deviation": 0.01}, {}]
    assert judge({"Means": means, "All networks": rows}).verdict == verdict


def test_no_iterations_are_refused() -> None:
    with pytest.raises(ValueError, match=r"search_iterations=\(\) must not be empty"):
        Settings(GAME, search_iterations=())
    with pytest.raises(ValueError, match=r"search_iterations=\(0,\) must be at least 1"):
        Settings(GAME, search_iterations=(0,))
