"""The experiment with opponents who err late: mixtures of points, a tiny game from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.experiment import run
from experiments.responses import late_mistakes, sweeps
from experiments.responses.late_mistakes import LATE_MISTAKES, Settings, Study
from spiel_dl import DepthLimit, Effort
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.runs.workspace import Workspace


@pytest.mark.parametrize(
    ("bound", "expected"),
    [(0.0, 1.0), (0.1, 1.0), (0.2, 1.5), (0.3, 2.0), (0.5, 2.5), (0.7, 3.0), (9.0, 3.0)],
)
def test_between_two_points_lie_their_mixtures(bound: float, expected: float) -> None:
    """The point in the middle, (0.3, 1.2), lies below the line of its neighbours."""
    points = [
        {"p": 0.5, "exploitability": first, "gain": second}
        for first, second in ((0.1, 1.0), (0.3, 1.2), (0.3, 2.0), (0.7, 3.0))
    ]
    assert sweeps.gain_at(points, bound) == pytest.approx(expected)


def test_other_models_and_games_are_refused() -> None:
    with pytest.raises(ValueError, match=r"models=.* must be one of late:uniform, "):
        Settings(models=("late:uniform", "uniform"))
    with pytest.raises(ValueError, match=r"games=\('kuhn',\) must be one of leduc, "):
        Settings(games=("kuhn",))


def test_kuhn_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = DepthLimit(moves=1)
    monkeypatch.setattr(late_mistakes, "LIMITS", {"kuhn": limit})
    settings = Settings(("kuhn",), ("late:uniform", "random:1"), (1,))
    study = Study(settings, Workspace(tmp_path / "work"))
    path = run(LATE_MISTAKES, study, tmp_path / "results")
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
    tables = LATE_MISTAKES.render(study, [*found, *as_player_0]).tables
    both, first, second = list(tables.values())[:3]
    assert list(tables)[1:3] == [f"Gain at equal exploitability, p = 0.5, player {p}" for p in "01"]
    assert both.rows == first.rows == second.rows


def test_a_tolerance_is_a_part_of_what_a_best_response_gains(tmp_path: Path) -> None:
    """Efforts take shares of the game's largest utility."""
    settings = Settings(("leduc",), ("late:uniform",), (0,))
    study = Study(settings, Workspace(tmp_path / "work"))
    responder = study.responder("kuhn", "uniform", 0)
    effort = Effort(tolerance=responder.tolerance(1e-3))
    allowed = effort.allowed_gap(responder.tree.utility_range)
    assert allowed == pytest.approx(1e-3 * responder.best_gain)
