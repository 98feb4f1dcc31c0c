"""All variants of CFR in many games: who is least exploitable after a number of iterations.

Exploitability is exact, of the average policy, which the papers report, and of the current one.
Schedules end at the number of iterations. Compiling, which happens once, is not counted in times.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.runs.loop import log_spaced_steps
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.solvers.variants import VARIANTS, AnyVariant, Weighting
from spiel_dl.tree.game_tree import GameTree

GOOFSPIEL = "goofspiel(imp_info=True,num_cards={},points_order=descending,returns_type=win_loss)"
LIARS_DICE = "liars_dice(dice_sides={},numdice=1)"
BATTLESHIP = (
    "battleship(allow_repeated_shots=False,board_height=2,board_width=2,num_shots=3,"
    "ship_sizes=[2],ship_values=[2])"
)
POKER = (
    "universal_poker(betting=nolimit,bettingAbstraction=fcpa,blind=1 1,firstPlayer=1 1,"
    "numBoardCards=0 1,numHoleCards=1,numPlayers=2,numRanks=3,numRounds=2,numSuits={0},"
    "stack={1} {1})"
)
# The groups of the tables: at most seven games each.
GAMES: dict[str, dict[str, str]] = {
    "Poker": {
        "Kuhn": "kuhn_poker",
        "Leduc": "leduc_poker",
        "no-limit, 6 cards": POKER.format(2, 5),
        "no-limit, 12 cards": POKER.format(4, 9),
        "ours: Leduc": (
            "python_leduc(bet_sizes=[2;4],deal_ranks=true,max_raises=2,raise_sizes=[2;4])"
        ),
    },
    "Goofspiel and auctions": {
        "Goofspiel 4": GOOFSPIEL.format(4),
        "Goofspiel 5": GOOFSPIEL.format(5),
        "ours: Goofspiel II 5": (
            "python_goofspiel_ii(forced_last_round=true,num_cards=5,points_order=descending)"
        ),
        "ours: Oshi-Zumo II": (
            "python_oshi_zumo_ii(coins=8,min_bid=1,optimal_endgame=true,start_location=3)"
        ),
    },
    "Liar's dice": {f"1 die of {sides}": LIARS_DICE.format(sides) for sides in (4, 5, 6)},
    "Boards": {
        "Battleship 2x2": BATTLESHIP,
        "ours: Battleships 2x2": "python_battleships(board_height=2,board_width=2,ship_sizes=[2])",
        "dark hex 2x2": "dark_hex(board_size=2,gameversion=cdh)",
        "abrupt dark hex 2x2": "dark_hex(board_size=2,gameversion=adh)",
    },
}
METRIC = "exploitability = NashConv / 2 (utility)"
# Less than this counts as this, as in the code of Xu et al. (2024): rounding is no rank.
NOTHING = 1e-12
# Who takes at most so many times as long as CFR+ for an iteration may be the best for its time.
_FAST = 1.5
_POINTS_PER_DECADE = 6
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Run:
    """One variant in one game.

    Attributes:
      game: its game string.
      variant: its name in `VARIANTS`.
      iterations: how many.
    """

    game: str
    variant: str
    iterations: int

    @property
    def name(self) -> str:
        """For files."""
        return file_name(self.game, self.variant.replace("+", "_plus"))


def prepared(variant: AnyVariant, iterations: int) -> AnyVariant:
    """A variant whose schedule, if it has one, ends with the run."""
    if isinstance(variant, Weighting) and math.isfinite(variant.horizon):
        return dataclasses.replace(variant, horizon=float(iterations))
    return variant


@functools.lru_cache(maxsize=1)
def _tree(game: str) -> GameTree:
    """A compiled game, until the next one: a worker's runs are mostly of one game."""
    return GameTree.from_game(game)


def judge(run: Run) -> Rows:
    """Runs a variant: at each point iterations, their processor time, both exploitabilities."""
    tree = _tree(run.game)
    variant = prepared(VARIANTS[run.variant], run.iterations)
    CFRSolver(tree, variant=variant).run(8)  # compiles
    solver, seconds, rows = CFRSolver(tree, variant=variant), 0.0, []
    for point in log_spaced_steps(run.iterations, _POINTS_PER_DECADE):
        start = time.process_time()
        solver.run(point - solver.iteration)
        seconds += time.process_time() - start
        rows.append(
            {
                "iteration": point,
                "seconds": seconds,
                "exploitability": exploitability(tree, solver.average_policy()),
                "current": exploitability(tree, solver.current_policy()),
            }
        )
    return rows


