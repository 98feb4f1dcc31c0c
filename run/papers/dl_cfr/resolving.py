"""The experiment with continual resolving: the whole game, played with each gadget.

Kovařík et al. (2021) judge trunks only. Here the value function's errors also reach what is given
to the gadgets, and the whole policy is judged, by its exact exploitability.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from papers.dl_cfr.on_policy import on_policy_settings, trained_on_policy
from papers.dl_cfr.report import Result
from papers.dl_cfr.study import Choices, Study
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.continual_resolving import GADGETS, ContinualResolvingPolicy
from spiel_dl.runs.parts import file_name
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.exact import ExactValue

_TITLES = {
    "exploitability": "exploitability = NashConv / 2 (utility)",
    "normalised": "the same / largest utility",
}
_EXACT_TOLERANCE = 1e-3


def resolving(study: Study, choices: Choices) -> Result:
    """Full-game exploitability of continual resolving, by gadget and value function."""
    tree, iterations = study.trunk.tree, study.config.num_iterations
    rows = _rows(study, choices)

    def measure_reference() -> float:
        solver = CFRPlusSolver(tree)
        solver.run(iterations)
        return exploitability.exploitability(tree.game, solver.average_policy())

    reference = study.part("resolving-cfr_plus", measure_reference)
    titles = {"source": "value function", "gadget": "gadget", **_TITLES}
    return Result(
        "resolving",
        "Continual resolving of the whole game",
        [
            f"{iterations:,} iterations of CFR+ per piece; the optimal value function is solved to "
            f"gaps of {_EXACT_TOLERANCE}. Networks are those trained on policy. CFR+ of the whole "
            f"game has exploitability {reference:.3g} after as many iterations. The paper judges "
            "no whole games.",
        ],
        _summary(rows),
        Table(rows, titles),
        [
            Panel(
                "number", "exploitability", "row of the table", _TITLES["exploitability"], "linear"
            )
        ],
        "source",
        study.settings(
            "training",
            on_policy=on_policy_settings(study, choices.on_policy),
            exact_resolving=choices.exact_resolving,
            exact_tolerance=_EXACT_TOLERANCE,
        ),
        {f"CFR+, {iterations:,} iterations": {"exploitability": reference}},
        joined=False,
    )


def _rows(study: Study, choices: Choices) -> list[dict[str, Any]]:
    """A row for every value function and gadget."""
    tree, iterations = study.trunk.tree, study.config.num_iterations
    largest_utility = float(np.abs(tree.utility).max())
    rows: list[dict[str, Any]] = []
    for source, make, settings in _value_functions(study, choices):
        for gadget in GADGETS:

            def measure(make: Callable[[], ValueFunction] = make, gadget: str = gadget) -> float:
                limit = study.config.data.depth_limit
                policy = ContinualResolvingPolicy(
                    tree, make(), limit, gadget=gadget, effort=Effort(iterations)
                )
                return exploitability.exploitability(tree.game, policy.to_array_policy())

            name = file_name("resolving", source, *settings.values(), gadget)
            value = study.part(name, measure, **settings)
            rows.append(
                {
                    "number": len(rows),
                    "source": source,
                    "gadget": gadget,
                    "exploitability": value,
                    "normalised": value / largest_utility,
                }
            )
    return rows


def _value_functions(
    study: Study, choices: Choices
) -> Iterator[tuple[str, Callable[[], ValueFunction], dict[str, Any]]]:
    """Names, how to make them, and what their parts depend on besides what all parts do."""
    if choices.exact_resolving:
        yield "optimal", functools.partial(ExactValue, _EXACT_TOLERANCE), {}
    for seed in study.config.seeds:
        path = trained_on_policy(study, choices, seed)[1]
        load = functools.partial(study.load_network, path)
        # The file changes when polishes are added to a finished run, or dropped from it.
        yield f"network of seed {seed}", load, {"last_round": choices.on_policy.last_round}


def _summary(rows: list[dict[str, Any]]) -> Table:
    """Gadgets by value functions."""
    sources = {row["source"]: row["source"] for row in rows}
    lines = []
    for gadget in GADGETS:
        values = {row["source"]: row["exploitability"] for row in rows if row["gadget"] == gadget}
        lines.append({"gadget": gadget, **values})
    return Table(lines, {"gadget": "exploitability with gadget", **sources})
