"""DL-CFR in a run directory: what is measured, and the comparison."""

from __future__ import annotations

from pathlib import Path

from spiel_dl import ArrayPolicy, DepthLimit, ExactValue, GameTree
from spiel_dl.algorithms import cfr
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.runs import dl_cfr_run
from spiel_dl.runs.solver_run import PLOT_FILE
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE, RunDirectory
from spiel_dl.tree import cut

LIMIT = DepthLimit(rounds=1)


def test_where_all_utilities_are_0_nothing_is_lost() -> None:
    tree = GameTree.from_game("oshi_zumo(coins=0,size=1)")
    trunk = cut(tree, DepthLimit(moves=1))
    expected = {"trunk_nash_conv": 0.0, dl_cfr_run.METRIC: 0.0}
    assert dl_cfr_run.measure_trunk(trunk, ArrayPolicy.uniform(tree)) == expected


def test_a_run_and_its_comparison(tmp_path: Path) -> None:
    goofspiel = GameTree.from_game("python_goofspiel_ii(num_cards=3,points_order=descending)")
    solver = DLCFRSolver(goofspiel, ExactValue(1e-3), LIMIT)
    directory = RunDirectory(tmp_path, {})
    curves = dl_cfr_run.run_dl_cfr(solver, directory, 100, label="ours", show_progress=False)
    assert set(curves) == {"ours", dl_cfr_run.REFERENCE}
    assert curves["ours"][0][dl_cfr_run.METRIC] > 0.1
    assert all(lines[-1][dl_cfr_run.METRIC] < 0.01 for lines in curves.values())
    assert [line["iteration"] for line in curves["ours"]] == [1, 2, 3, 6, 10, 18, 32, 56, 100]
    plain = cfr.CFRPlusSolver(goofspiel)
    plain.run(100)
    trunk = cut(goofspiel, LIMIT)
    measured = dl_cfr_run.measure_trunk(trunk, plain.average_policy())
    last = curves[dl_cfr_run.REFERENCE][-1]
    assert {name: last[name] for name in measured} == measured
    policy = ArrayPolicy.load(tmp_path / AVERAGE_POLICY_FILE, goofspiel)
    measured = dl_cfr_run.measure_trunk(trunk, policy)
    assert {name: curves["ours"][-1][name] for name in measured} == measured
    assert (tmp_path / PLOT_FILE).read_bytes().startswith(b"\x89PNG")
