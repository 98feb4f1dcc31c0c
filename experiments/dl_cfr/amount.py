"""How much data networks are trained on: "Additional Experiments" of Kovařík et al. (2021)."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import Experiment, Row
from experiments.verdicts import Judgement, Tables, grouped, verdict
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.parameters import Positive
from spiel_dl.value_functions.training import split_strategies
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES

_GOOD_HUBER = 0.001
_ENOUGH = 60_000
"""Samples: what still counts as the paper's "about 50,000"."""
_SUFFICES = 0.02
"""Exploitability: what still counts as the paper's "about 0.01"."""


@dataclasses.dataclass(frozen=True)
class Settings(dl_cfr.Trained):
    """Networks, and data.

    Attributes:
      amounts: numbers of trunk strategies to train on; empty: all, a half, a quarter, an eighth and
        a sixteenth of what there is.
    """

    amounts: tuple[Positive, ...] = ()


Study = dl_cfr.TrainedStudy[Settings]


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


def _amount_rows(study: Study) -> dl_cfr.Rows:
    """Networks trained on less data, with as many steps of training for each."""
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
            # All of it is what the study's own network is trained on.
            trained = study.train(seed, **({} if number == available else changes))
            labels = {"network": f"seed {seed}", "samples": number * num_states}
            rows.append({**labels, **dl_cfr.outcome(study, trained)})
    return rows


def _amount_report(study: Study, rows: dl_cfr.Rows) -> Report:
    title = f"fewest samples with {ALL_ERROR_TITLES[dl_cfr.HUBER]} at most {_GOOD_HUBER}"
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


def _judge_amount(tables: Tables) -> Judgement:
    """The fewest samples with a good Huber loss, and the exploitability that these come to."""
    parts: dict[str, bool] = {}
    headlines = []
    for network, own in grouped(tables[dl_cfr.ALL_NUMBERS], "network").items():
        good = [row for row in own if row[dl_cfr.HUBER] <= _GOOD_HUBER]
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
    name="amount",
    title="Amount of training data against loss",
    metric=f"{ALL_ERROR_TITLES[dl_cfr.HUBER]}, {METRIC_TITLE}",
    claim=(
        "about 50,000 samples are enough for a Huber loss of 0.001, which suffices for a "
        "normalised exploitability of about 0.01 (Additional Experiments); held is at most "
        f"{_SUFFICES:g}."
    ),
    study=Study,
    compute=_amount_rows,
    render=_amount_report,
    judge=_judge_amount,
)
ROWS = tuple(
    Row(
        AMOUNT,
        f"dl_cfr/{domain}",
        Settings(
            data, num_units=dl_cfr.NARROW, seeds=dl_cfr.THREE_SEEDS, training=dl_cfr.FORTY_EPOCHS
        ),
        "Additional Experiments",
        40,
        dl_cfr.FEWER_EPOCHS,
        paper="about 50,000 samples: Huber 0.001, exploitability about 0.01",
    )
    for domain, data in dl_cfr.DOMAINS.items()
)
