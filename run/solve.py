"""Solves any two-player zero-sum OpenSpiel game, or an endgame of hold'em, by a variant of CFR.

Examples:
  python run/solve.py --game="leduc_poker" --solver=cfr+ --iterations=1000
  python run/solve.py --poker=QsJh2h4d5c --pot=20 --stack=90 --range_0="22+,A2s+" --solver=lcfr
"""

from typing import Annotated, Any

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.commands import config_flags, script
from spiel_dl.factored.families import compile_any, factored_game
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.large_games import estimate_solving
from spiel_dl.runs.solver_run import PLOT_FILE, WHOLE_GAME, Evaluation, run_solver
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.system.parameters import Bounds, Positive
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE, CURRENT_POLICY_FILE, slug
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree


def _endgame(
    *,
    poker: str | None = None,
    pot: float = 20.0,
    stack: float = 90.0,
    range_0: str = "",
    range_1: str = "",
    bets: str = "pot, allin",
) -> Any:
    """The endgame of hold'em of the flags; None without --poker.

    Args:
      poker: the board of an endgame of hold'em, such as QsJh2h4d, which is solved instead of the
        game, with the flags below. lcfr is a good solver for it.
      pot: chips in the pot.
      stack: chips that each player has left.
      range_0: hands of the player who acts first, such as "22+,A2s+,QJo:0.5"; empty: all.
      range_1: hands of the other player.
      bets: sizes of bets and raises, such as "33%,pot,allin; raise 60%,allin | pot,allin".
    """
    if poker is None:
        _ENDGAME.refuse("of an endgame of hold'em; give its board by --poker")
        return None
    from spiel_dl.games.poker import endgame  # Imports torch.

    stacks, ranges = (stack, stack), (range_0, range_1)
    return endgame(board=poker, pot=pot, stacks=stacks, ranges=ranges, bets=bets)


_ENDGAME = config_flags.define(_endgame)
_RUN = script.run_directory()


def main(
    *,
    game: str | None = None,
    solver: str = "cfr+",
    iterations: Positive = 1000,
    alternating_updates: bool = True,
    num_threads: Positive = 1,
    points_per_decade: Annotated[int, Bounds(1, 1000)] = 8,
    last_iterate: bool = False,
    page: str | None = None,
) -> None:
    """Runs the solver, and prints its results and their paths.

    Args:
      game: OpenSpiel game string, with parameters. Default: leduc_poker.
      solver: variant of CFR.
      iterations: total number of iterations.
      alternating_updates: update the players in turn.
      num_threads: threads per iteration.
      points_per_decade: evaluations per factor of 10 in iterations.
      last_iterate: evaluate and save the current policy of the last iteration, too.
      page: file of an HTML page with all nodes of the solution of a river.
    """
    endgame = _ENDGAME.build()
    poker, pot, stack = (_ENDGAME.values[name] for name in ("poker", "pot", "stack"))
    if poker is not None and game is not None:
        raise ValueError(f"--game={game} and --poker={poker} are two games; leave one of them out")
    game = "leduc_poker" if game is None else game
    if page is not None:
        _check_page(endgame)
    name, evaluation = slug(game), WHOLE_GAME
    if poker is not None:
        name, evaluation = f"poker-{slug(poker)}", _percent_of_pot(pot)
    with script.waiting(f"listing {'what may be dealt' if poker else f'the histories of {game}'}"):
        tree = compile_any(game) if endgame is None else factored_game(endgame)
    if isinstance(tree, FactoredGame):
        print(estimate_solving(tree), flush=True)
    cfr_solver = CFRSolver(
        tree, variant=solver, alternating_updates=alternating_updates, num_threads=num_threads
    )
    identity = {
        "game": str(cfr_solver.game),
        "solver": solver,
        "alternating_updates": alternating_updates,
    }
    directory = _RUN.build(f"runs/solve/{name}-{solver.replace('+', '_plus')}", identity)
    run_solver(
        cfr_solver,
        directory,
        iterations,
        label=solver,
        evaluation=evaluation,
        points_per_decade=points_per_decade,
    )
    last = directory.read_metrics()[-1]
    print(f"game                        {poker or cfr_solver.game}")
    if isinstance(cfr_solver.tree, GameTree):
        print(f"histories                   {cfr_solver.tree.num_histories:,}")
    infosets = sum(cfr_solver.tree.num_infosets(player) for player in (0, 1))
    print(f"infosets                    {infosets:,}")
    print(f"solver                      {solver}")
    print(f"iterations                  {last['iteration']:,}")
    print(f"seconds of solving          {last['solving_seconds']:.3f}")
    print(f"exploitability (NashConv/2) {last['exploitability']:.3e}")
    if poker is not None:
        print(f"  in percent of the pot     {last['percent_of_pot']:.4f}")
    if page is not None:
        _write_page(page, cfr_solver, f"{poker}, pot {pot:g}, stacks {stack:g}", last)
        print(f"page                        {page}")
    print(f"policy                      {directory.path / AVERAGE_POLICY_FILE}")
    print(f"picture                     {directory.path / PLOT_FILE}")
    if last_iterate:
        current, path = cfr_solver.current_policy(), directory.path / CURRENT_POLICY_FILE
        current.save(path)
        print(f"last iterate's              {exploitability(cfr_solver.tree, current):.3e}")
        print(f"last iterate                {path}")


def _check_page(endgame: Any) -> None:
    """Raises a ValueError before hours of solving if there can be no page of a game."""
    from spiel_dl.play import poker_view

    if endgame is None:
        raise ValueError("--page shows an endgame of hold'em; give its board by --poker")
    poker_view.all_paths(endgame.rules)  # Raises if there are too many nodes for one page.


def _write_page(path: str, solver: CFRSolver, title: str, last: dict[str, Any]) -> None:
    """Writes a page of the average policy."""
    from spiel_dl.play import poker_view, public_tree_page
    from spiel_dl.play.poker_solution import PokerSolution

    quality = (
        f"exploitable by {last['percent_of_pot']:.2g} % of the pot, "
        f"after {last['iteration']:,} iterations"
    )
    view = poker_view.page(PokerSolution(solver.average_policy()), title, quality)
    public_tree_page.write(path, view, public_tree_page.POKER)


def _percent_of_pot(pot: float) -> Evaluation:
    """Exploitability in chips, and in percent of the pot, which is shown."""

    def measure(policy: ArrayPolicy) -> dict[str, float]:
        metrics = WHOLE_GAME.measure(policy)
        return {**metrics, "percent_of_pot": 100 * metrics["exploitability"] / pot}

    return Evaluation(measure, "percent_of_pot", "exploitability (percent of the pot)")


if __name__ == "__main__":
    script.run(main, choices={"solver": VARIANTS})
