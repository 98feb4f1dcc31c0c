"""What networks are trained on and how large they are: "Additional Experiments" of Kovařík et al.

`amount` varies the data, `losses` the loss, and `size` depth and width of the network.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.dl_cfr.errors import (
    HUBER,
    OUTCOME,
    Rows,
    figure_panels,
    outcome,
)
from experiments.dl_cfr.study import (
    ALL_NUMBERS,
    NETWORKS,
    SUMMARY,
    Study,
)
from experiments.study import Experiment, Judgement, Tables, verdict
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.value_functions.training import split_strategies
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES

_GOOD_HUBER = 0.001
_ENOUGH = 60_000
"""Samples: what still counts as the paper's "about 50,000"."""
_SUFFICES = 0.02
"""Exploitability: what still counts as the paper's "about 0.01"."""
_LOSSES = {"huber": "Huber", "l1": "L1", "l2": "L2", "linf": "L∞, mean over samples"}
_PAPER_SIZE = {"layers": (4, 6), "units": (200, 500)}
_VARIED = {"layers": "depth varied", "units": "width varied"}


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
            rows.append({**labels, **outcome(study, trained)})
    return rows


def _amount_report(study: Study, rows: Rows) -> Report:
    title = f"fewest samples with {ALL_ERROR_TITLES[HUBER]} at most {_GOOD_HUBER}"
    line: dict[str, Any] = {"what": title, "paper": "about 50,000"}
    networks = {row["network"]: row["network"] for row in rows}
    for network in networks:
        own = [row for row in rows if row["network"] == network]
        enough = [row["samples"] for row in own if row[HUBER] <= _GOOD_HUBER]
        line[network] = min(enough, default="more than these")
    return study.report(
        [
            "One sample is a leaf public state of one trunk strategy. Less data is gone through "
            "more often, so that all networks take about as many steps.",
        ],
        Table([line], {"what": "", "paper": "the paper", **networks}),
        Table.of(rows, **OUTCOME),
        figure_panels("samples", "training samples"),
        "network",
        settings={"amounts_used": _amounts(study)},
    )


def _judge_amount(tables: Tables) -> Judgement:
    """The fewest samples with a good Huber loss, and the exploitability that these come to."""
    parts: dict[str, bool] = {}
    headlines = []
    rows = tables[ALL_NUMBERS]
    for network in dict.fromkeys(row["network"] for row in rows):
        good = [r for r in rows if r["network"] == network and r[HUBER] <= _GOOD_HUBER]
        fewest = min(good, key=operator.itemgetter("samples"), default=None)
        for name, held in (
            ("enough for the loss", fewest is not None and fewest["samples"] <= _ENOUGH),
            ("the loss suffices", fewest is not None and fewest[METRIC] <= _SUFFICES),
        ):
            parts[f"{network}: {name}"] = held
        headlines.append(
            "more than were tried"
            if fewest is None
            else f"{fewest['samples']:,} samples, exploitability {fewest[METRIC]:.3g}"
        )
    return Judgement(verdict(parts), "; ".join(headlines))


AMOUNT = Experiment(
    "amount",
    "Amount of training data against loss",
    f"{ALL_ERROR_TITLES[HUBER]}, {METRIC_TITLE}",
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
            rows.append({"network": f"seed {seed}", "loss": loss, **outcome(study, trained)})
    return rows


def _losses_report(study: Study, rows: Rows) -> Report:
    lines = []
    for loss, title in _LOSSES.items():
        own = [row[METRIC] for row in rows if row["loss"] == loss]
        lines.append({"what": title, "mean": float(np.mean(own)), "largest": max(own)})
    return study.report(
        ["Networks differ in the loss that they descend and in nothing else."],
        Table(lines, {"what": "trained on", "mean": f"{METRIC_TITLE}, mean", "largest": "largest"}),
        Table.of(rows, **OUTCOME),
        [Panel("loss", METRIC, "loss that networks are trained on", METRIC_TITLE, "linear")],
        "network",
        joined=False,
    )


def _judge_losses(tables: Tables) -> Judgement:
    means = {line["what"]: line["mean"] for line in tables[SUMMARY]}
    best = min(means.values())
    return Judgement(
        verdict({loss: mean <= 2 * best for loss, mean in means.items()}),
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
    depth, width = _VARIED.values()
    depths = [(depth, n, settings.num_units) for n in sorted(set(settings.layers))]
    return depths + [(width, settings.num_layers, n) for n in sorted(set(settings.units))]


def _size_rows(study: Study) -> Rows:
    """Networks of several depths and widths, one varied at a time."""
    rows: Rows = []
    for seed in study.settings.seeds:
        for varied, layers, units in _sizes(study):
            trained = study.train(seed, num_layers=layers, num_units=units)
            module = study.load_network(trained.path).module
            num_parameters = sum(parameter.numel() for parameter in module.parameters())
            labels = {"network": f"seed {seed}, {varied}", "layers": layers, "units": units}
            more = {"parameters": num_parameters, **outcome(study, trained)}
            rows.append({**labels, **more})
    return rows


def _size_report(study: Study, rows: Rows) -> Report:
    lines: Rows = []
    for name, (least, most) in _PAPER_SIZE.items():
        paper = f"{least} to {most}"
        for network, best in _best_sizes(rows, name).items():
            what = f"{name} of least {ALL_ERROR_TITLES[HUBER]}, {network}"
            lines.append({"what": what, "ours": best[name], "paper": paper})
    return study.report(
        ["Depth and width are varied one at a time; all else stays the same."],
        Table.of(lines, what="", paper="the paper"),
        Table.of(rows, **OUTCOME),
        figure_panels("parameters", "parameters"),
        "network",
        settings={"sizes": _sizes(study)},
    )


def _best_sizes(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Mapping[str, Any]]:
    """Of every network whose `layers` or `units` were varied, the row with the least loss."""
    varied = _VARIED[name]
    networks = dict.fromkeys(row["network"] for row in rows if row["network"].endswith(varied))
    return {
        network.removesuffix(f", {varied}"): min(
            (row for row in rows if row["network"] == network), key=operator.itemgetter(HUBER)
        )
        for network in networks
    }


def _judge_size(tables: Tables) -> Judgement:
    """Each sweep by itself: the size with the least loss, on every seed."""
    parts, told = {}, []
    for name, (least, most) in _PAPER_SIZE.items():
        best = _best_sizes(tables[ALL_NUMBERS], name)
        parts[f"{least} to {most} {name}"] = all(
            least <= row[name] <= most for row in best.values()
        )
        numbers = ", ".join(f"{row[name]} ({network})" for network, row in best.items())
        told.append(f"{name} of least Huber loss: {numbers}")
    return Judgement(verdict(parts), "; ".join(told))


SIZE = Experiment(
    "size",
    "Depth and width of the network against loss",
    f"{ALL_ERROR_TITLES[HUBER]}, {METRIC_TITLE}",
    "4 to 6 layers of about 200 to 500 units are best (Additional Experiments); held is, of each "
    "of the two varied alone, that the least Huber loss is there.",
    _size_rows,
    _size_report,
    (*NETWORKS, "layers", "units"),
    _judge_size,
)
