"""The experiments of Kovařík et al. (2021) with value networks in DL-CFR+.

"Main Experiments": `checkpoints` (loss against exploitability, Figure 2), `left_out` (public states
that the network never saw) and `ranges` (those asked for against those trained on). "Additional
Experiments": `amount` (of data) and `size` (of the network). Beyond the paper: `on_policy`,
`resolving` (the whole game) and `exact` (the optimal value function). Each takes a `Study` and
returns a `Result` with the paper's numbers.

The paper does not say whether its L∞ is the largest error of all or the mean over samples of the
largest error in each, nor whether it is of all outputs; both are given here, of possible positions.
Its ranges are reach probabilities, so its errors are to be compared with the unnormalised ones.
"""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats

from papers.dl_cfr.exact import exact
from papers.dl_cfr.on_policy import on_policy
from papers.dl_cfr.ranges import ranges
from papers.dl_cfr.report import Result, write_result
from papers.dl_cfr.resolving import resolving
from papers.dl_cfr.study import Choices, Study, TrainedNetwork
from papers.report import run_each
from spiel_dl.jobs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table
from spiel_dl.value_functions.training import LEFT_OUT, split_strategies
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES, UNNORMALISED

_OUTCOME = {
    "step": "steps",
    "seconds": "seconds of training",
    **ALL_ERROR_TITLES,
    METRIC: METRIC_TITLE,
}
# "Main Experiments", of networks as training left them.
_PAPER = {
    UNNORMALISED + "huber": "below 0.001",
    UNNORMALISED + "l1": "below 0.01",
    UNNORMALISED + "linf": "below 0.1",
    UNNORMALISED + "linf_mean": "below 0.1",
    METRIC: "below 0.01, similar to CFR+",
}
_HUBER = UNNORMALISED + "huber"
_PAPER_LINF = (UNNORMALISED + "linf", UNNORMALISED + "linf_mean")
# "Additional Experiments".
_GOOD_HUBER = 0.001
_PAPER_AMOUNT = "about 50,000"
_PAPER_SIZE = {"layers": "4 to 6", "units": "about 200 to 500"}


def checkpoints(study: Study, choices: Choices) -> Result:
    """Loss against exploitability over the networks kept while training, beside CFR+."""
    del choices
    if not study.config.training.networks_per_decade:
        raise ValueError(
            "networks_per_decade=0 keeps no networks to compare; use a positive number"
        )
    rows: list[dict[str, Any]] = []
    for seed in study.config.seeds:
        trained = study.train(seed)
        for line in trained.metrics:
            if "network" in line:
                labels = {"network": f"seed {seed}", "step": line["step"]}
                value = study.exploitability(trained.directory / line["network"])
                rows.append({**labels, **_errors(line), METRIC: value})
    reference = study.reference_exploitability()
    num_iterations = study.config.num_iterations
    label = f"CFR+, {num_iterations:,} iterations"
    return Result(
        "checkpoints",
        "Loss against trunk exploitability",
        [
            f"Networks kept while training; each is then used in {num_iterations:,} iterations of "
            "DL-CFR+. CFR+ of the whole game comes to a trunk of normalised exploitability "
            f"{reference:.3g} in as many. The summary is of the last networks; rank correlations "
            "(Spearman's) with exploitability are of all.",
        ],
        _checkpoints_summary(rows),
        Table(
            rows, {"network": "network", "step": "step", **ALL_ERROR_TITLES, METRIC: METRIC_TITLE}
        ),
        [Panel(name, METRIC, title, METRIC_TITLE) for name, title in ALL_ERROR_TITLES.items()],
        "network",
        study.settings(),
        {label: {METRIC: reference}},
        joined=False,
    )


