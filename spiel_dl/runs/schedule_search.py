"""A search for a better schedule of predictive CFR+, and one judgement of what it finds.

The family is that of `solvers.variants.Weighting` with prediction and without negative regrets: the
exponent of the average, and that of the discount of regrets, each of which changes linearly up to
the last iteration. HS-PCFR+(30) (Zhang, McAleer, Sandholm 2024), PCFR+ and PDCFR+ are in it.

  1. Candidates are drawn at random, as many as the budget says, and run in the held-in games.
  2. The one of least exploitability there, by the geometric mean, is chosen.
  3. It is run in the held-out games, once, beside HS-PCFR+(30).

Games are those of `runs.variant_comparison` in which HS-PCFR+(30) is not below 1e-12 after 1,000
iterations, the smallest of each family held in, and three more that are held out.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.variant_comparison import BATTLESHIP, GAMES, GOOFSPIEL, NOTHING, POKER
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree.game_tree import GameTree

_COMPARED = {title: game for group in GAMES.values() for title, game in group.items()}
HELD_IN = {
    title: _COMPARED[title] for title in ("Leduc", "no-limit, 6 cards", "Goofspiel 5", "1 die of 5")
}
"""The games in which candidates are compared."""
HELD_OUT = {
    **{
        title: _COMPARED[title]
        for title in (
            "no-limit, 12 cards",
            "ours: Leduc",
            "ours: Goofspiel II 5",
            "1 die of 6",
            "Battleship 2x2",
        )
    },
    "no-limit, 9 cards": POKER.format(3, 7),
    "Goofspiel 4, random prizes": GOOFSPIEL.format(4).replace("descending", "random"),
    "Battleship 2x2, two shots": BATTLESHIP.replace("num_shots=3", "num_shots=2"),
}
"""The games in which the chosen one is judged."""
_UNDISCOUNTED = 0.5
Parameters = Mapping[str, float]
"""`gamma` and `alpha`, exponents at the beginning; `gamma_end` and `alpha_end`, at the end."""
RIVAL: Parameters = {"gamma": 30.0, "gamma_end": 25.0, "alpha": math.inf, "alpha_end": math.inf}
"""HS-PCFR+(30)."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """A schedule in a game.

    Attributes:
      game: its game string.
      schedule: its four numbers; None for infinity.
      iterations: how many, at which the schedule ends.
    """

    game: str
    schedule: dict[str, float | None]
    iterations: int

    @property
    def name(self) -> str:
        """For files."""
        numbers = ["inf" if x is None else f"{x:g}" for x in self.schedule.values()]
        return file_name(self.game, "-".join(numbers))


def variant_of(schedule: Mapping[str, float | None], iterations: int) -> Weighting:
    """The variant of a schedule that ends with a run."""
    gamma, gamma_end, alpha, alpha_end = (
        math.inf if schedule[key] is None else float(schedule[key])  # type: ignore[arg-type]
        for key in ("gamma", "gamma_end", "alpha", "alpha_end")
    )
    change = 0.0 if math.isinf(alpha) else alpha_end - alpha
    return Weighting(
        alpha, -math.inf, gamma, predictive=True,
        alpha_change=change, gamma_change=gamma_end - gamma, horizon=float(iterations),
    )  # fmt: skip


def candidates(number: int, seed: int = 0) -> list[dict[str, float]]:
    """Schedules drawn at random.

    The first exponent of the average is log-uniform from 2 to 60, the last one log-uniform from 1
    to 60; half of all discount regrets, with exponents uniform from 1 to 5.

    Raises:
      ValueError: if there is to be none, or the seed is negative.
    """
    if number < 1 or seed < 0:
        raise ValueError(f"number={number} must be at least 1 and seed={seed} at least 0")
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        first, last = np.exp(generator.uniform(np.log([2.0, 1.0]), np.log([60.0, 60.0])))
        alphas = generator.uniform(1.0, 5.0, 2)
        if generator.random() < _UNDISCOUNTED:
            alphas[:] = math.inf
        found.append(
            {
                "gamma": round(float(first), 3),
                "gamma_end": round(float(last), 3),
                "alpha": round(float(alphas[0]), 3),
                "alpha_end": round(float(alphas[1]), 3),
            }
        )
    return found


@functools.lru_cache(maxsize=1)
def _tree(game: str) -> GameTree:
    return GameTree.from_game(game)


def judge(trial: Trial) -> float:
    """The average policy's exploitability at the end, in units of utility, at least 1e-12."""
    solver = CFRSolver(_tree(trial.game), variant=variant_of(trial.schedule, trial.iterations))
    solver.run(trial.iterations)
    return max(NOTHING, exploitability(solver.tree, solver.average_policy()))


