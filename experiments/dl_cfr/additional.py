"""Loss, amount of data and size of networks: "Additional Experiments" of Kovařík et al. (2021)."""

from __future__ import annotations

import dataclasses
import functools
import operator
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import Experiment, Row
from experiments.verdicts import Judgement, Tables, counted, grouped, is_less, numbers_of, verdict
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.parameters import Positive
from spiel_dl.value_functions.training import split_strategies

_LOSSES = {"huber": "Huber", "l1": "L1", "l2": "L2", "linf": "L∞, mean over samples"}


def _loss_rows(study: dl_cfr.TrainedStudy[dl_cfr.Trained]) -> dl_cfr.Rows:
    """Results of networks that differ only in the loss they are trained on."""
    rows: dl_cfr.Rows = []
    for seed in study.settings.seeds:
        for loss in _LOSSES:
            same = loss == study.settings.training.loss
            trained = study.train(seed) if same else study.train(seed, loss=loss)
            rows.append({"network": f"seed {seed}", "loss": loss, **dl_cfr.outcome(study, trained)})
    return rows


def _losses_report(study: dl_cfr.TrainedStudy[dl_cfr.Trained], rows: dl_cfr.Rows) -> Report:
    lines = []
    for loss, title in _LOSSES.items():
        own = [row[METRIC] for row in rows if row["loss"] == loss]
        lines.append({"what": title, "mean": float(np.mean(own)), "largest": max(own)})
    return study.report(
        ["Networks differ in the loss that they descend and in nothing else."],
        Table(lines, {"what": "trained on", "mean": f"{METRIC_TITLE}, mean", "largest": "largest"}),
        Table.of(rows, **dl_cfr.OUTCOME),
        [Panel("loss", METRIC, "loss that networks are trained on", METRIC_TITLE, "linear")],
        "network",
        joined=False,
    )


def _judge_losses(tables: Tables) -> Judgement:
    """Judges that exploitability depends little on the loss."""
    values = numbers_of(tables[dl_cfr.ALL_NUMBERS], METRIC, "loss")
    best = min(values.values(), key=statistics.fmean)
    twice = [2 * value for value in best]
    return Judgement(
        verdict(
            {_LOSSES[loss]: own is best or is_less(own, twice) for loss, own in values.items()}
        ),
        "; ".join(f"{_LOSSES[loss]} {statistics.fmean(own):.3g}" for loss, own in values.items()),
    )


LOSSES = Experiment(
    name="losses",
    title="The loss that networks are trained on",
    metric=METRIC_TITLE,
    claim=(
        "standard losses suffice (Additional Experiments; no numbers); held is insensitivity: that "
        "with each of them exploitability is at most twice that of the best, open where paired "
        "differences of seeds do not tell."
    ),
    study=dl_cfr.TrainedStudy[dl_cfr.Trained],
    compute=_loss_rows,
    render=_losses_report,
    judge=_judge_losses,
)


_GOOD_HUBER = 0.001
_ENOUGH = 60_000
"""Most samples that still count as the paper's "about 50,000"."""
_SUFFICES = 0.02
"""Largest exploitability that still counts as the paper's "about 0.01"."""


@dataclasses.dataclass(frozen=True)
class AmountSettings(dl_cfr.Trained):
    """Networks, and data.

    Attributes:
      amounts: numbers of trunk strategies to train on; empty: all, a half, a quarter, an eighth and
        a sixteenth of what there is.
    """

    amounts: tuple[Positive, ...] = ()


def _amounts(study: dl_cfr.TrainedStudy[AmountSettings]) -> tuple[int, ...]:
    """Numbers of trunk strategies to train on."""
    available, amounts = _num_available(study), study.settings.amounts
    if max(amounts, default=0) > available:
        raise ValueError(
            f"amounts={amounts}, but there are {available} trunk strategies to train on; make more "
            "data, or ask for less"
        )
    return amounts or tuple(max(1, available >> k) for k in range(5))


def _num_available(study: dl_cfr.TrainedStudy[AmountSettings]) -> int:
    """The number of trunk strategies that are not held out for validation."""
    share = study.settings.training.validation_share
    return len(split_strategies(study.num_strategies, share)[0])


