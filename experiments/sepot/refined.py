"""Refined gadgets: how much of a blueprint's exploitability is left, by gadget and by weights.

Kubíček, Lisý, Sandholm (2026), arXiv 2601.17131. A player follows its blueprint down to a depth
limit and resolves all subgames below it to the end. Given cfvs are those of the opponent's best
response to the blueprint, so they can be kept, and no solution of a safe gadget makes the player
more exploitable. What else it does is left open by the gadget:

  today       CFR+ on the plain gadget.
  refined     CFR+ with floors (`solvers.refinement`); or the exact linear programs.
  best        of all solutions of the resolving gadgets, the one that is least exploitable in the
              whole game: nobody who resolves can know it.

Floors, and which sums are compared, were settled on other blueprints than those of the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.sepot.evaluation import compiled, judge
from experiments.sepot.refined_solutions import (
    BEST,
    EXACT,
    ITERATIONS,
    MARGIN,
    REFINED,
    RESOLVING,
    TODAY,
    solutions,
    subgames_of,
)
from experiments.sepot.study import Study
from experiments.study import Experiment, Judgement, Tables, verdict
from spiel_dl.play.presets import game_string
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers import refinement
from spiel_dl.solvers.refinement import WEIGHTS
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import compile_game

DOMAINS = {
    "leduc": DepthLimit(rounds=1),
    "goofspiel_4_descending": DepthLimit(rounds=1),
    "liars_dice(numdice=1,dice_sides=4)": DepthLimit(moves=2),
    "kuhn_poker": DepthLimit(moves=1),
    "python_oshi_zumo_ii(coins=6)": DepthLimit(rounds=1),
}
"""Games, and where their subgames begin."""
BLUEPRINTS = (
    "uniform", "random:11", "random:12", "random:13", "random:14", "cfr:5", "cfr:20", "cfr:80",
)  # fmt: skip
BLUEPRINT = "blueprint"
# The bounds that a refined gadget is held to.
_RISE, _RATIO, _FROM_EXACT, _SECOND_GAP = 1e-3, 0.65, 0.02, 1e-2
_HALF = 0.5


class Case(NamedTuple):
    """A game and a blueprint of both players.

    Attributes:
      game: the name of a domain.
      blueprint: a policy's name, see `play.registry`.
    """

    game: str
    blueprint: str

    @property
    def named(self) -> tuple[str, dict[str, Any]]:
        """The name and the settings of a part."""
        settings = {**self._asdict(), "limit": str(DOMAINS[self.game]), "iterations": ITERATIONS}
        return file_name("refined", *settings.values()), settings


def resolve_case(case: Case) -> list[dict[str, Any]]:
    """For each player, what each method finds; for `distributed.map`."""
    tree = compiled(str(compile_game(game_string(case.game)).game))
    blueprint = load_array_policy(case.blueprint, tree)
    found = []
    for player in (0, 1):
        subgames = subgames_of(tree, DOMAINS[case.game], blueprint, player)
        before = judge(tree, blueprint)[f"exploitability_{player}"]
        methods = {BLUEPRINT: {"exploitability": before}}
        for name, plan, seconds in solutions(subgames):
            strategies = list(blueprint.strategies)
            strategies[player] = subgames.with_plan(plan)
            policy = ArrayPolicy(tree, (strategies[0], strategies[1]))
            after = judge(tree, policy)[f"exploitability_{player}"]
            methods[name] = {"exploitability": after, "seconds": seconds, **subgames.sums(plan)}
        found.append(methods)
    return found


def _compute(study: Study) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By game and blueprint, what each method finds for each player."""
    games = study.settings.games or tuple(DOMAINS)
    for game in games:
        if game not in DOMAINS:
            raise ValueError(f"game {game!r} must be one of {', '.join(DOMAINS)}")
    cases = [Case(game, blueprint) for game in games for blueprint in BLUEPRINTS]
    results = study.workspace.parts([c.named for c in cases], resolve_case, cases, "refined")
    found: dict[str, dict[str, list[dict[str, Any]]]] = {game: {} for game in games}
    for case, result in zip(cases, results, strict=True):
        found[case.game][case.blueprint] = result
    return found


