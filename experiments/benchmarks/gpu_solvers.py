"""CFR and CFR+ iterations beside published times of GPU solvers, in their seven games.

Published are milliseconds per iteration of vanilla CFR: of NoRegret on a GPU and on a CPU, and of
OpenSpiel's C++ (arXiv 2605.14277, the authors' own measurement; games and sizes are those of their
repository, uoftcprg/noregret). Ours are medians over rounds, on one and on two threads of this
machine, in the games that `solvers.reduction` leaves. Where an iteration of OpenSpiel's C++ takes
less than seconds, each iteration is held against its, from the same regrets and strategies.

Each game is compiled and solved in a process of its own: the peak of its memory is the game's.

*Bandwidth* is what memory allows: an iteration has to read both orientations of the payoffs that
are left and, of every sequence that is left, to read and write what is learned, at the rate at
which this machine copies memory.

  python experiments/benchmarks/gpu_solvers.py --output=results/benchmarks
"""

import statistics
from typing import Any, NamedTuple

import common
import numpy as np
import pyspiel

from spiel_dl.algorithms import cfr
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.reduction import reduce_form
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.tree import GameTree

Strings = list[list[str]]
_GOOFSPIEL = "goofspiel(imp_info=True,num_cards={},points_order=descending)"
_BATTLESHIP = (
    "battleship(board_height=3,board_width=2,ship_sizes=[{}],ship_values=[{}],num_shots=3)"
)
SOLVERS = {"CFR": cfr.CFRSolver, "CFR+": cfr.CFRPlusSolver}
THREADS = (1, 2)
SOURCE = "arXiv 2605.14277"
# Compared are so many iterations, in games of at most so many histories.
NUM_ITERATES = 5
NUM_SOLVED = 500  # iterations of CFR+ to a solution
SOLVED = ("solving", "nash_conv")
MOST_COMPARED = 1_000_000
# What an iteration moves, at least. Of a player's payoff: its value and its column. Of a sequence:
# regret, strategy, realization and average are read and written, its value is written and read.
BYTES_OF_PAYOFF, BYTES_OF_SEQUENCE = 12, 10 * 8


class Game(NamedTuple):
    """A game, its number of histories, and published milliseconds per iteration."""

    string: str
    num_histories: int
    gpu: float
    cpu: float
    openspiel: float


GAMES = {
    "Kuhn": Game("kuhn_poker", 58, 7.58, 0.87, 0.035),
    "Leduc": Game("leduc_poker", 9_457, 10.58, 1.47, 11.4),
    "liar's dice 1x6": Game("liars_dice", 294_883, 13.67, 4.45, 46),
    "goofspiel 6": Game(_GOOFSPIEL.format(6), 969_523, 12.27, 7.07, 785),
    "battleship 3x2 [2]": Game(_BATTLESHIP.format("2", "4"), 2_271_795, 11.95, 45, 4_351),
    "battleship 3x2 [2;2]": Game(_BATTLESHIP.format("2;2", "4;4"), 27_097_919, 26, 279, 38_900),
    "goofspiel 7": Game(_GOOFSPIEL.format(7), 47_506_635, 16.8, 174, 36_100),
}


def bandwidth() -> float:
    """Bytes per second that one core reads and writes when it copies 256 megabytes."""
    source = np.ones(256 * 2**17)
    target = np.empty_like(source)
    found = [common.timed(lambda: np.copyto(target, source))[1]["seconds"] for _ in range(5)]
    return 2 * source.nbytes / min(found)


def state_of_openspiel(solver: Any, tree: GameTree, strings: Strings) -> list[np.ndarray]:
    """For each player, cumulative regrets, summed plans and current strategy: float64 [3, S].

    OpenSpiel sums plans once for each history of an infoset.
    """
    parts = solver.__getstate__().partition("[SolverValuesTable]\n")[2].split("<~>")
    rows, found = dict(zip(parts[::2], parts[1::2], strict=True)), []
    for player, of_player in enumerate(strings):
        treeplex = tree.treeplexes[player]
        numbers = np.ones((3, treeplex.num_sequences))
        for infoset, string in enumerate(of_player):
            for row, text in zip(numbers, rows[string].split(";")[1:], strict=True):
                row[treeplex.sequences(infoset)] = [float.fromhex(x) for x in text.split(",")]
        numbers[1, 1:] /= np.repeat(tree.infoset_sizes[player], treeplex.num_actions)
        found.append(numbers)
    return found


