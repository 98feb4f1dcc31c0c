"""On-policy training: a value network is trained on the ranges at which DL-CFR evaluates it.

Random trunk strategies rarely lead to the ranges that occur in DL-CFR. Kovařík et al. (2021), "Main
Experiments", suggest for larger domains a training in the manner of ReBeL (Brown et al. 2020). Here
a round is:

  1. Train the network on all data.
  2. Run DL-CFR+ with the network, and record the ranges at which it evaluates the network.
  3. Solve them (value solving, see `value_functions.generation`), and measure the network's errors
     at them before it is trained on any of them. In the next round they are part of the data.

Round 0 trains on random ranges alone. Learning rates decrease from round to round: a network that
changes much leads DL-CFR+ to ranges that are not in the data, so it has to settle in the end. The
remaining changes are averaged out: the final network is the mean, parameter by parameter, of those
of the last rounds (Polyak and Juditsky 1992).

A run directory holds one line of metrics per round, `data/` with the solved ranges, and in
`rounds/` a training run each.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from spiel_dl.algorithms.dl_cfr import DLCFRSolver, evaluated_ranges
from spiel_dl.runs.dl_cfr_run import METRIC, measure_trunk
from spiel_dl.runs.loop import every, run_job
from spiel_dl.system import tensor_files
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.value_functions import training
from spiel_dl.value_functions.config import OnPolicyConfig, TrainingConfig
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import add_ranges
from spiel_dl.value_functions.validation import validation_errors
from spiel_dl.value_functions.value_network import ValueNetwork

RANDOM, ON_POLICY = "random_", "on_policy_"


def train_on_policy(
    network: ValueNetwork,
    data: str | Path,
    directory: RunDirectory,
    config: OnPolicyConfig,
    *,
    show_progress: bool = True,
) -> list[dict[str, Any]]:
    """Trains a network on random ranges and then, round by round, on those that DL-CFR+ reaches.

    A run that was killed and resumed ends, on a CPU, with the same parameters.

    The last round's line is of the mean of networks, which is what is saved; `rounds/` keeps each
    network as it was trained.

    A line of metrics holds: round, num_strategies (rows of all data), seconds (of this round's
    training), `trunk_nash_conv` and `normalised_trunk_exploitability` of DL-CFR+ with the network
    after this round's training; and all errors of `validation_errors`, with the prefix `random_`
    at the random ranges set apart for validation, and `on_policy_` at the ranges of this DL-CFR+,
    none of which the network was trained on.

    Args:
      network: bound to the dataset's leaves; trained in place, on its device.
      data: directory of a dataset of random ranges; it is not changed.
      directory: the run directory.
      config: rounds and trainings.
      show_progress: show progress bars on standard error.

    Returns:
      The lines of metrics of all rounds.

    Raises:
      ValueError: as `training.train` does.
    """
    job = _OnPolicyJob(network, data, directory, config, show_progress)
    # Each round has a progress bar and checkpoints of its own.
    end = config.num_rounds + 1
    run_job(job, directory, end, every(1), keeps_on_interrupt=False, show_progress=False)
    network.save(directory.path / training.NETWORK_FILE)
    return directory.read_metrics()


class _OnPolicyJob:
    """The `Job` of on-policy training: a step is a round."""

    unit = step_name = "round"
    headline = METRIC

    def __init__(
        self,
        network: ValueNetwork,
        data: str | Path,
        directory: RunDirectory,
        config: OnPolicyConfig,
        show_progress: bool,
    ):
        self._network, self._config, self._show_progress = network, config, show_progress
        self._path = directory.path
        self._random = Dataset.load(data)
        self._depth_limit = self._random.trunk.depth_limit
        RunDirectory(self._path / "data", DatasetConfig.read(data).to_json(), resume=True)
        self.done = 0
        self._line: dict[str, Any] = {}

    def run(self, count: int) -> None:
        for _ in range(count):
            self._line = self._run_round(self.done)
            self.done += 1

    def measure(self) -> dict[str, Any]:
        return self._line

    def save(self, directory: RunDirectory) -> None:
        """Does nothing: the round's own run directory has the network already."""

    def restore(self, directory: RunDirectory) -> None:
        self.done = len(directory.read_metrics())
        if self.done:
            self._load_round(self.done - 1)

    def _run_round(self, number: int) -> dict[str, Any]:
        """Trains, runs DL-CFR+, and measures: a line of metrics."""
        config = self._config.training_of(number)
        # Intermediate networks are not used, and each would be validated.
        config = dataclasses.replace(config, networks_per_decade=0)
        dataset = self._dataset(number)
        directory = RunDirectory(self._round_path(number), config.to_json(), resume=True)
        trained = training.train(
            self._network, dataset, directory, config, show_progress=self._show_progress
        )
        if number == self._config.num_rounds:
            self._load_round(number)  # Replaces the network of this round by the mean.
        solver = DLCFRSolver(self._random.trunk.tree, self._network, self._depth_limit)
        name = _shard_name(number + 1)
        add_ranges(self._path / "data", name, self._run_and_record(solver))
        return {
            "round": number,
            "num_strategies": dataset.num_strategies,
            "seconds": trained["seconds"],
            **measure_trunk(solver.trunk, solver.average_policy()),
            **self._errors(RANDOM, self._random, self._validation_rows(config)),
            **self._errors(ON_POLICY, Dataset.load(self._path / "data", [name])),
        }

    def _load_round(self, number: int) -> None:
        """Loads the network of a trained round; of the last one, the mean of networks."""
        is_last = number == self._config.num_rounds
        rounds = self._config.averaged_rounds if is_last else (number,)
        files = [tensor_files.load(self._round_path(n) / training.NETWORK_FILE) for n in rounds]
        trained = [arrays for arrays, _ in files]
        means = {
            name: np.mean([arrays[name] for arrays in trained], axis=0, dtype=np.float64)
            for name in trained[0]
        }
        self._network.load_parameters(
            {name: mean.astype(trained[0][name].dtype) for name, mean in means.items()}
        )

    def _round_path(self, number: int) -> Path:
        return self._path / "rounds" / f"{number:02d}"

    def _run_and_record(self, solver: DLCFRSolver) -> tuple[np.ndarray, np.ndarray]:
        """Runs all iterations of DL-CFR+; the ranges evaluated in some of them."""
        last, max_ranges = self._config.num_iterations, self._config.max_ranges
        number = min(last, -(-max_ranges // (2 if solver.minimizer.alternating_updates else 1)))
        iterations = np.unique(np.linspace(1, last, number).round().astype(int))
        first, second = evaluated_ranges(solver, iterations.tolist())
        solver.run(last - solver.iteration)
        return first[:max_ranges], second[:max_ranges]

    def _dataset(self, number: int) -> Dataset:
        """The random ranges, and those of rounds up to a number."""
        if not number:
            return self._random
        path = self._path / "data"
        rounds = [Dataset.load(path, [_shard_name(n)]) for n in range(1, number + 1)]
        return Dataset.join([self._random, *rounds])

    def _validation_rows(self, config: TrainingConfig) -> np.ndarray:
        """The random strategies that are never trained on: int64 [n]."""
        return training.split_strategies(self._random.num_strategies, config.validation_share)[1]

    def _errors(
        self, prefix: str, dataset: Dataset, rows: np.ndarray | None = None
    ) -> dict[str, float]:
        """Errors at some rows of a dataset, or at all of them."""
        samples = self._network.samples(dataset)
        rows = np.arange(dataset.num_strategies) if rows is None else rows
        numbers = samples.numbers(rows, np.arange(samples.num_states))
        errors = validation_errors(self._network, samples, numbers)
        return {prefix + name: value for name, value in errors.items()}


def _shard_name(number: int) -> str:
    return f"round-{number:02d}"
