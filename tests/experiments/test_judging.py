"""The criterion of each experiment, tested with made-up numbers."""

from __future__ import annotations

import math

import pytest

from experiments.dl_cfr.additional import SIZE
from experiments.dl_cfr.study import HUBER
from experiments.particle_search.matches import MATCHES
from experiments.responses.biased_rps import BIASED_RPS
from experiments.responses.frontier import FRONTIER
from experiments.responses.local import LOCAL_RESPONSES
from experiments.sepot.matches import wins
from experiments.verdicts import (
    FAILS,
    OPEN,
    PARTLY,
    REPRODUCED,
    Judgement,
    counted,
    student_half_width,
)


def frontier(*, rnr: float, at_half: float) -> Judgement:
    """Points of a responder whose best response gains 4 and whose best equilibrium gains 0.6."""
    points = [
        {
            "method": method,
            "parameter": p,
            "gain": gain,
            "exploitability": lost,
            "percent": 25 * gain,
        }
        for method, p, gain, lost in (
            ("CDRNR, full_trunk", 0.5, 1.0, at_half),
            ("CDRNR, full_trunk", 0.1, 1.0, 0.0),
            ("CDRNR, full", 0.1, 1.0, 1.0),  # p does not bound it
            ("RNR", 0.5, rnr, 0.0),
            ("best Nash", 0.0, 0.6, 0.0),
            ("mix", 0.5, 3.0, 5.0),  # more exploitable than all others
            ("SES", 0.5, 0.6, 0.0),
        )
    ]
    who = {"game": "leduc", "model": "uniform", "player": 0}
    return FRONTIER.judge({"All points": [{**who, **point} for point in points]})


def test_frontiers_are_judged_by_the_gadget_as_it_is_defined() -> None:
    found = frontier(rnr=2.0, at_half=0.2)
    failed = "twice best Nash's gain, half of all gain, a tenth at p = 0.5"
    assert found.verdict == f"{PARTLY}: 2 of 5 parts hold; not: {failed}"
    counted = "twice best Nash's gain 0 of 1, half of all gain 0 of 1, p bounds 1 of 1, SES 1 of 1"
    assert counted in found.headline
    # Where RNR cannot reach it, nothing can.
    found = frontier(rnr=1.1, at_half=0.05)
    opened = "twice best Nash's gain, half of all gain"
    assert found.verdict == f"{PARTLY}: 3 of 5 parts hold; open: {opened}"


@pytest.mark.parametrize(
    ("gain", "most", "expected"), [(1.4, 2.0, REPRODUCED), (1.6, 2.0, PARTLY), (1.4, 1.9, PARTLY)]
)
def test_the_full_gadget_is_held_to_mixtures_of_its_points(
    gain: float, most: float, expected: str
) -> None:
    points = [
        ("CDRNR, full_trunk", 1.0, 0.0),
        ("CDRNR, full_trunk", 2.0, 1.0),
        ("CDRNR, resolving", gain, 0.5),
        ("CDRNR, resolving", most, 2.0),
        ("CDRNR, joint", 9.0, 0.0),  # not the paper's
        ("SES", 0.0, 0.0),
    ]
    rows = [
        {
            "model": "random:0",
            "method": method,
            "gain": value,
            "percent": 50 * value,
            "exploitability": lost,
        }
        for method, value, lost in points
    ]
    assert BIASED_RPS.judge({"All points": rows}).verdict.startswith(expected)


def test_what_has_no_case_is_open() -> None:
    cases = {"one": [True, True], "other": [True, False], "none": []}
    expected = {"one": True, "other": False, "none": None}, "one 2 of 2, other 1 of 2, none 0 of 0"
    assert counted(cases) == expected
    # In Goofspiel there is no LBR; here no number of units was tried.
    methods = {"best response": 1.0, **{f"CDBR{ahead}": 0.5 for ahead in range(1, 6)}}
    case = {"game": "goofspiel_5", "player": 0, "opponent": "averages of CFR", "iterations": 34}
    gains = [{**case, "method": method, "gain": gain} for method, gain in methods.items()]
    judged = LOCAL_RESPONSES.judge({"Gain, by model and responder": gains})
    assert judged.verdict == OPEN
    sizes = [
        {"network": "seed 0, depth varied", "layers": layers, HUBER: loss}
        for layers, loss in ((3, 0.2), (5, 0.1))
    ]
    judged = SIZE.judge({"All numbers": sizes})
    assert judged.verdict == f"{PARTLY}: 1 of 2 parts hold; open: 200 to 500 units"
    assert judged.headline.endswith("units of least Huber loss: not varied")


def test_one_pair_of_games_decides_nothing() -> None:
    row = {"search": "small", "opponent": "the network", "without_luck": 0.5, "share_searched": 1}
    tables = {"Matches": [{**row, "half_width_without_luck": None, "seconds_per_move": 0.1}]}
    assert MATCHES.judge(tables) == (OPEN, "small against the network 0.500 (one pair)")
    [slow] = tables["Matches"]
    slow["seconds_per_move"] = 2.0
    assert MATCHES.judge(tables).verdict == FAILS


@pytest.mark.parametrize(
    ("mean", "half_width", "paper", "expected"),
    [
        (0.03, 0.02, 0.05, True),
        (0.02, 0.04, 0.05, None),  # 0 and the paper's number lie within
        (0.02, 0.025, 0.05, False),
        (-0.02, 0.03, 0.0, None),
        (-0.03, 0.02, 0.0, False),
        (0.02, math.inf, 0.05, None),
    ],
)
def test_a_match_is_won_or_lost_or_open(
    mean: float, half_width: float, paper: float, expected: bool | None
) -> None:
    assert wins(mean, half_width, paper) is expected


def test_student_half_width_by_hand() -> None:
    assert student_half_width([1.0]) is None
    # Standard deviation 1 of three values; the t quantile of two degrees of freedom is 4.3027.
    assert student_half_width([1.0, 2.0, 3.0]) == pytest.approx(4.3027 / 3**0.5, abs=1e-4)
