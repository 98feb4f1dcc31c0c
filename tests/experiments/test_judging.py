"""What is held of each experiment, by numbers made up for it."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.dl_cfr.checkpoints import CHECKPOINTS
from experiments.dl_cfr.left_out import LEFT_OUT
from experiments.dl_cfr.study import ALL_NUMBERS, BOUNDS, SUMMARY
from experiments.particle.architectures import ARCHITECTURES
from experiments.particle.fractions import FRACTIONS
from experiments.policy_gradients.large_games import LARGE_GAMES, WITH_FEATURES
from experiments.responses.biased_rps import BIASED_RPS
from experiments.responses.frontier import FRONTIER
from experiments.responses.table_1 import TABLE_1
from experiments.sepot.safety import SAFETY
from experiments.verdicts import FAILS, OPEN, PARTLY, REPRODUCED, Judgement
from spiel_dl.runs.dl_cfr_run import METRIC
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES, UNNORMALISED


def test_left_out_states_are_held_to_both_readings() -> None:
    lines = [
        {"what": ALL_ERROR_TITLES[UNNORMALISED + name], "largest": largest, "paper": 0.1}
        for name, largest in (("linf", 0.8), ("linf_mean", 0.02))
    ]
    found = LEFT_OUT.judge({SUMMARY: lines}).verdict
    assert found == f"{PARTLY}: 1 of 2 parts hold; not: L∞ (largest of all), unnormalised"
    # The paper has 2.6 in Goofspiel, where utilities are differences of points.
    in_goofspiel = [{**line, "paper": 2.6} for line in lines]
    assert LEFT_OUT.judge({SUMMARY: in_goofspiel}).verdict == REPRODUCED


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


def test_errors_are_to_foretell_exploitability() -> None:
    """Of all checkpoints, and of those that are at most half as exploitable as the worst."""
    names = [name for name in BOUNDS if name != METRIC]

    def judged(exploitability: list[float]) -> Judgement:
        errors = [10.0**-n for n in range(2, 2 + len(exploitability))]
        rows = [
            {"network": "seed 0", METRIC: value, **dict.fromkeys(names, error)}
            for value, error in zip(exploitability, errors, strict=True)
        ]
        return CHECKPOINTS.judge({ALL_NUMBERS: rows})

    early = [1.0, 0.9, 0.8, 0.7, 0.6]
    found = judged([*early, 0.3, 0.2, 0.009])
    assert found.verdict == REPRODUCED
    told = "; rank correlations 1 to 1, 1 to 1 once exploitability has halved"
    assert found.headline == f"0.009 (one network){told}"
    later = judged([*early, 0.008, 0.3, 0.009])
    assert later.verdict.startswith(f"{PARTLY}: 9 of 13 parts hold; not: correlation with Huber")
    assert "once exploitability has halved" in later.verdict


@pytest.mark.parametrize(
    ("at_30_percent", "paper", "expected"),
    [
        (0.021, 0.42, REPRODUCED),
        (0.03, 0.42, PARTLY),
        (0.03, None, FAILS),
        (0.021, None, REPRODUCED),
    ],
)
def test_few_histories_are_to_do_as_well_as_all(
    at_30_percent: float, paper: float | None, expected: str
) -> None:
    values = {0.0025: 0.11, 0.3: at_30_percent, 1.0: 0.02}
    rows = [
        {"choice": "most reached", "histories": 400 * share, "fraction": share, "exploitability": e}
        for share, e in values.items()
    ]
    summary = [{"what": "uniform", "ours": 0.42, "paper": paper}]
    found = FRACTIONS.judge({SUMMARY: summary, ALL_NUMBERS: rows})
    assert found.verdict.split(":")[0] == expected


def test_one_seed_leaves_policy_gradients_open() -> None:
    rows = [
        {"algorithm": algorithm, "game": "phantom_ttt", "seed": seed, "100": 0.7, "1000": last}
        for seed in (0, 1)
        for algorithm, last in (("ppo", 0.1), ("mmd", 0.3), ("rnad", 0.2))
    ]
    judge = LARGE_GAMES.judge
    expected = f"{PARTLY}: 1 of 2 parts hold; not: mmd in phantom_ttt"
    assert judge({"Table": rows}).verdict == expected
    found = judge({"Table": rows[:3]})
    assert found.verdict == OPEN
    assert found.headline.startswith("1 of 2 comparisons with rnad hold; ppo in phantom_ttt: 0.1")


def test_the_least_of_networks_of_sequences_is_the_goal_of_features() -> None:
    last = {"python_dark_hex": (0.001, 0.002), "python_phantom_ttt": (0.11, 0.13)}
    rows = [
        {"algorithm": "mmd", "game": game, "seed": seed, "10000000": value}
        for game, values in last.items()
        for seed, value in enumerate(values)
    ]
    found = WITH_FEATURES.judge({"Table": rows})
    assert found.verdict == f"{PARTLY}: 1 of 2 parts hold; open: mmd in python_phantom_ttt"
    assert WITH_FEATURES.judge({"Table": rows[3:]}).verdict == FAILS, "one seed has no interval"


def networks(by_seed: dict[str, list[float]], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind,
            "trunk_nash_conv": sum(values) / len(values),
            "by network": values,
            **{name: of[kind] if isinstance(of, dict) else of for name, of in more.items()},
        }
        for kind, values in by_seed.items()
    ]


def test_all_that_figure_3_shows_is_judged() -> None:
    ends = {"positional": [0.09, 0.10, 0.11], "particle": [0.086, 0.096, 0.106]}
    errors = {"positional": 1e-5, "particle": 1e-3}
    last = networks(ends, mse=errors, epoch=100)
    first = networks({"positional": [0.5], "particle": [0.6]}, mse=1.0, epoch=10)
    late = networks({"positional": [0.5], "particle": [0.1]}, mse=1.0, epoch=11)
    judge = ARCHITECTURES.judge
    assert judge({SUMMARY: last, ALL_NUMBERS: [*first, *late, *last]}).verdict == REPRODUCED
    far = networks({**ends, "particle": [0.06, 0.07, 0.08]}, mse=1e-5, epoch=100)
    swapped = [{**row, "trunk_nash_conv": 1 - row["trunk_nash_conv"]} for row in first]
    assert judge({SUMMARY: far, ALL_NUMBERS: swapped}).verdict == (
        f"{PARTLY}: 1 of 4 parts hold; not: within a tenth, error 100 times as large, "
        "positional ahead at first"
    )


def test_abr_is_told_and_not_judged() -> None:
    row = {"game": "leduc", "whose": "difference", "abr": -2.3, "cdbr_1": 0.01, "best_nash": -0.02}
    judge = TABLE_1.judge
    told = "at most 0.02 points from the paper's; ABR -2.3 in leduc"
    assert judge({"Beside the paper's, percent": [row]}) == ("", told)
    others = {name: value for name, value in row.items() if name != "abr"}
    assert judge({"Beside the paper's, percent": [others]}).verdict == REPRODUCED
    worse = {**others, "cdbr_1": 0.2}
    assert judge({"Beside the paper's, percent": [worse]}).verdict.startswith(PARTLY)
    assert judge({"All models and players, percent": []}) == ("", "")


def test_safety_is_judged_of_the_papers_cfvs_too() -> None:
    rows = [
        {"cfvs": cfvs, "looks": looks, "worse": worse, "cases": 8}
        for cfvs, looks, worse in (
            ("best response", "to the end", 0),
            ("best response", "limited", 3),  # which nothing promises
            ("identity", "to the end", 1),
        )
    ]
    judge = SAFETY.judge
    found = judge({"How often": rows})
    assert found.verdict == f"{PARTLY}: 1 of 2 parts hold; not: identity, to the end"
