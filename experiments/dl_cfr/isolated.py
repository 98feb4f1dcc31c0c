"""Why DL-CFR+ with networks trained on random ranges misses the paper's bound.

Makes each change to the declared training alone, with all seeds, and then all changes together
(Kovařík et al. 2021, "Main Experiments": exploitability below 0.01).
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import Experiment, Row
from experiments.settings import OneOf
from experiments.verdicts import (
    Judgement,
    Tables,
    at_most,
    grouped,
    mean_text,
    numbers_of,
    student_half_width,
    verdict,
)
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import Values, check_ranges
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.network_files import register_network
from spiel_dl.value_functions.positional import (
    PositionalLayout,
    PositionalLeafValues,
    PositionalNetwork,
    PositionalSamples,
)

DECLARED, TOGETHER = "as declared", "all together"
NO_PURE, BY_MASS, UNSCALED = "no pure strategies", "errors by mass", "ranges as they are"
NO_NORM, MORE_DATA, LONGER = "no layer norm", "twice the data", "2.5 times as long"
_MORE = 2.5


@dataclasses.dataclass(frozen=True)
class Settings(dl_cfr.Trained):
    """Changes to the training.

    Attributes:
      changes: names of `CHANGES`, each made alone.
      together: changes made together in the last line; empty: no such line.
    """

    changes: tuple[Annotated[str, OneOf(CHANGES)], ...] = (
        NO_PURE,
        BY_MASS,
        UNSCALED,
        NO_NORM,
        MORE_DATA,
        LONGER,
    )
    together: tuple[Annotated[str, OneOf(CHANGES)], ...] = (NO_PURE, UNSCALED, NO_NORM)

    def chosen(self) -> str:
        """As `Trained.chosen`, with all changes where none is made alone."""
        return dl_cfr.Trained.chosen(self.changed(() if self.changes else self.together))

    def changed(self, changes: Sequence[str]) -> Settings:
        """With all these changes."""
        return functools.reduce(lambda settings, name: CHANGES[name](settings), changes, self)


class UnscaledNetwork(PositionalNetwork):
    """A positional network whose module maps reach probabilities to counterfactual values.

    This is the paper's encoding ("Encoding of Inputs and Outputs"); the library's own network reads
    ranges that sum to 1.
    """

    kind = "unscaled_positional_network"

    def bind(self, leaves: LeafSet) -> _UnscaledLeafValues:
        """Lays out the leaves. See `ValueNetwork`."""
        return _UnscaledLeafValues(self, leaves, self._checked_layout(leaves))

    def samples(self, dataset: Dataset) -> PositionalSamples:
        """A dataset's samples; errors in both units refer to values at the unscaled ranges."""
        leaves = dataset.trunk.leaves
        states = [leaves.public_state_of_infoset(player) for player in (0, 1)]
        masses = [dataset.masses[player][:, states[player]] for player in (0, 1)]
        others = [dataset.masses[1 - player][:, states[player]] for player in (0, 1)]
        ranges = (dataset.ranges[0] * masses[0], dataset.ranges[1] * masses[1])
        cfvs = (dataset.cfvs[0] * others[0], dataset.cfvs[1] * others[1])
        ones: Any = tuple(map(np.ones_like, dataset.masses))
        unscaled = dataclasses.replace(dataset, ranges=ranges, cfvs=cfvs, masses=ones)
        return PositionalSamples(self._checked_layout(leaves), unscaled, self.device)

    def _checked_layout(self, leaves: LeafSet) -> PositionalLayout:
        self.check_domain(self.describe(leaves), leaves.tree.game)
        return PositionalLayout.of_leaves(leaves)


class _UnscaledLeafValues(PositionalLeafValues):
    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `LeafValues`; values are 0 where the opponent's reach is 0."""
        leaves = self.leaves
        check_ranges(leaves, range_0, range_1)
        values = self.normalized_values(range_0, range_1)
        first, second = (
            np.where(
                leaves.sum_by_public_state(1 - p, (range_1, range_0)[p]).take(
                    leaves.public_state_of_infoset(p), axis=-1
                )
                > 0,
                values[p].astype(np.float64),
                0.0,
            )
            for p in (0, 1)
        )
        return first, second


register_network(UnscaledNetwork)


def _training(settings: Settings, **changes: Any) -> Settings:
    return dataclasses.replace(settings, training=dataclasses.replace(settings.training, **changes))


def _data(settings: Settings, **changes: Any) -> Settings:
    return dataclasses.replace(settings, data=dataclasses.replace(settings.data, **changes))


CHANGES: Mapping[str, Callable[[Settings], Settings]] = {
    NO_PURE: lambda s: _data(s, pure_share=0.0, near_pure_share=0.0),
    BY_MASS: lambda s: _training(s, mass_share=1.0),
    UNSCALED: lambda s: s,
    NO_NORM: lambda s: s,
    MORE_DATA: lambda s: dataclasses.replace(s, num_shards=2 * s.num_shards),
    LONGER: lambda s: _training(s, num_epochs=round(_MORE * s.training.num_epochs)),
}
"""Applies each change to the settings; two changes concern the network only."""
Study = dl_cfr.TrainedStudy[Settings]


def _compute(study: Study) -> dl_cfr.Rows:
    """Results for all seeds: declared training, each change, and the changes together."""
    settings = study.settings
    variants = {DECLARED: (), **{name: (name,) for name in settings.changes}}
    if settings.together:
        variants[TOGETHER] = settings.together
    return [
        {"change": name, "seed": seed, **row}
        for name, changes in variants.items()
        for seed, row in zip(settings.seeds, _measured(study, changes), strict=True)
    ]