def largest_difference(tree: GameTree, name: str) -> dict[str, float]:
    """Of regrets and averages, after iterations from the same state, from those of OpenSpiel's C++.

    OpenSpiel's solver goes on from its own state: where regrets tie in exact arithmetic, its
    rounding noise decides the next strategy. Player 1 answers player 0's new strategy there. Where
    infosets are left out, OpenSpiel's regrets have to be 0, and averages are not compared. Also its
    milliseconds per iteration.
    """
    peer = {"CFR": pyspiel.CFRSolver, "CFR+": pyspiel.CFRPlusSolver}[name](tree.game)
    form, sequences = reduce_form(tree.sequence_form)
    ours = RegretMinimizer(form, SOLVERS[name].variant, alternating_updates=False)
    strings: Strings = [
        [tree.infoset_string(player, infoset) for infoset in range(tree.num_infosets(player))]
        for player in (0, 1)
    ]
    difference, seconds = 0.0, []
    after = state_of_openspiel(peer, tree, strings)
    for iteration in range(NUM_ITERATES):
        before = after
        seconds.append(common.timed(peer.evaluate_and_update_policy)[1]["seconds"])
        after = state_of_openspiel(peer, tree, strings)
        for player, of_first in ((0, before[0]), (1, after[0])):
            state = ours.state()
            state["iteration"][:] = iteration
            for each, strategy in enumerate((of_first[2], before[1][2])):
                kept = sequences[each]
                state[f"regret_{each}"], state[f"average_{each}"] = before[each][:2, kept]
                state[f"strategy_{each}"] = strategy[kept]
                plan = realization_plan(tree.treeplexes[each], strategy)
                state[f"realization_{each}"] = plan[kept]
            ours.load_state(state)
            ours.run(1)
            learned, kept = ours.learned[player], sequences[player]
            regret, average = np.zeros_like(after[player][0]), after[player][1].copy()
            regret[kept], average[kept] = learned.regret, learned.average
            for mine, other in zip((regret, average), after[player][:2], strict=True):
                difference = max(difference, float(np.abs(mine - other)[1:].max()))
    return {"difference": difference, "openspiel_here": 1e3 * statistics.median(seconds)}


def iteration(tree: GameTree, name: str, rounds: int, seconds: float) -> dict[str, float]:
    """Milliseconds per iteration on each number of threads: medians of rounds."""
    solvers = {threads: SOLVERS[name](tree, num_threads=threads) for threads in THREADS}
    found = [
        {
            str(threads): 1e3 * common.seconds_per_call(solver.run, seconds)
            for threads, solver in solvers.items()
        }
        for _ in range(rounds)
    ]
    return common.medians(found)


def warm_up() -> None:
    """Compiles loops and imports what comes before what is timed."""
    for solver in SOLVERS.values():
        for threads in THREADS:
            solver("leduc_poker", num_threads=threads).run(10)
    reduce_form(GameTree.from_game(_GOOFSPIEL.format(6)).sequence_form)