def search(
    workspace: Workspace,
    number: int = 150,
    iterations: int = 1000,
    seed: int = 0,
    held_in: Mapping[str, str] = HELD_IN,
    held_out: Mapping[str, str] = HELD_OUT,
) -> dict[str, Any]:
    """Searches, and judges once.

    Args:
      workspace: what is finished there is not done again.
      number: of candidates.
      iterations: of every run.
      seed: of the candidates.
      held_in: game strings by title; candidates are compared in these.
      held_out: the same, for the judgement.

    Returns:
      `tried`, the candidates and HS-PCFR+(30), the best first, each with its schedule, its `mean`
      and its exploitabilities `found` by title; `judged`, by title `chosen` and `rival`.

    Raises:
      ValueError: if there are to be no candidates, or fewer than 10 iterations.
    """
    if iterations < 10:
        raise ValueError(f"iterations={iterations} must be at least 10")
    schedules: list[Parameters] = [RIVAL, *candidates(number, seed)]
    found = _judge_all(workspace, schedules, held_in, iterations, "held in")
    means = [float(np.exp(np.mean(np.log(list(each.values()))))) for each in found]
    order = np.argsort(means, kind="stable").tolist()
    tried = [{"schedule": _plain(schedules[i]), "mean": means[i], "found": found[i]} for i in order]
    chosen = schedules[next(i for i in order if i > 0)]
    own, rival = _judge_all(workspace, [chosen, RIVAL], held_out, iterations, "held out")
    judged = {title: {"chosen": own[title], "rival": rival[title]} for title in held_out}
    return {"tried": tried, "chosen": _plain(chosen), "judged": judged, "iterations": iterations}


def _judge_all(
    workspace: Workspace,
    schedules: Sequence[Parameters],
    games: Mapping[str, str],
    iterations: int,
    description: str,
) -> list[dict[str, float]]:
    """The exploitabilities of schedules, by titles of games."""
    trials = [Trial(game, _plain(s), iterations) for game in games.values() for s in schedules]
    named = [(trial.name, dataclasses.asdict(trial)) for trial in trials]
    found = iter(workspace.parts(named, judge, trials, description))
    table = {title: [next(found) for _ in schedules] for title in games}
    return [{title: row[i] for title, row in table.items()} for i in range(len(schedules))]


def _plain(schedule: Parameters) -> dict[str, float | None]:
    """As JSON has it, which knows no infinity."""
    return {key: None if math.isinf(value) else value for key, value in schedule.items()}


def wins(judged: Mapping[str, Mapping[str, float]]) -> int:
    """In how many games the chosen schedule is less exploitable."""
    return sum(row["chosen"] < row["rival"] for row in judged.values())


def report(found: Mapping[str, Any], shown: int = 10) -> Report:
    """The best candidates, and the judgement."""
    judged = found["judged"]
    won, total = wins(judged), len(judged)
    rival = next(row for row in found["tried"] if row["schedule"] == _plain(RIVAL))
    rank = 1 + found["tried"].index(rival)
    becomes = "so it becomes an option" if 2 * won > total else "so it becomes no option"
    tried = [
        {**_in_words(row["schedule"]), "mean": row["mean"], **row["found"]}
        for row in [*found["tried"][:shown], *([rival] if rank > shown else [])]
    ]
    rows = [
        {"game": title, **row, "factor": row["chosen"] / row["rival"]}
        for title, row in judged.items()
    ]
    return Report(
        "A search for a better schedule than HS-PCFR+(30)",
        [
            f"Exploitability of the average policy after {found['iterations']:,} iterations, "
            f"exact, NashConv / 2 in units of utility; less than {NOTHING:g} counts as that.",
            f"{len(found['tried']) - 1} schedules were drawn at random, from a family of "
            "predictive CFR+ in which the exponents of the average (gamma) and of the discount of "
            "regrets (alpha) change linearly. The one of least geometric mean in the held-in games "
            "was run once in the held-out ones. Games and family were fixed before.",
            f"HS-PCFR+(30) itself has rank {rank} in the held-in games.",
        ],
        {
            "Held-in games: the best candidates": Table.of(tried),
            "Held-out games: the chosen schedule": Table.of(
                rows, chosen="chosen schedule", rival="HS-PCFR+(30)"
            ),
        },
        verdict=(
            f"the schedule that was found, {_told(found['chosen'])}, is less exploitable than "
            f"HS-PCFR+(30) in {won} of {total} held-out games, {becomes}."
        ),
        more=dict(found),
    )


def _in_words(schedule: Mapping[str, float | None]) -> dict[str, str]:
    def span(name: str) -> str:
        first, last = schedule[name], schedule[f"{name}_end"]
        return "∞" if first is None else f"{first:g} to {last:g}"

    return {"gamma": span("gamma"), "alpha": span("alpha")}


def _told(schedule: Mapping[str, float | None]) -> str:
    words = _in_words(schedule)
    return f"gamma {words['gamma']} and alpha {words['alpha']}"
