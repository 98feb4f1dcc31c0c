"""Variants of CFR in many games: who is least exploitable after a number of iterations.

Exploitability is exact, of the average policy. Schedules end at the number of iterations. Times are
of the processor; compiling, which happens once, is not counted.

  python experiments/benchmarks/cfr_variants.py --iterations=1000
"""

import dataclasses
import math
import time

import common
import numpy as np

import spiel_dl as dl
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.tree import GameTree

_GOOFSPIEL = "goofspiel(imp_info=True,num_cards={},points_order=descending,returns_type=win_loss)"
_POKER = (
    "universal_poker(betting=nolimit,bettingAbstraction=fcpa,blind=1 1,firstPlayer=1 1,"
    "numBoardCards=0 1,numHoleCards=1,numPlayers=2,numRanks=3,numRounds=2,numSuits={0},"
    "stack={1} {1})"
)
GAMES = {
    "Kuhn": "kuhn_poker",
    "Leduc": "leduc_poker",
    "no-limit, 6 cards": _POKER.format(2, 5),
    "no-limit, 12 cards": _POKER.format(4, 9),
    "ours: Leduc": "python_leduc(bet_sizes=[2;4],deal_ranks=true,max_raises=2,raise_sizes=[2;4])",
    "Goofspiel 4": _GOOFSPIEL.format(4),
    "Goofspiel 5": _GOOFSPIEL.format(5),
    "ours: Goofspiel II 5": (
        "python_goofspiel_ii(forced_last_round=true,num_cards=5,points_order=descending)"
    ),
    "ours: Oshi-Zumo II": (
        "python_oshi_zumo_ii(coins=8,min_bid=1,optimal_endgame=true,start_location=3)"
    ),
    **{f"1 die of {sides}": f"liars_dice(dice_sides={sides},numdice=1)" for sides in (4, 5, 6)},
    "Battleship 2x2": (
        "battleship(allow_repeated_shots=False,board_height=2,board_width=2,num_shots=3,"
        "ship_sizes=[2],ship_values=[2])"
    ),
    "ours: Battleships 2x2": "python_battleships(board_height=2,board_width=2,ship_sizes=[2])",
    "dark hex 2x2": "dark_hex(board_size=2,gameversion=cdh)",
    "abrupt dark hex 2x2": "dark_hex(board_size=2,gameversion=adh)",
}
# Less than this counts as this, as in the code of Xu et al. (2024): rounding is no rank.
NOTHING = 1e-12


def judge(tree: GameTree, name: str, iterations: int) -> tuple[float, float]:
    """A variant's exploitability after some iterations, and their seconds of the processor."""
    variant = VARIANTS[name]
    if math.isfinite(variant.horizon):
        variant = dataclasses.replace(variant, horizon=float(iterations))
    dl.CFR(tree, variant=variant).run(8)  # compiles
    solver, start = dl.CFR(tree, variant=variant), time.process_time()
    solver.run(iterations)
    seconds = time.process_time() - start
    return max(NOTHING, dl.exploitability(tree, solver.average_policy())), seconds


def measure(*, iterations: int = 1000) -> Report:
    """Measures.

    Args:
      iterations: of every variant in every game.
    """
    found, seconds = np.empty((2, len(VARIANTS), len(GAMES)))
    for column, game in enumerate(GAMES.values()):
        tree = GameTree.from_game(game)
        for row, name in enumerate(VARIANTS):
            found[row, column], seconds[row, column] = judge(tree, name, iterations)
    names = list(VARIANTS)
    below = (found[None] < found[:, None]).sum(axis=1)
    ranks = below + ((found[None] == found[:, None]).sum(axis=1) + 1) / 2
    plus = names.index("cfr+")
    factor, slower = (np.exp(np.log(x / x[plus]).mean(axis=1)) for x in (found, seconds))
    behind = (found / found.min(axis=0)).max(axis=1)
    summary = [
        {
            "variant": name,
            "rank": ranks[i].mean(),
            "worst": ranks[i].max(),
            "behind": behind[i],
            "factor": factor[i],
            "seconds": slower[i],
        }
        for i, name in enumerate(names)
    ]
    summary.sort(key=lambda row: row["rank"])
    games = [{"game": g} | dict(zip(names, found[:, j], strict=True)) for j, g in enumerate(GAMES)]
    return Report(
        "Variants of CFR, side by side",
        [
            f"Exploitability is exact, NashConv / 2 in units of utility, of the average policy "
            f"after {iterations:,} iterations with alternating updates; less than {NOTHING:g} "
            "counts as that, and equals share the mean of their ranks.",
        ],
        {
            "Over all games": Table(
                summary,
                {
                    "variant": "variant",
                    "rank": "mean rank",
                    "worst": "worst rank",
                    "behind": "factor to the least, at worst",
                    "factor": "factor to CFR+",
                    "seconds": "time of an iteration, to CFR+",
                },
            ),
            "Exploitability": Table.of(games),
        },
        verdict=f"{summary[0]['variant']} has the best mean rank, {names[int(behind.argmin())]} "
        "is at worst least behind the best of a game.",
    )


if __name__ == "__main__":
    common.run(measure)
