"""How long responses take: whole CDBR policies, and single decisions in play.

Process time of one thread. Compiled code is loaded on a small game first, and the game is compiled
to arrays beforehand; neither is counted.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np

from experiments.responses.responders import MAX_LP_PAYOFFS, Responder
from experiments.responses.study import Study
from experiments.study import Experiment
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import CFR_PLUS, PREDICTIVE_CFR_PLUS, Weighting
from spiel_dl.tree.depth_limit import DepthLimit

GAMES = ("leduc", "goofspiel_5", "goofspiel_6")
_TWO_PLIES, _ONE_ROUND = DepthLimit(plies=2), DepthLimit(rounds=1)
# Parts of a best response's gain, in each step.
_TOLERANCE = 1e-3
_MAX_ITERATIONS = 10_000
_SECONDS_TO_THINK = 0.04
_NUM_EPISODES = 20
_TITLES = {
    "limit": "depth limit",
    "percent": "percent of best response's gain",
    "mean": "mean, ms",
    "slowest": "slowest, ms",
    "gap": "gap (in play: mean of an episode), percent",
}
Rows = list[dict[str, Any]]
_VARIANTS: dict[str, Weighting] = {"CFR+": CFR_PLUS, "predictive CFR+": PREDICTIVE_CFR_PLUS}


def _compute(study: Study) -> tuple[Rows, Rows]:
    """CDBR of player 0 against the uniform policy, by CFR+, predictive CFR+ and LP."""
    _warm_up(study.responder("kuhn", "uniform", 0))
    policies, decisions = [], []
    for game in study.settings.games or GAMES:
        responder, limit = study.responder(game, "uniform", 0), depth_limit(game)
        settings = {
            "game": game,
            "depth_limit": str(limit),
            "tolerance": _TOLERANCE,
            "max_iterations": _MAX_ITERATIONS,
        }
        solve = functools.partial(whole_policies, responder, limit)
        found = study.workspace.part(f"times-{game}", settings, solve)
        policies += [{"game": game, **row} for row in found]
        decide = functools.partial(play, responder, limit, _NUM_EPISODES)
        told = {"seconds_to_think": _SECONDS_TO_THINK, "num_episodes": _NUM_EPISODES}
        found = study.workspace.part(f"times-play-{game}", settings | told, decide)
        decisions.append({"game": game, **found})
    return policies, decisions


def _report(study: Study, found: tuple[Rows, Rows]) -> Report:
    policies, decisions = found
    return Report(
        TIMES.title,
        [
            "CPU seconds of one thread, after the game has been compiled to arrays. CFR stops in "
            f"every step at a gap of {_TOLERANCE} of a best response's gain; gap: what the steps "
            "that were solved may be below their optima, all together, in percent of it. "
            f"Linear programs are left out in games of more than {MAX_LP_PAYOFFS:,} payoffs.",
            f"Decisions in play: predictive CFR+ iterates for {_SECONDS_TO_THINK} s by the clock "
            "in each step, which is less CPU time, and a larger gap, while the machine does other "
            "things; a fresh policy for every episode, so that nothing is known beforehand.",
            study.describe(row["game"] for row in decisions),
        ],
        {
            "Whole policies": Table.of(policies, **_TITLES),
            "Decisions in play": Table.of(decisions, **_TITLES),
        },
        headline=f"a decision in play takes at most {max(d['mean'] for d in decisions):.3g} ms in "
        "the mean of any game",
    )


TIMES = Experiment("times", "Time of CDBR", "CPU seconds", "", _compute, _report, ("games",))


def depth_limit(game: str) -> DepthLimit:
    """What CDBR looks ahead in a named game: one round in Goofspiel, two plies elsewhere."""
    return _ONE_ROUND if game.startswith("goofspiel") else _TWO_PLIES


def whole_policies(responder: Responder, limit: DepthLimit) -> list[dict[str, Any]]:
    """Solves all steps in several ways."""
    tolerance = _TOLERANCE * responder.best_gain
    efforts = {
        name: Effort(_MAX_ITERATIONS, tolerance, variant=variant)
        for name, variant in _VARIANTS.items()
    }
    solvers: dict[str, dict[str, Any]] = {
        name: {"effort": effort} for name, effort in efforts.items()
    }
    if responder.has_small_programs:
        solvers["LP"] = {"exact": True}
    rows = []
    for solver, settings in solvers.items():
        start = time.process_time()
        policy = CDBRPolicy(responder.tree, responder.player, responder.model, limit, **settings)
        response = policy.to_array_policy()
        seconds = time.process_time() - start
        rows.append(
            {
                "limit": str(limit),
                "solver": solver,
                "seconds": seconds,
                "percent": responder.judge(response)["percent"],
                "gap": 100 * policy.gap / responder.best_gain,
            }
        )
    return rows


def play(responder: Responder, limit: DepthLimit, num_episodes: int) -> dict[str, Any]:
    """Plays episodes against the model, and times each decision of the player."""
    effort = Effort(
        _MAX_ITERATIONS,
        _TOLERANCE * responder.best_gain,
        seconds=_SECONDS_TO_THINK,
        variant=PREDICTIVE_CFR_PLUS,
    )
    milliseconds: list[float] = []
    gaps = []
    generator = np.random.default_rng(0)
    for _ in range(num_episodes):
        policy = CDBRPolicy(responder.tree, responder.player, responder.model, limit, effort=effort)
        milliseconds += _play_episode(responder, policy, generator)
        gaps.append(policy.gap)
    return {
        "limit": str(limit),
        "decisions": len(milliseconds),
        "mean": float(np.mean(milliseconds)),
        "slowest": max(milliseconds),
        "gap": 100 * float(np.mean(gaps)) / responder.best_gain,
    }


def _play_episode(
    responder: Responder, policy: CDBRPolicy, generator: np.random.Generator
) -> list[float]:
    """CPU milliseconds of each of the policy's decisions."""
    state, milliseconds = responder.tree.game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            choices = dict(state.chance_outcomes())
        elif state.current_player() == responder.player:
            start = time.process_time()
            choices = policy.action_probabilities(state)
            milliseconds.append(1000 * (time.process_time() - start))
        else:
            choices = responder.model.action_probabilities(state)
        probabilities = np.array(list(choices.values()))
        drawn = generator.choice(list(choices), p=probabilities / probabilities.sum())
        state.apply_action(int(drawn))
    return milliseconds


def _warm_up(responder: Responder) -> None:
    """Loads compiled code, so that no measurement has it."""
    whole_policies(responder, _TWO_PLIES)
    play(responder, _TWO_PLIES, 1)
