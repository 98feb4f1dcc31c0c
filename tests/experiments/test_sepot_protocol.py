"""Table 1 by the paper's protocol: who plays whom, and what a search earns above its control."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from experiments.manifest import MANIFEST
from experiments.sepot.protocol import CONTROL, PROTOCOL, Settings, summary
from experiments.verdicts import FAILS, OPEN, PARTLY, REPRODUCED
from spiel_dl.algorithms import rnad
from tests.tiny_sepot import report


def match(mean: float, most: int | None, half_width: float = 0.003) -> dict[str, Any]:
    return {
        "game": "goofspiel_8_descending",
        "network": "seed 0",
        "opponent": "seed 3",
        "max_histories": most,
        "games": 2000,
        "without_luck": mean,
        "half_width_without_luck": half_width,
    }


def judged(control: float, search: float, half_width: float = 0.003) -> tuple[str, str]:
    rows = summary([match(control, None, half_width), match(search, 100_000, half_width)])
    return PROTOCOL.judge({"Table 1": rows})


def test_what_a_search_earns_is_what_it_adds_to_its_network() -> None:
    first, second = summary([match(0.01, None), match(0.03, 100_000)])
    assert (first["largest search"], second["largest search"]) == (CONTROL, 100_000)
    assert "earned" not in first
    assert second["earned"] == pytest.approx(0.02)
    assert second["± of that"] == pytest.approx(0.003 * 2**0.5)
    assert second["paper"] == "0.0166 ± 0.0002"


def test_networks_with_critics_play_the_others_with_search_and_without(tmp_path: Path) -> None:
    found = report(PROTOCOL, tmp_path)
    matches = list(found.tables["All matches"].rows)
    pairs = [(match["network"], match["opponent"], match["max_histories"]) for match in matches]
    assert pairs == [
        (f"seed {seed}", "seed 2", most) for seed in (0, 1) for most in (None, 100, 200)
    ]
    # Luck of its own for each pair, so that they are independent; the same with every search.
    seeds = [match["seed"] for match in matches]
    assert len(set(seeds[:3])) == len(set(seeds[3:])) == 1
    assert seeds[0] != seeds[3]
    [control, search, _] = found.tables["Table 1"].rows
    means = [match["without_luck"] for match in matches]
    widths = [match["half_width_without_luck"] for match in matches]
    assert control["mean"] == pytest.approx((means[0] + means[3]) / 2)
    assert search["mean"] == pytest.approx((means[1] + means[4]) / 2)
    assert search["half_width"] == pytest.approx(math.hypot(widths[1], widths[4]) / 2)
    assert search["games"] == 16


def test_both_are_held() -> None:
    assert judged(0.01, 0.03)[0] == REPRODUCED
    assert judged(0.03, 0.02)[0].startswith(f"{PARTLY}: 1 of 2 parts hold; not: more than the")
    assert judged(0.01, -0.02)[0] == FAILS
    assert judged(0.01, 0.03, half_width=0.1)[0] == OPEN


def test_opponents_are_others_and_need_no_critics() -> None:
    rows = [row for row in MANIFEST if row.experiment is PROTOCOL]
    papers = [row for row in rows if row.settings.learner == rnad.PAPER]
    assert len(papers) == 6
    for row in rows:
        assert row.settings.seeds == (0, 1, 2, 3, 4, 5)
        assert row.settings.seeds_with_critics == (0, 1, 2)
        assert row.settings.bounds[0] == 25_000
    with pytest.raises(ValueError, match="must be more than num_searching=3"):
        Settings(("leduc",), seeds=(0, 1, 2))
