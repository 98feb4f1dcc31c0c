"""Trains a `ValueNetwork` on a `Dataset`.

Kovařík et al. (2021), "Experimental Setup" and "Main Experiments". One sample is a leaf public
state of one trunk strategy. The loss counts possible positions only. Trunk strategies, not samples,
are split into training and validation: samples of one strategy resemble each other. Leaf public
states may be left out of training, to measure the network's errors in unseen states.

The run directory holds one line of metrics and one network per log-spaced step, one line of metrics
at the end of every epoch (or every few), the checkpoint of the last of these, and in the end the
trained network. Batches and learning rates depend on the seed and the step alone, so a run that was
killed and resumed ends, on a CPU, with the same parameters.
"""

from __future__ import annotations

import math
import time
import zlib
from typing import Any

import numpy as np
import torch
import tqdm

from spiel_dl.networks.optimization import Descent
from spiel_dl.system.run_directory import RunDirectory, differences
from spiel_dl.system.steps import log_spaced_steps
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.samples import Samples
from spiel_dl.value_functions.validation import validation_errors
from spiel_dl.value_functions.value_network import ValueNetwork

NETWORK_FILE = "network.safetensors"
LEFT_OUT = "left_out_"
_MOMENTS = ("exp_avg", "exp_avg_sq")


def train(
    network: ValueNetwork,
    dataset: Dataset,
    directory: RunDirectory,
    config: TrainingConfig,
    *,
    show_progress: bool = True,
) -> dict[str, Any]:
    """Trains a network, from the directory's checkpoint if it has one.

    Without a checkpoint, training starts from the network's parameters, whether they are fresh or
    trained.

    Every line of metrics holds: step, epoch (complete ones), seconds of training, learning_rate,
    training_loss (mean over the steps since the last line), the validation errors that
    `validation_errors` names, those of left-out states with the prefix `left_out_` if there are
    any, and the name of the network, if one was kept.

    Args:
      network: the network, trained in place on its device. Parameters that it does not have yet are
        made for the dataset's leaves; those that it has must be for these leaves.
      dataset: the data.
      directory: the run's directory.
      config: how to train.
      show_progress: show a progress bar on standard error.

    Returns:
      The last line of metrics.

    Raises:
      ValueError: if the network's parameters are for other leaves than the dataset's, if there are
        too few trunk strategies for the split or for `max_strategies`, if a left-out state is none
        of the leaf public states or all of them are left out, if the checkpoint is of another run,
        or if the loss becomes NaN or infinite.
    """
    run = _Run(network, dataset, directory, config)
    run.restore()
    with tqdm.tqdm(
        total=run.num_steps, initial=run.step, unit="step", disable=None if show_progress else True
    ) as progress:
        while run.epoch < config.num_epochs:
            run.train_epoch(progress)
    network.save(directory.path / NETWORK_FILE)
    return directory.read_metrics()[-1]


def check(network: ValueNetwork, dataset: Dataset, config: TrainingConfig) -> None:
    """Raises those ValueErrors of `train` that do not need a run directory."""
    network.initialize(dataset.trunk.leaves)
    _choose_samples(network.samples(dataset), dataset, config)


def split_strategies(num_strategies: int, validation_share: float) -> tuple[np.ndarray, np.ndarray]:
    """Splits trunk strategies into training and validation, without a seed.

    Strategies stay where they are when more are appended.

    Returns:
      Numbers of the strategies for training, and of those for validation: int64, increasing.

    Raises:
      ValueError: if one of the parts would be empty.
    """
    is_validation = np.random.default_rng(0).random(num_strategies) < validation_share
    training, validation = np.flatnonzero(~is_validation), np.flatnonzero(is_validation)
    if not len(training) or not len(validation):
        raise ValueError(
            f"of {num_strategies} trunk strategies, {len(validation)} would be for validation "
            f"(validation_share={validation_share}) and {len(training)} for training; make more "
            "data, or change the share"
        )
    return training, validation


