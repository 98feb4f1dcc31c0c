"""Solves any two-player zero-sum OpenSpiel game by a variant of CFR.

Example:
  python run/solve.py --game="leduc_poker" --solver=cfr_plus --iterations=1000
"""

import sys
from collections.abc import Sequence

from absl import app, flags

from spiel_dl.algorithms.cfr import SOLVERS
from spiel_dl.jobs.solver_run import PLOT_FILE, run_solver
from spiel_dl.runs.run_directory import AVERAGE_POLICY_FILE, RunDirectory, slug

_GAME = flags.DEFINE_string("game", "leduc_poker", "OpenSpiel game string, with parameters.")
_SOLVER = flags.DEFINE_enum("solver", "cfr_plus", list(SOLVERS), "Variant of CFR.")
_ITERATIONS = flags.DEFINE_integer("iterations", 1000, "Iterations in all.", lower_bound=1)
_ALTERNATING = flags.DEFINE_bool("alternating_updates", True, "Update the players in turn.")
_THREADS = flags.DEFINE_integer("num_threads", 1, "Threads per iteration.", lower_bound=1)
_POINTS = flags.DEFINE_integer(
    "points_per_decade", 8, "Evaluations per factor of 10 in iterations.", lower_bound=1
)
_RUN_DIR = flags.DEFINE_string("run_dir", None, "Run directory. Default: runs/solve/GAME-SOLVER.")
_RESUME = flags.DEFINE_bool("resume", False, "Go on with the run in the run directory.")


def main(argv: Sequence[str]) -> None:
    """Solves, and says where the results are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        solver = SOLVERS[_SOLVER.value](
            _GAME.value, alternating_updates=_ALTERNATING.value, num_threads=_THREADS.value
        )
        directory = RunDirectory(
            _RUN_DIR.value or f"runs/solve/{slug(_GAME.value)}-{_SOLVER.value}",
            {
                "game": str(solver.game),
                "solver": _SOLVER.value,
                "alternating_updates": _ALTERNATING.value,
            },
            resume=_RESUME.value,
        )
        run_solver(
            solver,
            directory,
            _ITERATIONS.value,
            label=_SOLVER.value,
            points_per_decade=_POINTS.value,
        )
    except ValueError as error:
        sys.exit(f"error: {error}")
    last = directory.read_metrics()[-1]
    print(f"game                        {solver.game}")
    print(f"histories                   {solver.tree.num_histories:,}")
    print(f"solver                      {_SOLVER.value}")
    print(f"iterations                  {last['iteration']:,}")
    print(f"seconds of solving          {last['solving_seconds']:.3f}")
    print(f"exploitability (NashConv/2) {last['exploitability']:.3e}")
    print(f"policy                      {directory.path / AVERAGE_POLICY_FILE}")
    print(f"picture                     {directory.path / PLOT_FILE}")


if __name__ == "__main__":
    app.run(main)
