"""Figure 3 of the particle paper: a positional against a particle network over training.

Šustr et al. (2021), section 6, first experiment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.dl_cfr.report import Result
from papers.dl_cfr.study import Study
from papers.particle.study import (
    LAYERS,
    NASH_CONV,
    NASH_CONV_TITLE,
    PARTICLE,
    POSITIONAL,
    SPREAD_COLUMNS,
    NetworkSizes,
    spread,
    train,
)
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table

MSE = "mse"
_MSE_TITLE = "mean squared error in training"
_COLUMNS = {
    "kind": "network",
    "step": "steps",
    "epoch": "epochs",
    **SPREAD_COLUMNS,
    MSE: _MSE_TITLE,
    "seconds": "seconds of training",
}


def architectures(study: Study, sizes: NetworkSizes) -> Result:
    """Both networks' trunk exploitability and error over training.

    Args:
      study: of a `study_config`.
      sizes: of the networks.

    Raises:
      ValueError: as `study.train` does, and if no early networks are kept.
    """
    if not study.config.training.networks_per_decade:
        raise ValueError(
            "networks_per_decade=0 keeps no networks to compare; use a positive number"
        )
    curves = {kind: _curve(study, kind, sizes) for kind in (POSITIONAL, PARTICLE)}
    reference = study.measure_reference()[NASH_CONV]
    num_iterations = study.config.num_iterations
    return Result(
        "architectures",
        "A positional and a particle network over training",
        [
            f"Means over {len(study.config.seeds)} networks of each kind, trained on the same "
            f"{_num_samples(study):,} samples. Each network that was kept is used in "
            f"{num_iterations:,} iterations of DL-CFR+. The error is that of the steps since the "
            "network kept before, at ranges that sum to 1, in squared utility units. "
            f"Sizes: {sizes}.",
            f"CFR+ of the whole game comes to a trunk NashConv of {reference:.3g} in as many "
            "iterations. The paper (Figure 3, no numbers): in the end the particle network's trunk "
            "is slightly less exploitable, its error larger by orders of magnitude.",
        ],
        Table([curve[-1] for curve in curves.values()], _COLUMNS),
        Table([point for curve in curves.values() for point in curve], _COLUMNS),
        [
            Panel("step", NASH_CONV, "steps of Adam", NASH_CONV_TITLE),
            Panel("step", MSE, "steps of Adam", _MSE_TITLE),
        ],
        "kind",
        study.settings(*LAYERS, sizes=dataclasses.asdict(sizes)),
        {f"CFR+, {num_iterations:,} iterations": {NASH_CONV: reference}},
    )


def _curve(study: Study, kind: str, sizes: NetworkSizes) -> list[dict[str, Any]]:
    """Means over the networks of a kind, wherever networks were kept while training."""
    trained = [train(study, kind, sizes, seed) for seed in study.config.seeds]
    kept = [[line for line in network.metrics if "network" in line] for network in trained]
    curve = []
    for lines in zip(*kept, strict=True):
        values = [
            study.measure(network.directory / line["network"])[NASH_CONV]
            for network, line in zip(trained, lines, strict=True)
        ]
        curve.append(_point(kind, lines, values))
    return curve


def _point(
    kind: str, lines: Sequence[Mapping[str, Any]], values: Sequence[float]
) -> dict[str, Any]:
    """Networks after the same step: lines of their metrics, and their trunks' NashConv."""
    return {
        "kind": kind,
        "step": lines[0]["step"],
        "epoch": lines[0]["epoch"],
        **spread(values),
        MSE: float(np.mean([line["training_loss"] for line in lines])),
        "seconds": float(np.mean([line["seconds"] for line in lines])),
    }


def _num_samples(study: Study) -> int:
    """Samples in the training set."""
    num_strategies = study.config.training.max_strategies
    assert num_strategies is not None
    return num_strategies * study.trunk.leaves.num_public_states