def left_out(study: Study, choices: Choices) -> Result:
    """Errors in leaf public states that were left out of training, one at a time."""
    leaves = study.trunk.leaves
    rows: list[dict[str, Any]] = []
    for seed in study.config.seeds:
        for state in range(0, leaves.num_public_states, choices.every_state):
            trained = study.train(seed, left_out_states=(state,))
            sizes = [int(np.diff(leaves.infoset_offsets[p])[state]) for p in (0, 1)]
            labels = {"network": f"seed {seed}", "state": state, "infosets": sum(sizes)}
            rows.append({**labels, **_errors(trained.metrics[-1], LEFT_OUT)})
    paper = choices.paper_left_out_linf
    summary: list[dict[str, Any]] = []
    for name, title in ALL_ERROR_TITLES.items():
        values = [row[name] for row in rows]
        line = {"what": title, "mean": float(np.mean(values)), "largest": max(values)}
        summary.append({**line, "paper": paper if name in _PAPER_LINF else None})
    return Result(
        "left_out",
        "Errors in public states left out of training",
        [
            f"Of {leaves.num_public_states} leaf public states, one in {choices.every_state} is "
            "left out in turn; errors are of the validation strategies' samples in that one. The "
            "summary is over all public states that were left out.",
        ],
        Table(
            summary,
            {"what": "error", "mean": "mean", "largest": "largest", "paper": "the paper"},
        ),
        Table(
            rows,
            {
                "network": "network",
                "state": "public state",
                "infosets": "infosets",
                **ALL_ERROR_TITLES,
            },
        ),
        _error_panels("state", "left-out public state", "linear"),
        "network",
        study.settings(every_state=choices.every_state),
        {} if paper is None else {"the paper": dict.fromkeys(_PAPER_LINF, paper)},
        joined=False,
    )


def amount(study: Study, choices: Choices) -> Result:
    """Amount of training data against errors, with as many steps of training for each."""
    config = study.config.training
    training, _ = split_strategies(
        study.dataset.num_strategies, config.validation_share, config.split_seed
    )
    available, num_states = len(training), study.trunk.leaves.num_public_states
    amounts = choices.amounts or tuple(max(1, available >> k) for k in range(5))
    if max(amounts) > available:
        raise ValueError(
            f"amounts={amounts}, but there are {available} trunk strategies to train on; make more "
            "data, or ask for less"
        )

    def steps_per_epoch(number: int) -> int:
        return -(-number * num_states // config.batch_size)

    rows: list[dict[str, Any]] = []
    for seed in study.config.seeds:
        for number in sorted(set(amounts), reverse=True):
            times = round(steps_per_epoch(available) / steps_per_epoch(number))
            changes = {
                "max_strategies": number,
                "num_epochs": times * config.num_epochs,
                "epochs_per_validation": times * config.epochs_per_validation,
            }
            # All of it is what the study's own network is trained on.
            trained = study.train(seed, **({} if number == available else changes))
            labels = {"network": f"seed {seed}", "samples": number * num_states}
            rows.append({**labels, **_outcome(study, trained)})
    return Result(
        "amount",
        "Amount of training data against loss",
        [
            "One sample is a leaf public state of one trunk strategy. Less data is gone through "
            "more often, so that all networks take about as many steps.",
        ],
        _amount_summary(rows),
        Table(rows, {"network": "network", "samples": "samples", **_OUTCOME}),
        [
            *_error_panels("samples", "training samples", "log"),
            _exploitability_panel("samples", "training samples"),
        ],
        "network",
        study.settings(amounts=amounts),
    )


def size(study: Study, choices: Choices) -> Result:
    """Depth and width of the network against errors, one varied at a time."""
    config = study.config
    sizes = [("depth varied", layers, config.num_units) for layers in sorted(set(choices.layers))]
    sizes += [("width varied", config.num_layers, units) for units in sorted(set(choices.units))]
    rows: list[dict[str, Any]] = []
    for seed in config.seeds:
        for varied, layers, units in sizes:
            trained = study.train(seed, num_layers=layers, num_units=units)
            module = study.load_network(trained.path).module
            num_parameters = sum(parameter.numel() for parameter in module.parameters())
            labels = {"network": f"seed {seed}, {varied}", "layers": layers, "units": units}
            outcome = _outcome(study, trained)
            rows.append({**labels, "parameters": num_parameters, **outcome})
    titles = {name: name for name in ("network", "layers", "units", "parameters")}
    x = "parameters"
    return Result(
        "size",
        "Depth and width of the network against loss",
        ["Depth and width are varied one at a time; all else stays the same."],
        _size_summary(rows),
        Table(rows, {**titles, **_OUTCOME}),
        [*_error_panels(x, x, "log"), _exploitability_panel(x, x)],
        "network",
        study.settings("num_layers", "num_units", sizes=sizes),
    )


Experiment = Callable[[Study, Choices], Result]
EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.__name__: experiment
    for experiment in (checkpoints, left_out, ranges, amount, size, on_policy, resolving, exact)
}


