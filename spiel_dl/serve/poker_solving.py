"""Computations of the worker of the poker page: solves endgames, and views their nodes."""

from __future__ import annotations

import dataclasses
import math
import sys
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from spiel_dl.algorithms.cfr import CFRSolver
    from spiel_dl.games.holdem import HoldemRules
    from spiel_dl.play.poker_solution import PokerSolution

_VARIANT = "lcfr"
"""The fastest variant in these games, see results/benchmarks/poker.md."""
_MAX_GIGABYTES = 2.0
"""Maximum memory of one endgame, and of all that are kept."""
_BYTES_PER_SEQUENCE = 100
_SECONDS = 0.3
_SOLVING_PER_EVALUATION = 4.0
"""A step solves for `_SECONDS`, or for this multiple of the time of its evaluation, if longer."""


class Spot(NamedTuple):
    """The arguments of an endgame as text, see `games.poker.endgame`; stacks are equal."""

    board: str
    pot: float
    stack: float
    range_0: str
    range_1: str
    bets: str


@dataclasses.dataclass(eq=False)
class _SolvedSpot:
    """A spot that is being solved, or was.

    Attributes:
      solver: the solver.
      gigabytes: its approximate memory.
      seconds: of all iterations.
      evaluation_seconds: of the last evaluation.
      solution: for viewing nodes; None: not computed since the last iteration.
    """

    solver: CFRSolver
    gigabytes: float
    seconds: float = 0.0
    evaluation_seconds: float = 0.0
    solution: PokerSolution | None = None


_solved_spots: OrderedDict[Spot, _SolvedSpot] = OrderedDict()


def check(spot: Spot) -> dict[str, Any]:
    """Checks a spot before it is solved.

    Returns:
      ranges, see `poker_view.range_view`; infosets and approximate gigabytes.

    Raises:
      ValueError: if there is no such endgame, or it is too large.
    """
    from spiel_dl.play.poker_view import range_view  # Imports torch, as all of poker does.

    rules = _game(spot).rules
    return {"ranges": [range_view(weights) for weights in rules.ranges], **_size(rules)}


def solve_further(spot: Spot) -> dict[str, Any]:
    """Solves a spot for a short time, from its last iteration.

    Returns:
      iterations; percent, exploitability in percent of the pot; total seconds of solving.

    Raises:
      ValueError: as `check`.
    """
    from spiel_dl.algorithms.exploitability import exploitability

    solved = _solved_spots.get(spot) or _begin(spot)
    _solved_spots.move_to_end(spot)
    solved.solution = None
    begin = time.perf_counter()
    _run(solved.solver, max(_SECONDS, _SOLVING_PER_EVALUATION * solved.evaluation_seconds))
    end = time.perf_counter()
    chips = exploitability(solved.solver.tree, solved.solver.average_policy())
    solved.seconds += end - begin
    solved.evaluation_seconds = time.perf_counter() - end
    return {
        "iterations": solved.solver.iteration,
        "percent": 100 * chips / spot.pot,
        "seconds": solved.seconds,
    }


def see(spot: Spot, path: tuple[int, ...]) -> dict[str, Any]:
    """A node of a spot that was solved, see `poker_view.look`.

    Raises:
      ValueError: if the solution is not kept any more, or the path is not possible.
    """
    from spiel_dl.play.poker_solution import PokerSolution
    from spiel_dl.play.poker_view import look

    if spot not in _solved_spots:
        raise ValueError("this solution is not kept any more; solve it again")
    solved = _solved_spots[spot]
    _solved_spots.move_to_end(spot)
    if solved.solution is None:
        solved.solution = PokerSolution(solved.solver.average_policy())
    return look(solved.solution, path)


def _game(spot: Spot) -> Any:
    from spiel_dl.games.poker import endgame

    return endgame(
        board=spot.board,
        pot=spot.pot,
        stacks=(spot.stack, spot.stack),
        ranges=(spot.range_0, spot.range_1),
        bets=spot.bets,
    )


def _size(rules: HoldemRules) -> dict[str, Any]:
    """Approximate number of infosets, and gigabytes to solve the endgame."""
    tree, left = rules.tree, rules.num_cards - len(rules.board)
    boards = [math.perm(left, dealt) for dealt in range(rules.num_rounds)]
    hands = [np.count_nonzero(weights) // 2 for weights in rules.ranges]
    nodes = np.flatnonzero(tree.player >= 0)
    counts = [boards[tree.round[node]] * hands[tree.player[node]] for node in nodes]
    sequences = sum(c * int(tree.legal[n].sum()) for c, n in zip(counts, nodes, strict=True))
    gigabytes = sequences * _BYTES_PER_SEQUENCE / 1e9
    if gigabytes > _MAX_GIGABYTES:
        raise ValueError(
            f"this spot needs about {gigabytes:.1f} GB, and {_MAX_GIGABYTES:g} are allowed here; "
            "use fewer sizes, narrower ranges or a later street"
        )
    return {"infosets": int(sum(counts)), "gigabytes": gigabytes}


def _begin(spot: Spot) -> _SolvedSpot:
    """Makes the solver of a spot; drops the least recently used spots to free memory."""
    from spiel_dl.algorithms.cfr import CFRSolver
    from spiel_dl.factored.families import factored_game
    from spiel_dl.tree.factored_form import default_threads

    game = _game(spot)
    gigabytes = _size(game.rules)["gigabytes"]
    while _solved_spots and _gigabytes_in_use() + gigabytes > _MAX_GIGABYTES:
        _solved_spots.popitem(last=False)
    solver = CFRSolver(factored_game(game, num_threads=min(2, default_threads())), variant=_VARIANT)
    _solved_spots[spot] = _SolvedSpot(solver, gigabytes)
    return _solved_spots[spot]


def _gigabytes_in_use() -> float:
    return sum(solved.gigabytes for solved in _solved_spots.values())


def _run(solver: CFRSolver, seconds: float) -> None:
    """Iterates for about this time, at least once."""
    from spiel_dl.solvers.effort import Clock, Effort

    clock, start = Clock(Effort(sys.maxsize, seconds=seconds)), solver.iteration
    while clock.allows(solver.iteration - start):
        solver.run(clock.next_iterations(solver.iteration - start))