def _report(study: Study, found: dict[str, dict[str, list[dict[str, Any]]]]) -> Report:
    rows = [_row(game, _both(by)) for game, by in found.items()]
    by_blueprint = [
        _row(f"{game}, {blueprint}", pair)
        for game, by in found.items()
        for blueprint, pair in by.items()
    ]
    gaps = [row for game, by in found.items() for row in _gaps(game, _both(by))]
    bounds = _bounds(found, rows, gaps)
    return Report(
        "",
        [
            "Exploitability of a player, in utility units, is what a best response to it earns "
            "above the game's value; mean over both players and the blueprints "
            f"{', '.join(BLUEPRINTS)}. Subgames begin after "
            f"{', '.join(f'{limit} in `{game}`' for game, limit in DOMAINS.items())}, and are "
            "resolved to the end. Given cfvs are those of best responses to the blueprint, which "
            "is itself a solution of its resolving gadgets.",
            f"{ITERATIONS:,} iterations of CFR+. Floors are {refinement.FLOOR} times the weights, "
            "whose mean is 1: `ones`, `prior` (the opponent's reach by its blueprint), `mixed` "
            "(the same plus a tenth of its largest entry).",
            "First gap: by how much given cfvs are exceeded, summed over all root infosets of all "
            "subgames; second gap: the weighted sum of cfvs above that of the linear program, with "
            "weights scaled to a largest of 1. Both are the largest of all blueprints and players.",
            *(f"{bound}: {'met' if held else 'not met'} ({told})." for bound, held, told in bounds),
        ],
        {
            _RESOLVING: Table(rows, _TITLES),
            "Max-margin": Table(rows, _MARGIN_TITLES),
            _GAPS: Table(gaps, _GAP_TITLES),
            "Resolving, by blueprint": Table(by_blueprint, _TITLES),
        },
        more={"settings": {"blueprints": BLUEPRINTS, "iterations": ITERATIONS}, "by_game": found},
    )


def _judge(tables: Tables) -> Judgement:
    """What is said of refined gadgets, and the bounds that ours are held to besides."""
    rows, gaps = tables[_RESOLVING], tables[_GAPS]
    parts = {
        f"{row['game']}, {name}: no worse than plain": row[name] <= row["today"]
        for row in rows
        for name in WEIGHTS
    }
    parts[f"below {_HALF:g} of plain in a game"] = (
        min(row["ones"] / row["today"] for row in rows) < _HALF
    )
    for row in gaps:
        told = f"{row['game']}, {row['weights']}: gaps"
        parts[told] = row["rise"] <= _RISE and row["second"] <= _SECOND_GAP
    for row in rows:
        parts[f"{row['game']}, max-margin: no rise"] = row["margin_rise"] <= _RISE
        if row["game"] == "leduc":
            near = abs(row["ones"] - row["exact"]) <= _FROM_EXACT
            parts["leduc: near exact"] = near and row["ones"] <= _RATIO * row["today"]
    told = "; ".join(f"{row['game']} {row['ones']:.3g} (plain {row['today']:.3g})" for row in rows)
    return Judgement(verdict(parts), told)


_RESOLVING, _GAPS = "Resolving", "Gaps of CFR+ with floors in resolving gadgets"
_TITLES = {
    "game": "exploitability in",
    BLUEPRINT: "blueprint",
    "today": "CFR+, plain",
    "ones": "refined, ones",
    "prior": "refined, prior",
    "mixed": "refined, mixed",
    "exact": "refined, ones, exact",
    BEST: "best solution there is",
}
_MARGIN_TITLES = {
    "game": "exploitability in",
    "margin_today": "CFR+, plain",
    "margin_ones": "refined, ones",
    "margin_prior": "refined, prior",
    "margin_mixed": "refined, mixed",
    "margin_exact": "refined, ones, exact",
    "margin_rise": "largest rise above a blueprint (utility)",
}
_GAP_TITLES = {
    "game": "game",
    "weights": "weights",
    "first": "first gap",
    "second": "second gap",
    "today": "second gap, plain",
    "rise": "largest rise above a blueprint (utility)",
    "seconds": "time / the plain gadget's",
}


