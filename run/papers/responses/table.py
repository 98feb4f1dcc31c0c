"""Table 1 of Milec et al. (2024): what CDBR and the best equilibrium gain against a model.

In percent of what a best response gains. CDBR n looks n levels beyond its decision, which are n + 1
plies, and slides. Small games are solved by linear programs. Larger ones are by predictive CFR+,
with a certified gap. The best equilibrium is by a linear program in every game.

`network` is the column of CDBR 1 with trained networks in the place of optimal values.
"""

from __future__ import annotations

import functools
import time
from typing import Any

from papers.report import Report
from papers.responses import networks as response_networks
from papers.responses.contests import Contest
from papers.responses.study import Study
from spiel_dl.algorithms.best_nash import best_nash
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.runs.parts import file_name
from spiel_dl.runs.reports import Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.regret_minimization import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.depth_limit import DepthLimit

GAMES = ("leduc", "goofspiel_4", "goofspiel_5")
NETWORK_GAMES = ("leduc", "goofspiel_ii_5")
MODELS = (
    "uniform",
    *(f"random:{seed}" for seed in range(10)),
    *(f"cfr:{iterations}" for iterations in (1, 2, 5, 10, 34)),
)
_LOOK_AHEAD = (1, 3, 5)
# Player 0 against the uniform policy: ABR, CDBR 1, 3 and 5, best Nash.
_PAPER = {
    "leduc": (98, 74.4, 96.0, 97.1, 32.6),
    "goofspiel_4": (97, 98.5, 100.0, 100.0, 77.1),
    "goofspiel_5": (95, 93.5, 100.0, 100.0, 50.4),
    "goofspiel_6": (97, 90.7, 100.0, 100.0, 45.9),
}
_CDBR = {f"cdbr_{n}": f"CDBR{n}" for n in _LOOK_AHEAD}
_COLUMNS = {"abr": "ABR", **_CDBR, "best_nash": "best Nash"}
# Parts of a best response's gain, per step of which there are a few.
_TOLERANCE = 1e-4
_MAX_ITERATIONS = 20_000


def table_1(study: Study) -> Report:
    """All cells of the table, for all models, and beside those of the paper."""
    rows = [
        _row(study, game, model, player)
        for game in study.games(GAMES)
        for model in study.models(MODELS)
        for player in study.choices.players
    ]
    beside = []
    for row in rows:
        if (row["model"], row["player"]) == ("uniform", 0) and row["game"] in _PAPER:
            paper = dict(zip(_COLUMNS, _PAPER[row["game"]], strict=True))
            beside.append({"game": row["game"], "whose": "ours", **_cells(row)})
            beside.append({"game": row["game"], "whose": "the paper", **paper})
            apart = {name: row[name] - paper[name] for name in _COLUMNS if name in row}
            beside.append({"game": row["game"], "whose": "difference", **apart})
    columns = {"game": "game", "model": "model", "player": "player", **_COLUMNS}
    columns |= {
        "gap": "gap, percent",
        "best_gain": "best response's gain",
        "abr_episodes": "ABR's episodes",
        "abr_seconds": "ABR's seconds",
        "seconds": "seconds without ABR",
    }
    known = {name: title for name, title in columns.items() if any(name in row for row in rows)}
    tables = {"All models and players, percent": Table(rows, known)}
    if beside:
        whose = Table(beside, {"game": "game", "whose": "", **_COLUMNS})
        tables = {"Beside the paper's, percent": whose, **tables}
    return Report(
        "table_1",
        "Table 1: gain against a model, in percent of a best response's",
        [
            "Milec et al. (2024), Table 1, which has player 0 against the uniform policy. Optimal "
            "value function; CDBR n slides with a depth limit of n + 1 plies.",
            study.describe(study.games(GAMES)),
            "Gap: by how much CDBR's steps may be below their optima, 0 for linear programs.",
        ],
        tables,
    )


