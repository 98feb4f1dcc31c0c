"""The comparison of variants: what it measures, ranks, and says."""

import pytest

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.runs import variant_comparison
from spiel_dl.runs.variant_comparison import GAMES, Run, judge, judge_all, report, summarize
from spiel_dl.runs.workspace import Workspace
from spiel_dl.solvers.variants import VARIANTS


def rows(average, current=1.0, seconds=1.0):
    return [
        {"iteration": 1, "seconds": 0.1, "exploitability": 9.0, "current": 9.0},
        {"iteration": 10, "seconds": seconds, "exploitability": average, "current": current},
    ]


JUDGED = {
    "kuhn_poker": {"cfr+": rows(0.1), "dcfr": rows(0.001, 2.0, 3.0), "pcfr+": rows(0.01)},
    "a game": {"cfr+": rows(0.1), "dcfr": rows(0.1), "pcfr+": rows(1e-14)},
}


def test_a_run_is_of_its_variant_with_a_schedule_that_ends_with_it():
    found = judge(Run("kuhn_poker", "hs-pcfr+(30)", 100))
    assert [row["iteration"] for row in found][:3] == [1, 2, 3]
    assert found[-1]["iteration"] == 100
    schedule = variant_comparison.prepared(VARIANTS["hs-pcfr+(30)"], 100)
    assert schedule.horizon == 100.0
    solver = CFRSolver("kuhn_poker", variant=schedule)
    solver.run(100)
    expected = exploitability(solver.tree, solver.average_policy())
    assert found[-1]["exploitability"] == pytest.approx(expected, rel=1e-9)
    assert variant_comparison.prepared(VARIANTS["pcfr+"], 100) is VARIANTS["pcfr+"]


def test_ranks_and_factors_by_hand():
    first, second, third = summarize(JUDGED)
    assert [row["variant"] for row in (first, second, third)] == ["pcfr+", "dcfr", "cfr+"]
    assert first["rank"] == 1.5
    assert second["rank"] == pytest.approx((1 + 2.5) / 2)
    assert third["rank"] == pytest.approx((3 + 2.5) / 2)
    assert [row["first"] for row in (first, second, third)] == [1, 1, 0]
    assert second["factor"] == pytest.approx(0.01**0.5)
    # Less than 1e-12 counts as that.
    assert first["factor"] == pytest.approx((0.1 * 1e-11) ** 0.5)
    assert second["seconds"] == pytest.approx(3**0.5)
    assert second["current_rank"] == pytest.approx((3 + 2) / 2)


def test_the_verdict_says_who_is_best_and_which_claims_hold():
    judged = {game: of_game | {"hs-dcfr(30)": rows(1e-5)} for game, of_game in JUDGED.items()}
    found = report(judged, 10)
    assert found.verdict == (
        "hs-dcfr(30) has the best mean rank after 10 iterations; of those whose iterations take at "
        "most 1.5 times as long as CFR+'s, hs-dcfr(30). Zhang et al. (2024), hs-dcfr(30) below "
        "dcfr, pcfr+ in most games: not met, in 1 of 2."
    )
    assert [list(table.rows[0]) for table in list(found.tables.values())[1:]] == [
        ["variant", "Kuhn"],
        ["variant", "a game"],
    ]
    assert len(found.pictures) == 2


def test_who_is_level_is_not_below():
    """Below in one game of three, level in another one, where both are nothing."""
    pair = {"dcfr": rows(1.0), "pcfr+": rows(1e-13)}
    judged = {
        "kuhn_poker": {"hs-dcfr(30)": rows(1e-14), **pair},
        "a game": {"hs-dcfr(30)": rows(0.01), "dcfr": rows(0.1), "pcfr+": rows(0.1)},
        "another": {"hs-dcfr(30)": rows(0.01), "dcfr": rows(0.001), "pcfr+": rows(0.1)},
    }
    assert report(judged, 10).verdict.endswith(
        "below dcfr, pcfr+ in most games: not met, in 1 of 3, level with the least of them in 1."
    )


def test_parts_are_kept_and_reported(tmp_path):
    settings = {"games": ["kuhn_poker"], "variants": ["cfr", "cfr+", "pcfr+(5)"]}
    workspace = Workspace(tmp_path)
    judged = judge_all(workspace, 20, **settings)
    assert list(judged["kuhn_poker"]) == settings["variants"]
    again = Workspace(tmp_path)
    assert judge_all(again, 20, **settings) == judged
    assert len(again.reused) == 3
    assert report(judged, 20).tables["Poker"].columns == ["variant", "Kuhn"]


def test_all_names_are_files_of_their_own():
    games = [game for group in GAMES.values() for game in group.values()]
    names = [Run(game, variant, 10).name for game in games for variant in VARIANTS]
    assert len({name.lower() for name in names}) == len(games) * len(VARIANTS)


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(ValueError, match="variants='cfr-' must be one of"):
        judge_all(Workspace(tmp_path), variants=["cfr-"])
    with pytest.raises(ValueError, match="iterations=5 must be at least 10"):
        judge_all(Workspace(tmp_path), 5)
