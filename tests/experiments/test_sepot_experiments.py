"""The SePoT paper's experiments on kuhn_poker: right numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability as peer

from experiments.sepot import evaluation as sepot_evaluation
from experiments.sepot import safety as sepot_safety
from experiments.sepot.curves import CFVS, curves_claims
from experiments.sepot.evaluation import CRITIC, SEARCHES, Search
from experiments.sepot.safety import SAFETY
from spiel_dl import ArrayPolicy, DepthLimit, GameTree
from spiel_dl.learning import checkpoints
from spiel_dl.learning.config import RNaDConfig
from tests.tiny_sepot import report, trained_game


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with both networks of `TINY`."""
    directory = tmp_path_factory.mktemp("trained")
    trained_game(directory).train()
    return directory


def test_checkpoints_are_those_of_their_steps(trained: Path) -> None:
    found = trained_game(trained)
    for seed in (0, 1):
        for step in (3, 4):
            path = found.checkpoint(seed, step)
            assert sepot_evaluation.checkpoints.load(path).critic.names[0] == "identity"
    assert found.checkpoint(0, 3).read_bytes() != found.checkpoint(0, 4).read_bytes()
    before = found.checkpoint(0, 4).stat().st_mtime_ns
    found.train()
    assert found.checkpoint(0, 4).stat().st_mtime_ns == before


def test_curves_are_means_of_exact_exploitability(trained: Path) -> None:
    rows = list(report(CFVS, trained).tables["All points"].rows)
    assert [(row["policy"], row["step"]) for row in rows[:2]] == [("network", 3), ("network", 4)]
    assert len(rows) == 2 * (1 + 2 * 2)
    game = pyspiel.load_game("kuhn_poker")
    values = []
    for seed in (0, 1):
        blueprint = checkpoints.load(trained_game(trained).checkpoint(seed, 4)).blueprint
        values.append(
            peer.nash_conv(game, ArrayPolicy.from_policy(GameTree.from_game(game), blueprint))
        )
    assert rows[1]["values"] == pytest.approx(values, abs=1e-6)
    for row in rows:
        parts = row["exploitability_0"] + row["exploitability_1"]
        assert row["nash_conv"] == pytest.approx(parts)
        assert row["nash_conv"] == pytest.approx(np.mean(row["values"]))


def test_sources_of_cfvs_differ_where_a_search_went_before(trained: Path) -> None:
    rows = list(report(CFVS, trained).tables["All points"].rows)
    values = {(row["policy"], row["step"]): row["nash_conv"] for row in rows}
    assert len(rows) == len(values) == 2 * (1 + 4)
    # Two moves ahead, the second search has one decision left.
    found = {
        (source, limit): values[f"search, {limit} moves, cfvs of {source}", 4]
        for source in (CRITIC, SEARCHES)
        for limit in (1, 2)
    }
    assert abs(found[CRITIC, 1] - found[SEARCHES, 1]) > 1e-3
    # Some later decisions are the same by all sources.
    assert len(set(found.values())) >= 3, found


def test_claims_are_open_where_seeds_do_not_tell() -> None:
    values = [[0.5, 0.52], [0.2, 0.22], [0.2, 0.23]]
    final = [
        {
            "policy": f"search, {number} rounds, cfvs of critic",
            "nash_conv": float(np.mean(own)),
            "network": 0.41,
            "values": own,
        }
        for number, own in enumerate(values, start=1)
    ]
    assert set(curves_claims("goofspiel", final, [0.4, 0.42]).values()) == {True}
    final[2]["values"] = [0.1, 0.33]
    part = "2 rounds and 3 rounds alike"
    assert curves_claims("goofspiel", final, [0.4, 0.42])[part] is None
    assert (
        curves_claims("goofspiel", final, [0.1, 0.6])["better than the network, 2 rounds"] is None
    )
    final[2]["values"] = [0.5, 0.53]
    final[2]["nash_conv"] = 0.515
    assert curves_claims("goofspiel", final, [0.4, 0.42])[part] is False


def test_safety(trained: Path) -> None:
    rows = list(report(SAFETY, trained, iterations=100).tables["All searches"].rows)
    assert len(rows) == 4 * 2 * 3 * 2 * 2
    uniform = [row for row in rows if row["blueprint"] == "uniform" and row["player"] == 0]
    tree = GameTree.from_game("kuhn_poker")
    before = sepot_evaluation.judge(tree, ArrayPolicy.uniform(tree))["exploitability_0"]
    assert [row["before"] for row in uniform] == pytest.approx([before] * len(uniform))
    kept = [r for r in rows if r["cfvs"] == "best response" and r["limit"] == "to the end"]
    assert max(row["change"] for row in kept) < 0.02
    counted = {(row["cfvs"], row["looks"]): row for row in sepot_safety.counts(rows)}
    assert counted["best response", "to the end"]["worse"] == 0
    assert counted["identity", "limited"]["cases"] == 4 * 2 * 2 * 2
    assert counted["identity", "limited"]["worse"] > 0


def test_errors(trained: Path) -> None:
    with pytest.raises(ValueError, match="cfvs='none'"):
        Search(DepthLimit(moves=1), "none", 10).config()
    with pytest.raises(ValueError, match=r"its learner\.batch_size is 4, not 5"):
        report(CFVS, trained, learner=RNaDConfig(batch_size=5, hidden_sizes=(4,)))
    found = trained_game(trained)
    case = sepot_safety.Case(found, "uniform", "learned", "identity", DepthLimit(moves=1), 0)
    with pytest.raises(ValueError, match="uniform has no learned critic; take critic='exact'"):
        sepot_safety.search_case(case)