def rows_of(
    label: str, rounds: int, seconds: float, rate: float
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A game's rows: its times by each solver, and how it was compiled and solved."""
    warm_up()
    game = GAMES[label]
    tree, compiled = common.timed(lambda: GameTree.from_game(game.string))
    form, of_form = common.timed(lambda: tree.sequence_form)
    compiling = {
        "game": f"`{game.string}`",
        "histories": tree.num_histories,
        "payoffs": form.payoffs.nnz,
        "sequences": sum(treeplex.num_sequences for treeplex in form.treeplexes),
        "seconds": compiled["seconds"] + of_form["seconds"],
        "processor": compiled["processor"] + of_form["processor"],
        "peak": common.peak_gigabytes(),
    }
    (reduced, _), of_reducing = common.timed(lambda: reduce_form(form))
    compiling["reduced_payoffs"] = reduced.payoffs.nnz
    compiling["reduced_sequences"] = sum(each.num_sequences for each in reduced.treeplexes)
    compiling["reducing"] = of_reducing["seconds"]
    if tree.num_histories != game.num_histories:
        raise RuntimeError(f"{game.string} has {tree.num_histories:,} histories, not as published")
    solver = cfr.CFRPlusSolver(tree, num_threads=max(THREADS))
    _, of_solution = common.timed(lambda: solver.run(NUM_SOLVED))
    compiling["solving"] = of_solution["seconds"]
    compiling["nash_conv"] = nash_conv(tree, solver.average_policy())
    num_bytes = (
        2 * compiling["reduced_payoffs"] * BYTES_OF_PAYOFF
        + compiling["reduced_sequences"] * BYTES_OF_SEQUENCE
    )
    rows = []
    for name in SOLVERS:
        here = iteration(tree, name, rounds, seconds)
        row = {
            "game": label,
            "solver": name,
            "one": here["1"],
            "two": here["2"],
            "bandwidth": 1e3 * num_bytes / rate,
            "gpu": game.gpu,
            "cpu": game.cpu,
            "openspiel": game.openspiel,
        }
        if tree.num_histories <= MOST_COMPARED:
            row |= largest_difference(tree, name)
        rows.append(row)
    return rows, compiling


def measure(
    *, rounds: int = 3, seconds: float = 0.5, games: tuple[str, ...] = tuple(GAMES)
) -> Report:
    """Measures every game.

    Args:
      rounds: per figure.
      seconds: at least, of each number of threads in a round.
      games: which of them, by name and in the order of their size.
    """
    common.check_games(games, list(GAMES))
    rate = bandwidth()
    times, compiling = [], []
    for label in games:
        rows, how = common.in_process(rows_of, label, rounds, seconds, rate)
        times += rows
        compiling.append(how)
    of_cfr = [row for row in times if row["solver"] == "CFR"]
    ahead = sum(min(row["one"], row["two"]) < row["gpu"] for row in of_cfr)
    compared = [row["difference"] for row in times if "difference" in row]
    apart = f"{max(compared):.1e}" if compared else "not compared"
    return Report(
        "Beside published times of GPU solvers",
        [
            f"Published times: {SOURCE}, vanilla CFR, on their machines; all others on this one. "
            f"Medians of {rounds} rounds. One core copies memory at {rate / 1e9:.1f} GB/s. "
            f"Largest difference of regrets and averages from OpenSpiel's C++ in {NUM_ITERATES} "
            f"iterations, in games of at most {MOST_COMPARED:,} histories: {apart}.",
        ],
        {
            "One iteration, both players updated, milliseconds": Table.of(
                times,
                one="one thread",
                two="two threads",
                bandwidth="one core's bandwidth allows",
                gpu=f"GPU, {SOURCE}",
                cpu=f"CPU, {SOURCE}",
                openspiel=f"OpenSpiel C++, {SOURCE}",
                difference="largest difference from OpenSpiel",
                openspiel_here="OpenSpiel C++, here",
            ),
            "From game string to sequence form": Table.of(
                [{name: row[name] for name in row if name not in SOLVED} for row in compiling],
                processor="processor seconds",
                peak="peak memory until then, GB",
                reduced_payoffs="payoffs, reduced",
                reduced_sequences="sequences, reduced",
                reducing="seconds of reducing",
            ),
            f"Solved by {NUM_SOLVED} iterations of CFR+ on {max(THREADS)} threads": Table.of(
                [{name: row[name] for name in ("game", *SOLVED)} for row in compiling],
                solving="seconds",
                nash_conv="NashConv",
            ),
        },
        verdict=f"On at most two threads, CFR is ahead of the published GPU column in {ahead} of "
        f"{len(of_cfr)} games.",
    )


if __name__ == "__main__":
    common.run(measure, threads=2)
