"""Errors in public states that a network never saw: "Main Experiments" of Kovařík et al. (2021)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import Experiment, Row
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.parameters import Positive
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.training import LEFT_OUT as LEFT_OUT_PREFIX


@dataclasses.dataclass(frozen=True)
class Settings(dl_cfr.Trained):
    """Networks, and the public states left out of training.

    Attributes:
      every_state: leave out every so many-th leaf public state, from the first on.
      paper_left_out_linf: the paper's L∞ error, if it gives one.
    """

    every_state: Positive = 1
    paper_left_out_linf: float | None = None


Study = dl_cfr.TrainedStudy[Settings]


def _left_out_rows(study: Study) -> dl_cfr.Rows:
    """Errors in leaf public states that were left out of training, one at a time."""
    leaves = study.trunk.leaves
    rows: dl_cfr.Rows = []
    for seed in study.settings.seeds:
        for state in range(0, leaves.num_public_states, study.settings.every_state):
            trained = study.train(seed, left_out_states=(state,))
            sizes = [int(np.diff(leaves.infoset_offsets[p])[state]) for p in (0, 1)]
            labels = {"network": f"seed {seed}", "state": state, "infosets": sum(sizes)}
            rows.append({**labels, **dl_cfr.errors_of(trained.metrics[-1], LEFT_OUT_PREFIX)})
    return rows


def _left_out_report(study: Study, rows: dl_cfr.Rows) -> Report:
    paper, summary = study.settings.paper_left_out_linf, []
    for name, title in dl_cfr.ALL_ERRORS.items():
        values = [row[name] for row in rows]
        line = {"what": title, "mean": float(np.mean(values)), "largest": max(values)}
        summary.append({**line, "paper": paper if name in dl_cfr.PAPER_LINF else None})
    return study.report(
        [
            f"Of {study.trunk.leaves.num_public_states} leaf public states, one in "
            f"{study.settings.every_state} is left out in turn; errors are of the validation "
            "strategies' samples in that one. The summary is over all public states that were left "
            "out.",
        ],
        Table.of(summary, what="error", paper="the paper"),
        Table.of(rows, state="public state", **dl_cfr.ALL_ERRORS),
        dl_cfr.error_panels("state", "left-out public state", "linear"),
        "network",
        levels={} if paper is None else {"the paper": dict.fromkeys(dl_cfr.PAPER_LINF, paper)},
        joined=False,
    )


def _judge_left_out(
    tables: Tables, *, unit: float = 1.0, kept_at_once: Collection[str] = ()
) -> Judgement:
    """Judges the largest L∞ error over states, in both readings of L∞, against the paper's.

    Args:
      tables: the report's.
      unit: the paper's unit of errors.
      kept_at_once: the readings that are not judged, because a network has no larger errors than
        the paper's after one step of training (`checkpoints`).
    """
    of_what = {line["what"]: line for line in tables[dl_cfr.SUMMARY]}
    lines = [of_what[dl_cfr.ALL_ERRORS[name]] for name in dl_cfr.PAPER_LINF]
    parts = {
        line["what"]: dl_cfr.in_unit(name, line["largest"], unit) <= line["paper"]
        for name, line in zip(dl_cfr.PAPER_LINF, lines, strict=True)
        if line.get("paper") and name not in kept_at_once
    }
    return Judgement(
        verdict(parts),
        "; ".join(f"{line['what']}: at most {line['largest']:.3g}" for line in lines),
    )


LEFT_OUT = Experiment(
    name="left_out",
    title="Errors in public states left out of training",
    metric="L∞ error, unnormalised (utility)",
    claim=(
        "L∞ errors in left-out public states of 2.6 in Goofspiel, 0.1 in Oshi-Zumo and 0.08 in "
        "Leduc (Main Experiments), which does not say of what; held are the largest of all, "
        "and the mean over samples of each one's largest, in the worst public state, where a "
        "network after one step of training (`checkpoints`) has larger errors. Errors in Goofspiel "
        "are doubled first: the authors' library pays differences of points, ours half of them."
    ),
    study=Study,
    compute=_left_out_rows,
    render=_left_out_report,
    judge=_judge_left_out,
)
_MEAN: Mapping[str, Any] = {"kept_at_once": dl_cfr.PAPER_LINF[1:]}
ROWS = tuple(
    Row(
        dataclasses.replace(LEFT_OUT, judge=functools.partial(_judge_left_out, **known)),
        f"dl_cfr/{domain}",
        Settings(
            dl_cfr.DOMAINS[domain],
            seeds=(0,),
            training=TrainingConfig(networks_per_decade=8, num_epochs=10),
            every_state=every,
            paper_left_out_linf=linf,
        ),
        "Main Experiments",
        minutes,
        f"one seed; {states}; 10 epochs instead of our default 100",
        paper="L∞ 2.6 in Goofspiel, 0.1 in Oshi-Zumo, 0.08 in Leduc",
        cause="reading: the paper does not define L∞",
    )
    for domain, every, minutes, linf, states, known in (
        (
            "goofspiel",
            1,
            60,
            2.6,
            "all leaf public states",
            {"unit": dl_cfr.GOOFSPIEL_UNIT, **_MEAN},
        ),
        ("oshi_zumo", 16, 30, 0.1, "one leaf public state in 16", _MEAN),
        ("leduc", 15, 30, 0.08, "one leaf public state in 15", {}),
    )
)
