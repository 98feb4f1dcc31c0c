"""Compares the ranges at which DL-CFR+ evaluates leaves with its network's training ranges.

Kovařík et al. (2021), "Main Experiments", the last of the three. The paper compares ranges by eye;
here every comparison is a number.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import Experiment, Row
from experiments.verdicts import Judgement, Tables, grouped, verdict
from spiel_dl.algorithms.dl_cfr import DLCFRSolver, evaluated_ranges
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.steps import log_spaced_steps
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import Values, normalize_ranges
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.exact import ExactValue
from spiel_dl.value_functions.generation import add_ranges
from spiel_dl.value_functions.training import split_strategies
from spiel_dl.value_functions.validation import UNNORMALISED, validation_errors

Study = dl_cfr.TrainedStudy[dl_cfr.Trained]
STATISTICS = {
    "reached": "share of public states reached",
    "entropy": "entropy / that of the uniform range",
    "largest": "largest entry",
    "distance_to_mean": "distance to the mean training range",
    "distance_to_nearest": "distance to the nearest training range",
}
_RANDOM, _CFR_D = "random strategies set apart", "CFR-D"
_ASKED = "asked"
_MAX_RANDOM_ROWS = 200
_POINTS_PER_DECADE = 8
# Ranges are alike if their statistics differ by at most the share _ALIKE, and unlike if one
# distance is at least _UNLIKE times the other.
_ALIKE, _UNLIKE = 0.1, 2.0
_AS_GOOD = 2.0
"""How many times the validation error still counts as "satisfactory"."""
_FIRST = 10
"""The last of the first iterations."""
_DISTANCE, _L1 = "distance_to_nearest", UNNORMALISED + "l1"
_COMPARED = ("entropy", "largest", _DISTANCE)
_AT_CFR_D, _VALIDATION = "CFR-D's ranges", "validation"


class _Results(NamedTuple):
    """Statistics of ranges, and networks' errors.

    Attributes:
      rows: statistics by source (the solver that evaluates) and iteration.
      random: means over random ranges.
      errors: by seed, by data (validation or CFR-D's ranges), and by name.
    """

    rows: list[dict[str, Any]]
    random: dict[str, float]
    errors: dict[int, dict[str, dict[str, float]]]


def _compute(study: Study) -> _Results:
    """Compares ranges of DL-CFR+ with networks and of CFR-D with random training ranges."""
    iterations = list(log_spaced_steps(study.settings.num_iterations, _POINTS_PER_DECADE))
    cfr_d = _cfr_d_ranges(study, iterations)
    by_source, random = _statistics(study, iterations, cfr_d)
    rows = [
        {"source": source, "iteration": iteration, **row}
        for source, statistics in by_source.items()
        for iteration, row in zip(iterations, statistics, strict=True)
        if row["reached"] > 0
    ]
    return _Results(rows, random, _errors(study, cfr_d))


def _report(study: Study, results: _Results) -> Report:
    columns = {
        f"seed {seed}, {place}": errors
        for seed, of_network in results.errors.items()
        for place, errors in of_network.items()
    }
    summary = [
        {"what": title, **{place: errors[name] for place, errors in columns.items()}}
        for name, title in dl_cfr.ALL_ERRORS.items()
    ]
    return study.report(
        [
            "Means over leaf public states that both players reach, and over the players; "
            "distances are total variations. The summary compares a network's errors at ranges of "
            "random strategies that were set apart with those at the ranges that CFR-D asks for.",
        ],
        Table.of(summary, what="error"),
        Table(
            [{"source": _RANDOM, **results.random}, *results.rows],
            {"source": "asked for by", "iteration": "iteration", **STATISTICS},
        ),
        [
            Panel("iteration", name, "iteration", title, y_scale="linear")
            for name, title in STATISTICS.items()
        ],
        "source",
        levels={_RANDOM: results.random},
    )


def _judge(tables: Tables) -> Judgement:
    """Judges the paper's observations as numbers, see `parts_held`."""
    means = _means(tables[dl_cfr.ALL_NUMBERS])
    errors = next(row for row in tables[dl_cfr.SUMMARY] if row["what"] == dl_cfr.ALL_ERRORS[_L1])
    at_cfr_d, validation = (
        [value for place, value in errors.items() if place.endswith(ending)]
        for ending in (_AT_CFR_D, _VALIDATION)
    )
    ratios = [one / other for one, other in zip(at_cfr_d, validation, strict=True)]
    distances = [
        f"{'random' if who == _RANDOM else who} {found[_DISTANCE]:.2g}"
        for who, found in means.items()
    ]
    entropies = [f"{who} {found['entropy']:.2g}" for who, found in means.items() if who != _RANDOM]
    return Judgement(
        verdict(parts_held(means, _means(tables[dl_cfr.ALL_NUMBERS], _FIRST), ratios)),
        f"distance to the nearest training range: {', '.join(distances)}; entropy: "
        f"{', '.join(entropies)}",
    )


def _means(
    rows: Sequence[Mapping[str, Any]], last: float = math.inf
) -> dict[str, dict[str, float]]:
    """Means over the iterations up to `last`, by source; random ranges have one row."""
    counted = [row for row in rows if row.get("iteration") is None or row["iteration"] <= last]
    return {
        source: {name: float(np.nanmean([row[name] for row in own])) for name in _COMPARED}
        for source, own in grouped(counted, "source").items()
    }


Means = Mapping[str, Mapping[str, float]]


def parts_held(means: Means, first: Means, error_ratios: Iterable[float]) -> dict[str, bool]:
    """Whether each part of the paper's claim holds.

    Args:
      means: means of `STATISTICS` over all iterations, by source.
      first: the same over the first iterations.
      error_ratios: each network's mean unnormalised L1 error at CFR-D's ranges, divided by that in
        validation.
    """
    cfr_d = means[_CFR_D]
    networks = [source for source in means if source not in (_RANDOM, _CFR_D)]
    nearest = min(means[source][_DISTANCE] for source in (_CFR_D, *networks))
    return {
        "DL-CFR+ and CFR-D alike": all(
            abs(means[source][name] - cfr_d[name]) <= _ALIKE * cfr_d[name]
            for source in networks
            for name in _COMPARED
        ),
        "CFR-D's more uniform at first": all(
            first[_CFR_D]["entropy"] > first[source]["entropy"] for source in networks
        ),
        "both unlike training ranges": nearest >= _UNLIKE * means[_RANDOM][_DISTANCE],
        "as good on CFR-D's": all(ratio <= _AS_GOOD for ratio in error_ratios),
    }


RANGES = Experiment(
    name="ranges",
    title="Ranges asked for against random training ranges",
    metric="total variation, entropy and largest entry of ranges",
    claim=(
        "by eye, the ranges asked for by DL-CFR+ with a network are much like those asked for "
        "by CFR-D, which are more uniform in the first iterations; random training ranges are "
        "unlike both (Main Experiments). Errors on CFR-D's ranges are satisfactory (Additional "
        "Experiments). Held as "
        "numbers, in means over iterations: entropies, largest entries and distances within "
        f"{_ALIKE:.0%} of CFR-D's; CFR-D's entropy the larger one up to iteration {_FIRST}; "
        f"both at least {_UNLIKE:g} times as far from training ranges as random strategies set "
        f"apart; and mean L1 errors at CFR-D's ranges at most {_AS_GOOD:g} times those in "
        "validation."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)
ROWS = tuple(
    Row(
        RANGES,
        f"dl_cfr/{domain}",
        settings := dl_cfr.Trained(data, seeds=dl_cfr.THREE_SEEDS, training=dl_cfr.FORTY_EPOCHS),
        "Main Experiments",
        30,
        chosen=settings.chosen(),
        paper="those of DL-CFR+ and CFR-D alike, both unlike training ranges",
        cause="reading: the paper compares by eye; 40 % of our training infosets are almost pure",
    )
    for domain, data in dl_cfr.DOMAINS.items()
)


def solver_ranges(solver: DLCFRSolver, iterations: Sequence[int]) -> Values:
    """A fresh solver's leaf ranges at the start of some iterations: float64 [n, L_p] each."""
    range_0, range_1 = evaluated_ranges(solver, iterations)
    return range_0[::2], range_1[::2]  # The others are those after player 0's updates.


def range_statistics(
    leaves: LeafSet, ranges: Values, training_ranges: Values
) -> list[dict[str, float]]:
    """Compares ranges with training ranges, public state by public state.

    Distances are total variations (half the L1 distance of ranges that sum to 1), so at most 1. The
    nearest training range is looked for among pairs of both players' ranges: networks see pairs.

    Args:
      leaves: the leaves.
      ranges: for each player, float [n, L_p], of any scale.
      training_ranges: for each player, float [m, L_p], summing to 1 in each public state.

    Returns:
      For each of the n rows the statistics named in `STATISTICS`: the share of leaf public states
      that both players reach, and means over these (NaN if there is none) and over the players. The
      entropy is divided by its maximum; a range of one infoset counts as uniform.
    """
    scaled, masses = [], []
    for player in (0, 1):
        normalised, mass = normalize_ranges(leaves, player, np.asarray(ranges[player], np.float64))
        scaled.append(normalised)
        masses.append(mass)
    is_reached = (masses[0] > 0) & (masses[1] > 0)
    num_rows = len(ranges[0])
    sums = {name: np.zeros(num_rows) for name in STATISTICS if name != "reached"}
    for state in range(leaves.num_public_states):
        rows = np.flatnonzero(is_reached[:, state])
        columns = [slice(*leaves.infoset_offsets[player][state : state + 2]) for player in (0, 1)]
        to_training = np.zeros((len(rows), len(training_ranges[0])))
        for player in (0, 1):
            here = scaled[player][rows, columns[player]]
            training = np.asarray(training_ranges[player][:, columns[player]], np.float64)
            sums["entropy"][rows] += _relative_entropy(here) / 2
            sums["largest"][rows] += here.max(axis=1) / 2
            mean = training.mean(axis=0)
            sums["distance_to_mean"][rows] += np.abs(here - mean).sum(axis=1) / 4
            for row, one in enumerate(here):
                to_training[row] += np.abs(training - one).sum(axis=1) / 4
        sums["distance_to_nearest"][rows] += to_training.min(axis=1)
    counts = is_reached.sum(axis=1)
    means = {
        name: np.divide(values, counts, out=np.full(num_rows, np.nan), where=counts > 0)
        for name, values in sums.items()
    }
    means["reached"] = counts / leaves.num_public_states
    return [{name: float(means[name][row]) for name in STATISTICS} for row in range(num_rows)]


def _relative_entropy(ranges: np.ndarray) -> np.ndarray:
    """Entropies of distributions (float64 [n, k]) by that of the uniform one: float64 [n]."""
    if ranges.shape[1] == 1:
        return np.ones(len(ranges))
    logarithms = np.log(ranges, out=np.zeros_like(ranges), where=ranges > 0)
    return -(ranges * logarithms).sum(axis=1) / np.log(ranges.shape[1])


def _statistics(
    study: Study, iterations: Sequence[int], cfr_d: Dataset
) -> tuple[dict[str, list[dict[str, float]]], dict[str, float]]:
    """Statistics of each iteration by source, and their means over held-out random strategies."""
    dataset, config = study.dataset, study.settings.training
    training, validation = split_strategies(dataset.num_strategies, config.validation_share)
    references = (dataset.ranges[0][training], dataset.ranges[1][training])

    def part(name: str, compute: Callable[[], Values]) -> list[dict[str, float]]:
        leaves = study.trunk.leaves
        return study.part(f"ranges-{name}", lambda: range_statistics(leaves, compute(), references))

    held_out = validation[:_MAX_RANDOM_ROWS]
    random = part("random", lambda: _unscaled(dataset, held_out))
    means = {name: float(np.nanmean([row[name] for row in random])) for name in STATISTICS}
    by_source = {_CFR_D: part("cfr_d", lambda: _unscaled(cfr_d))}
    for seed in study.settings.seeds:
        trained = study.train(seed)
        compute = functools.partial(_network_ranges, study, trained.path, iterations)
        by_source[f"DL-CFR+, network of seed {seed}"] = part(trained.directory.name, compute)
    return by_source, means


def _network_ranges(study: Study, path: Path, iterations: Sequence[int]) -> Values:
    """The leaf ranges of DL-CFR+ with a network's file."""
    return solver_ranges(study.solver(study.load_network(path)), iterations)


def _errors(study: Study, cfr_d: Dataset) -> dict[int, dict[str, dict[str, float]]]:
    """Errors of each seed's network, in validation and at CFR-D's ranges."""
    errors = {}
    for seed in study.settings.seeds:
        trained = study.train(seed)
        last = trained.metrics[-1]
        network = study.load_network(trained.path)
        samples = network.samples(cfr_d)
        numbers = samples.numbers(np.arange(cfr_d.num_strategies), np.arange(samples.num_states))
        errors[seed] = {
            _VALIDATION: {name: last[name] for name in dl_cfr.ALL_ERRORS},
            _AT_CFR_D: validation_errors(network, samples, numbers),
        }
    return errors


def _cfr_d_ranges(study: Study, iterations: Sequence[int]) -> Dataset:
    """CFR-D's leaf ranges with their values; solved once."""
    data = study.settings.data
    name = f"data-cfr_d-{study.settings.num_iterations}"
    directory = study.workspace.run_directory(name, data.to_json())
    if not (directory.path / f"{_ASKED}.safetensors").exists():
        solver = study.solver(ExactValue(data.tolerance, data.max_iterations))
        add_ranges(directory.path, _ASKED, solver_ranges(solver, iterations))
    return Dataset.load(directory.path)


def _unscaled(dataset: Dataset, rows: np.ndarray | slice = slice(None)) -> Values:
    """The unscaled ranges of some rows of a dataset: [n, L_p] each."""
    leaves = dataset.trunk.leaves
    range_0, range_1 = (
        dataset.ranges[p][rows] * dataset.masses[p][rows][:, leaves.public_state_of_infoset(p)]
        for p in (0, 1)
    )
    return range_0, range_1
