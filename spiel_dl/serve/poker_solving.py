"""What a worker computes for the page of poker: it solves endgames and looks at their nodes."""

from __future__ import annotations

import dataclasses
import math
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from spiel_dl.algorithms.cfr import CFRSolver
    from spiel_dl.games.holdem import HoldemRules
    from spiel_dl.play.poker_solution import PokerSolution

_VARIANT = "lcfr"
"""The best one of these games, see results/benchmarks/poker.md."""
_MOST_GIGABYTES = 2.0
"""Of one endgame, and of all that are kept together."""
_BYTES_OF_SEQUENCE = 100
_SECONDS = 0.3
_TIMES_OF_JUDGING = 4.0
"""A step solves for so long, or for so many times as long as judging it takes."""


class Spot(NamedTuple):
    """An endgame as a person types it, see `games.poker.endgame`; both have the same stack."""

    board: str
    pot: float
    stack: float
    range_0: str
    range_1: str
    bets: str


@dataclasses.dataclass(eq=False)
class _Kept:
    """A spot that is being solved, or was.

    Attributes:
      solver: how far it is.
      gigabytes: what it takes, about.
      seconds: spent on iterations.
      judging: seconds that the last evaluation took.
      solution: what is looked at; None: nobody has looked since the last iteration.
    """

    solver: CFRSolver
    gigabytes: float
    seconds: float = 0.0
    judging: float = 0.0
    solution: PokerSolution | None = None


_kept: OrderedDict[Spot, _Kept] = OrderedDict()


def check(spot: Spot) -> dict[str, Any]:
    """What is to be said of a spot before it is solved.

    Returns:
      ranges, see `poker_view.range_view`; infosets and gigabytes, about.

    Raises:
      ValueError: if there is no such endgame, or it is too large.
    """
    from spiel_dl.play.poker_view import range_view  # With torch, as all of poker.

    rules = _game(spot).rules
    return {"ranges": [range_view(weights) for weights in rules.ranges], **_size(rules)}


def go_on(spot: Spot) -> dict[str, Any]:
    """Solves a spot for a moment, from where it is.

    Returns:
      iterations; percent, exploitability in percent of the pot; seconds of solving in all.

    Raises:
      ValueError: as `check`.
    """
    from spiel_dl.algorithms.exploitability import exploitability

    kept = _kept.get(spot) or _begin(spot)
    _kept.move_to_end(spot)
    kept.solution = None
    begin = time.perf_counter()
    _run(kept.solver, max(_SECONDS, _TIMES_OF_JUDGING * kept.judging))
    solved = time.perf_counter()
    found = exploitability(kept.solver.tree, kept.solver.average_policy())
    kept.seconds += solved - begin
    kept.judging = time.perf_counter() - solved
    return {
        "iterations": kept.solver.iteration,
        "percent": 100 * found / spot.pot,
        "seconds": kept.seconds,
    }


def see(spot: Spot, path: tuple[int, ...]) -> dict[str, Any]:
    """A node of a spot that was solved, see `poker_view.look`.

    Raises:
      ValueError: if it is not kept any more, or the path is not possible.
    """
    from spiel_dl.play.poker_solution import PokerSolution
    from spiel_dl.play.poker_view import look

    if spot not in _kept:
        raise ValueError("this solution is not kept any more; solve it again")
    kept = _kept[spot]
    _kept.move_to_end(spot)
    if kept.solution is None:
        kept.solution = PokerSolution(kept.solver.average_policy())
    return look(kept.solution, path)


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
    """About how many infosets there are, and the memory to solve them."""
    tree, left = rules.tree, rules.num_cards - len(rules.board)
    boards = [math.perm(left, dealt) for dealt in range(rules.num_rounds)]
    hands = [np.count_nonzero(weights) // 2 for weights in rules.ranges]
    nodes = np.flatnonzero(tree.player >= 0)
    counts = [boards[tree.round[node]] * hands[tree.player[node]] for node in nodes]
    sequences = sum(c * int(tree.legal[n].sum()) for c, n in zip(counts, nodes, strict=True))
    gigabytes = sequences * _BYTES_OF_SEQUENCE / 1e9
    if gigabytes > _MOST_GIGABYTES:
        raise ValueError(
            f"this spot needs about {gigabytes:.1f} GB, and {_MOST_GIGABYTES:g} are allowed here; "
            "use fewer sizes, narrower ranges or a later street"
        )
    return {"infosets": int(sum(counts)), "gigabytes": gigabytes}


def _begin(spot: Spot) -> _Kept:
    """Begins to solve a spot, and forgets those that nobody has looked at for longest."""
    from spiel_dl.algorithms.cfr import CFRSolver
    from spiel_dl.factored.families import factored_game
    from spiel_dl.tree.factored_form import default_threads

    game = _game(spot)
    gigabytes = _size(game.rules)["gigabytes"]
    while _kept and sum(each.gigabytes for each in _kept.values()) + gigabytes > _MOST_GIGABYTES:
        _kept.popitem(last=False)
    solver = CFRSolver(factored_game(game, num_threads=min(2, default_threads())), variant=_VARIANT)
    _kept[spot] = _Kept(solver, gigabytes)
    return _kept[spot]


def _run(solver: CFRSolver, seconds: float) -> None:
    """Iterates for about so long, once at least."""
    end, stretch = time.perf_counter() + seconds, 1
    while True:
        begin = time.perf_counter()
        solver.run(stretch)
        now = time.perf_counter()
        if now >= end:
            return
        stretch = max(1, int(min(2 * stretch, stretch * (end - now) / (now - begin))))
