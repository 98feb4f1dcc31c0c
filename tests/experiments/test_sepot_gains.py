"""What search gains above a network: advantages against exact values, and criteria."""

from __future__ import annotations

import dataclasses
import statistics
from pathlib import Path
from typing import Any

import pytest
from open_spiel.python.algorithms import expected_game_score

from experiments.sepot import gains
from experiments.sepot.gains import CHANGES, GAINS
from experiments.sepot.kept_cfvs import KEPT_CFVS, Settings
from experiments.verdicts import FAILS, PARTLY, REPRODUCED
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.runs.workspace import Workspace
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.untrained_blueprints import network_critic, network_policy


def test_advantages_sum_to_what_search_changes() -> None:
    """Means over games against OpenSpiel's exact values, both with the same policies."""
    game = load_turn_based("python_goofspiel_ii(num_cards=3,points_order=descending)")
    network = network_policy(game, (8,), scale=3.0, seed=1)
    critic = network_critic(game, (8,), scale=3.0, seed=1)
    config = SearchConfig(effort=Effort(20), given_cfvs="transformations", refinement="none")
    searching = SePoTPlayPolicy(game, network, critic, DepthLimit(rounds=1), config=config)
    root = game.new_initial_state()
    for player in (0, 1):
        seats = [network, network]
        before = expected_game_score.policy_value(root, seats)[player]
        seats[player] = searching
        change = expected_game_score.policy_value(root, seats)[player] - before
        assert abs(change) > 0.02
        numbers = range(player, 200, 2)
        sums = [gains.advantages(network, searching, each, 100)["advantage"] for each in numbers]
        error = statistics.stdev(sums) / len(sums) ** 0.5
        assert abs(statistics.fmean(sums) - change) < 4 * error < 0.2


def judged(defaults: float, best: float, half_width: float = 0.01) -> tuple[str, str]:
    rows: list[dict[str, Any]] = [
        {**change._asdict(), "gain": -0.05, "half_width": half_width} for change in CHANGES
    ]
    rows[0]["gain"] = defaults
    rows[4]["gain"] = best
    assert GAINS.judge is not None
    return GAINS.judge({"Searches": rows})


def test_criteria() -> None:
    assert judged(-0.1, 0.0)[0] == REPRODUCED
    assert judged(-0.1, -0.02)[0].startswith(f"{PARTLY}: 1 of 2 parts hold; not: loses nothing")
    assert judged(0.0, 0.005)[0].startswith(f"{PARTLY}: 1 of 2 parts hold; not: gains more")
    assert judged(-0.02, -0.03)[0] == FAILS
    assert "cfvs of transformations -0.100 ± 0.01; kept and" in judged(-0.1, 0.0)[1]


def test_every_kind_of_search_plays(tmp_path: Path) -> None:
    [row] = [row for row in gains.ROWS if row.folder == "sepot/battleships_3x3"]
    few = {"num_games": 2, "bound": 200, "num_rollouts": 20, "iterations": 10}
    settings = dataclasses.replace(row.settings, **few)
    report = GAINS.report(GAINS.study(settings, Workspace(tmp_path)))
    rows = report.tables["Searches"].rows
    assert [(each["values"], each["given_cfvs"], each["refinement"]) for each in rows] == [*CHANGES]
    assert all(each["games"] == 2 and each["searched"] > 0 for each in rows)
    assert len({each["gain"] for each in rows}) > 1


def test_small_games(tmp_path: Path) -> None:
    settings = Settings(("kuhn_poker",), (0,), iterations=100, blueprints=("uniform",))
    report = KEPT_CFVS.report(KEPT_CFVS.study(settings, Workspace(tmp_path)))
    totals, rows = (report.tables[name].rows for name in ("All games", "NashConv"))
    assert len(totals) == len(rows) == 6
    # By hand, see the tests of SePoT.
    assert [row["before"] for row in rows] == pytest.approx([11 / 12] * 6)
    for total, row in zip(totals, rows, strict=True):
        assert total["left"] == pytest.approx(row["after"] / row["before"])
        assert total["worse"] == 0


def test_learned_critics(tmp_path: Path) -> None:
    settings = Settings(("kuhn_poker",), (0, 1), blueprints=("uniform",), critic_steps=3)
    report = KEPT_CFVS.report(KEPT_CFVS.study(settings, Workspace(tmp_path)))
    rows = report.tables["NashConv"].rows
    assert [row["critic"] for row in rows] == 6 * [0] + 6 * [1]
    assert rows[0]["after"] != rows[6]["after"]
