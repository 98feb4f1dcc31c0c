"""Table 1 by the paper's protocol: who plays whom, and what a search earns above its control."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.manifest import MANIFEST
from experiments.sepot.protocol import CONTROL, PROTOCOL, SEARCH, Settings, summary
from experiments.verdicts import FAILS, OPEN, PARTLY, REPRODUCED
from spiel_dl.algorithms import rnad


def match(mean: float, most: int | None, half_width: float = 0.003) -> dict[str, Any]:
    return {
        "game": "goofspiel_8_descending",
        "network": "seed 0",
        "opponent": "seed 3",
        "kind": CONTROL if most is None else SEARCH,
        "max_histories": most,
        "games": 2000,
        "without_luck": mean,
        "half_width_without_luck": half_width,
        "share_searched": None,
        "seconds_per_move": 0.1,
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
        assert row.settings.bounds == (25_000, 100_000)
    with pytest.raises(ValueError, match="must be more than num_searching=3"):
        Settings(("leduc",), seeds=(0, 1, 2))
