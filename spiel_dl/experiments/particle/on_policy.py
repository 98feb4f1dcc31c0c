"""Figure 3 of the particle paper with training on policy: both networks, round by round.

Šustr et al. (2021) train on random beliefs alone (section 6); `architectures` does as they
do. Here both networks go on with the ranges that DL-CFR+ asks of them, see `on_policy`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spiel_dl.algorithms.on_policy import ON_POLICY, RANDOM, OnPolicyConfig
from spiel_dl.experiments.dl_cfr.on_policy import on_policy_settings, train_in_rounds
from spiel_dl.experiments.dl_cfr.report import Result
from spiel_dl.experiments.dl_cfr.study import Study
from spiel_dl.experiments.particle.study import (
    LAYERS,
    NASH_CONV,
    NASH_CONV_TITLE,
    PARTICLE,
    POSITIONAL,
    SPREAD_COLUMNS,
    NetworkSizes,
    make_network,
    network_name,
    spread,
)
from spiel_dl.io.plots import Panel
from spiel_dl.io.reports import Table

_L1_TITLES = {
    RANDOM + "l1": "mean absolute error at random ranges",
    ON_POLICY + "l1": "at ranges asked for",
}
_COLUMNS = {
    "kind": "network",
    "round": "round",
    "num_samples": "samples",
    **SPREAD_COLUMNS,
    **_L1_TITLES,
    "seconds": "seconds of training",
}


def on_policy(study: Study, sizes: NetworkSizes, config: OnPolicyConfig) -> Result:
    """Both networks' trunk exploitability over rounds of training on policy.

    Args:
      study: of a `study_config`; its training settings are not used.
      sizes: of the networks.
      config: rounds and trainings; the study's iterations and seeds take the place of its own.

    Raises:
      ValueError: as `training.train` does.
    """
    curves = {kind: _curve(study, kind, sizes, config) for kind in (POSITIONAL, PARTICLE)}
    reference = study.measure_reference()[NASH_CONV]
    num_iterations = study.config.num_iterations
    return Result(
        "on_policy",
        "A positional and a particle network, trained on policy",
        [
            f"Means over {len(study.config.seeds)} networks of each kind. Round 0 trains on "
            "random ranges alone, the same for all; each other round adds the ranges that "
            f"{num_iterations:,} iterations of DL-CFR+ with the network itself ask for. Errors are "
            "of strategies set apart, at ranges that sum to 1, in utility units. "
            f"Sizes: {sizes}.",
            f"CFR+ of the whole game comes to a trunk NashConv of {reference:.3g} in as many "
            "iterations.",
        ],
        Table([curve[-1] for curve in curves.values()], _COLUMNS),
        Table([point for curve in curves.values() for point in curve], _COLUMNS),
        [Panel("round", NASH_CONV, "round", NASH_CONV_TITLE, "linear")],
        "kind",
        study.settings(
            "training",
            *LAYERS,
            sizes=dataclasses.asdict(sizes),
            on_policy=on_policy_settings(study, config),
        ),
        {f"CFR+, {num_iterations:,} iterations": {NASH_CONV: reference}},
    )


def _curve(
    study: Study, kind: str, sizes: NetworkSizes, config: OnPolicyConfig
) -> list[dict[str, Any]]:
    """Means over the networks of a kind, after every round."""
    trained = []
    for seed in study.config.seeds:
        network = make_network(study, kind, sizes, seed)
        own = config.with_trainings(seed=seed)
        trained.append(train_in_rounds(study, network, own, network_name(kind, sizes, seed))[0])
    num_states = study.trunk.leaves.num_public_states
    return [_point(kind, num_states, lines) for lines in zip(*trained, strict=True)]


def _point(kind: str, num_states: int, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Networks after the same round: their lines of metrics."""
    means = {
        name: float(np.mean([line[name] for line in lines]))
        for name in (*_L1_TITLES, "seconds")
        if name in lines[0]
    }
    return {
        "kind": kind,
        "round": lines[0]["round"],
        "num_samples": lines[0]["num_strategies"] * num_states,
        **spread([line[NASH_CONV] for line in lines]),
        **means,
    }
