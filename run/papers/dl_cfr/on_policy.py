"""The experiment with on-policy training: what each round of it brings.

Kovařík et al. (2021) train on random ranges alone and name training on policy as what larger
domains might need ("Main Experiments").
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from papers.dl_cfr.report import Result
from papers.dl_cfr.study import Choices, Study
from spiel_dl.jobs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.jobs.on_policy import ON_POLICY, RANDOM, OnPolicyConfig, train_on_policy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import NETWORK_FILE
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES, UNNORMALISED
from spiel_dl.value_functions.value_network import ValueNetwork

_PREFIXES = {RANDOM: "random ranges", ON_POLICY: "ranges asked for"}
# "Main Experiments"; see `dl_cfr.experiments` for the unit.
_PAPER = {
    METRIC: "below 0.01",
    UNNORMALISED + "huber": "below 0.001",
    UNNORMALISED + "l1": "below 0.01",
    UNNORMALISED + "linf": "below 0.1",
    UNNORMALISED + "linf_mean": "below 0.1",
}


def on_policy(study: Study, choices: Choices) -> Result:
    """Rounds of training on the ranges that DL-CFR+ asks for, from random ranges on."""
    titles = {
        prefix + name: f"{title}, {where}"
        for prefix, where in _PREFIXES.items()
        for name, title in ALL_ERROR_TITLES.items()
    }
    rows: list[dict[str, Any]] = []
    for seed in study.config.seeds:
        lines, _ = trained_on_policy(study, choices, seed)
        rows += [{"network": f"seed {seed}", **line} for line in lines]
    reference = study.reference_exploitability()
    return Result(
        "on_policy",
        "Training on the ranges that DL-CFR+ asks for",
        [
            "Round 0 trains on random ranges alone; each other round adds the ranges that "
            f"{study.config.num_iterations:,} iterations of DL-CFR+ with the network ask for, and "
            "the last one trains longest. Errors are of strategies set apart. The summary is of "
            "the networks after their last round.",
            f"CFR+ of the whole game comes to {reference:.3g} in as many iterations.",
        ],
        _summary(rows, {METRIC: METRIC_TITLE, **titles}),
        Table(
            rows,
            {
                "network": "network",
                "round": "round",
                "num_strategies": "trunk strategies",
                "seconds": "seconds of training",
                METRIC: METRIC_TITLE,
                **titles,
            },
        ),
        [Panel("round", METRIC, "round", METRIC_TITLE, "linear")],
        "network",
        study.settings("training", on_policy=on_policy_settings(study, choices.on_policy)),
        {f"CFR+, {study.config.num_iterations:,} iterations": {METRIC: reference}},
    )


def on_policy_settings(study: Study, config: OnPolicyConfig) -> dict[str, Any]:
    """How a study trains on policy, as JSON can hold it."""
    own = _of_study(study, config)
    return {**own.identity(), "num_polishes": own.num_polishes}


def trained_on_policy(
    study: Study, choices: Choices, seed: int
) -> tuple[list[dict[str, Any]], Path]:
    """Trains a positional network on policy, as far as that is not done yet.

    Returns:
      The lines of metrics of `train_on_policy`, and the path of the network.
    """
    network = PositionalNetwork(
        study.config.num_layers, study.config.num_units, seed=seed, device=study.config.device
    )
    config = choices.on_policy.with_trainings(seed=seed)
    return train_in_rounds(study, network, config, f"seed-{seed}")


def train_in_rounds(
    study: Study, network: ValueNetwork, config: OnPolicyConfig, name: str
) -> tuple[list[dict[str, Any]], Path]:
    """Trains a network of any kind on policy, as far as that is not done yet.

    Args:
      study: whose data to begin with, and in whose directory to work.
      network: untrained; it is bound to the trunk's leaves.
      config: how to train it; the study's iterations take the place of its own.
      name: of its run directory.

    Returns:
      The lines of metrics of `train_on_policy`, and the path of the network.
    """
    network.initialize(study.trunk.leaves)
    config = _of_study(study, config)
    identity = {
        "num_strategies": study.dataset.num_strategies,
        "network": network.header(),
        **config.identity(),
    }
    path = study.directory / "on_policy" / name
    directory = RunDirectory(path, identity, resume=True)
    finished = directory.read_metrics()[: config.last_round + 1]
    study.reused.update(f"on_policy-{name}-round-{line['round']:02d}" for line in finished)
    lines = train_on_policy(
        network, study.directory / "data", directory, config, show_progress=study.show_progress
    )
    return lines, path / NETWORK_FILE


def _of_study(study: Study, config: OnPolicyConfig) -> OnPolicyConfig:
    return dataclasses.replace(config, num_iterations=study.config.num_iterations)


def _summary(rows: list[dict[str, Any]], titles: dict[str, str]) -> Table:
    """The networks after their last round, beside the paper's."""
    last = {row["network"]: row for row in rows}
    lines = []
    for name, title in titles.items():
        values = {network: row.get(name) for network, row in last.items()}
        paper = _PAPER.get(name.removeprefix(RANDOM).removeprefix(ON_POLICY))
        lines.append({"what": title, **values, "paper": paper})
    return Table(lines, {"what": "", **{name: name for name in last}, "paper": "the paper"})
