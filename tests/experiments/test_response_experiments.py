"""The experiments with responses at tiny sizes: right numbers, written down."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.algorithms import exploitability as openspiel_exploitability

from experiments.experiment import run
from experiments.responses import responders as response_responders
from experiments.responses import small_games
from experiments.responses import sweeps as response_sweeps
from experiments.responses import table_1 as response_table
from experiments.responses.biased_rps import BIASED_RPS
from experiments.responses.counterexample import COUNTEREXAMPLE
from experiments.responses.counterexample import Settings as CounterexampleSettings
from experiments.responses.frontier import FRONTIER, check_claims
from experiments.responses.responders import compile_named, game_value
from experiments.responses.table_1 import TABLE_1
from spiel_dl import ArrayPolicy, DepthLimit, GameTree, best_response_policy
from spiel_dl.runs.workspace import Workspace
from tests.tiny_responses import SETTINGS, SWEEP, responder, study


@pytest.mark.parametrize("player", [0, 1])
def test_a_responder_is_judged_as_openspiel_does(player: int) -> None:
    """Kuhn's value is -1/18."""
    found = responder("kuhn", player=player)
    game = pyspiel.load_game("kuhn_poker")
    uniform = ArrayPolicy.uniform(found.tree)
    judged = found.judge(uniform)
    value = (-1 / 18, 1 / 18)[player]
    returns = expected_game_score.policy_value(game.new_initial_state(), [uniform, uniform])
    assert judged["gain"] == pytest.approx(returns[player] - value)
    parts = openspiel_exploitability.nash_conv(game, uniform, return_only_nash_conv=False)
    worst = parts.player_improvements[1 - player] + returns[1 - player]
    assert judged["exploitability"] == pytest.approx(worst + value)
    best = found.judge(best_response_policy(found.tree, found.model, player))
    assert best["percent"] == pytest.approx(100.0)
    assert best["gain"] == pytest.approx(found.best_gain)


