"""The experiments of Kovařík et al. (2021) with value networks in DL-CFR+.

"Main Experiments": `checkpoints` (loss against exploitability, Figure 2), `left_out` (public states
that the network never saw) and `ranges` (those asked for against those trained on). "Additional
Experiments": `losses`, `amount` (of data) and `size` (of the network). Beyond the paper:
`on_policy`, `resolving` (the whole game) and `exact` (the optimal value function).

The paper does not say whether its L∞ is the largest error of all or the mean over samples of the
largest error in each, nor whether it is of all outputs; both are given here, of possible positions.
Its ranges are reach probabilities, so its errors are to be compared with the unnormalised ones.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.stats

from papers.dl_cfr.exact import EXACT
from papers.dl_cfr.on_policy import ON_POLICY
from papers.dl_cfr.ranges import RANGES
from papers.dl_cfr.resolving import RESOLVING
from papers.dl_cfr.study import (
    ALL_NUMBERS,
    BOUNDS,
    NETWORKS,
    SUMMARY,
    Study,
    TrainedNetwork,
    below_bounds,
)
from papers.study import MET, NOT_MET, Experiment, Judgement, Tables, by_name, told, verdict
from spiel_dl.jobs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.value_functions.training import LEFT_OUT as LEFT_OUT_PREFIX
from spiel_dl.value_functions.training import split_strategies
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES, UNNORMALISED

Rows = list[dict[str, Any]]

_OUTCOME = {METRIC: METRIC_TITLE, **ALL_ERROR_TITLES, "step": "steps", "seconds": "seconds"}
_HUBER = UNNORMALISED + "huber"
_PAPER_LINF = (UNNORMALISED + "linf", UNNORMALISED + "linf_mean")
# "Additional Experiments".
_GOOD_HUBER = 0.001
_ENOUGH = 60_000
"""Samples: what still counts as the paper's "about 50,000"."""
_SUFFICES = 0.02
"""Exploitability: what still counts as the paper's "about 0.01"."""
_LOSSES = {"huber": "Huber", "l1": "L1", "l2": "L2", "linf": "L∞, mean over samples"}
_PAPER_SIZE = {"layers": "4 to 6", "units": "about 200 to 500"}


def _checkpoint_rows(study: Study) -> Rows:
    """The networks kept while training: errors, and trunk exploitability."""
    if not study.settings.training.networks_per_decade:
        raise ValueError(
            "networks_per_decade=0 keeps no networks to compare; use a positive number"
        )
    rows: Rows = []
    for seed in study.settings.seeds:
        trained = study.train(seed)
        for line in trained.metrics:
            if "network" in line:
                labels = {"network": f"seed {seed}", "step": line["step"]}
                value = study.measure(trained.directory / line["network"])[METRIC]
                rows.append({**labels, **_errors(line), METRIC: value})
    return rows


def _checkpoints_report(study: Study, rows: Rows) -> Report:
    reference, num_iterations = study.measure_reference()[METRIC], study.settings.num_iterations
    return study.report(
        [
            f"Networks kept while training; each is then used in {num_iterations:,} iterations of "
            "DL-CFR+. CFR+ of the whole game comes to a trunk of normalised exploitability "
            f"{reference:.3g} in as many. The summary is of the last networks; rank correlations "
            "(Spearman's) with exploitability are of all.",
        ],
        _checkpoints_summary(rows),
        Table(
            rows, {"network": "network", "step": "step", METRIC: METRIC_TITLE, **ALL_ERROR_TITLES}
        ),
        [Panel(name, METRIC, title, METRIC_TITLE) for name, title in ALL_ERROR_TITLES.items()],
        "network",
        levels=study.level({METRIC: reference}),
        joined=False,
    )


def _judge_checkpoints(tables: Tables) -> Judgement:
    last = list({row["network"]: row for row in tables[ALL_NUMBERS]}.values())
    return Judgement(
        below_bounds(last, {name: name for name in BOUNDS}),
        told([row[METRIC] for row in last], "networks"),
    )


