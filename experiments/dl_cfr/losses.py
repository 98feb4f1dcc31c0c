"""Which loss networks are trained on: "Additional Experiments" of Kovařík et al. (2021)."""

from __future__ import annotations

import numpy as np

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import Experiment, Row
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table

_LOSSES = {"huber": "Huber", "l1": "L1", "l2": "L2", "linf": "L∞, mean over samples"}


Study = dl_cfr.TrainedStudy[dl_cfr.Trained]


def _loss_rows(study: Study) -> dl_cfr.Rows:
    """Networks trained on each loss, all else alike."""
    rows: dl_cfr.Rows = []
    for seed in study.settings.seeds:
        for loss in _LOSSES:
            same = loss == study.settings.training.loss
            trained = study.train(seed) if same else study.train(seed, loss=loss)
            rows.append({"network": f"seed {seed}", "loss": loss, **dl_cfr.outcome(study, trained)})
    return rows


def _losses_report(study: Study, rows: dl_cfr.Rows) -> Report:
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
    means = {line["what"]: line["mean"] for line in tables[dl_cfr.SUMMARY]}
    best = min(means.values())
    return Judgement(
        verdict({loss: mean <= 2 * best for loss, mean in means.items()}),
        "; ".join(f"{loss} {mean:.3g}" for loss, mean in means.items()),
    )


LOSSES = Experiment(
    name="losses",
    title="The loss that networks are trained on",
    metric=METRIC_TITLE,
    claim=(
        "standard losses suffice (Additional Experiments; no numbers); held is that with each "
        "of them the mean exploitability is at most twice that of the best."
    ),
    study=Study,
    compute=_loss_rows,
    render=_losses_report,
    judge=_judge_losses,
)
ROWS = tuple(
    Row(
        LOSSES,
        f"dl_cfr/{domain}",
        dl_cfr.Trained(
            data, num_units=dl_cfr.NARROW, seeds=dl_cfr.THREE_SEEDS, training=dl_cfr.FORTY_EPOCHS
        ),
        "Additional Experiments",
        45,
        dl_cfr.FEWER_EPOCHS,
        paper="standard losses suffice; no numbers",
    )
    for domain, data in dl_cfr.DOMAINS.items()
)
