"""The experiment with continual resolving: the whole game, played with each gadget.

Kovařík et al. (2021) judge trunks only. Here the value function's errors also reach what is given
to the gadgets, and the whole policy is judged, by its exact exploitability.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from experiments.dl_cfr.on_policy import USES
from experiments.dl_cfr.study import SUMMARY, Study
from experiments.study import Experiment, Judgement, Tables
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.continual_resolving import GADGETS, ContinualResolvingPolicy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.exact import ExactValue

_TITLES = {
    "exploitability": "exploitability = NashConv / 2 (utility)",
    "normalised": "the same / largest utility",
}
_EXACT_TOLERANCE = 1e-3


def _rows(study: Study) -> list[dict[str, Any]]:
    """A row for every value function and gadget."""
    tree, iterations = study.trunk.tree, study.settings.num_iterations
    largest_utility = float(np.abs(tree.utility).max())
    rows: list[dict[str, Any]] = []
    for source, make, settings in _value_functions(study):
        for gadget in GADGETS:

            def measure(make: Callable[[], ValueFunction] = make, gadget: str = gadget) -> float:
                limit = study.settings.data.depth_limit
                effort = Effort(iterations)
                policy = ContinualResolvingPolicy(tree, make(), limit, gadget=gadget, effort=effort)
                return exploitability.exploitability(tree.game, policy.to_array_policy())

            name = file_name("resolving", source, *settings.values(), gadget)
            value = study.part(name, measure, **settings)
            labels = {"number": len(rows), "source": source, "gadget": gadget}
            values = {"exploitability": value, "normalised": value / largest_utility}
            rows.append(labels | values)
    return rows


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    tree, iterations = study.trunk.tree, study.settings.num_iterations

    def measure_reference() -> float:
        solver = CFRPlusSolver(tree)
        solver.run(iterations)
        return exploitability.exploitability(tree.game, solver.average_policy())

    reference = study.part("resolving-cfr_plus", measure_reference)
    title = _TITLES["exploitability"]
    return study.report(
        [
            f"{iterations:,} iterations of CFR+ per piece; the optimal value function is solved to "
            f"gaps of {_EXACT_TOLERANCE}. Networks are those trained on policy. CFR+ of the whole "
            f"game has exploitability {reference:.3g} after as many iterations.",
        ],
        _summary(rows),
        Table(rows, {"source": "value function", "gadget": "gadget", **_TITLES}),
        [Panel("gadget", "exploitability", "gadget", title, "linear")],
        "source",
        levels=study.level({"exploitability": reference}),
        joined=False,
        settings={"exact_tolerance": _EXACT_TOLERANCE},
    )


def _judge(tables: Tables) -> Judgement:
    """By the gadget that is the default, not by the one that came out best."""
    default = inspect.signature(ContinualResolvingPolicy).parameters["gadget"].default
    [line] = [line for line in tables[SUMMARY] if line["gadget"] == default]
    values = [f"{source} {value:.3g}" for source, value in line.items() if source != "gadget"]
    return Judgement("", f"with the {default} gadget, the default: {'; '.join(values)}")


RESOLVING = Experiment(
    "resolving",
    "Continual resolving of the whole game",
    _TITLES["exploitability"],
    "",
    _rows,
    _report,
    (*USES, "exact_resolving"),
    _judge,
)


def _value_functions(
    study: Study,
) -> Iterator[tuple[str, Callable[[], ValueFunction], dict[str, Any]]]:
    """Names, how to make them, and what their parts depend on besides what all parts do."""
    if study.settings.exact_resolving:
        yield "optimal", functools.partial(ExactValue, _EXACT_TOLERANCE), {}
    for seed in study.settings.seeds:
        load = functools.partial(study.load_network, study.train_on_policy(seed).path)
        yield f"network of seed {seed}", load, {"num_rounds": study.settings.on_policy.num_rounds}


def _summary(rows: list[dict[str, Any]]) -> Table:
    """Gadgets by value functions."""
    sources = {row["source"]: row["source"] for row in rows}
    lines = []
    for gadget in GADGETS:
        values = {row["source"]: row["exploitability"] for row in rows if row["gadget"] == gadget}
        lines.append({"gadget": gadget, **values})
    return Table(lines, {"gadget": "exploitability with gadget", **sources})