def _measured(study: Study, changes: tuple[str, ...]) -> dl_cfr.Rows:
    settings = study.settings.changed(changes)
    inner = dl_cfr.TrainedStudy(settings, study.workspace.within(file_name("with", *changes)))
    kind = UnscaledNetwork if UNSCALED in changes else PositionalNetwork
    rows = []
    for seed in settings.seeds:
        network = kind(
            settings.num_layers,
            settings.num_units,
            layer_norm=NO_NORM not in changes,
            seed=seed,
            device=settings.device,
        )
        config = dataclasses.replace(settings.training, seed=seed, networks_per_decade=0)
        rows.append(dl_cfr.outcome(inner, inner.train_network(f"seed-{seed}", network, config)))
    return rows


def _report(study: Study, rows: dl_cfr.Rows) -> Report:
    settings = study.settings
    reference = study.measure_reference()[METRIC]
    together = f"; {TOGETHER}: {', '.join(settings.together)}" if settings.together else ""
    return study.report(
        [
            f"{settings.num_layers} hidden layers of {settings.num_units} units, "
            f"{settings.training.num_epochs} epochs of {study.num_strategies:,} random "
            f"strategies, of whose infosets {settings.data.pure_share:.0%} are pure and "
            f"{settings.data.near_pure_share:.0%} nearly so. Each line changes one thing"
            f"{together}. With ranges as they are, errors in either unit are of values at these.",
            f"CFR+ of the whole game comes to {reference:.3g} in as many iterations.",
        ],
        Table.of(summary(rows), mean=f"{METRIC_TITLE}, mean", half_width="± (95 %)"),
        Table.of(rows, **dl_cfr.OUTCOME),
        [Panel("change", METRIC, "change", METRIC_TITLE, "linear")],
        "seed",
        levels=study.level({METRIC: reference}),
        joined=False,
    )


def summary(rows: dl_cfr.Rows) -> dl_cfr.Rows:
    """Means over seeds by change."""
    lines = []
    for change, own in grouped(rows, "change").items():
        values = [row[METRIC] for row in own]
        lines.append(
            {
                "change": change,
                "mean": statistics.fmean(values),
                "half_width": student_half_width(values),
                "by seed": ", ".join(f"{value:.3g}" for value in values),
                **{
                    name: statistics.fmean(row[name] for row in own)
                    for name in dl_cfr.BOUNDS
                    if name != METRIC and name not in dl_cfr.PAPER_LINF[:1]
                },
            }
        )
    return lines


def _judge(tables: Tables) -> Judgement:
    """Judges whether the best change, in the mean over seeds, stays below the bound."""
    by_change = numbers_of(tables[dl_cfr.ALL_NUMBERS], METRIC, "change")
    means = {name: statistics.fmean(values) for name, values in by_change.items()}
    best = min(means, key=lambda name: means[name])
    below = at_most(by_change[best], dl_cfr.BOUNDS[METRIC])
    return Judgement(
        verdict({f"some change below {dl_cfr.BOUNDS[METRIC]}": below}),
        f"{best}: {mean_text(by_change[best], 'seeds')}; "
        + ", ".join(f"{name} {mean:.3g}" for name, mean in means.items() if name != best),
    )


ISOLATED = Experiment(
    name="isolated",
    title="What keeps trunks from the paper's bound, one change at a time",
    metric=METRIC_TITLE,
    claim=(
        "normalised exploitability below 0.01 with networks trained on random ranges (Main "
        "Experiments); held of the mean over seeds with the best of the changes, open if its "
        "interval contains the bound."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)
_TOO_FEW = "ours: training for too few steps; `longer` comes below the bound in the mean"
_NOT_RANDOM = "open: training on the ranges that are asked for comes below 0.01"
# In Goofspiel neither the layer norm nor more data nor all together went furthest; a network takes
# three times as long in Oshi-Zumo. The rows in `longer` and `wider` were declared after the others
# had been seen.
_NARROW: Mapping[str, Any] = {"num_units": dl_cfr.NARROW}
_FEWER = {**_NARROW, "changes": (NO_PURE, BY_MASS, UNSCALED, LONGER), "together": ()}
_BOTH = {**_NARROW, "changes": (), "together": (MORE_DATA, LONGER)}
ROWS = tuple(
    Row(
        ISOLATED,
        f"dl_cfr/{folder}",
        settings := Settings(
            data,
            seeds=seeds,
            training=TrainingConfig(networks_per_decade=0, num_epochs=40),
            **changed,
        ),
        "Main Experiments",
        minutes,
        chosen=settings.chosen(),
        paper="below 0.01",
        cause=cause,
    )
    for folder, data, seeds, changed, minutes, cause in (
        ("goofspiel", dl_cfr.GOOFSPIEL, dl_cfr.FIVE_SEEDS, _NARROW, 110, _TOO_FEW),
        ("oshi_zumo", dl_cfr.OSHI_ZUMO, dl_cfr.THREE_SEEDS, _FEWER, 130, _NOT_RANDOM),
        (
            "goofspiel/longer",
            dl_cfr.GOOFSPIEL,
            dl_cfr.FIVE_SEEDS,
            _BOTH,
            90,
            _TOO_FEW,
        ),
        (
            "goofspiel/wider",
            dl_cfr.GOOFSPIEL,
            dl_cfr.FIVE_SEEDS,
            {**_BOTH, "num_units": 400},
            250,
            "",
        ),
    )
)