def judge_all(
    workspace: Workspace,
    iterations: int = 1000,
    games: Sequence[str] = (),
    variants: Sequence[str] = (),
) -> dict[str, dict[str, Rows]]:
    """Runs variants in games; from game string to name of the variant to what `judge` found.

    Args:
      workspace: what is finished there is not done again.
      iterations: of every run.
      games: game strings; empty: all of `GAMES`.
      variants: names in `VARIANTS`; empty: all.

    Raises:
      ValueError: if there is no such variant, or fewer than 10 iterations.
    """
    unknown = [name for name in variants if name not in VARIANTS]
    if unknown:
        raise ValueError(f"variants={unknown[0]!r} must be one of {', '.join(VARIANTS)}")
    if iterations < 10:
        raise ValueError(f"iterations={iterations} must be at least 10")
    known = [game for group in GAMES.values() for game in group.values()]
    runs = [
        Run(game, variant, iterations)
        for game in games or known
        for variant in variants or VARIANTS
    ]
    named = [(run.name, dataclasses.asdict(run)) for run in runs]
    found = workspace.parts(named, judge, runs, "variants")
    judged: dict[str, dict[str, Rows]] = {run.game: {} for run in runs}
    for run, rows in zip(runs, found, strict=True):
        judged[run.game][run.variant] = rows
    return judged


def report(judged: Mapping[str, Mapping[str, Rows]], iterations: int) -> Report:
    """Ranks, all exploitabilities, and a picture of each game."""
    titles = {game: title for group in GAMES.values() for title, game in group.items()}
    summary = summarize(judged)
    best = summary[0]["variant"]
    tables = {f"After {iterations:,} iterations, over all games": Table(summary, _SUMMARY)}
    for heading, group in GAMES.items():
        present = {title: game for title, game in group.items() if game in judged}
        if present:
            tables[heading] = _of_group(judged, present)
    others = {game: game for game in judged if game not in titles}
    if others:
        tables["Other games"] = _of_group(judged, others)
    panels = [
        Panel("iteration", "exploitability", "iterations", f"average policy: {METRIC}"),
        Panel("iteration", "current", "iterations", "current policy"),
    ]
    pictures = [
        Picture(file_name(game), f"{titles.get(game, '')}\n{game}".strip(), panels, of_game)
        for game, of_game in judged.items()
    ]
    return Report(
        "Variants of CFR, side by side",
        [
            f"Exploitability is exact, NashConv / 2 in units of utility, after {iterations:,} "
            "iterations with alternating updates; extragradient CFR+ evaluates twice an iteration, "
            "and it and greedy weights update both players at once. Tables show the average "
            "policy, as the papers do; Reg-CFR is meant for its current policy, which is in the "
            "pictures and in `current` of the JSON. Times are of the processor, without compiling.",
            "Not here, of the papers' games: Battleship 3x2, whose 732,607 histories would take "
            "longer than all others together (give it as --game), river endgames, which are too "
            "large to be listed, and Goofspiel without imp_info, whose information states are of "
            "imperfect recall.",
            "A rank is among the variants of this report, 1 is the least exploitable; less than "
            f"{NOTHING:g} counts as that, and equals share the mean of their ranks. A factor is "
            "the geometric mean over games of a variant's exploitability divided by that of CFR+.",
        ],
        tables,
        pictures,
        verdict=_verdict(judged, summary, best, iterations),
        more={"iterations": iterations, "curves": judged},
    )


_SUMMARY = {
    "variant": "variant",
    "rank": "mean rank",
    "worst": "worst rank",
    "first": "games won or shared",
    "factor": "factor to CFR+",
    "current_rank": "mean rank of the current policy",
    "seconds": "time of an iteration, to CFR+",
}


