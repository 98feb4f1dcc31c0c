"""The experiment with on-policy training: what each round of it brings.

Kovařík et al. (2021) train on random ranges alone and name training on policy as what larger
domains might need ("Main Experiments").
"""

from __future__ import annotations

import dataclasses
from typing import Any

from experiments.dl_cfr import study as dl_cfr_study
from experiments.dl_cfr.study import (
    ALL_NUMBERS,
    BOUNDS,
    GOOFSPIEL_WIN_LOSS,
    LEDUC,
    OSHI_ZUMO,
    TrainedNetwork,
)
from experiments.experiment import Experiment, Row
from experiments.verdicts import Judgement, Tables, told
from spiel_dl.runs import on_policy
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.value_functions.config import OnPolicyConfig
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES

_TITLES = {
    METRIC: METRIC_TITLE,
    **{
        prefix + name: f"{title}, {where}"
        for prefix, where in (
            (on_policy.ON_POLICY, "ranges asked for"),
            (on_policy.RANDOM, "random ranges"),
        )
        for name, title in ALL_ERROR_TITLES.items()
    },
}


@dataclasses.dataclass(frozen=True)
class Settings(dl_cfr_study.Settings):
    """Data, networks and rounds.

    Attributes:
      on_policy: rounds and their trainings; iterations and seeds take the place of its own.
    """

    on_policy: OnPolicyConfig = dataclasses.field(default_factory=OnPolicyConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on_policy.num_iterations != self.num_iterations:
            own = dataclasses.replace(self.on_policy, num_iterations=self.num_iterations)
            object.__setattr__(self, "on_policy", own)


class Study(dl_cfr_study.Study[Settings]):
    """A study of networks that are trained on policy."""

    def train_on_policy(self, seed: int) -> TrainedNetwork:
        """The positional network of a seed, trained on policy."""
        settings = self.settings
        network = PositionalNetwork(
            settings.num_layers, settings.num_units, seed=seed, device=settings.device
        )
        config = settings.on_policy.with_trainings(seed=seed)
        return self.train_in_rounds(f"seed-{seed}", network, config)


def _rows(study: Study) -> list[dict[str, Any]]:
    """Rounds of training on the ranges that DL-CFR+ asks for, from random ranges on."""
    return [
        {"network": f"seed {seed}", **line}
        for seed in study.settings.seeds
        for line in study.train_on_policy(seed).metrics
    ]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    reference, iterations = study.measure_reference()[METRIC], study.settings.num_iterations
    last = list({row["network"]: row for row in rows}.values())
    return study.report(
        [
            "Round 0 trains on random ranges alone; each other round adds the ranges that "
            f"{iterations:,} iterations of DL-CFR+ with the network ask for, while learning "
            "rates fall. Errors at random ranges are of strategies set apart; those at ranges "
            "asked for are of what the round asks for, before it is learned from. The summary is "
            "of the networks after their last round, when they are the mean of those of the last "
            f"{len(study.settings.on_policy.averaged_rounds)} rounds.",
            f"CFR+ of the whole game comes to {reference:.3g} in as many iterations.",
        ],
        _summary(last),
        Table(
            rows,
            {
                "network": "network",
                "round": "round",
                "num_strategies": "trunk strategies",
                "seconds": "seconds of training",
                **_TITLES,
            },
        ),
        [Panel("round", METRIC, "round", METRIC_TITLE, "linear")],
        "network",
        levels=study.level({METRIC: reference}),
    )


def _judge(tables: Tables) -> Judgement:
    last = list({row["network"]: row for row in tables[ALL_NUMBERS]}.values())
    values = [row[METRIC] for row in last]
    good = sum(value < BOUNDS[METRIC] for value in values)
    return Judgement(
        "", f"{told(values, 'networks')}; below {BOUNDS[METRIC]} in {good} of {len(values)}"
    )


def _summary(last: list[dict[str, Any]]) -> Table:
    """The networks after their last round, beside the paper's."""
    lines = []
    for name, title in _TITLES.items():
        values = {row["network"]: row.get(name) for row in last}
        bound = BOUNDS.get(name.removeprefix(on_policy.RANDOM).removeprefix(on_policy.ON_POLICY))
        lines.append({"what": title, **values, "paper": bound and f"below {bound}"})
    networks = {row["network"]: row["network"] for row in last}
    return Table(lines, {"what": "", "paper": "the paper, on random ranges", **networks})


ON_POLICY = Experiment(
    name="on_policy",
    title="Training on the ranges that DL-CFR+ asks for",
    metric=METRIC_TITLE,
    claim="",
    study=Study,
    compute=_rows,
    render=_report,
    judge=_judge,
)
# How networks learn on policy was chosen with networks of earlier seeds.
ROWS = tuple(
    Row(ON_POLICY, f"dl_cfr/{domain}", Settings(data, seeds=seeds), minutes=minutes)
    for domain, data, seeds, minutes in (
        ("goofspiel", GOOFSPIEL_WIN_LOSS, (6, 7, 8), 90),
        ("oshi_zumo", OSHI_ZUMO, (3, 4, 5), 135),
        ("leduc", LEDUC, (0, 1, 2), 180),
    )
)
