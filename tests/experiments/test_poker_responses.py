"""Responses in hold'em: who habitual players are, and what is judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.responses import small_games
from experiments.responses.poker import POKER
from experiments.verdicts import PARTLY, REPRODUCED
from spiel_dl.tree.load import compile_game
from tests.tiny_responses import study

TINY = (
    "python_holdem(num_ranks=3,num_suits=1,num_hole_cards=1,board_cards=[0],stacks=[3;3],"
    "blinds=[1;1],bets=pot allin)"
)


def test_habits_are_those_of_their_names() -> None:
    """Three cards, one round: who may not bet any more calls or folds."""
    tree = compile_game(TINY)
    expected = {
        "calls": {(1, 2): (1.0, 0.0), (0, 1): (0.0, 1.0)},
        "folds": {(1, 2): (0.5, 0.5), (0, 1): (0.75, 0.25)},
        "overbets": {(1, 2): (0.25, 0.75), (0, 1): (0.5, 0.5)},
    }
    for habit, rows in expected.items():
        policy = small_games.habitual(tree, habit)
        for player in (0, 1):
            for infoset in range(tree.num_infosets(player)):
                actions = tuple(tree.legal_actions(player, infoset).tolist())
                found = policy.strategies[player][tree.treeplexes[player].sequences(infoset)]
                np.testing.assert_allclose(found, rows[actions])
    with pytest.raises(ValueError, match="'calls' is a model in hold'em, not in kuhn_poker"):
        small_games.habitual(compile_game("kuhn_poker"), "calls")


def test_responses_by_hand() -> None:
    gains = {"best response": 5.0, "LBR": 2.0, "CDBR": 3.0, "RNR": 4.0, "CDRNR": 3.0}
    rows = [
        {
            "game": "turn",
            "player": 0,
            "model": "calls",
            "method": method,
            "gain": gain,
            "exploitability": gain - 1.0,
        }
        for method, gain in gains.items()
    ]
    judge = POKER.judge
    heading = "Gain and exploitability, by model and method"
    assert judge({heading: rows}).verdict == REPRODUCED
    rows[1]["gain"] = 3.5
    found = judge({heading: rows})
    assert found.verdict.startswith(f"{PARTLY}: 1 of 2 parts hold")
    assert "at least as much as LBR: 0 of 1; RNR and CDRNR" in found.headline


def test_what_is_measured_is_bounded_by_best_responses(tmp_path: Path) -> None:
    own = study(POKER, tmp_path, games=("leduc",), models=("uniform",), players=(0,))
    rows = {row["method"]: row for row in POKER.compute(own)}
    assert list(rows) == ["best response", "LBR", "CDBR", "RNR", "CDRNR"]
    assert max(row["gain"] for row in rows.values()) == rows["best response"]["gain"]
    for method in ("RNR", "CDRNR"):
        assert rows[method]["exploitability"] <= rows[method]["gain"]
