"""Hold'em endgames with all hands: times of an iteration and of a good solution.

Also times an iteration of DL-CFR on the turn with values of a river network.

Bets of the pot and all-in, a pot of 500 and stacks of 20,000 with half of the pot in, on a river
and on a turn. With `--endgames`, a folder of files as the Libratus endgames are published (board,
pot, reaches of both players in the order 2s2h, 2s2d, 2s2c, 2s3s, ...), also with their ranges.

  python experiments/benchmarks/poker.py --endgames=libratus_endgames --output=results/benchmarks
"""

import itertools
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

import common

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.factored.families import factored_game
from spiel_dl.games.holdem_cards import RANKS
from spiel_dl.games.poker import endgame
from spiel_dl.play import zoo
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.value_functions.river import RiverNetwork

_STACK = 20000.0
# Per cards on the board: the bound on exploitability, in parts of the pot, and the most iterations.
_BOUNDS = {5: (0.001, 3000), 4: (0.005, 600)}
_GROWTH = 1.25
_ROUNDS, _OF_A_ROUND = 5, 10


class Spot(NamedTuple):
    """An endgame.

    Attributes:
      name: its name in the report.
      board: its cards.
      pot: in chips.
      ranges: of both players; empty: all hands.
    """

    name: str
    board: str
    pot: float
    ranges: tuple[str, str] = ("", "")


SPOTS = (Spot("river, all hands", "4s8hTc9h2s", 500.0), Spot("turn, all hands", "7s9h9cTc", 500.0))


def read_endgame(path: Path) -> Spot:
    """An endgame of a file."""
    lines = {line.split()[0]: line.split()[1:] for line in path.read_text().splitlines()}
    cards = [rank + suit for rank in RANKS for suit in "shdc"]
    hands = [first + second for first, second in itertools.combinations(cards, 2)]
    reaches = [float(reach) for reach in lines["-reach"]]
    first, second = (
        ";".join(
            f"{hand}:{reach!r}"
            for hand, reach in zip(hands, reaches[begin : begin + len(hands)], strict=True)
            if reach > 0
        )
        for begin in (0, len(hands))
    )
    return Spot(path.stem, lines["-board"][0], float(lines["-pot"][0]), (first, second))


def _game(spot: Spot, threads: int) -> FactoredGame:
    left = _STACK - spot.pot / 2
    made = endgame(board=spot.board, pot=spot.pot, stacks=(left, left), ranges=spot.ranges)
    return factored_game(made, num_threads=threads)


def _beside_networks(spot: Spot, threads: int) -> list[dict[str, Any]]:
    """An iteration of the whole turn and of DL-CFR with a river network, taking turns."""
    game = _game(spot, threads)
    network = RiverNetwork.load(zoo.folder() / "river_pot_allin.safetensors")
    solvers: dict[str, CFRSolver | DLCFRSolver] = {
        "CFR of the whole turn": CFRSolver(game, variant="lcfr"),
        **{
            f"DL-CFR, {name}": DLCFRSolver(
                game, network, DepthLimit(rounds=1), variant="lcfr", alternating_updates=alternating
            )
            for name, alternating in (("players in turn", True), ("both players at once", False))
        },
    }
    seconds: dict[str, list[float]] = {name: [] for name in solvers}
    for _ in range(_ROUNDS + 1):
        for name, solver in solvers.items():
            begin = time.process_time()
            solver.run(_OF_A_ROUND)
            seconds[name].append((time.process_time() - begin) / _OF_A_ROUND)
    # The first round loads the compiled loops.
    best = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    whole = next(iter(best.values()))
    return [
        {"solver": name, "ms an iteration": 1000 * time, "times faster": whole / time}
        for name, time in best.items()
    ]


def _solve(spot: Spot, variant: str, threads: int) -> dict[str, Any]:
    """Solves an endgame to the bound; times are processor time unless named clock time."""
    num_cards = len(spot.board) // 2
    bound, most = _BOUNDS[num_cards]
    start = time.perf_counter()
    game = _game(spot, threads)
    building = time.perf_counter() - start
    solver = CFRSolver(game, variant=variant)
    solver.run(1)  # Loads the compiled loops.
    seconds = clock = 0.0
    found, look = 1.0, 10.0
    while found > bound and solver.iteration < most:
        begin, clock_begin = time.process_time(), time.perf_counter()
        solver.run(max(1, min(most, int(look)) - solver.iteration))
        seconds += time.process_time() - begin
        clock += time.perf_counter() - clock_begin
        found = exploitability(game, solver.average_policy()) / spot.pot
        look *= _GROWTH
    return {
        "endgame": spot.name,
        "variant": variant,
        "hands": " + ".join(str(len(hands.weights)) for hands in game.deals.hands),
        "ms an iteration": 1000 * seconds / (solver.iteration - 1),
        "iterations": solver.iteration,
        "percent of the pot": 100 * found,
        "solving, clock (s)": clock,
        "making the game, clock (s)": building,
        "memory (GB)": common.peak_gigabytes(),
    }


def measure(
    *, endgames: str | None = None, variants: tuple[str, ...] = ("pcfr+", "lcfr"), threads: int = 1
) -> Report:
    """Each endgame by each variant of CFR.

    Args:
      endgames: folder of endgames in files; None: none but the two with all hands.
      variants: of CFR.
      threads: for payoffs.
    """
    spots = [*SPOTS]
    if endgames is not None:
        spots += [read_endgame(path) for path in sorted(Path(endgames).glob("*.txt"))]
    rows = [_solve(spot, variant, threads) for spot in spots for variant in variants]
    beside = _beside_networks(SPOTS[1], threads)
    return Report(
        "Hold'em endgames: bets of the pot and all-in",
        [
            f"A pot of 500, and {_STACK:,.0f} chips of each player, half of the pot included. "
            "Solved until exploitability is below 0.1 % of the pot on rivers and 0.5 % on turns, "
            "looked at each time that iterations have grown by a quarter; at most 3,000 and 600. "
            f"An iteration's time is that of processors, with {threads} thread(s). Memory is the "
            "most that the process had up to then, numba and torch included.",
            "DL-CFR asks the zoo's river network for values; medians "
            f"of {_ROUNDS} rounds of {_OF_A_ROUND} iterations, in which the solvers took turns.",
        ],
        {
            "Solved": Table.of([_text(row) for row in rows]),
            "An iteration on the turn, all hands": Table.of([_text(row) for row in beside]),
        },
        more={"rows": rows, "beside": beside},
    )


def _text(row: dict[str, Any]) -> dict[str, Any]:
    rounded = {name: f"{x:.3g}" if isinstance(x, float) else x for name, x in row.items()}
    return {name: x for name, x in rounded.items() if name != "hands"}


if __name__ == "__main__":
    common.run(measure)
