"""Solves the trunk of a game by depth-limited CFR, and says what its trunk strategy gives away.

Example:
  python run/dl_cfr.py --rounds=3 --value_function=runs/network/goofspiel_5/network.safetensors \\
      --run_dir=runs/dl_cfr/goofspiel_5 \\
      --game="python_goofspiel_ii(num_cards=5,points_order=descending)"
"""

import dataclasses
import sys
from collections.abc import Sequence

import depth_limit_flags
import unused_flags
from absl import app, flags

from spiel_dl.algorithms.cfr import SOLVERS
from spiel_dl.algorithms.dl_cfr import DLCFRSolver, Restarts
from spiel_dl.jobs import dl_cfr_run
from spiel_dl.jobs.solver_run import PLOT_FILE
from spiel_dl.runs.run_directory import AVERAGE_POLICY_FILE, RunDirectory
from spiel_dl.value_functions import network_files

_GAME = flags.DEFINE_string("game", "leduc_poker", "OpenSpiel game string, with parameters.")
_limit = depth_limit_flags.define()
_VALUES = flags.DEFINE_string(
    "value_function", network_files.EXACT, "exact, zero, or the file of a network."
)
_TOLERANCE = flags.DEFINE_float(
    "exact_tolerance", 1e-4, "Gap of the subgames with --value_function=exact, in utility units."
)
_WARM_START = flags.DEFINE_bool(
    "warm_start", False, "With --value_function=exact: solve subgames on from the last solution."
)
_RESTART_EVERY = flags.DEFINE_integer(
    "restart_every",
    None,
    "Go on from the average every so many iterations. Default: never.",
    lower_bound=1,
)
_RESTART_GROWTH = flags.DEFINE_float(
    "restart_growth", Restarts().growth, "What regrets are multiplied by at a restart."
)
_SOLVER = flags.DEFINE_enum("solver", "cfr_plus", list(SOLVERS), "Variant of CFR in the trunk.")
_ITERATIONS = flags.DEFINE_integer("iterations", 1000, "Iterations in all.", lower_bound=1)
_ALTERNATING = flags.DEFINE_bool("alternating_updates", True, "Update the players in turn.")
_REFERENCE = flags.DEFINE_bool("reference", True, "Run CFR+ on the whole game for comparison.")
_POINTS = flags.DEFINE_integer(
    "points_per_decade", 4, "Evaluations per factor of 10 in iterations.", lower_bound=1
)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device of a network, such as cpu or cuda.")
_RUN_DIR = flags.DEFINE_string("run_dir", None, "Run directory.", required=True)
_RESUME = flags.DEFINE_bool("resume", False, "Go on with the run in the run directory.")


def main(argv: Sequence[str]) -> None:
    """Solves, and says where the results are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    if not _RESTART_EVERY.value:
        unused_flags.refuse(["restart_growth"], "used with --restart_every only")
    if _VALUES.value != network_files.EXACT:
        unused_flags.refuse(
            ["exact_tolerance", "warm_start"], "used with --value_function=exact only"
        )
    try:
        solver, directory = _solver_and_directory()
        label = f"depth-limited {_SOLVER.value}, {solver.trunk.depth_limit}"
        curves = dl_cfr_run.run_dl_cfr(
            solver,
            directory,
            _ITERATIONS.value,
            label=label,
            with_reference=_REFERENCE.value,
            points_per_decade=_POINTS.value,
        )
    except ValueError as error:
        sys.exit(f"error: {error}")
    limit, leaves, last = solver.trunk.depth_limit, solver.trunk.leaves, curves[label][-1]
    print(f"game                             {solver.game}")
    print(
        f"depth limit                      {limit}, {leaves.num_public_states} leaf public states"
    )
    print(f"solver                           {_SOLVER.value}")
    print(f"iterations                       {last['iteration']:,}")
    print(f"seconds of solving               {last['solving_seconds']:.3f}")
    print(f"trunk NashConv                   {last['trunk_nash_conv']:.3e}")
    print(f"normalised trunk exploitability  {last[dl_cfr_run.METRIC]:.3e}")
    if _REFERENCE.value:
        reference = curves[dl_cfr_run.REFERENCE][-1]
        print(f"the same, CFR+ of the whole game {reference[dl_cfr_run.METRIC]:.3e}")
    print(f"policy                           {directory.path / AVERAGE_POLICY_FILE}")
    print(f"picture                          {directory.path / PLOT_FILE}")


def _solver_and_directory() -> tuple[DLCFRSolver, RunDirectory]:
    """A fresh solver as the flags describe it, and the run directory for it."""
    restarts = None
    if _RESTART_EVERY.value:
        restarts = Restarts(_RESTART_EVERY.value, _RESTART_GROWTH.value)
    limit = _limit()
    solver = DLCFRSolver(
        _GAME.value,
        network_files.load_value_function(
            _VALUES.value,
            exact_tolerance=_TOLERANCE.value,
            warm_start=_WARM_START.value,
            device=_DEVICE.value,
        ),
        limit,
        weighting=SOLVERS[_SOLVER.value].weighting,
        alternating_updates=_ALTERNATING.value,
        restarts=restarts,
    )
    config = {
        "game": str(solver.game),
        "depth_limit": dataclasses.asdict(limit),
        "value_function": _VALUES.value,
        "value_function_checksum": dl_cfr_run.file_checksum(_VALUES.value),
        "exact_tolerance": _TOLERANCE.value,
        "warm_start": _WARM_START.value,
        "restarts": restarts._asdict() if restarts else None,
        "solver": _SOLVER.value,
        "alternating_updates": _ALTERNATING.value,
    }
    return solver, RunDirectory(_RUN_DIR.value, config, resume=_RESUME.value)


if __name__ == "__main__":
    app.run(main)