def network(study: Study) -> Report:
    """CDBR 1 with trained networks instead of the optimal value function."""
    limit, choices = DepthLimit(plies=_LOOK_AHEAD[0] + 1), study.choices.networks
    rows = []
    for game in study.games(NETWORK_GAMES):
        for model in study.models(("uniform",)):
            for player in study.choices.players:
                labels = {"game": game, "model": model, "player": player}
                name = file_name("network", *labels.values())
                found = study.parts.get(
                    name,
                    {**labels, **choices.to_json()},
                    functools.partial(
                        response_networks.compare,
                        study.contest(game, model, player),
                        limit,
                        study.directory / name,
                        choices,
                    ),
                )
                rows.append({**labels, **found})
    return Report(
        "network",
        "CDBR1 with networks",
        [
            "In percent of a best response's gain. One network for each depth limit at which a "
            f"step ends, with {choices.num_layers} hidden layers of {choices.num_units} units, "
            f"trained on {2 * choices.num_strategies:,} trunk strategies, half of them against the "
            f"model; then {choices.num_rounds} rounds in which CDBR responds, and "
            f"{choices.num_strategies:,} strategies near its response are added. CDBR does "
            f"{choices.iterations} iterations of CFR+ in each step.",
            study.describe(study.games(NETWORK_GAMES)),
        ],
        {
            "Networks and the optimal value function": Table(
                rows,
                {
                    "game": "game",
                    "model": "model",
                    "player": "player",
                    "networks": "networks",
                    "first_percent": "with networks before the rounds",
                    "percent": "with networks",
                    "exact_percent": "with optimal values",
                    "apart": "difference in percentage points",
                    "training_seconds": "seconds of training networks",
                },
            )
        },
    )


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _COLUMNS if name in row}


def _row(study: Study, game: str, model: str, player: int) -> dict[str, Any]:
    labels = {"game": game, "model": model, "player": player}
    name = file_name(*labels.values())
    settings = {**labels, "tolerance": _TOLERANCE, "max_iterations": _MAX_ITERATIONS}

    def compute() -> dict[str, float]:
        start = time.perf_counter()
        found = gains(study.contest(game, model, player))
        return {**found, "seconds": time.perf_counter() - start}

    row = {**labels, **study.parts.get(f"table_1-{name}", settings, compute)}
    episodes = study.choices.abr_episodes
    if episodes:
        row |= study.parts.get(
            f"abr-{name}",
            {**labels, "episodes": episodes},
            lambda: _learned(study.contest(game, model, player), episodes),
        )
    return row


def gains(contest: Contest) -> dict[str, float]:
    """A row of the table, in percent, but for `best_gain`, in utility units."""
    tree, player, model = contest.tree, contest.player, contest.model
    exact = contest.has_small_programs
    effort = Effort(_MAX_ITERATIONS, _TOLERANCE * contest.best_gain, weighting=PREDICTIVE_CFR_PLUS)
    row, largest_gap = {"best_gain": contest.best_gain}, 0.0
    for ahead in _LOOK_AHEAD:
        limit = DepthLimit(plies=ahead + 1)
        policy = CDBRPolicy(tree, player, model, limit, exact=exact, effort=effort)
        row[f"cdbr_{ahead}"] = contest.judge(policy.to_array_policy())["percent"]
        largest_gap = max(largest_gap, policy.gap)
    row["gap"] = 100 * largest_gap / contest.best_gain
    row["best_nash"] = contest.judge(best_nash(tree, player, model))["percent"]
    return row


def _learned(contest: Contest, episodes: int) -> dict[str, float]:
    """What a reinforcement learner finds, and its cost."""
    from spiel_dl.algorithms import abr  # It needs dm-tree, which the rest does not.

    response = abr.approximate_best_response(
        contest.tree.game,
        contest.player,
        contest.model,
        num_episodes=episodes,
    )
    return {
        "abr": contest.judge(response.policy)["percent"],
        "abr_episodes": response.episodes,
        "abr_seconds": response.seconds,
    }
