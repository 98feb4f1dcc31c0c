"""What is held of each experiment, by numbers made up for it."""

from __future__ import annotations

import pytest

from experiments.responses.biased_rps import BIASED_RPS
from experiments.responses.frontier import FRONTIER
from experiments.verdicts import PARTLY, REPRODUCED, Judgement


def frontier(*claims: tuple[str, str], at_half: float = 0.2) -> Judgement:
    who = {"game": "leduc", "model": "uniform", "player": 0}
    points = [
        {"method": method, "parameter": p, "gain": 1.0, "exploitability": lost}
        for method, p, lost in (
            ("CDRNR, full_trunk", 0.5, at_half),
            ("CDRNR, full_trunk", 0.1, 0.0),
            ("CDRNR, full", 0.5, 0.0),
        )
    ]
    rows = [{**who, "claim": claim, "holds": holds} for claim, holds in claims]
    return FRONTIER.judge({"The paper's claims": rows, "All points": points})


def test_frontiers_are_judged_by_the_gadget_as_it_is_defined() -> None:
    twice = "gains twice as much as the best Nash at exploitability <= gain / 10"
    bound = "p * gain - (1 - p) * exploitability >= 0 for all p"
    held = (("CDRNR, full_trunk: " + bound, "yes"), ("CDRNR, full: " + bound, "no"))
    ses = ("SES gains at most 1.1 times as much as the best Nash", "yes")
    reached = (f"RNR {twice}", "yes")
    found = frontier((f"CDRNR, full_trunk {twice}", "no"), reached, *held, ses)
    failed = "twice best Nash's gain, a tenth at p = 0.5"
    assert found.verdict == f"{PARTLY}: 2 of 4 parts hold; not: {failed}"
    assert "twice best Nash's gain 0 of 1, p bounds 1 of 1, SES 1 of 1" in found.headline
    # Where RNR cannot reach it, nothing can.
    beyond = (f"RNR {twice}", "no")
    found = frontier((f"CDRNR, full_trunk {twice}", "no"), beyond, *held, ses, at_half=0.05)
    assert found.verdict == f"{PARTLY}: 3 of 4 parts hold; open: twice best Nash's gain"


@pytest.mark.parametrize(("gain", "expected"), [(1.4, REPRODUCED), (1.6, PARTLY)])
def test_the_full_gadget_is_held_to_mixtures_of_its_points(gain: float, expected: str) -> None:
    points = [
        ("CDRNR, full_trunk", 1.0, 0.0),
        ("CDRNR, full_trunk", 2.0, 1.0),
        ("CDRNR, resolving", gain, 0.5),
        ("CDRNR, joint", 9.0, 0.0),  # not the paper's
        ("SES", 0.0, 0.0),
    ]
    rows = [
        {"model": "random:0", "method": method, "gain": value, "exploitability": lost}
        for method, value, lost in points
    ]
    assert BIASED_RPS.judge({"All points": rows}).verdict.startswith(expected)