class _Run:
    """The state of one training run: network, optimiser, step and epoch."""

    def __init__(
        self,
        network: ValueNetwork,
        dataset: Dataset,
        directory: RunDirectory,
        config: TrainingConfig,
    ):
        network.initialize(dataset.trunk.leaves)
        header = network.header()
        self._network, self._directory, self._config = network, directory, config
        self._samples = network.samples(dataset)
        self._training, self._validation = _choose_samples(self._samples, dataset, config)
        self._identity = {
            "network": header,
            "training": config.to_json(),
            "dataset_checksum": _checksum(dataset),
        }
        self._last_checkpoint = "none, it began at step 0"
        self._losses: list[float] = []
        self._seconds = 0.0
        self.epoch, self.step = 0, 0
        steps_per_epoch = -(-len(self._training) // config.batch_size)
        self.num_steps = config.num_epochs * steps_per_epoch
        self._rate = config.rate(self.num_steps)
        self._descent = Descent(network.module.parameters(), self._rate)
        self._kept_steps: set[int] = set()
        if config.networks_per_decade:
            self._kept_steps.update(log_spaced_steps(self.num_steps, config.networks_per_decade))

    def restore(self) -> None:
        """Loads the directory's checkpoint, if it has one."""
        checkpoint = self._directory.load_checkpoint()
        if checkpoint is not None:
            arrays, header = checkpoint
            saved = {name: header.get(name) for name in self._identity}
            if names := differences(saved, self._identity):
                raise ValueError(
                    f"{self._directory.checkpoint_path} is of another training: its "
                    f"{', its '.join(names)}; use the same data and settings, or another directory"
                )
            self.epoch, self.step = header["epoch"], header["step"]
            self._load(arrays)
            self._seconds = header["seconds"]
            self._last_checkpoint = f"that of step {self.step}"
        self._directory.truncate_metrics("step", self.step)

    def train_epoch(self, progress: tqdm.tqdm) -> None:
        """Trains for one epoch; writes its metrics and its checkpoint."""
        generator = np.random.default_rng([self._config.seed, self.epoch])
        order = generator.permutation(self._training)
        size = self._config.batch_size
        for start in range(0, len(order), size):
            start_time = time.perf_counter()
            self._take_step(order[start : start + size])
            self._seconds += time.perf_counter() - start_time
            progress.update()
            is_last = start + size >= len(order)
            self.epoch += is_last
            is_due = is_last and (
                self.epoch % self._config.epochs_per_validation == 0
                or self.epoch == self._config.num_epochs
            )
            if is_due or self.step in self._kept_steps:
                errors = self._record()
                progress.set_postfix(epoch=self.epoch, l1=f"{errors['l1']:.2e}")
        if is_due:
            self._save()

    def _take_step(self, samples: np.ndarray) -> None:
        config = self._config
        inputs, targets, is_possible = self._samples.batch(samples)
        outputs = self._network.module(inputs)
        if config.loss == "linf":
            errors = torch.where(is_possible, (outputs - targets).abs(), 0.0)
            losses = errors.amax(dim=1)
        else:
            losses = _losses(config.loss, outputs[is_possible], targets[is_possible])
        if config.mass_share:
            masses = self._samples.opponent_masses(samples)[is_possible]
            losses = losses * mass_weights(masses, config.mass_share)
        loss = losses.mean()
        value = loss.item()
        self._check_finite("loss", value)
        self._descent.step(loss)
        self._losses.append(value)
        self.step += 1

    def _check_finite(self, name: str, value: float) -> None:
        if not math.isfinite(value):
            raise ValueError(
                f"the {name} is {value} at step {self.step}; the last good checkpoint is "
                f"{self._last_checkpoint} ({self._directory.checkpoint_path}); use a smaller "
                f"learning rate than {self._config.learning_rate}"
            )

    def _record(self) -> dict[str, float]:
        """Appends a line of metrics, and saves the network at log-spaced steps."""
        errors = self._validation_errors()
        # A network that the last step made NaN must not reach a checkpoint.
        self._check_finite("validation error", errors["l1"])
        line: dict[str, Any] = {
            "step": self.step,
            "epoch": self.epoch,
            "seconds": self._seconds,
            "learning_rate": self._rate.at(self.step - 1),
            "training_loss": float(np.mean(self._losses)),
            **errors,
        }
        if self.step in self._kept_steps:
            line["network"] = f"network-step-{self.step:08d}.safetensors"
            self._network.save(self._directory.path / line["network"])
        self._losses.clear()
        self._directory.append_metrics(line)
        return errors

    def _validation_errors(self) -> dict[str, float]:
        """The errors of all groups of validation samples, by prefix and name."""
        return {
            prefix + name: error
            for prefix, numbers in self._validation.items()
            for name, error in validation_errors(self._network, self._samples, numbers).items()
        }

    def _save(self) -> None:
        """Replaces the checkpoint: parameters and Adam's moments."""
        arrays = {f"network.{k}": v for k, v in self._network.parameter_arrays().items()}
        for name, parameter in self._network.module.named_parameters():
            for moment in _MOMENTS:
                arrays[f"{moment}.{name}"] = self._descent.state(parameter)[moment].cpu().numpy()
        progress = {"epoch": self.epoch, "step": self.step, "seconds": self._seconds}
        self._directory.save_checkpoint(arrays, {**self._identity, **progress})
        self._last_checkpoint = f"that of step {self.step}"

    def _load(self, arrays: dict[str, np.ndarray]) -> None:
        parameters = {
            name.removeprefix("network."): array
            for name, array in arrays.items()
            if name.startswith("network.")
        }
        self._network.load_parameters(parameters)
        for name, parameter in self._network.module.named_parameters():
            state = self._descent.state(parameter)
            state["step"].fill_(self.step)
            for moment in _MOMENTS:
                state[moment].copy_(torch.from_numpy(arrays[f"{moment}.{name}"]))


def _choose_samples(
    samples: Samples, dataset: Dataset, config: TrainingConfig
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The training samples, and validation samples by the prefix of their errors' names."""
    training, validation = split_strategies(dataset.num_strategies, config.validation_share)
    if config.max_strategies is not None:
        if config.max_strategies > len(training):
            raise ValueError(
                f"max_strategies={config.max_strategies}, but there are {len(training)} trunk "
                "strategies to train on; make more data"
            )
        training = training[: config.max_strategies]
    left_out = np.unique(np.array(config.left_out_states, np.int64))
    trained_states = np.setdiff1d(np.arange(samples.num_states), left_out)
    if len(trained_states) + len(left_out) != samples.num_states or not len(trained_states):
        raise ValueError(
            f"left_out_states={config.left_out_states} must be some, and not all, of the leaf "
            f"public states 0, ..., {samples.num_states - 1}"
        )
    groups = {"": samples.numbers(validation, trained_states)}
    if len(left_out):
        groups[LEFT_OUT] = samples.numbers(validation, left_out)
    return samples.numbers(training, trained_states), groups


def _losses(name: str, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The loss of each output."""
    if name == "huber":
        return torch.nn.functional.huber_loss(outputs, targets, reduction="none")
    if name == "l1":
        return torch.nn.functional.l1_loss(outputs, targets, reduction="none")
    return torch.nn.functional.mse_loss(outputs, targets, reduction="none")


def mass_weights(masses: torch.Tensor, share: float) -> torch.Tensor:
    """Weights of mean 1, float32 [n], of which `share` is proportional to masses (float32 [n])."""
    # Rounding may leave a mass of zeros below 0, and a batch may hold zeros only.
    masses = masses.clamp(min=0.0)
    return (1 - share) + share * masses / masses.mean().clamp(min=1e-12)


def _checksum(dataset: Dataset) -> int:
    """The CRC32 of a dataset's ranges, masses and values."""
    checksum = 0
    for array in (*dataset.ranges, *dataset.masses, *dataset.cfvs):
        checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
    return checksum
