"""Solves the trunk of a game by depth-limited CFR, and measures its trunk exploitability.

Example:
  python run/dl_cfr.py --rounds=3 --value_function=runs/network/goofspiel_5/network.safetensors \\
      --run_dir=runs/dl_cfr/goofspiel_5 \\
      --game="python_goofspiel_ii(num_cards=5,points_order=descending)"
"""

import dataclasses
from typing import Annotated, Any

from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.commands import config_flags, script
from spiel_dl.runs import dl_cfr_run
from spiel_dl.runs.solver_run import PLOT_FILE
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.system.parameters import Bounds, Positive
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE
from spiel_dl.value_functions import network_files

_LIMIT = script.depth_limit()
_VALUES = config_flags.define(
    network_files.load_value_function,
    names={"name": "value_function"},
    defaults={"name": network_files.EXACT},
    texts={"name": "exact, zero, or the file of a network."},
)
_RUN = script.run_directory(is_required=True)


def main(
    *,
    game: str = "leduc_poker",
    solver: str = "cfr+",
    iterations: Positive = 1000,
    alternating_updates: bool = True,
    reference: bool = True,
    points_per_decade: Annotated[int, Bounds(1, 1000)] = 4,
) -> None:
    """Runs the solver, and prints its results and their paths.

    Args:
      game: OpenSpiel game string, with parameters.
      solver: variant of CFR in the trunk.
      iterations: total number of iterations.
      alternating_updates: update the players in turn.
      reference: run CFR+ on the whole game for comparison.
      points_per_decade: evaluations per factor of 10 in iterations.
    """
    with script.waiting(f"listing the histories of {game}"):
        cfr_solver, identity = _solver(game, solver, alternating_updates)
    directory = _RUN.build("", identity)
    label = f"depth-limited {solver}, {cfr_solver.trunk.depth_limit}"
    curves = dl_cfr_run.run_dl_cfr(
        cfr_solver,
        directory,
        iterations,
        label=label,
        with_reference=reference,
        points_per_decade=points_per_decade,
    )
    trunk, last = cfr_solver.trunk, curves[label][-1]
    print(f"game                             {cfr_solver.game}")
    print(
        f"depth limit                      {trunk.depth_limit}, {trunk.leaves.num_public_states} "
        "leaf public states"
    )
    print(f"solver                           {solver}")
    print(f"iterations                       {last['iteration']:,}")
    print(f"seconds of solving               {last['solving_seconds']:.3f}")
    print(f"trunk NashConv                   {last['trunk_nash_conv']:.3e}")
    print(f"normalised trunk exploitability  {last[dl_cfr_run.METRIC]:.3e}")
    if reference:
        whole = curves[dl_cfr_run.REFERENCE][-1]
        print(f"the same, CFR+ of the whole game {whole[dl_cfr_run.METRIC]:.3e}")
    print(f"policy                           {directory.path / AVERAGE_POLICY_FILE}")
    print(f"picture                          {directory.path / PLOT_FILE}")


def _solver(
    game: str, variant: str, alternating_updates: bool
) -> tuple[DLCFRSolver, dict[str, Any]]:
    """A fresh solver from the flags, and the identity of its run."""
    values = _VALUES.values
    if values["name"] != network_files.EXACT:
        _VALUES.refuse("used with --value_function=exact only", only=["exact_tolerance"])
    limit = _LIMIT.build()
    solver = DLCFRSolver(
        game,
        _VALUES.build(),
        limit,
        variant=variant,
        alternating_updates=alternating_updates,
    )
    return solver, {
        "game": str(solver.game),
        "depth_limit": dataclasses.asdict(limit),
        "value_function": values["name"],
        "value_function_checksum": dl_cfr_run.file_checksum(values["name"]),
        "exact_tolerance": values["exact_tolerance"],
        "solver": variant,
        "alternating_updates": alternating_updates,
    }


if __name__ == "__main__":
    script.run(main, choices={"solver": VARIANTS})
