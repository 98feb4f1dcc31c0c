"""The learners' strength: means, goals and a peer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spiel_dl as dl
from experiments.learners import opponents
from experiments.learners.strength import STRENGTH, Run, Settings, Study, make_learner
from spiel_dl.play.presets import PRESETS
from spiel_dl.runs.workspace import Workspace
from tests.pages import ROOT

SETTINGS = {
    "presets": ("leduc",),
    "algorithms": ("rnad", "mmd"),
    "seeds": (4, 5),
    "num_steps": 3,
    "steps_per_evaluation": 2,
}


def test_numbers_are_those_of_the_learners_last_policies(tmp_path: Path) -> None:
    peer = tmp_path / "peer.json"
    line = {"game": "leduc_poker()", "learner": "rlg mmd", "steps": 3, "nash_conv": 0.5}
    made = "turn_based_simultaneous_game(game=leduc_poker())"
    others = [{**line, "steps": 5}, {**line, "learner": "rlg rnad", "game": "kuhn_poker()"}]
    peer.write_text(
        json.dumps({"lines": [line, {**line, "game": made, "nash_conv": 0.7}, *others]})
    )
    study = Study(Settings(**SETTINGS, peer=str(peer)), Workspace(tmp_path / "runs"))
    report = STRENGTH.report(study)
    means, rows = (list(table.rows) for table in report.tables.values())
    assert [(row["learner"], row["seed"]) for row in rows] == [
        ("rnad", 4), ("rnad", 5), ("mmd", 4), ("mmd", 5),
    ]  # fmt: skip
    learner = make_learner(Run("leduc", "mmd", 5), 3)
    learner.run(3)
    assert rows[-1]["nash_conv"] == dl.nash_conv(learner.game, learner.policy())
    assert means[1]["mean"] == pytest.approx((rows[2]["nash_conv"] + rows[3]["nash_conv"]) / 2)
    assert [row["peer"] for row in means] == [None, "0.6 (2)"]
    assert [point["step"] for point in report.more["curves"]["leduc-mmd-5"]] == [2, 3]
    assert report.verdict.startswith("does not hold. "), "after three steps"


def test_a_peer_that_is_none_is_refused_before_anything_is_learned(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    settings = Settings(**SETTINGS, peer=str(tmp_path / "other.json"))
    study = Study(settings, Workspace(tmp_path / "runs"))
    with pytest.raises(ValueError, match=r"other.json has no strengths of a peer"):
        STRENGTH.compute(study)
    assert not (tmp_path / "runs").exists()


def test_the_most_to_win_from_uniform_play_is_that_of_the_race_solved_by_cfr() -> None:
    """Uniform players do not answer shots, so not seeing theirs costs a best response nothing."""
    path = ROOT / "results" / "learners" / "battleships_3x3"
    content = json.loads((path / "equilibrium.json").read_text())
    assert f"`{PRESETS['battleships_3x3'].game}`" in content["notes"][0]
    [rows] = content["tables"].values()
    assert opponents._CEILINGS["battleships_3x3"] == pytest.approx(rows[-1]["best"], abs=1e-12)


def test_returns_are_those_of_matches_and_goals_are_for_their_means(tmp_path: Path) -> None:
    settings = opponents.Settings(
        ("battleships_2x2",), "hunter", ("mmd",), (5, 6), num_steps=3, num_games=20
    )
    study = opponents.Study(settings, Workspace(tmp_path / "runs"))
    report = opponents.OPPONENTS.report(study)
    means, rows, ceiling = (list(table.rows) for table in report.tables.values())
    learner = make_learner(Run("battleships_2x2", "mmd", 6), 3)
    learner.run(3)
    game = str(learner.game)
    for name in ("uniform", "hunter"):
        match = dl.play_match(learner.policy(), dl.load_policy(name, game), 20, seed=6)
        assert rows[1][name] == match.mean_return
    assert means[0]["mean"] == (rows[0]["uniform"] + rows[1]["uniform"]) / 2
    assert ceiling[0]["mean"] > 0
    assert ceiling[0]["most"] is None
    assert report.verdict.startswith("does not hold. "), "after three steps"