@pytest.mark.parametrize("player", [0, 1])
def test_a_model_that_nothing_is_gained_against_is_refused(player: int, tmp_path: Path) -> None:
    changes = {"models": ("equilibrium",), "players": (player,)}
    message = f"player {player}'s best response gains nothing against model equilibrium in kuhn"
    for experiment in (TABLE_1, FRONTIER):
        with pytest.raises(ValueError, match=f"{message}.*give another --model"):
            run(experiment, study(experiment, tmp_path, **changes), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_biased_rps_is_two_games_in_a_row() -> None:
    """Its value is twice that of a round; a round's equilibrium is solved by hand below.

    Player 1's mixture y makes player 0 indifferent: -y_p + 2 y_s = y_r - y_s = -y_r + y_p = v gives
    y = (1/3, 5/12, 1/4) and v = 1/12.
    """
    mixture = np.array([4, 5, 3]) / 12
    payoffs = np.array(small_games.BIASED_RPS) @ mixture
    np.testing.assert_allclose(payoffs, 1 / 12)
    tree = compile_named("biased_rps")
    assert game_value(tree, 0) == pytest.approx(2 / 12)
    assert tree.is_terminal.sum() == 81
    assert [tree.num_infosets(player) for player in (0, 1)] == [10, 10]


@pytest.mark.parametrize(("moves", "cdbr"), [(2, 2 / 3), (3, 10 / 3)])
def test_cdbr_may_earn_less_than_an_equilibrium(tmp_path: Path, moves: int, cdbr: float) -> None:
    """Figure 10 by hand; who sees the gift gives the best response."""
    settings = CounterexampleSettings(DepthLimit(moves=moves))
    found = COUNTEREXAMPLE.compute(COUNTEREXAMPLE.study(settings, Workspace(tmp_path)))
    assert [row["ours"] for row in found] == pytest.approx([10 / 3, 2, cdbr, 1 / 2], abs=1e-6)


def test_table_1_of_goofspiel_4_by_both_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    found = responder("goofspiel_4")
    exact = response_table.gains(found)
    monkeypatch.setattr(response_responders, "MAX_LP_PAYOFFS", 0)
    nearly = response_table.gains(found)
    for row in (exact, nearly):
        assert row["cdbr_1"] == pytest.approx(98.5, abs=0.06 + row["gap"])
        assert row["cdbr_3"] == row["cdbr_5"] == pytest.approx(100.0, abs=0.1)
    assert exact["gap"] == 0.0 < nearly["gap"] < 0.1
    assert exact["best_nash"] == pytest.approx(77.1, abs=0.06)


def test_claims_by_hand() -> None:
    def points(*triples: tuple[float, float, float]) -> list[dict[str, float]]:
        names = ("parameter", "gain", "exploitability", "percent")
        # A best response gains 4.4.
        return [dict(zip(names, (*x, 100 * x[1] / 4.4), strict=True)) for x in triples]

    claims = check_claims(
        {
            "best Nash": points((0, 1.0, 0.0)),
            # The first point is safe but too little, the last one too exploitable; mixtures, of
            # slacks 0.09 and -0.7, and of 0.01 and -1.28, are safe and enough.
            "CDRNR, joint": points((0.3, 1.9, 0.1), (0.5, 3.0, 1.0)),
            "RNR": points((0.3, 2.1, 0.2), (0.4, 2.2, 1.5)),
            "SES": points((0.0, 0.5, 0.0), (1.0, 1.2, 2.0)),
            # Neither method is as exploitable as the mix.
            response_sweeps.MIX: points((0.5, 3.0, 5.0)),
        }
    )
    assert [(claim.ours, claim.holds) for claim in claims] == [
        (pytest.approx(1.9 + 1.1 * 0.09 / 0.79), True),
        (pytest.approx(1.9 + 1.1 * 0.09 / 0.79), False),
        (pytest.approx(2.1 + 0.1 * 0.01 / 1.29), True),
        (pytest.approx(2.1 + 0.1 * 0.01 / 1.29), False),
        (1.2, False),
        (pytest.approx(0.3 * 1.9 - 0.7 * 0.1), True),
        (pytest.approx(0.4 * 2.2 - 0.6 * 1.5), False),
    ]


def test_every_report_is_complete(tmp_path: Path) -> None:
    experiments = (TABLE_1, FRONTIER, BIASED_RPS)
    first = [run(each, study(each, tmp_path / "work"), tmp_path / "first") for each in experiments]
    for path in first:
        content = json.loads(path.with_suffix(".json").read_text())
        text = path.read_text()
        assert content["environment"]["command"] in text
        assert all(heading in text for heading in content["tables"])
        assert all(content["tables"].values())
        [commit] = content["commits_of_parts"]
        assert f"made by commit {commit}" in text
    parts = sorted(path.name for path in (tmp_path / "work" / "parts").glob("*-best-Nash.json"))
    assert [name.partition("-")[0] for name in parts] == ["biased_rps"] * 2 + ["frontier"] * 2
    assert (tmp_path / "first" / "frontier-kuhn-random-0-0.png").stat().st_size > 10_000


def test_wrong_settings(tmp_path: Path) -> None:
    for of, wrong, message in (
        (SWEEP, {"parameters": (1.5,)}, r"parameters=\(1\.5,\)"),
        (SWEEP, {"gadgets": ("open",)}, "must be one of"),
        (SETTINGS[TABLE_1], {"players": (2,)}, r"players=\(2,\)"),
        (SETTINGS[TABLE_1], {"abr_episodes": -1}, "abr_episodes=-1"),
    ):
        with pytest.raises(ValueError, match=message):
            dataclasses.replace(of, **wrong)
    with pytest.raises(ValueError, match="game 'chess' must be one of"):
        compile_named("chess")
    with pytest.raises(ValueError, match="no policy 'nobody'"):
        run(TABLE_1, study(TABLE_1, tmp_path, models=("nobody",)), tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="fool"):
        small_games.fool(GameTree.from_game("kuhn_poker"))