def _checkpoints_summary(rows: Rows) -> Table:
    """The last networks, the paper's, and how well each error foretells exploitability."""
    final = {row["network"]: row for row in rows}
    exploitability = [row[METRIC] for row in rows]
    lines = []
    for name, title in {METRIC: METRIC_TITLE, **ALL_ERROR_TITLES}.items():
        paper = f"below {BOUNDS[name]}" if name in BOUNDS else None
        line: dict[str, Any] = {"what": title, "paper": paper}
        line.update({network: row[name] for network, row in final.items()})
        values = [row[name] for row in rows]
        if name != METRIC and min(len(set(values)), len(set(exploitability))) > 1:
            line["correlation"] = float(scipy.stats.spearmanr(values, exploitability).statistic)
        lines.append(line)
    networks = {network: f"last network of {network}" for network in final}
    titles = {"what": "validation error", "paper": "the paper", "correlation": "rank correlation"}
    return Table(lines, titles | networks)


CHECKPOINTS = Experiment(
    "checkpoints",
    "Loss against trunk exploitability",
    METRIC_TITLE,
    "normalised exploitability below 0.01, Huber loss below 0.001, L1 below 0.01, L∞ below 0.1 "
    "(Main Experiments). That trunks are similar to CFR+'s, and how strongly errors are correlated "
    "with exploitability, is told and not judged.",
    _checkpoint_rows,
    _checkpoints_report,
    NETWORKS,
    _judge_checkpoints,
)


def _left_out_rows(study: Study) -> Rows:
    """Errors in leaf public states that were left out of training, one at a time."""
    leaves = study.trunk.leaves
    rows: Rows = []
    for seed in study.settings.seeds:
        for state in range(0, leaves.num_public_states, study.settings.every_state):
            trained = study.train(seed, left_out_states=(state,))
            sizes = [int(np.diff(leaves.infoset_offsets[p])[state]) for p in (0, 1)]
            labels = {"network": f"seed {seed}", "state": state, "infosets": sum(sizes)}
            rows.append({**labels, **_errors(trained.metrics[-1], LEFT_OUT_PREFIX)})
    return rows


def _left_out_report(study: Study, rows: Rows) -> Report:
    paper, summary = study.settings.paper_left_out_linf, []
    for name, title in ALL_ERROR_TITLES.items():
        values = [row[name] for row in rows]
        line = {"what": title, "mean": float(np.mean(values)), "largest": max(values)}
        summary.append({**line, "paper": paper if name in _PAPER_LINF else None})
    return study.report(
        [
            f"Of {study.trunk.leaves.num_public_states} leaf public states, one in "
            f"{study.settings.every_state} is left out in turn; errors are of the validation "
            "strategies' samples in that one. The summary is over all public states that were left "
            "out.",
        ],
        Table.of(summary, what="error", paper="the paper"),
        Table.of(rows, state="public state", **ALL_ERROR_TITLES),
        _error_panels("state", "left-out public state", "linear"),
        "network",
        levels={} if paper is None else {"the paper": dict.fromkeys(_PAPER_LINF, paper)},
        joined=False,
    )


def _judge_left_out(tables: Tables) -> Judgement:
    """Both readings of L∞, as `BOUNDS` has them, each against the largest of all states."""
    of_what = {line["what"]: line for line in tables[SUMMARY]}
    lines = [of_what[ALL_ERROR_TITLES[name]] for name in _PAPER_LINF]
    return Judgement(
        verdict(line["largest"] <= line["paper"] for line in lines if line.get("paper")),
        "; ".join(f"{line['what']}: at most {line['largest']:.3g}" for line in lines),
    )


LEFT_OUT = Experiment(
    "left_out",
    "Errors in public states left out of training",
    "L∞ error, unnormalised (utility)",
    "L∞ errors in left-out public states of 2.6 in Goofspiel, 0.1 in Oshi-Zumo and 0.08 in Leduc "
    "(Main Experiments), which does not say of what; held are the largest of all, and the mean "
    "over samples of each one's largest, in the worst public state.",
    _left_out_rows,
    _left_out_report,
    (*NETWORKS, "every_state", "paper_left_out_linf"),
    _judge_left_out,
)


