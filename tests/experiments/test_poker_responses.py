"""LBR against CDBR, and responses in hold'em: who habitual players are, and what is measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import best_response as openspiel_best_response
from open_spiel.python.algorithms import cfr as openspiel_cfr

from experiments.responses import small_games
from experiments.responses.local import LOCAL_RESPONSES
from experiments.responses.poker import POKER
from spiel_dl.tree.load import compile_game
from tests.tiny_responses import study


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


def test_what_is_measured_is_bounded_by_best_responses(tmp_path: Path) -> None:
    own = study(POKER, tmp_path, games=("leduc",), models=("uniform",), players=(0,))
    rows = {row["method"]: row for row in POKER.compute(own)}
    assert list(rows) == ["best response", "LBR", "CDBR", "RNR", "CDRNR"]
    assert max(row["gain"] for row in rows.values()) == rows["best response"]["gain"]
    for method in ("RNR", "CDRNR"):
        assert rows[method]["exploitability"] <= rows[method]["gain"]
