"""The experiment with trust, against policies that search with it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from open_spiel.python.algorithms import exploitability as peer

from experiments.sepot.blueprints import with_exact_critic
from experiments.sepot.trust import TRUSTS
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit
from tests.tiny_sepot import report


def test_rows_are_those_of_the_policies(tmp_path: Path) -> None:
    game, limit = "kuhn_poker", DepthLimit(moves=1)
    found = report("trust", tmp_path, games=(game,), limits=(limit,), blueprints=("fixed:1",))
    rows, summary = (found.tables[name].rows for name in ("All", "By trust"))
    assert len(rows) == len(summary) == len(TRUSTS)
    tree, blueprint, critic = with_exact_critic(game, "fixed:1", "pure", may_choose=True)
    for row, line, (trust, leaf_trust) in zip(rows, summary, TRUSTS, strict=True):
        effort = Effort(20, tolerance=1e-4, variant=SearchConfig().effort.variant)
        config = SearchConfig(trust=trust, leaf_trust=leaf_trust, effort=effort)
        policy = SePoTPolicy(tree, blueprint, critic, limit, config=config).to_array_policy()
        assert row["after"] == pytest.approx(peer.nash_conv(tree.game, policy), abs=1e-9)
        assert line["ratio"] == pytest.approx(row["after"] / row["before"])
        assert line["earned"] == pytest.approx(row["earned"] / row["most"])
    assert summary[0]["lower"] == summary[0]["more"] == "0 of 1"
    assert len({round(row["after"], 6) for row in rows}) > 1
    assert not math.isnan(summary[0]["ratio"])
