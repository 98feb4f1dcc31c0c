"""The experiment with opponents who err late: mixtures of points, a tiny game from end to end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from experiments.responses import late_mistakes, online, sampled_match, sweeps, times
from experiments.responses.experiments import EXPERIMENTS
from experiments.responses.study import Settings, Study
from experiments.study import MET, NOT_MET, OPEN, PARTLY, run
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.best_response import best_response_value
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.runs.workspace import Workspace
from spiel_dl.tree import DepthLimit


def points(*pairs: tuple[float, float]) -> list[dict[str, float]]:
    return [{"p": 0.5, "exploitability": first, "gain": second} for first, second in pairs]


@pytest.mark.parametrize(
    ("bound", "expected"),
    [(0.0, 1.0), (0.1, 1.0), (0.2, 1.5), (0.3, 2.0), (0.5, 2.5), (0.7, 3.0), (9.0, 3.0)],
)
def test_between_two_points_lie_their_mixtures(bound: float, expected: float) -> None:
    """The point in the middle, (0.3, 1.2), lies below the line of its neighbours."""
    found = points((0.1, 1.0), (0.3, 1.2), (0.3, 2.0), (0.7, 3.0))
    assert sweeps.gain_at(found, bound) == pytest.approx(expected)


def test_a_verdict_asks_for_two_games_and_both_kinds() -> None:
    def summary(*times: float, most: float = 9.0) -> list[dict[str, object]]:
        kinds = ("late, uniform", "late, random", "random")
        return [
            {
                "game": f"game {number // 3}",
                "opponents": kinds[number % 3],
                "times": each,
                "rnr_times": most,
            }
            for number, each in enumerate(times)
        ]

    told = late_mistakes.find_verdict
    assert told(summary(2.1, 2.0, 1.0, 2.5, 2.2, 1.0)) == MET
    assert told(summary(2.1, 2.0, 9.0, 2.5, 1.9, 9.0)) == PARTLY
    assert told(summary(1.9, 1.9, 9.0, 1.5, 1.9, 9.0)) == NOT_MET
    assert told(summary(1.9, 1.9, 9.0)[2:]) == "", "random alone, so nothing was tested"
    assert told(summary(1.9, 1.9, 9.0, 1.5, 1.9, 9.0, most=1.95)) == OPEN, "nobody can gain more"


def test_a_model_that_is_of_no_kind_is_refused(tmp_path: Path) -> None:
    study = Study(Settings(models=("late:uniform", "uniform")), Workspace(tmp_path))
    with pytest.raises(ValueError, match=r"no models \['uniform'\]; choose from late:uniform, "):
        run(EXPERIMENTS, study, tmp_path, ["late_mistakes"])
    assert list(tmp_path.iterdir()) == []


def test_parts_know_the_constants_that_decide_their_numbers(tmp_path: Path) -> None:
    """Nothing is computed: a workspace that only notes what it is asked for."""

    class Noting(Workspace):
        def part(self, name: str, settings: Mapping[str, Any], compute: object) -> Any:
            del compute
            asked[name] = json.loads(json.dumps(settings))
            return {}

    asked: dict[str, Any] = {}
    study = Study(Settings(games=("leduc",), models=("late:uniform",)), Noting(tmp_path))
    late_mistakes.LATE_MISTAKES.compute(study)
    online.ONLINE.compute(study)
    kuhn = Study(Settings(games=("kuhn",)), study.workspace)
    times.TIMES.compute(kuhn)
    late = asked["late-leduc-late-uniform-0"]
    assert (late["equilibrium_iterations"], late["num_samples"]) == (5000, 10)
    assert late["methods"] == list(late_mistakes.METHODS)
    match = asked["online-abd-0-0"]
    assert (match["prior_iterations"], match["equilibrium_iterations"]) == (1000, 5000)
    assert (match["iterations"], match["tolerance"]) == (2000, 1e-4)
    assert asked["times-kuhn"]["max_iterations"] == 10_000
    decisions = asked["times-play-kuhn"]
    assert decisions["max_iterations"] == 10_000
    assert (decisions["seconds_to_think"], decisions["num_episodes"]) == (0.04, 20)


def test_kuhn_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = DepthLimit(moves=1)
    monkeypatch.setattr(late_mistakes, "LIMITS", {"kuhn": limit})
    settings = Settings(models=("late:uniform", "random:1"), players=(1,))
    study = Study(settings, Workspace(tmp_path / "work"))
    [path] = run(EXPERIMENTS, study, tmp_path / "results", ["late_mistakes"])
    found = json.loads(path.with_suffix(".json").read_text())["found"]
    assert [row["model"] for row in found] == ["late:uniform", "random:1"]
    tree = study.tree("kuhn")
    model = late_mistakes.model_of("late:uniform", tree, limit)
    for row in found[0]["points"][late_mistakes.RNR]:
        expected = RNRPolicy(tree, 1, model, p=row["p"], exact=True).to_array_policy()
        gain = exploitability.gain(tree, expected, model, 1)
        lost = exploitability.player_exploitability(tree, expected, 1)
        goal = row["p"] * row["gain"] - (1 - row["p"]) * row["exploitability"]
        assert goal == pytest.approx(row["p"] * gain - (1 - row["p"]) * lost, abs=2e-3)
    for each in found:
        assert list(each["points"]) == list(late_mistakes.METHODS)
        for method, rows in each["points"].items():
            assert len(rows) == (5 if method in late_mistakes.SWEPT else 1)
    as_player_0 = [{**row, "player": 0} for row in found]
    tables = late_mistakes.LATE_MISTAKES.render(study, [*found, *as_player_0]).tables
    both, first, second = list(tables.values())[:3]
    assert list(tables)[1:3] == [f"Gain at equal exploitability, p = 0.5, player {p}" for p in "01"]
    assert both.rows == first.rows == second.rows
    study = Study(Settings(games=("leduc",)), Workspace(tmp_path / "other"))
    with pytest.raises(ValueError, match="no depth limit for 'leduc'"):
        run(EXPERIMENTS, study, tmp_path / "results", ["late_mistakes"])


def test_the_match_by_sampled_matrices_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled_match, "GAME", "battleships_2x2")
    monkeypatch.setattr(sampled_match, "ROUNDS", 2)
    search = sampled_match.SEARCH | {"budget": 4, "num_rollouts": 20}
    monkeypatch.setattr(sampled_match, "SEARCH", search)
    settings = Settings(network="rnad:battleships_2x2", num_games=6)
    study = Study(settings, Workspace(tmp_path / "work"))
    [path] = run(EXPERIMENTS, study, tmp_path / "results", ["sampled_match"])
    told = json.loads(path.with_suffix(".json").read_text())
    response, base = told["found"]
    assert response["games"] == base["games"] == 6
    assert response["share_searched"] > 0
    assert told["gain"] == pytest.approx(response["mean"] - base["mean"])


def test_matches_against_changing_opponents_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = DepthLimit(moves=1)
    monkeypatch.setattr(online, "LIMITS", {"kuhn": limit})
    sizes = {"GAME": "kuhn", "SEEDS": (0, 1), "HANDS": 80, "CHANGES_EVERY": 20, "RESOLVE_EVERY": 10}
    for name, value in sizes.items():
        monkeypatch.setattr(online, name, value)
    study = Study(Settings(players=(1,)), Workspace(tmp_path / "work"))
    [path] = run(EXPERIMENTS, study, tmp_path / "results", ["online"])
    told = json.loads(path.with_suffix(".json").read_text())
    assert {len(matches) for matches in told["found"].values()} == {2}
    rows = told["found"]["best_response"][0]
    assert [row["opponent"] for row in rows[::2]] == [*online.OPPONENTS, online.OPPONENTS[0]]
    assert [row["hands"] for row in rows] == [10, 20, 30, 40, 50, 60, 70, 80]
    tree = study.tree("kuhn")
    for row in rows:
        model = late_mistakes.model_of(row["opponent"], tree, limit)
        assert row["expected"] <= best_response_value(tree, model, 1) + 1e-9
    phases = told["tables"]["After a change"]
    assert len(phases) == 2 * len(told["found"])
    # The first twenty hands follow no change: only hands 70 and 80 are of the first opponent.
    for response, matches in told["found"].items():
        own = [row for row in phases if row["response"] == response]
        for row, index in zip(own, (6, 7), strict=True):
            expected = sum(match[index]["expected"] for match in matches) / 2
            assert row[online.OPPONENTS[0]] == pytest.approx(expected)
    first = told["tables"]["All hands"][0]
    spread = f"{first['earned']:.3g} ± {first['half_width']:.2g}"
    assert told["headline"].startswith(f"earned per hand (95 %, 2 seeds): data_biased {spread}, ")