def _both(by: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """What was found for both players of all blueprints."""
    return [each for pair in by.values() for each in pair]


def _row(game: str, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean exploitability of each method."""

    def mean(name: str) -> float:
        return float(np.mean([each[name]["exploitability"] for each in found]))

    row: dict[str, Any] = {"game": game, BLUEPRINT: mean(BLUEPRINT), BEST: mean(BEST)}
    for gadget, prefix in ((RESOLVING, ""), (MARGIN, "margin_")):
        row[f"{prefix}today"] = mean(TODAY.format(gadget))
        row[f"{prefix}exact"] = mean(EXACT.format(gadget, "ones"))
        row |= {f"{prefix}{name}": mean(REFINED.format(gadget, name)) for name in WEIGHTS}
    row["margin_rise"] = max(_rise(found, REFINED.format(MARGIN, name)) for name in WEIGHTS)
    return row


def _gaps(game: str, pairs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """How near CFR+ with floors comes to the linear programs, by weights."""
    rows = []
    for name in WEIGHTS:
        refined, exact = REFINED.format(RESOLVING, name), EXACT.format(RESOLVING, name)
        today = TODAY.format(RESOLVING)
        rows.append(
            {
                "game": game,
                "weights": name,
                "first": max(each[refined]["first"] for each in pairs),
                "second": max(each[refined][name] - each[exact][name] for each in pairs),
                "today": max(each[today][name] - each[exact][name] for each in pairs),
                "rise": _rise(pairs, refined),
                "seconds": sum(each[refined]["seconds"] for each in pairs)
                / sum(each[today]["seconds"] for each in pairs),
            }
        )
    return rows


def _rise(pairs: Sequence[dict[str, Any]], method: str) -> float:
    """The largest change of exploitability above the blueprint's."""
    return max(each[method]["exploitability"] - each[BLUEPRINT]["exploitability"] for each in pairs)


def _bounds(
    found: dict[str, dict[str, list[dict[str, Any]]]],
    rows: Sequence[dict[str, Any]],
    gaps: Sequence[dict[str, Any]],
) -> list[tuple[str, bool, str]]:
    """What refined gadgets are held to, whether it holds, and the number."""
    rise = max(
        _rise(_both(by), REFINED.format(gadget, name))
        for by in found.values()
        for gadget in (RESOLVING, MARGIN)
        for name in WEIGHTS
    )
    second = max(row["second"] for row in gaps)
    bounds = [
        (f"No player is above its blueprint by more than {_RISE:g}", rise <= _RISE, f"{rise:.2g}"),
        (
            f"Second gaps are at most {_SECOND_GAP:g}",
            second <= _SECOND_GAP,
            f"the largest is {second:.2g}",
        ),
    ]
    for row in rows:
        if row["game"] == "leduc":
            ratio, distance = row["ones"] / row["today"], abs(row["ones"] - row["exact"])
            bounds += [
                (
                    f"In leduc, refined with ones is at most {_RATIO} of the plain gadget's",
                    ratio <= _RATIO,
                    f"{ratio:.3g}",
                ),
                (
                    f"And within {_FROM_EXACT} of the linear program",
                    distance <= _FROM_EXACT,
                    f"{distance:.2g}",
                ),
            ]
    return bounds


REFINED_GADGETS = Experiment(
    "refined",
    "Refined gadgets on blueprints: what is left of their exploitability",
    "exploitability of a player (utility)",
    "refined solutions of gadgets are less exploitable than others, by up to more than half "
    "(Kubíček, Lisý, Sandholm 2026). Held, besides, are: in no game above the blueprint by more "
    f"than {_RISE:g}; and of resolving gadgets second gaps of at most {_SECOND_GAP:g}, and in "
    f"Leduc, with weights of 1, at most {_RATIO} of the plain gadget's exploitability, and within "
    f"{_FROM_EXACT} of the linear program's.",
    _compute,
    _report,
    ("games",),
    _judge,
)
