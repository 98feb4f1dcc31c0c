"""The SePoT paper's experiments on kuhn_poker: right numbers, each made once."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability as peer

from experiments.sepot import curves as sepot_curves
from experiments.sepot import evaluation as sepot_evaluation
from experiments.sepot import safety as sepot_safety
from experiments.sepot.curves import CFVS, CURVES
from experiments.sepot.evaluation import CRITIC, SEARCHES, TRANSFORMATIONS, Search
from experiments.sepot.safety import SAFETY
from experiments.sepot.study import default_limits
from experiments.sepot.table_1 import TABLE_1 as TABLE_1_PLAYED
from spiel_dl.learning import checkpoints
from spiel_dl.learning.config import RNaDConfig
from spiel_dl.play.presets import game_string
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree import DepthLimit, GameTree
from tests.tiny_sepot import report, study, trained_game


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


def test_curves_are_means_of_exact_exploitability(trained: Path, monkeypatch) -> None:
    rows = list(report(CURVES, trained).tables["All points"].rows)
    assert [(row["policy"], row["step"]) for row in rows[:2]] == [("network", 3), ("network", 4)]
    assert len(rows) == 2 * (1 + 2)
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
    monkeypatch.setattr(sepot_evaluation, "SePoTPolicy", None)
    again = study(CURVES, trained)
    assert CURVES.report(again).tables["All points"].rows == rows
    assert len(again.workspace.reused) == 12


def test_sources_of_cfvs_differ_where_a_search_went_before(trained: Path) -> None:
    rows = list(report(CFVS, trained).tables["All points"].rows)
    values = {(row["policy"], row["step"]): row["nash_conv"] for row in rows}
    assert len(rows) == len(values) == 2 * (1 + 6)
    # Two moves ahead, the second search has one decision left.
    found = {
        (source, limit): values[f"search, {limit} moves, cfvs of {source}", 4]
        for source in (CRITIC, SEARCHES, TRANSFORMATIONS)
        for limit in (1, 2)
    }
    assert abs(found[CRITIC, 1] - found[SEARCHES, 1]) > 1e-3
    assert abs(found[CRITIC, 1] - found[TRANSFORMATIONS, 1]) > 1e-3
    # Some later decisions are the same by all sources.
    assert len(set(found.values())) >= 3, found


def test_judgement_of_a_player_is_its_own() -> None:
    """The uniform policy loses 11/12 in kuhn_poker in all; the game's value is -1/18."""
    tree = GameTree.from_game("kuhn_poker")
    found = sepot_evaluation.judge(tree, ArrayPolicy.uniform(tree))
    game = pyspiel.load_game("kuhn_poker")
    uniform = ArrayPolicy.uniform(tree)
    best = [peer.best_response(game, uniform, player)["best_response_value"] for player in (0, 1)]
    assert found["nash_conv"] == pytest.approx(11 / 12)
    assert found["exploitability_0"] == pytest.approx(best[1] - 1 / 18)
    assert found["exploitability_1"] == pytest.approx(best[0] + 1 / 18)


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


def test_table_1_plays_every_network_against_the_others(trained: Path, tmp_path: Path) -> None:
    """Seed 2 is not there."""
    for seed in (0, 1):
        shutil.copy(
            trained_game(trained).checkpoint(seed), tmp_path / f"kuhn_poker-{seed}.safetensors"
        )
    changes = {
        "network": str(tmp_path / "{game}-{seed}.safetensors"),
        "seeds": (0, 1, 2),
        "bounds": (100, 200),
        "limits": (DepthLimit(moves=1),),
    }
    found = report(TABLE_1_PLAYED, tmp_path / "work", **changes)
    matches = list(found.tables["All matches"].rows)
    assert [(m["network"], m["opponent"]) for m in matches[:2]] == [
        ("seed 0", "seed 1"),
        ("seed 1", "seed 0"),
    ]
    # Luck of its own for each match, so that they are independent; the same for both bounds.
    seeds = [match["seed"] for match in matches]
    assert seeds[:2] == seeds[2:]
    assert seeds[0] != seeds[1]
    [first, _] = found.tables["Table 1"].rows
    means, widths = (
        [match[name] for match in matches[:2]]
        for name in ("without_luck", "half_width_without_luck")
    )
    assert first["mean"] == pytest.approx(np.mean(means))
    assert first["half_width"] == pytest.approx(np.hypot(*widths) / 2)
    assert first["played"] == "2, 16"
    assert any("kuhn_poker-2.safetensors" in note for note in found.notes)
    again = study(TABLE_1_PLAYED, tmp_path / "work", **changes)
    assert TABLE_1_PLAYED.report(again).tables["All matches"].rows == matches
    assert len(again.workspace.reused) == 4
    with pytest.raises(ValueError, match="no network is there: none/0"):
        report(TABLE_1_PLAYED, tmp_path / "work", **{**changes, "network": "none/{seed}"})


