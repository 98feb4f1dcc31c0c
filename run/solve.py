"""Solves any two-player zero-sum OpenSpiel game by a variant of CFR.

Example:
  python run/solve.py --game="leduc_poker" --solver=cfr_plus --iterations=1000
"""

from typing import Annotated, Any

from spiel_dl.algorithms.cfr import SOLVERS, CFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.commands import script
from spiel_dl.runs.solver_run import PLOT_FILE, run_solver
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.system.parameters import Bounds, Positive
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE, CURRENT_POLICY_FILE, slug
from spiel_dl.tree.game_tree import GameTree

_RUN = script.run_directory()


def main(
    *,
    game: str = "leduc_poker",
    solver: str = "cfr_plus",
    iterations: Positive = 1000,
    alternating_updates: bool = True,
    num_threads: Positive = 1,
    points_per_decade: Annotated[int, Bounds(1, 1000)] = 8,
    last_iterate: bool = False,
) -> None:
    """Solves, and says where the results are.

    Args:
      game: OpenSpiel game string, with parameters.
      solver: variant of CFR: a solver's name, or a variant's.
      iterations: iterations in all.
      alternating_updates: update the players in turn.
      num_threads: threads per iteration.
      points_per_decade: evaluations per factor of 10 in iterations.
      last_iterate: evaluate and save the current policy of the last iteration, too.
    """
    how: dict[str, Any] = {
        "alternating_updates": alternating_updates,
        "num_threads": num_threads,
    }
    is_class = solver in SOLVERS
    with script.waiting(f"listing the histories of {game}"):
        made = SOLVERS[solver](game, **how) if is_class else CFRSolver(game, variant=solver, **how)
    identity = {
        "game": str(made.game),
        "solver": solver,
        "alternating_updates": alternating_updates,
    }
    directory = _RUN.build(f"runs/solve/{slug(game)}-{solver}", identity)
    run_solver(made, directory, iterations, label=solver, points_per_decade=points_per_decade)
    last = directory.read_metrics()[-1]
    print(f"game                        {made.game}")
    if isinstance(made.tree, GameTree):
        print(f"histories                   {made.tree.num_histories:,}")
    infosets = sum(made.tree.num_infosets(player) for player in (0, 1))
    print(f"infosets                    {infosets:,}")
    print(f"solver                      {solver}")
    print(f"iterations                  {last['iteration']:,}")
    print(f"seconds of solving          {last['solving_seconds']:.3f}")
    print(f"exploitability (NashConv/2) {last['exploitability']:.3e}")
    print(f"policy                      {directory.path / AVERAGE_POLICY_FILE}")
    print(f"picture                     {directory.path / PLOT_FILE}")
    if last_iterate:
        current, path = made.current_policy(), directory.path / CURRENT_POLICY_FILE
        current.save(path)
        print(f"last iterate's              {exploitability(made.tree, current):.3e}")
        print(f"last iterate                {path}")


if __name__ == "__main__":
    script.run(
        main, choices={"solver": [*SOLVERS, *(name for name in VARIANTS if name not in SOLVERS)]}
    )
