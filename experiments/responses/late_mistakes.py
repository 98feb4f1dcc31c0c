"""Opponents who err behind the depth limit: ABD beside CDRNR and RNR (Milec, Kovařík, Lisý 2025).

A model plays an equilibrium down to the depth limit and below it uniformly or at random; others are
random everywhere. Every method responds with the same depth limit and the same probabilities p.
Gains are compared at equal exploitability. As a mixture of two responses has at most the mixture of
their exploitabilities, a method also reaches what lies between its points.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from experiments.experiment import Experiment, Row
from experiments.responses import study as responses_study
from experiments.responses.responders import Responder, load_model
from experiments.responses.sweeps import gain_at
from experiments.settings import OneOf
from experiments.verdicts import (
    FAILS,
    OPEN,
    PARTLY,
    REPRODUCED,
    Judgement,
    Tables,
    deviation,
    grouped,
)
from spiel_dl.algorithms.abd import ABDPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.learning.critics import transformed_strategies
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.portfolios import Portfolios, model_and_response
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.respond_to import ResponsePolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import CFR_PLUS
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

LIMITS = {
    "leduc": DepthLimit(plies=2),
    "goofspiel_ii_5": DepthLimit(rounds=1),
    "battleships_2x2": DepthLimit(rounds=1),
}
"""Games and depth limits; mistakes begin at the limit."""
_SEEDS = range(1, 6)
KINDS = {
    "late, uniform": ("late:uniform",),
    "late, random": tuple(f"late:random:{seed}" for seed in _SEEDS),
    "random": tuple(f"random:{seed}" for seed in _SEEDS),
}
"""The models of each kind of opponents."""
_KIND_OF = {model: kind for kind, models in KINDS.items() for model in models}
EQUILIBRIUM_ITERATIONS = 5000
"""Iterations of CFR+ for the strategy that late opponents play above the depth limit."""
_BLUEPRINT_ITERATIONS = 100
PROBABILITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
_SHOWN = 0.5
_ITERATIONS = 1000
# Tolerance of a step, in parts of a best response's gain.
_TOLERANCE = 1e-3
# Tolerance of equal exploitability, in parts of a best response's gain.
_EQUAL = 2e-3
RNR, ABD = "RNR", "ABD"
CDRNR = {"sliding": "CDRNR, sliding", "block": "CDRNR, block"}
SWEPT = (RNR, *CDRNR.values(), ABD)
"""The methods that are measured at all p; the others are measured at one."""
ABD_BLOCK, ABD_CONSTANT = "ABD, block", "ABD, constant actions"
METHODS = (*SWEPT, ABD_BLOCK, ABD_CONSTANT)
"""All methods, in the order of the report."""


@dataclasses.dataclass(frozen=True)
class Settings(responses_study.Settings):
    """Games and models."""

    games: tuple[Annotated[str, OneOf(LIMITS)], ...] = tuple(LIMITS)
    models: tuple[Annotated[str, OneOf(_KIND_OF)], ...] = tuple(_KIND_OF)


Study = responses_study.Study[Settings]
Respond = Callable[[float], ResponsePolicy]
Rows = list[dict[str, Any]]


def model_of(name: str, tree: GameTree, limit: DepthLimit) -> ArrayPolicy:
    """Loads a model by name; "late:" is followed by the policy below the limit."""
    late, _, below = name.partition(":")
    if late != "late":
        return load_model(name, tree)
    equilibrium = opponent_models.cfr_average(tree, EQUILIBRIUM_ITERATIONS, CFR_PLUS)
    return opponent_models.errs_beyond(tree, limit, equilibrium, load_model(below, tree))


def methods(responder: Responder, limit: DepthLimit) -> Mapping[str, Respond]:
    """All methods by name; each makes a response from p."""
    setting = responder.tree, responder.player, responder.model
    effort = Effort(_ITERATIONS, responder.tolerance(_TOLERANCE))

    def abd(p: float, **settings: Any) -> ResponsePolicy:
        return ABDPolicy(*setting, limit, p=p, effort=effort, **settings)

    def cdrnr(scheme: str) -> Respond:
        return lambda p: CDRNRPolicy(*setting, limit, p=p, scheme=scheme, effort=effort)

    return {
        RNR: lambda p: RNRPolicy(*setting, p=p, effort=effort),
        **{name: cdrnr(scheme) for scheme, name in CDRNR.items()},
        ABD: abd,
        ABD_BLOCK: lambda p: abd(p, scheme="block"),
        ABD_CONSTANT: lambda p: abd(p, portfolios=constant_actions(*setting)),
    }


def constant_actions(tree: GameTree, player: int, model: ArrayPolicy) -> Portfolios:
    """Portfolios that take one action wherever it is legal and else follow an average of CFR+.

    The player's portfolio also has its best response to the model, the opponent's the model.
    """
    blueprint = opponent_models.cfr_average(tree, _BLUEPRINT_ITERATIONS, CFR_PLUS)
    transformations = transformations_by_name("pure", tree.game)
    own, others = (
        transformed_strategies(tree, each, blueprint.strategies[each], transformations)
        for each in (player, 1 - player)
    )
    portfolios = model_and_response(tree, player, model)
    return Portfolios(
        player, np.concatenate([portfolios.own, own]), np.concatenate([portfolios.others, others])
    )


def measure(responder: Responder, respond: Respond, parameters: Sequence[float]) -> Rows:
    """A row for each response of a method: `Responder.judge`, `p`, `gap` and CPU `seconds`."""
    rows = []
    for p in parameters:
        start = time.process_time()
        policy = respond(p)
        response = policy.to_array_policy()
        seconds = time.process_time() - start
        rows.append({"p": p, **responder.judge(response), "gap": policy.gap, "seconds": seconds})
    return rows


def _compute(study: Study) -> Rows:
    results = []
    for labels in study.responders():
        inputs = {
            **labels,
            "depth_limit": str(LIMITS[labels["game"]]),
            "methods": list(METHODS),
            "swept": list(SWEPT),
            "p": list(PROBABILITIES),
            "p_of_others": _SHOWN,
            "iterations": _ITERATIONS,
            "tolerance": _TOLERANCE,
            "equilibrium_iterations": EQUILIBRIUM_ITERATIONS,
        }
        measure_one = functools.partial(_measure_all, study, **labels)
        points = study.workspace.part(file_name("late", *labels.values()), inputs, measure_one)
        results.append({**labels, "kind": _KIND_OF[labels["model"]], "points": points})
    return results


def _measure_all(study: Study, game: str, model: str, player: int) -> dict[str, Rows]:
    limit = LIMITS[game]
    responder = study.responder_to(game, model, model_of(model, study.tree(game), limit), player)
    return {
        name: measure(responder, respond, PROBABILITIES if name in SWEPT else (_SHOWN,))
        for name, respond in methods(responder, limit).items()
    }


def compare(points: Mapping[str, Rows], p: float) -> dict[str, float]:
    """ABD's and RNR's gain at one p beside CDRNR's at the same exploitability.

    Returns:
      ABD's `gain` and `exploitability`; `there`, the larger gain of CDRNR's two schemes at that
      exploitability; `times`, the ratio of both gains; `rnr_times`, the same ratio of RNR at RNR's
      exploitability; `same_p`, the ratio of ABD's gain to CDRNR's at the same p.
    """
    rows = {name: next(row for row in points[name] if row["p"] == p) for name in SWEPT}

    def cdrnr_gain(row: Mapping[str, float]) -> float:
        largest = max(abs(each["gain"]) for each in points[RNR])
        allowed = row["exploitability"] + _EQUAL * largest
        return max(gain_at(points[name], allowed) for name in CDRNR.values())

    abd = rows[ABD]
    return {
        "gain": abd["gain"],
        "exploitability": abd["exploitability"],
        "there": cdrnr_gain(abd),
        "times": abd["gain"] / cdrnr_gain(abd),
        "rnr_times": rows[RNR]["gain"] / cdrnr_gain(rows[RNR]),
        "same_p": abd["gain"] / max(rows[name]["gain"] for name in CDRNR.values()),
    }


def find_verdict(summary: Sequence[Mapping[str, Any]]) -> str:
    """The verdict on ABD's gaining twice as much against both kinds of late opponents in two games.

    "" if there are no late opponents; OPEN if no method could gain twice as much, as RNR's gain is
    the largest at its exploitability.
    """
    late = [row for row in summary if row["opponents"].startswith("late")]
    if not late:
        return ""
    if max(row["rnr_times"] for row in late) < 2:
        return OPEN
    games = {row["game"] for row in late}
    reached = {
        game: min(row["times"] for row in late if row["game"] == game) >= 2 for game in games
    }
    if sum(reached.values()) >= 2:
        return REPRODUCED
    return PARTLY if any(row["times"] >= 2 for row in late) else FAILS


def _report(study: Study, results: Rows) -> Report:
    summary, by_p, points = _summary(results), [], []
    for (game, kind), group in grouped(results, "game", "kind").items():
        by_p += [
            {"game": game, "opponents": kind, "at the same": quantity, **_by_p(group, key)}
            for key, quantity in (("times", "exploitability"), ("same_p", "p"))
        ]
        points += _means(game, kind, group)
    players = sorted({row["player"] for row in results})
    by_player = {
        f"{_HEADING}, player {player}": _summary(
            [row for row in results if row["player"] == player]
        )
        for player in (players if len(players) > 1 else ())
    }
    seeds = [
        {**{key: row[key] for key in ("game", "model", "player")}, "method": method}
        | {key: each[key] for key in _KEPT}
        for row in results
        for method, rows in row["points"].items()
        for each in rows
        if each["p"] == _SHOWN
    ]
    limits = ", ".join(f"{limit} in {game}" for game, limit in LIMITS.items())
    return Report(
        LATE_MISTAKES.title,
        [
            "Gain and exploitability in utility units, exact; exploitability is the responding "
            f"player's own. Depth limits: {limits}. Late opponents play an equilibrium above the "
            "limit and a uniform or random policy below it; random ones are random everywhere.",
            "CDRNR's gain there: at ABD's exploitability, of the better of both schemes, mixtures "
            "of its points included. RNR, times: the same ratio of the restricted Nash response, "
            "to which ABD comes with all strategies in its portfolios. No response gains more than "
            "RNR's at their exploitability, so that ratio is the most that any method could show.",
            f"ABD slides, with exact matrices and {len(PROBABILITIES)} probabilities p; its "
            "portfolios are ten of CFR's iterates. Constant actions: those that always take one "
            "action, and the average of 100 iterations of CFR+. Every step does at most "
            f"{_ITERATIONS:,} iterations of CFR+.",
            study.describe(row["game"] for row in results),
        ],
        {
            f"{_HEADING}, means": Table.of(summary, **_SUMMARY),
            **{name: Table.of(rows, **_SUMMARY) for name, rows in by_player.items()},
            "ABD's gain in parts of CDRNR's, means": Table.of(by_p),
            "All p, means over opponents and players": Table.of(points),
            f"All opponents, p = {_SHOWN}": Table.of(seeds, seconds="CPU seconds"),
        },
        more={"found": results},
    )


def _judge(tables: Tables) -> Judgement:
    summary = tables[f"{_HEADING}, means"]
    ratios = ", ".join(
        f"{row['times']:.2f} (at most {row['rnr_times']:.2f}) in {row['game']} ({row['opponents']})"
        for row in summary
        if row["opponents"].startswith("late")
    )
    return Judgement(find_verdict(summary), f"times the gain, and what is possible: {ratios}")


def _summary(results: Rows) -> Rows:
    """Means of `compare`, of each game and kind of opponents."""
    rows = []
    for (game, kind), group in grouped(results, "game", "kind").items():
        compared = [compare(row["points"], _SHOWN) for row in group]
        means = {key: float(np.mean([row[key] for row in compared])) for key in compared[0]}
        rows.append({"game": game, "opponents": kind, **means})
    return rows


def _by_p(chosen: Rows, key: str) -> dict[str, float]:
    """The mean of an entry of `compare` at each p."""
    return {
        f"p = {p}": float(np.mean([compare(row["points"], p)[key] for row in chosen]))
        for p in PROBABILITIES
    }


def _means(game: str, kind: str, chosen: Rows) -> Rows:
    """Each method's mean gain and exploitability at each p."""
    rows = []
    for method in chosen[0]["points"]:
        for each in zip(*(row["points"][method] for row in chosen), strict=True):
            gains = [found["gain"] for found in each]
            rows.append(
                {
                    "game": game,
                    "opponents": kind,
                    "method": method,
                    "p": each[0]["p"],
                    "gain": float(np.mean(gains)),
                    "standard deviation": deviation(gains),
                    "exploitability": float(np.mean([found["exploitability"] for found in each])),
                }
            )
    return rows


_HEADING = f"Gain at equal exploitability, p = {_SHOWN}"
_KEPT = ("gain", "exploitability", "seconds")
_SUMMARY = {
    "gain": "ABD's gain",
    "there": "CDRNR's gain there",
    "times": "times",
    "rnr_times": "RNR, times",
    "same_p": "times at the same p",
}
LATE_MISTAKES = Experiment(
    name="late_mistakes",
    title="ABD, CDRNR and RNR against opponents who err behind the depth limit",
    metric="gain and exploitability (utility)",
    claim=(
        "ABD gains more than twice as much as methods that take the opponent for rational "
        "behind the depth limit, if it errs there, and more against random opponents (Milec, "
        "Kovařík, Lisý 2025, abstract). Held if it does at equal exploitability, in the mean "
        "of both kinds of late opponents, in two games or more; open where no method could."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)
ROWS = (
    Row(
        LATE_MISTAKES,
        "responses",
        Settings(),
        "2025, abstract",
        10,
        "small games, Battleships 2x2 instead of up to 5x5",
        "portfolios; p; what is equal",
        "more than twice the gain against late mistakes",
        "reading: in these means at equal exploitability no method could reach twice",
    ),
)