def _amounts(study: Study) -> tuple[int, ...]:
    """Numbers of trunk strategies to train on."""
    available, amounts = _num_available(study), study.settings.amounts
    if max(amounts, default=0) > available:
        raise ValueError(
            f"amounts={amounts}, but there are {available} trunk strategies to train on; make more "
            "data, or ask for less"
        )
    return amounts or tuple(max(1, available >> k) for k in range(5))


def _num_available(study: Study) -> int:
    """Trunk strategies that are not set apart."""
    config = study.settings.training
    num_strategies = study.num_strategies
    return len(split_strategies(num_strategies, config.validation_share, config.split_seed)[0])


def _amount_rows(study: Study) -> Rows:
    """Networks trained on less data, with as many steps of training for each."""
    config, num_states = study.settings.training, study.trunk.leaves.num_public_states
    available, amounts = _num_available(study), _amounts(study)

    def steps_per_epoch(number: int) -> int:
        return -(-number * num_states // config.batch_size)

    rows: Rows = []
    for seed in study.settings.seeds:
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
    return rows


def _amount_report(study: Study, rows: Rows) -> Report:
    title = f"fewest samples with {ALL_ERROR_TITLES[_HUBER]} at most {_GOOD_HUBER}"
    line: dict[str, Any] = {"what": title, "paper": "about 50,000"}
    networks = {row["network"]: row["network"] for row in rows}
    for network in networks:
        own = [row for row in rows if row["network"] == network]
        enough = [row["samples"] for row in own if row[_HUBER] <= _GOOD_HUBER]
        line[network] = min(enough, default="more than these")
    return study.report(
        [
            "One sample is a leaf public state of one trunk strategy. Less data is gone through "
            "more often, so that all networks take about as many steps.",
        ],
        Table([line], {"what": "", "paper": "the paper", **networks}),
        Table.of(rows, **_OUTCOME),
        _figure_panels("samples", "training samples"),
        "network",
        settings={"amounts_used": _amounts(study)},
    )


def _judge_amount(tables: Tables) -> Judgement:
    """The fewest samples with a good Huber loss, and the exploitability that these come to."""
    parts, headlines = [], []
    rows = tables[ALL_NUMBERS]
    for network in dict.fromkeys(row["network"] for row in rows):
        good = [r for r in rows if r["network"] == network and r[_HUBER] <= _GOOD_HUBER]
        fewest = min(good, key=operator.itemgetter("samples"), default=None)
        parts += [
            fewest is not None and fewest["samples"] <= _ENOUGH,
            fewest is not None and fewest[METRIC] <= _SUFFICES,
        ]
        headlines.append(
            "more than were tried"
            if fewest is None
            else f"{fewest['samples']:,} samples, exploitability {fewest[METRIC]:.3g}"
        )
    return Judgement(verdict(parts), "; ".join(headlines))


AMOUNT = Experiment(
    "amount",
    "Amount of training data against loss",
    f"{ALL_ERROR_TITLES[_HUBER]}, {METRIC_TITLE}",
    "about 50,000 samples are enough for a Huber loss of 0.001, which suffices for a normalised "
    f"exploitability of about 0.01 (Additional Experiments); held is at most {_SUFFICES:g}.",
    _amount_rows,
    _amount_report,
    (*NETWORKS, "amounts"),
    _judge_amount,
)


def _loss_rows(study: Study) -> Rows:
    """Networks trained on each loss, all else alike."""
    rows: Rows = []
    for seed in study.settings.seeds:
        for loss in _LOSSES:
            same = loss == study.settings.training.loss
            trained = study.train(seed) if same else study.train(seed, loss=loss)
            rows.append({"network": f"seed {seed}", "loss": loss, **_outcome(study, trained)})
    return rows


def _losses_report(study: Study, rows: Rows) -> Report:
    lines = []
    for loss, title in _LOSSES.items():
        own = [row[METRIC] for row in rows if row["loss"] == loss]
        lines.append({"what": title, "mean": float(np.mean(own)), "largest": max(own)})
    return study.report(
        ["Networks differ in the loss that they descend and in nothing else."],
        Table(lines, {"what": "trained on", "mean": f"{METRIC_TITLE}, mean", "largest": "largest"}),
        Table.of([{**row, "place": list(_LOSSES).index(row["loss"])} for row in rows], **_OUTCOME),
        [Panel("place", METRIC, "loss: " + ", ".join(_LOSSES), METRIC_TITLE, "linear")],
        "network",
        joined=False,
    )


def _judge_losses(tables: Tables) -> Judgement:
    means = {line["what"]: line["mean"] for line in tables[SUMMARY]}
    best = min(means.values())
    return Judgement(
        verdict(mean <= 2 * best for mean in means.values()),
        "; ".join(f"{loss} {mean:.3g}" for loss, mean in means.items()),
    )


LOSSES = Experiment(
    "losses",
    "The loss that networks are trained on",
    METRIC_TITLE,
    "standard losses suffice (Additional Experiments; no numbers); held is that with each of them "
    "the mean exploitability is at most twice that of the best.",
    _loss_rows,
    _losses_report,
    NETWORKS,
    _judge_losses,
)


def _sizes(study: Study) -> list[tuple[str, int, int]]:
    """What is varied, and the layers and units of each network."""
    settings = study.settings
    depths = [("depth varied", n, settings.num_units) for n in sorted(set(settings.layers))]
    return depths + [("width varied", settings.num_layers, n) for n in sorted(set(settings.units))]


def _size_rows(study: Study) -> Rows:
    """Networks of several depths and widths, one varied at a time."""
    rows: Rows = []
    for seed in study.settings.seeds:
        for varied, layers, units in _sizes(study):
            trained = study.train(seed, num_layers=layers, num_units=units)
            module = study.load_network(trained.path).module
            num_parameters = sum(parameter.numel() for parameter in module.parameters())
            labels = {"network": f"seed {seed}, {varied}", "layers": layers, "units": units}
            outcome = _outcome(study, trained)
            rows.append({**labels, "parameters": num_parameters, **outcome})
    return rows


def _size_report(study: Study, rows: Rows) -> Report:
    best = min(rows, key=operator.itemgetter(_HUBER))
    lines = [
        {"what": f"{name} of least {ALL_ERROR_TITLES[_HUBER]}", "ours": best[name], "paper": paper}
        for name, paper in _PAPER_SIZE.items()
    ]
    return study.report(
        ["Depth and width are varied one at a time; all else stays the same."],
        Table.of(lines, what="", paper="the paper"),
        Table.of(rows, **_OUTCOME),
        _figure_panels("parameters", "parameters"),
        "network",
        verdict=MET if 4 <= best["layers"] <= 6 and 200 <= best["units"] <= 500 else NOT_MET,
        headline=f"{best['layers']} layers of {best['units']} units",
        settings={"sizes": _sizes(study)},
    )


SIZE = Experiment(
    "size",
    "Depth and width of the network against loss",
    f"{ALL_ERROR_TITLES[_HUBER]}, {METRIC_TITLE}",
    "4 to 6 layers of about 200 to 500 units are best (Additional Experiments).",
    _size_rows,
    _size_report,
    (*NETWORKS, "layers", "units"),
)

EXPERIMENTS = by_name(
    CHECKPOINTS, LEFT_OUT, RANGES, LOSSES, AMOUNT, SIZE, ON_POLICY, RESOLVING, EXACT
)


def _errors(line: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """The validation errors of a line of metrics, without their prefix."""
    return {name: line[prefix + name] for name in ALL_ERROR_TITLES}


def _outcome(study: Study, trained: TrainedNetwork) -> dict[str, float]:
    """What there is to say about a trained network, by the names of `_OUTCOME`."""
    last = trained.metrics[-1]
    found = {name: last[name] for name in _OUTCOME if name in last}
    return {METRIC: study.measure(trained.path)[METRIC], **found}


def _error_panels(x: str, x_title: str, x_scale: str) -> list[Panel]:
    return [Panel(x, name, x_title, title, x_scale) for name, title in ALL_ERROR_TITLES.items()]


def _figure_panels(x: str, x_title: str) -> Sequence[Panel]:
    """Errors and exploitability against what is varied."""
    return [*_error_panels(x, x_title, "log"), Panel(x, METRIC, x_title, METRIC_TITLE)]