def run_experiments(
    study: Study,
    names: Sequence[str],
    choices: Choices,
    directory: str | os.PathLike[str],
) -> list[Path]:
    """Runs experiments and writes what they found.

    Args:
      study: where.
      names: which of `EXPERIMENTS`.
      choices: what they vary.
      directory: where the results go.

    Returns:
      The reports' paths.

    Raises:
      ValueError: if there is no such experiment, or as the experiment does.
    """

    def run(name: str) -> Path:
        start = time.perf_counter()
        result = EXPERIMENTS[name](study, choices)
        return write_result(result, study, directory, time.perf_counter() - start)

    return run_each(names, EXPERIMENTS, study.parts, run)


def _errors(line: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """The validation errors of a line of metrics, without their prefix."""
    return {name: line[prefix + name] for name in ALL_ERROR_TITLES}


def _outcome(study: Study, trained: TrainedNetwork) -> dict[str, float]:
    """What there is to say about a trained network, by the names of `_OUTCOME`."""
    last = trained.metrics[-1]
    found = {name: last[name] for name in _OUTCOME if name in last}
    return {**found, METRIC: study.exploitability(trained.path)}


def _error_panels(x: str, x_title: str, x_scale: str) -> list[Panel]:
    return [Panel(x, name, x_title, title, x_scale) for name, title in ALL_ERROR_TITLES.items()]


def _exploitability_panel(x: str, x_title: str) -> Panel:
    return Panel(x, METRIC, x_title, METRIC_TITLE)


def _checkpoints_summary(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The last networks, the paper's, and how well each error foretells exploitability."""
    final = {row["network"]: row for row in rows}
    exploitability = [row[METRIC] for row in rows]
    lines = []
    for name, title in {**ALL_ERROR_TITLES, METRIC: METRIC_TITLE}.items():
        line: dict[str, Any] = {"what": title, "paper": _PAPER.get(name)}
        line.update({network: row[name] for network, row in final.items()})
        values = [row[name] for row in rows]
        if name != METRIC and min(len(set(values)), len(set(exploitability))) > 1:
            line["correlation"] = float(scipy.stats.spearmanr(values, exploitability).statistic)
        lines.append(line)
    networks = {network: f"last network of {network}" for network in final}
    titles = {"what": "validation error", **networks, "paper": "the paper"}
    return Table(lines, {**titles, "correlation": "rank correlation"})


def _amount_summary(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The fewest samples that are enough, by network."""
    title = f"fewest samples with {ALL_ERROR_TITLES[_HUBER]} at most {_GOOD_HUBER}"
    line = {"what": title, "paper": _PAPER_AMOUNT}
    networks = {row["network"]: row["network"] for row in rows}
    for network in networks:
        enough = [
            r["samples"] for r in rows if r["network"] == network and r[_HUBER] <= _GOOD_HUBER
        ]
        line[network] = min(enough, default="more than these")
    return Table([line], {"what": "", **networks, "paper": "the paper"})


def _size_summary(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The depth and width of the network of least loss."""
    best = min(rows, key=operator.itemgetter(_HUBER))
    lines = []
    for name, paper in _PAPER_SIZE.items():
        lines.append(
            {
                "what": f"{name} of least {ALL_ERROR_TITLES[_HUBER]}",
                "ours": best[name],
                "paper": paper,
            }
        )
    return Table(lines, {"what": "", "ours": "ours", "paper": "the paper"})
