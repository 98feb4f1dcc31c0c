"""The experiment with the optimal value function: how fast DL-CFR+ is when its values are right.

Kovařík et al. (2021) have no such figure. It separates what the value network costs from what
depth-limited solving costs, and shows what warm starts of the subgames and restarts of the trunk
are for (`ExactValue`, `DLCFRSolver`'s `restart_every`).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from experiments.dl_cfr.study import DATA, Study
from experiments.study import Experiment
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE, measure_trunk
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.system.steps import log_spaced_steps
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.exact import ExactValue

_POINTS_PER_DECADE = 4
# Iterations between two looks at the gaps. The tolerance is loose in this experiment, so that the
# default, 100, may be more than are needed.
_STRETCH_FROM_SCRATCH = 20
_TITLES = {
    "limit": "depth limit",
    "variant": "DL-CFR+ with",
    "iteration": "iterations",
    "trunk_nash_conv": "trunk NashConv (utility)",
    METRIC: METRIC_TITLE,
}


_RESTART_EVERY, _RESTART_GROWTH = 200, 2.0


class _Variant(NamedTuple):
    warm_start: bool
    restart_every: int | None


_VARIANTS = {
    "subgames from scratch": _Variant(False, None),
    "warm starts": _Variant(True, None),
    "restarts": _Variant(False, _RESTART_EVERY),
    "warm starts and restarts": _Variant(True, _RESTART_EVERY),
}


def _rows(study: Study) -> list[dict[str, Any]]:
    """Trunk NashConv over iterations with the optimal value function, beside CFR+."""
    tolerance = study.settings.exact_tolerance
    tree, iterations = study.trunk.tree, study.settings.num_iterations
    rows: list[dict[str, Any]] = []
    for limit in _limits(study.settings.data.depth_limit):
        trunk = cut(tree, limit)
        labels = {"limit": str(limit), "variant": "CFR+ of the whole game"}
        compute = functools.partial(_curve, CFRPlusSolver(tree), trunk, iterations)
        part = file_name("exact", "cfr_plus", limit)
        rows += [labels | line for line in study.part(part, compute)]
        for name, variant in _VARIANTS.items():
            compute = functools.partial(_variant_curve, trunk, variant, tolerance, iterations)
            part = file_name("exact", name, limit, f"{tolerance:g}")
            lines = study.part(part, compute)
            rows += [labels | {"variant": name} | line for line in lines]
    return [{**row, row["limit"]: row["trunk_nash_conv"]} for row in rows]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    last = [row for row in rows if row["iteration"] == study.settings.num_iterations]
    asked = [row for row in last if row["limit"] == str(study.settings.data.depth_limit)]
    return study.report(
        [
            f"Subgames are solved to gaps of {study.settings.exact_tolerance} utility units, from "
            "scratch at every evaluation or on from the last solution (warm starts). Restarts: "
            f"every {_RESTART_EVERY} iterations the solver goes on from its average, with regrets "
            f"{_RESTART_GROWTH} times as large.",
        ],
        Table(last, _TITLES),
        Table(rows, _TITLES),
        [
            Panel("iteration", limit, "iterations", f"trunk NashConv (utility), limit {limit}")
            for limit in dict.fromkeys(row["limit"] for row in rows)
        ],
        "variant",
        headline="trunk NashConv: "
        + "; ".join(f"{row['variant']} {row['trunk_nash_conv']:.2g}" for row in asked),
    )


EXACT = Experiment(
    "exact",
    "DL-CFR+ with the optimal value function",
    "trunk NashConv (utility)",
    "",
    _rows,
    _report,
    (*DATA, "exact_tolerance"),
)


def _limits(limit: DepthLimit) -> list[DepthLimit]:
    """The limit; if it is in rounds, all from 1 on."""
    if limit.rounds is None:
        return [limit]
    return [DepthLimit(rounds=rounds) for rounds in range(1, limit.rounds + 1)]


def _variant_curve(
    trunk: Trunk, variant: _Variant, tolerance: float, num_iterations: int
) -> list[dict[str, Any]]:
    stretch = None if variant.warm_start else _STRETCH_FROM_SCRATCH
    values = ExactValue(tolerance, stretch=stretch, warm_start=variant.warm_start)
    solver = DLCFRSolver(
        trunk.tree,
        values,
        trunk.depth_limit,
        restart_every=variant.restart_every,
        restart_growth=_RESTART_GROWTH,
    )
    return _curve(solver, trunk, num_iterations)


def _curve(
    solver: DLCFRSolver | CFRPlusSolver, trunk: Trunk, num_iterations: int
) -> list[dict[str, Any]]:
    lines = []
    for iteration in log_spaced_steps(num_iterations, _POINTS_PER_DECADE):
        solver.run(iteration - solver.iteration)
        measured = measure_trunk(trunk, solver.average_policy())
        lines.append({"iteration": iteration, **measured})
    return lines