def summarize(judged: Mapping[str, Mapping[str, Rows]]) -> Rows:
    """A row for each variant, the best mean rank first."""
    names = list(next(iter(judged.values())))
    ranks = {name: _ranks(judged, name, "exploitability") for name in names}
    current = {name: _ranks(judged, name, "current") for name in names}
    rows = []
    for name in names:
        row: dict[str, Any] = {
            "variant": name,
            "rank": statistics.mean(ranks[name]),
            "worst": max(ranks[name]),
            "first": sum(_is_least(judged, game, name) for game in judged),
            "current_rank": statistics.mean(current[name]),
        }
        if "cfr+" in names:
            row["factor"] = _factor(judged, name, "exploitability")
            row["seconds"] = _factor(judged, name, "seconds")
        rows.append(row)
    return sorted(rows, key=lambda row: row["rank"])


def _last(judged: Mapping[str, Mapping[str, Rows]], game: str, name: str, metric: str) -> float:
    """A metric at the end of a run."""
    value = float(judged[game][name][-1][metric])
    return value if metric == "seconds" else max(value, NOTHING)


def _is_least(judged: Mapping[str, Mapping[str, Rows]], game: str, name: str) -> bool:
    least = min(_last(judged, game, other, "exploitability") for other in judged[game])
    return _last(judged, game, name, "exploitability") <= least


def _ranks(judged: Mapping[str, Mapping[str, Rows]], name: str, metric: str) -> list[float]:
    """A variant's rank in each game."""
    ranks = []
    for game, of_game in judged.items():
        own = _last(judged, game, name, metric)
        others = [_last(judged, game, other, metric) for other in of_game if other != name]
        better = sum(other < own for other in others)
        same = sum(other == own for other in others)
        ranks.append(1 + better + same / 2)
    return ranks


def _factor(judged: Mapping[str, Mapping[str, Rows]], name: str, metric: str) -> float:
    """The geometric mean over games of a metric divided by that of CFR+."""
    logarithms = [
        math.log(_last(judged, game, name, metric) / _last(judged, game, "cfr+", metric))
        for game in judged
    ]
    return float(np.exp(np.mean(logarithms)))


def _of_group(judged: Mapping[str, Mapping[str, Rows]], games: Mapping[str, str]) -> Table:
    names = list(next(iter(judged.values())))
    rows = [
        {"variant": name}
        | {title: _last(judged, game, name, "exploitability") for title, game in games.items()}
        for name in names
    ]
    return Table.of(rows)


def _verdict(
    judged: Mapping[str, Mapping[str, Rows]], summary: Rows, best: str, iterations: int
) -> str:
    """Who is best, and what of the papers' claims holds."""
    text = f"{best} has the best mean rank after {iterations:,} iterations"
    fast = [row["variant"] for row in summary if row.get("seconds", math.inf) <= _FAST]
    if fast:
        text += (
            f"; of those whose iterations take at most {_FAST:g} times as long as CFR+'s, {fast[0]}"
        )
    told = [_told(judged, *claim) for claim in _CLAIMS]
    return ". ".join([text, *(each for each in told if each)]) + "."


_CLAIMS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Li et al. (2026)", "vad-cfr", ("cfr+", "dcfr", "pcfr+", "pdcfr+", "hs-pcfr+(30)")),
    ("Zhang et al. (2024)", "hs-pcfr+(30)", ("dcfr", "pcfr+")),
    ("Zhang et al. (2024)", "hs-dcfr(30)", ("dcfr", "pcfr+")),
    ("Xu et al. (2024)", "pdcfr+", ("cfr+", "dcfr", "pcfr+")),
)
"""Who claims that which variant beats which others in most games."""


def _told(
    judged: Mapping[str, Mapping[str, Rows]], source: str, name: str, others: Sequence[str]
) -> str:
    names = next(iter(judged.values()))
    if name not in names or any(other not in names for other in others):
        return ""
    below = level = 0
    for game in judged:
        own = _last(judged, game, name, "exploitability")
        rivals = min(_last(judged, game, other, "exploitability") for other in others)
        below += own < rivals
        level += own == rivals
    holds = "met" if 2 * below > len(judged) else "not met"
    told = f"{holds}, in {below} of {len(judged)}"
    if level:
        told += f", level with the least of them in {level}"
    return f"{source}, {name} below {', '.join(others)} in most games: {told}"
