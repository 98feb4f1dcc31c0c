"""Learners with a budget of environment steps, judged exactly, at a tiny size."""

from __future__ import annotations

from pathlib import Path

import pytest

import spiel_dl as dl
from experiments.learners.budget import make_learner, train
from experiments.learners.exploitability import EXPLOITABILITY, Run, Settings, Study, _learn
from spiel_dl.factored.families import factored_game
from spiel_dl.runs import large_games
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.run_directory import RunDirectory
from tests.reference import Killed

GAME = "dark_hex(gameversion=adh,board_size=2)"
SETTINGS = Settings(
    games=(GAME,),
    algorithms=("mmd", "rnad", "ppo"),
    seeds=(3,),
    environment_steps=900,
    evaluations=(300, 5000),
    steps_per_checkpoint=400,
    batch_size=16,
    hidden_sizes=(8, 8),
)


def test_exploitability_along_the_way(tmp_path: Path) -> None:
    study = Study(SETTINGS, Workspace(tmp_path))
    report = EXPLOITABILITY.render(study, EXPLOITABILITY.compute(study))
    [table] = report.tables.values()
    assert [row["algorithm"] for row in table.rows] == ["mmd", "rnad", "ppo"]
    assert table.columns == ["game", "algorithm", "seed", "300", "900"]
    curves = report.more["curves"]
    # The last line is of the policy in the last checkpoint; the tree's numbers are OpenSpiel's.
    learner = make_learner("mmd", GAME, seed=3, batch_size=16, hidden_sizes=(8, 8))
    learner.load(next(tmp_path.glob("mmd*/checkpoint.safetensors")))
    tree = dl.GameTree.from_game(GAME)
    expected = dl.exploitability(tree, dl.ArrayPolicy.from_policy(tree, learner.policy()))
    points = curves[f"{GAME}, mmd, seed 3"]
    assert points[-1]["exploitability"] == pytest.approx(expected, abs=1e-6)
    assert points[-1]["environment_steps"] == 900


def test_a_run_that_was_killed_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    game = factored_game(GAME)
    whole = _learn(SETTINGS, Workspace(tmp_path / "whole"), Run("mmd", GAME, 3))

    def learn(judge_until: int) -> list[dict[str, float]]:
        def judge(learner: object) -> dict[str, float]:
            if learner.num_steps > judge_until:
                raise Killed
            found = large_games.judge(game, learner.policy())
            return {"exploitability": found["exploitability"]}

        learner = make_learner("mmd", GAME, seed=3, batch_size=16, hidden_sizes=(8, 8))
        directory = RunDirectory(tmp_path / "killed", {}, resume=True)
        return train(learner, directory, 900, SETTINGS.points, 400, judge)

    with pytest.raises(Killed):
        learn(whole[0]["learner_steps"])
    again = learn(10**6)
    seconds = [line["seconds"] for line in again]
    assert seconds == sorted(seconds)
    for name in ("evaluation", "moves", "learner_steps", "exploitability"):
        assert [line[name] for line in again] == [line[name] for line in whole]
    # A smaller budget ends where nothing was judged, and drops none of what was.
    directory = RunDirectory(tmp_path / "killed", {}, resume=True)
    lines = directory.read_metrics()
    learner = make_learner("mmd", GAME, seed=3, batch_size=16, hidden_sizes=(8, 8))
    with pytest.raises(ValueError, match="lines up to environment_steps 600, of the"):
        train(learner, directory, 600, [300, 600], 400, lambda _: {})
    assert directory.read_metrics() == lines
