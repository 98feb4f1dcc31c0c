"""Responses on a turn of hold'em with ranges that are too large to list.

The same five models and five methods as `responses.poker`, by CFR instead of linear programs.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from experiments.experiment import Experiment, Row, Study
from experiments.responses import lbr, small_games
from experiments.responses.poker import TITLES, judge_rows
from experiments.settings import check_least
from experiments.verdicts import Judgement, Tables
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.best_response import best_response_policy, best_response_value
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.factored.families import factored_game
from spiel_dl.games import poker
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.factored_game import FactoredGame

_LIMIT = DepthLimit(rounds=1)
_P = 0.5
_MBB = 1000.0  # a chip is a big blind
_ROWS = "Gain and exploitability, by model and method"
_BEST, _LBR, _CDBR, _RNR, _CDRNR = "best response", "LBR", "CDBR", "RNR", "CDRNR"
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Settings:
    """Who responds to whom.

    Attributes:
      ranges: of both players, in people's words.
      models: of `small_games.HABITS`, "uniform" and "cfr:", with the number of iterations.
      value_iterations: of linear CFR, for the game's value.
      iterations: of CFR+ in each step of a response, at most.
      tolerance: at which a step stops, as a share of the largest utility.
    """

    ranges: tuple[str, str] = ("22+, A9s+, KTs+, QJs", "66+, ATs+, KQs, 98s")
    models: tuple[str, ...] = ("calls", "folds", "overbets", "cfr:5", "uniform")
    value_iterations: int = 300
    iterations: int = 300
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        check_least(self, value_iterations=1, iterations=1)


@functools.cache
def _solved(settings: Settings) -> tuple[FactoredGame, tuple[float, float]]:
    """The game, and between what its value for player 0 lies."""
    own = poker.endgame(
        board="QsJh2h4d", pot=20, stacks=(20, 20), ranges=settings.ranges, bets="50%, allin"
    )
    game = factored_game(own, num_threads=1)
    solver = CFRSolver(game, variant="lcfr")
    solver.run(settings.value_iterations)
    policy = solver.average_policy()
    lower, upper = (best_response_value(game, policy, player) for player in (1, 0))
    return game, (-lower, upper)


def _model(game: FactoredGame, name: str) -> ArrayPolicy:
    if name == "uniform":
        return ArrayPolicy.uniform(game)
    if name in small_games.HABITS:
        return small_games.habitual(game, name)
    solver = CFRSolver(game)
    solver.run(int(name.removeprefix("cfr:")))
    return solver.average_policy()


def _measured(study: Study[Settings], name: str) -> Rows:
    """What every method gains from a model, for both players, in mbb a hand."""
    settings = study.settings
    game, (lower, upper) = _solved(settings)
    model, rows = _model(game, name), []
    effort = Effort(iterations=settings.iterations, tolerance=settings.tolerance)
    for player in (0, 1):
        who = (game, player, model)
        how: dict[str, Any] = {"scheme": "block", "effort": effort}
        responses = {
            _BEST: best_response_policy(game, model, player),
            _LBR: lbr.local_best_response(*who),
            _CDBR: CDBRPolicy(*who, _LIMIT, **how).to_array_policy(),
            _RNR: RNRPolicy(*who, p=_P, effort=effort).to_array_policy(),
            _CDRNR: CDRNRPolicy(*who, _LIMIT, p=_P, **how).to_array_policy(),
        }
        value = (lower + upper) / 2 * (1 - 2 * player)
        best = exploitability.gain(game, responses[_BEST], model, player, value)
        for method, response in responses.items():
            gain = exploitability.gain(game, response, model, player, value)
            lost = exploitability.player_exploitability(game, response, player, value)
            rows.append(
                {
                    "player": player,
                    "model": name,
                    "method": method,
                    "gain": _MBB * gain,
                    "percent": 100 * gain / best,
                    "exploitability": _MBB * lost,
                }
            )
    return rows


def _rows(study: Study[Settings]) -> Rows:
    rows: Rows = []
    told = dataclasses.asdict(study.settings)
    del told["models"]
    for name in study.settings.models:
        made = functools.partial(_measured, study, name)
        rows += study.workspace.part(file_name("model", name), {"model": name, **told}, made)
    return rows


def _report(study: Study[Settings], rows: Rows) -> Report:
    game, (lower, upper) = _solved(study.settings)
    hands = [len(hands.cards) for hands in game.deals.hands]  # type: ignore[attr-defined]
    return Report(
        "",
        [
            f"A turn with {hands[0]} and {hands[1]} hands, a pot of 20 big blinds, 20 more for "
            "each player, bets of half the pot and all-in. Gain above the game's value, which is "
            f"known to {_MBB * (upper - lower) / 2:.2g} mbb; exploitability is the responding "
            "player's own. What responses earn and lose is exact; they are found by CFR+, to "
            f"{study.settings.tolerance:g} of the largest utility or {study.settings.iterations} "
            "iterations a step.",
            f"CDBR and CDRNR look at the turn, with the optimal value function of the river, and "
            f"then at the river; p = {_P} in RNR and CDRNR.",
            f"The game is `{str(game.game)[:300]}`.",
        ],
        {_ROWS: Table(rows, TITLES)},
    )


def _judge(tables: Tables) -> Judgement:
    return judge_rows(tables[_ROWS], below_lbr=1.0, losses=5.0)


RESPONSES = Experiment(
    name="responses",
    title="Responses to models on a turn with larger ranges",
    metric="gain and exploitability (mbb a hand)",
    claim=(
        "As in the small endgame: CDBR gains at least as much as LBR against each of five models, "
        "for both players (but for 1 mbb), and RNR and CDRNR lose at most what they gain (but for "
        "5 mbb, as they are not solved to the end)."
    ),
    study=Study[Settings],
    compute=_rows,
    render=_report,
    judge=_judge,
)
ROWS = (Row(RESPONSES, "poker", Settings(), minutes=10),)