@pytest.mark.parametrize(
    ("game", "limits"),
    [
        ("leduc", ["1 rounds", "2 rounds"]),
        ("leduc_poker", ["1 moves", "2 moves"]),
        # Converted from simultaneous moves: a joint move is a round.
        ("goofspiel(imp_info=True,num_cards=3)", ["1 rounds", "2 rounds", "3 rounds"]),
    ],
)
def test_default_limits(game: str, limits: list[str]) -> None:
    assert [str(limit) for limit in default_limits(game_string(game))] == limits


def test_errors(trained: Path) -> None:
    with pytest.raises(ValueError, match="cfvs='none'"):
        Search(DepthLimit(moves=1), "none", 10).config()
    with pytest.raises(ValueError, match=r"its learner\.batch_size is 4, not 5"):
        report(CURVES, trained, learner=RNaDConfig(batch_size=5, hidden_sizes=(4,)))
    found = trained_game(trained)
    case = sepot_safety.Case(found, "uniform", "learned", "identity", DepthLimit(moves=1), 0)
    with pytest.raises(ValueError, match="uniform has no learned critic; take critic='exact'"):
        sepot_safety.search_case(case)


def final(*values: Sequence[float], network: float = 0.5) -> list[dict[str, Any]]:
    """Last points of searches of 1, 2, ... rounds, from their numbers by seed."""
    return [
        {
            "policy": f"search, {rounds} rounds",
            "nash_conv": float(np.mean(each)),
            "network": network,
            "values": list(each),
        }
        for rounds, each in enumerate(values, start=1)
    ]


def test_claims_of_curves() -> None:
    def claims(game: str, final: list[dict[str, Any]]) -> list[bool | None]:
        return list(sepot_curves.curves_claims(game, final).values())

    wide = [0.2, 0.4]
    assert claims("goofspiel_5_descending", final([0.6, 0.6], wide, wide)) == [True] * 3
    assert claims("goofspiel_5_descending", final([0.2, 0.2], wide, [0.1, 0.1])) == [
        False,
        True,
        True,  # by t of two seeds, nothing is told apart
    ]
    longer = final([0.6] * 4, [0.30, 0.31, 0.29, 0.30], [0.40, 0.41, 0.39, 0.41])
    assert claims("goofspiel_5_random", longer) == [True, True, False]
    # Two rounds are all of Leduc.
    assert claims("leduc", final([0.6], [0.3])) == [True]
    assert claims("leduc", final([0.4], [0.3])) == [False]


@pytest.mark.parametrize(
    ("searches", "expected"),
    [([0.20, 0.21, 0.19], True), ([0.40, 0.41, 0.39], False), ([0.20, 0.41, 0.30], None)],
)
def test_claims_of_given_cfvs_are_of_pairs(searches: list[float], expected: bool | None) -> None:
    values = {CRITIC: [0.30, 0.31, 0.29], SEARCHES: searches, TRANSFORMATIONS: [0.0] * 3}
    rows = [
        {"policy": f"search, 2 rounds, cfvs of {kind}", "values": each}
        for kind, each in values.items()
    ]
    assert sepot_curves.cfvs_claim(rows) is expected