def _amount_rows(study: dl_cfr.TrainedStudy[AmountSettings]) -> dl_cfr.Rows:
    """Results of networks trained on less data, all with about as many training steps."""
    config, num_states = study.settings.training, study.trunk.leaves.num_public_states
    available, amounts = _num_available(study), _amounts(study)

    def steps_per_epoch(number: int) -> int:
        return -(-number * num_states // config.batch_size)

    rows: dl_cfr.Rows = []
    for seed in study.settings.seeds:
        for number in sorted(set(amounts), reverse=True):
            times = round(steps_per_epoch(available) / steps_per_epoch(number))
            changes = {
                "max_strategies": number,
                "num_epochs": times * config.num_epochs,
                "epochs_per_validation": times * config.epochs_per_validation,
            }
            # The study's own network is trained on all data.
            trained = study.train(seed, **({} if number == available else changes))
            labels = {"network": f"seed {seed}", "samples": number * num_states}
            rows.append({**labels, **dl_cfr.outcome(study, trained)})
    return rows


def _amount_report(study: dl_cfr.TrainedStudy[AmountSettings], rows: dl_cfr.Rows) -> Report:
    title = f"fewest samples with {dl_cfr.ALL_ERRORS[dl_cfr.HUBER]} at most {_GOOD_HUBER}"
    line: dict[str, Any] = {"what": title, "paper": "about 50,000"}
    networks = grouped(rows, "network")
    for network, own in networks.items():
        enough = [row["samples"] for row in own if row[dl_cfr.HUBER] <= _GOOD_HUBER]
        line[network] = min(enough, default="more than these")
    return study.report(
        [
            "One sample is a leaf public state of one trunk strategy. Less data is gone through "
            "more often, so that all networks take about as many steps.",
        ],
        Table([line], {"what": "", "paper": "the paper", **{name: name for name in networks}}),
        Table.of(rows, **dl_cfr.OUTCOME),
        dl_cfr.figure_panels("samples", "training samples"),
        "network",
        settings={"amounts_used": _amounts(study)},
    )


def _judge_amount(tables: Tables, *, unit: float = 1.0) -> Judgement:
    """Judges the fewest samples with a good Huber loss, and the exploitability with them.

    Args:
      tables: the report's.
      unit: the paper's unit of errors.
    """
    good_huber = _GOOD_HUBER / dl_cfr.in_unit(dl_cfr.HUBER, 1.0, unit)
    rows = tables[dl_cfr.ALL_NUMBERS]
    parts: dict[str, bool] = {}
    headlines = []
    # A loss that all networks have, with however few samples, says nothing about the amount.
    tells = any(row[dl_cfr.HUBER] > good_huber for row in rows)
    for network, own in grouped(rows, "network").items():
        good = [row for row in own if row[dl_cfr.HUBER] <= good_huber]
        fewest = min(good, key=operator.itemgetter("samples"), default=None)
        if tells:
            is_enough = fewest is not None and fewest["samples"] <= _ENOUGH
            parts[f"{network}: enough for the loss"] = is_enough
        suffices = fewest is not None and fewest[METRIC] <= _SUFFICES
        parts[f"{network}: the loss suffices"] = suffices
        headlines.append(
            "more than were tried"
            if fewest is None
            else f"{fewest['samples']:,} samples, exploitability {fewest[METRIC]:.3g}"
        )
    return Judgement(verdict(parts), "; ".join(headlines))


AMOUNT = Experiment(
    name="amount",
    title="Amount of training data against loss",
    metric=f"{dl_cfr.ALL_ERRORS[dl_cfr.HUBER]}, {METRIC_TITLE}",
    claim=(
        "about 50,000 samples are enough for a Huber loss of 0.001, which suffices for a "
        "normalised exploitability of about 0.01 (Additional Experiments); held is at most "
        f"{_SUFFICES:g}, and the loss only where some amount does not reach it. Errors in "
        "Goofspiel are doubled first, as in `checkpoints`."
    ),
    study=dl_cfr.TrainedStudy[AmountSettings],
    compute=_amount_rows,
    render=_amount_report,
    judge=_judge_amount,
)


_PAPER_SIZE = {"layers": (4, 6), "units": (200, 500)}
_VARIED = {"layers": "depth varied", "units": "width varied"}


@dataclasses.dataclass(frozen=True)
class SizeSettings(dl_cfr.Trained):
    """Networks, and their sizes.

    Attributes:
      layers: numbers of hidden layers, at `num_units`.
      units: numbers of units, at `num_layers`.
    """

    layers: tuple[Positive, ...] = (1, 2, 3, 4, 5, 6, 8)
    units: tuple[Positive, ...] = (50, 100, 200, 300, 400, 500, 800)


def _sizes(study: dl_cfr.TrainedStudy[SizeSettings]) -> list[tuple[str, int, int]]:
    """For each network, what is varied, its layers and its units."""
    settings = study.settings
    depth, width = _VARIED.values()
    depths = [(depth, n, settings.num_units) for n in sorted(set(settings.layers))]
    return depths + [(width, settings.num_layers, n) for n in sorted(set(settings.units))]


def _size_rows(study: dl_cfr.TrainedStudy[SizeSettings]) -> dl_cfr.Rows:
    """Networks of several depths and widths, one varied at a time."""
    rows: dl_cfr.Rows = []
    for seed in study.settings.seeds:
        for varied, layers, units in _sizes(study):
            trained = study.train(seed, num_layers=layers, num_units=units)
            module = study.load_network(trained.path).module
            num_parameters = sum(parameter.numel() for parameter in module.parameters())
            labels = {"network": f"seed {seed}, {varied}", "layers": layers, "units": units}
            more = {"parameters": num_parameters, **dl_cfr.outcome(study, trained)}
            rows.append({**labels, **more})
    return rows


def _size_report(study: dl_cfr.TrainedStudy[SizeSettings], rows: dl_cfr.Rows) -> Report:
    lines: dl_cfr.Rows = []
    for name, (least, most) in _PAPER_SIZE.items():
        paper = f"{least} to {most}"
        for network, best in _best_sizes(rows, name).items():
            what = f"{name} of least {dl_cfr.ALL_ERRORS[dl_cfr.HUBER]}, {network}"
            lines.append({"what": what, "ours": best[name], "paper": paper})
    return study.report(
        ["Depth and width are varied one at a time; all else stays the same."],
        Table.of(lines, what="", paper="the paper"),
        Table.of(rows, **dl_cfr.OUTCOME),
        dl_cfr.figure_panels("parameters", "parameters"),
        "network",
        settings={"sizes": _sizes(study)},
    )


def _best_sizes(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Mapping[str, Any]]:
    """The row of least loss for every network whose `layers` or `units` (`name`) were varied."""
    varied = f", {_VARIED[name]}"
    return {
        network.removesuffix(varied): min(own, key=operator.itemgetter(dl_cfr.HUBER))
        for network, own in grouped(rows, "network").items()
        if network.endswith(varied)
    }


def _judge_size(tables: Tables) -> Judgement:
    """Judges the size of least loss on every seed, for each sweep by itself."""
    cases, headlines = {}, []
    for name, (least, most) in _PAPER_SIZE.items():
        best = _best_sizes(tables[dl_cfr.ALL_NUMBERS], name)
        cases[f"{least} to {most} {name}"] = [least <= row[name] <= most for row in best.values()]
        numbers = ", ".join(f"{row[name]} ({network})" for network, row in best.items())
        headlines.append(f"{name} of least Huber loss: {numbers or 'not varied'}")
    return Judgement(verdict(counted(cases)[0]), "; ".join(headlines))


SIZE = Experiment(
    name="size",
    title="Depth and width of the network against loss",
    metric=f"{dl_cfr.ALL_ERRORS[dl_cfr.HUBER]}, {METRIC_TITLE}",
    claim=(
        "4 to 6 layers of about 200 to 500 units are best (Additional Experiments); held is, "
        "of each of the two varied alone, that the least Huber loss is there."
    ),
    study=dl_cfr.TrainedStudy[SizeSettings],
    compute=_size_rows,
    render=_size_report,
    judge=_judge_size,
)
_NARROW: dict[str, Any] = {"num_units": dl_cfr.NARROW}
_AMOUNT_IN_POINTS = dataclasses.replace(
    AMOUNT, judge=functools.partial(_judge_amount, unit=dl_cfr.GOOFSPIEL_UNIT)
)
_CAUSES = {
    ("amount", "goofspiel"): "ours: small networks, trained briefly, see `isolated`",
    ("amount", "oshi_zumo"): "ours: small errors at random ranges are not enough, see `isolated`",
}
ROWS = tuple(
    Row(
        _AMOUNT_IN_POINTS if (experiment, domain) == (AMOUNT, "goofspiel") else experiment,
        f"dl_cfr/{domain}",
        settings := make(data, seeds=dl_cfr.THREE_SEEDS, training=dl_cfr.FORTY_EPOCHS, **sizes),
        "Additional Experiments",
        minutes,
        chosen=settings.chosen(),
        paper=paper,
        cause=_CAUSES.get((experiment.name, domain), ""),
    )
    for experiment, make, sizes, minutes, paper in (
        (LOSSES, dl_cfr.Trained, _NARROW, 45, "standard losses suffice; no numbers"),
        (
            AMOUNT,
            AmountSettings,
            _NARROW,
            40,
            "about 50,000 samples: Huber 0.001, exploitability about 0.01",
        ),
        (SIZE, SizeSettings, {}, 150, "4 to 6 layers of 200 to 500 units are best"),
    )
    for domain, data in dl_cfr.DOMAINS.items()
)
