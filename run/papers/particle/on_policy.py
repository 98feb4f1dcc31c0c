"""Figure 3 of the particle paper with training on policy: both networks, round by round.

Šustr et al. (2021) train on random beliefs alone (section 6); `architectures` does as they
do. Here both networks go on with the ranges that DL-CFR+ asks of them, see `on_policy`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from papers.dl_cfr.on_policy import on_policy_settings, train_in_rounds
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
    make_network,
    network_name,
    spread,
)
from spiel_dl.jobs.dl_cfr_run import measure_trunk
from spiel_dl.jobs.on_policy import ON_POLICY, RANDOM, OnPolicyConfig
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table
from spiel_dl.value_functions import ExactValue

_EXACT = 1e-4  # gap of a subgame, in utility units
_LONGER = 10  # What is left then is the networks' error.
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
    curves, last = {}, []
    for kind in (POSITIONAL, PARTICLE):
        curves[kind], paths = _curve(study, kind, sizes, config)
        longer = [study.measure(path, _LONGER)[NASH_CONV] for path in paths]
        last.append({**curves[kind][-1], "longer": float(np.mean(longer))})
    reference = study.measure_reference()[NASH_CONV]
    optimal = study.part("trunk-optimal", lambda: _optimal(study))
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
            f"iterations, DL-CFR+ with the optimal value function to {optimal:.3g}. The networks "
            f"of the last round are also measured after {_LONGER} times as many.",
        ],
        Table(
            last,
            {
                **_COLUMNS,
                "longer": f"trunk NashConv after {_LONGER * num_iterations:,} iterations, mean",
            },
        ),
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


def _optimal(study: Study) -> float:
    """What DL-CFR+ comes to where no value is estimated."""
    solver = study.solver(ExactValue(tolerance=_EXACT))
    solver.run(study.config.num_iterations)
    return measure_trunk(solver.trunk, solver.average_policy())[NASH_CONV]


def _curve(
    study: Study, kind: str, sizes: NetworkSizes, config: OnPolicyConfig
) -> tuple[list[dict[str, Any]], list[Path]]:
    """Means over the networks of a kind, after every round; the files of the last ones."""
    trained, paths = [], []
    for seed in study.config.seeds:
        network = make_network(study, kind, sizes, seed)
        own = config.with_trainings(seed=seed)
        lines, path = train_in_rounds(study, network, own, network_name(kind, sizes, seed))
        trained.append(lines)
        paths.append(path)
    num_states = study.trunk.leaves.num_public_states
    return [_point(kind, num_states, lines) for lines in zip(*trained, strict=True)], paths


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
