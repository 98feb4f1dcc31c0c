"""LBR against CDBR: what is judged, and gains as OpenSpiel has them."""

from __future__ import annotations

from pathlib import Path

import pyspiel
import pytest
from open_spiel.python.algorithms import best_response as openspiel_best_response
from open_spiel.python.algorithms import cfr as openspiel_cfr

from experiments.responses.local import LOCAL_RESPONSES
from experiments.verdicts import PARTLY, REPRODUCED
from tests.tiny_responses import study


def test_local_responses_by_hand() -> None:
    gains = {
        (1, "LBR"): 0.5, (1, "CDBR1"): 0.4, (1, "CDBR2"): 0.6, (1, "CDBR3"): 0.6,
        (1, "CDBR4"): 0.7, (1, "CDBR5"): 0.8,
        (34, "LBR"): -0.1, (34, "CDBR1"): 0.0, (34, "CDBR2"): 0.1, (34, "CDBR3"): 0.1,
        (34, "CDBR4"): 0.1, (34, "CDBR5"): 0.1,
    }  # fmt: skip
    rows = [
        {
            "game": "leduc",
            "player": 0,
            "opponent": "average of CFR",
            "iterations": number,
            "method": method,
            "gain": gain,
        }
        for (number, method), gain in gains.items()
    ]
    judge = LOCAL_RESPONSES.judge
    assert judge({"Gain, by model and responder": rows}).verdict == REPRODUCED
    rows[0]["gain"] = 0.9
    assert judge({"Gain, by model and responder": rows}) == (
        f"{PARTLY}: 2 of 3 parts hold; not: CDBR5 gains more than LBR",
        "average of CFR: CDBR5 gains more than LBR 1 of 2, LBR gains nothing at 34 iterations 1 of "
        "1, CDBR never loses 2 of 2",
    )
    # Another reading of the opponents that fits better is the one that is held.
    others = [{**row, "opponent": "average of CFR+"} for row in rows]
    others[0]["gain"] = 0.5
    found = judge({"Gain, by model and responder": [*rows, *others]})
    assert found.verdict == REPRODUCED
    assert found.headline.startswith("average of CFR+: ")


def test_local_responses_are_openspiels_games_own(tmp_path: Path) -> None:
    own = study(LOCAL_RESPONSES, tmp_path, games=("kuhn",), models=("cfr:5",))
    rows = LOCAL_RESPONSES.compute(own)
    assert [row["method"] for row in rows[:7]] == [
        "best response", "CDBR1", "CDBR2", "CDBR3", "CDBR4", "CDBR5", "LBR",
    ]  # fmt: skip
    for player in (0, 1):
        own = {row["method"]: row["gain"] for row in rows if row["player"] == player}
        game = pyspiel.load_game("kuhn_poker")
        solver = openspiel_cfr.CFRSolver(game)
        for _ in range(5):
            solver.evaluate_and_update_policy()
        best = openspiel_best_response.BestResponsePolicy(game, player, solver.average_policy())
        value = best.value(game.new_initial_state())
        assert own["best response"] == pytest.approx(value - (-1 / 18, 1 / 18)[player], abs=1e-9)
        # The whole game lies within the depth limit.
        assert own["CDBR5"] == pytest.approx(own["best response"], abs=1e-9)
        assert own["LBR"] <= own["best response"] + 1e-9


def test_local_responses_are_to_averages_of_cfr(tmp_path: Path) -> None:
    changed = study(LOCAL_RESPONSES, tmp_path, models=("uniform",))
    with pytest.raises(ValueError, match=r"no models \['uniform'\]; give strategies of CFR"):
        LOCAL_RESPONSES.compute(changed)
