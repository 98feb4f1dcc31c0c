"""How large networks are: "Additional Experiments" of Kovařík et al. (2021)."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import Experiment, Row
from experiments.verdicts import Judgement, Tables, grouped, verdict
from spiel_dl.runs.dl_cfr_run import METRIC_TITLE
from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.parameters import Positive
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES

_PAPER_SIZE = {"layers": (4, 6), "units": (200, 500)}
_VARIED = {"layers": "depth varied", "units": "width varied"}


@dataclasses.dataclass(frozen=True)
class Settings(dl_cfr.Trained):
    """Networks, and their sizes.

    Attributes:
      layers: numbers of hidden layers, at `num_units`.
      units: numbers of units, at `num_layers`.
    """

    layers: tuple[Positive, ...] = (1, 2, 3, 4, 5, 6, 8)
    units: tuple[Positive, ...] = (50, 100, 200, 300, 400, 500, 800)


Study = dl_cfr.TrainedStudy[Settings]


def _sizes(study: Study) -> list[tuple[str, int, int]]:
    """What is varied, and the layers and units of each network."""
    settings = study.settings
    depth, width = _VARIED.values()
    depths = [(depth, n, settings.num_units) for n in sorted(set(settings.layers))]
    return depths + [(width, settings.num_layers, n) for n in sorted(set(settings.units))]


def _size_rows(study: Study) -> dl_cfr.Rows:
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


def _size_report(study: Study, rows: dl_cfr.Rows) -> Report:
    lines: dl_cfr.Rows = []
    for name, (least, most) in _PAPER_SIZE.items():
        paper = f"{least} to {most}"
        for network, best in _best_sizes(rows, name).items():
            what = f"{name} of least {ALL_ERROR_TITLES[dl_cfr.HUBER]}, {network}"
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
    """Of every network whose `layers` or `units` were varied, the row with the least loss."""
    varied = f", {_VARIED[name]}"
    return {
        network.removesuffix(varied): min(own, key=operator.itemgetter(dl_cfr.HUBER))
        for network, own in grouped(rows, "network").items()
        if network.endswith(varied)
    }


def _judge_size(tables: Tables) -> Judgement:
    """Each sweep by itself: the size with the least loss, on every seed."""
    parts, told = {}, []
    for name, (least, most) in _PAPER_SIZE.items():
        best = _best_sizes(tables[dl_cfr.ALL_NUMBERS], name)
        parts[f"{least} to {most} {name}"] = all(
            least <= row[name] <= most for row in best.values()
        )
        numbers = ", ".join(f"{row[name]} ({network})" for network, row in best.items())
        told.append(f"{name} of least Huber loss: {numbers}")
    return Judgement(verdict(parts), "; ".join(told))


SIZE = Experiment(
    name="size",
    title="Depth and width of the network against loss",
    metric=f"{ALL_ERROR_TITLES[dl_cfr.HUBER]}, {METRIC_TITLE}",
    claim=(
        "4 to 6 layers of about 200 to 500 units are best (Additional Experiments); held is, "
        "of each of the two varied alone, that the least Huber loss is there."
    ),
    study=Study,
    compute=_size_rows,
    render=_size_report,
    judge=_judge_size,
)
ROWS = tuple(
    Row(
        SIZE,
        f"dl_cfr/{domain}",
        Settings(data, seeds=dl_cfr.THREE_SEEDS, training=dl_cfr.FORTY_EPOCHS),
        "Additional Experiments",
        150,
        dl_cfr.FEWER_EPOCHS,
        paper="4 to 6 layers of 200 to 500 units are best",
    )
    for domain, data in dl_cfr.DOMAINS.items()
)
