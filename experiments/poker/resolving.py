"""How much solving rivers again helps, and how much refined gadgets do: on random turns.

Gadgets and refinements are those of `solvers.gadgets`; see there for the papers.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from typing import Any

from experiments.experiment import Experiment, Row, Study
from experiments.poker import spots
from experiments.settings import check_least
from experiments.verdicts import Judgement, Tables, is_less, verdict
from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.algorithms.river_resolving import resolve_rivers
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.factored.families import cut_any
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.value_functions.river import RiverNetwork

_MILLI = 1000.0 / spots.POT
_AS_IT_IS, _BEST = "as they are", "best for both"
_METHODS: dict[str, dict[str, str]] = {
    "unsafe": {"gadget": "unsafe"},
    "resolving": {"gadget": "resolving"},
    "resolving, refined": {"gadget": "resolving", "refinement": "mixed"},
    "max-margin": {"gadget": "max_margin"},
    "max-margin, refined": {"gadget": "max_margin", "refinement": "mixed"},
    "reach max-margin": {"gadget": "reach_max_margin"},
    "reach max-margin, refined": {"gadget": "reach_max_margin", "refinement": "mixed"},
}
_NETWORK = "DL-CFR, network of the zoo"
_TURN, _RIVERS, _FOUND = "turn", "rivers", "exploitability"
_ROWS, _BY_SPOT = "By turn and rivers", "By spot"
_SLACK = 0.1  # thousandths of the pot: what rivers that are not solved to the end may lose
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Settings:
    """Which turns, and how long to iterate.

    Attributes:
      first_spot: the first random turn; the settings were fixed on spot 0.
      num_spots: how many.
      num_hands: of each player; some may have no weight.
      blueprints: after how many iterations of linear CFR the whole turn is a blueprint.
      num_iterations: of CFR+ on each river, and of DL-CFR on the turn.
      whole_iterations: of linear CFR, for what a judge begins with.
      tolerance: the most that the exploitability of a trunk may be off, in pots.
    """

    first_spot: int = 100
    num_spots: int = 8
    num_hands: int = 40
    blueprints: tuple[int, ...] = (20, 80)
    num_iterations: int = 200
    whole_iterations: int = 150
    tolerance: float = 0.003

    def __post_init__(self) -> None:
        check_least(self, num_spots=1, num_hands=2, num_iterations=1, whole_iterations=1)


def _measured(study: Study[Settings], number: int) -> Rows:
    """All turns and rivers of a spot: exploitability in thousandths of the pot."""
    settings = study.settings
    game = spots.spot(number, settings.num_hands)
    trunk = cut_any(game, spots.LIMIT)
    whole, effort = CFRSolver(game, variant="lcfr"), Effort(iterations=settings.num_iterations)
    network, blueprints = RiverNetwork.pretrained(), {}
    while whole.iteration < settings.whole_iterations:
        whole.run(1)
        if whole.iteration in settings.blueprints:
            blueprints[f"CFR, {whole.iteration} iterations"] = whole.average_policy()
    policies: dict[str, dict[str, SearchPolicy]] = {
        name: {
            method: resolve_rivers(game, blueprint, effort=effort, **how)
            for method, how in _METHODS.items()
        }
        for name, blueprint in blueprints.items()
    }
    policies[_NETWORK] = {
        method: ContinualResolvingPolicy(game, network, spots.LIMIT, effort=effort, **how)
        for method, how in _METHODS.items()
    }
    rows = []
    for turn, searches in policies.items():
        found = {}
        if turn in blueprints:
            found[_AS_IT_IS] = exploitability(game, blueprints[turn])
        for method, policy in searches.items():
            resolved = policy.to_array_policy()
            found[method] = exploitability(game, resolved)
        losses = trunk_losses(
            trunk,
            resolved,
            tolerance=settings.tolerance * spots.POT / game.sequence_form.utility_range,
            max_iterations=settings.whole_iterations,
            solved=whole.minimizer,
        )
        found[_BEST] = losses.nash_conv / 2
        rows += [
            {"spot": number, _TURN: turn, _RIVERS: method, _FOUND: _MILLI * value}
            for method, value in found.items()
        ]
    return rows


def _rows(study: Study[Settings]) -> Rows:
    settings = study.settings
    told = dataclasses.asdict(settings)
    del told["num_spots"], told["first_spot"]
    rows: Rows = []
    for number in range(settings.first_spot, settings.first_spot + settings.num_spots):
        made = functools.partial(_measured, study, number)
        rows += study.workspace.part(file_name("spot", number), {"number": number, **told}, made)
    return rows


def _numbers(rows: Any, turn: str, rivers: str) -> list[float]:
    """One number for each spot."""
    return [row[_FOUND] for row in rows if row[_TURN] == turn and row[_RIVERS] == rivers]


def _report(study: Study[Settings], found: Rows) -> Report:
    settings, rows = study.settings, []
    for turn, rivers in dict.fromkeys((row[_TURN], row[_RIVERS]) for row in found):
        numbers = _numbers(found, turn, rivers)
        row: dict[str, Any] = {
            _TURN: turn,
            _RIVERS: rivers,
            _FOUND: statistics.fmean(numbers),
            "largest": max(numbers),
        }
        before = _numbers(found, turn, _AS_IT_IS)
        if before and rivers != _AS_IT_IS:
            pairs = list(zip(numbers, before, strict=True))
            row["share"] = statistics.fmean(100 * now / then for now, then in pairs)
            row["worse"] = sum(now > then + _SLACK for now, then in pairs)
        rows.append(row)
    titles = {
        _TURN: "turn",
        _RIVERS: "rivers",
        _FOUND: "exploitability (thousandths of the pot)",
        "largest": "of the worst spot",
        "share": "of the blueprint's (percent, mean over spots)",
        "worse": "spots worse than the blueprint",
    }
    return Report(
        "",
        [
            f"{settings.num_spots} turns of random boards, stacks of half a pot to 8 pots, and "
            f"{settings.num_hands} random hands a player with random weights; bets of the pot and "
            "all-in. Both players' strategies, turn and all rivers of all cards and lines "
            "together, are judged exactly.",
            "A turn is that of linear CFR on turn and rivers, stopped early, or of DL-CFR with "
            f"the zoo's network. Its rivers are taken as they are, or each is solved again by "
            f"{settings.num_iterations} iterations of CFR+. Below a blueprint the opponent is "
            "given what it gets by a best response to the blueprint; below DL-CFR, the mean of "
            "what the network said in the iterations. Refined: `mixed`.",
            f"'{_BEST}' is what the turn alone gives away: rivers that are best for both, by CFR "
            f"on the whole turn, off by at most about {1000 * settings.tolerance / 2:g}.",
        ],
        {_ROWS: Table(rows, titles), _BY_SPOT: Table.of(found)},
    )


def _judge(tables: Tables) -> Judgement:
    found = tables[_BY_SPOT]
    turns = dict.fromkeys(row[_TURN] for row in found)
    parts: dict[str, bool | None] = {}
    safe = [method for method in _METHODS if method != "unsafe"]
    for turn in turns:
        before = _numbers(found, turn, _AS_IT_IS)
        if before:
            parts[f"{turn}: safe gadgets are safe"] = all(
                now <= then + _SLACK
                for method in safe
                for now, then in zip(_numbers(found, turn, method), before, strict=True)
            )
        for method in safe:
            if method in _METHODS and f"{method}, refined" in _METHODS:
                refined = _numbers(found, turn, f"{method}, refined")
                parts[f"{turn}: {method} is better refined"] = is_less(
                    refined, _numbers(found, turn, method)
                )
    shares = {row[_RIVERS]: row["share"] for row in tables[_ROWS] if row.get("share")}
    told = ", ".join(f"{name} {share:.0f} %" for name, share in shares.items())
    return Judgement(verdict(parts), f"of the last blueprint's exploitability: {told}")


RESOLVING = Experiment(
    name="resolving",
    title="Rivers that are solved again, with each gadget",
    metric="exploitability (thousandths of the pot)",
    claim=(
        "Safe gadgets never leave more than the blueprint does (Burch et al. 2014; Moravčík et al. "
        "2016), and refined ones leave less than those that are not (Kubíček et al. 2026)."
    ),
    study=Study[Settings],
    compute=_rows,
    render=_report,
    judge=_judge,
)
ROWS = (Row(RESOLVING, "poker", Settings(), minutes=15),)
