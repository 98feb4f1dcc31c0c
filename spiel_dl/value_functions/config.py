"""Configurations of the training of value networks, on random data and on policy; without torch."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from spiel_dl.networks.learning_rate import LearningRate
from spiel_dl.system.parameters import check_types
from spiel_dl.tree.counts import check_counts, checked_count, is_count

LOSSES = ("huber", "l1", "l2", "linf")
# Most leaf public states that DL-CFR evaluates are hardly reached; errors there do no harm.
_MASS_SHARE = 0.9


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """The configuration of a value network's training.

    Attributes:
      num_epochs: how many times to go through the training samples.
      batch_size: samples per step of Adam.
      learning_rate: Adam's learning rate in its first step.
      final_learning_rate: Adam's learning rate in its last step; it falls exponentially in between.
      loss: "huber" (quadratic up to an error of 1 utility unit, linear beyond), "l1" or "l2", the
        mean over all possible positions of a batch; or "linf", the mean over its samples of the
        largest absolute error at a possible position.
      mass_share: share of the loss in which an error counts by the opponent's mass, as it does in
        unnormalised values and so in DL-CFR; in the rest, all errors count alike.
      validation_share: share of the trunk strategies that is set apart.
      max_strategies: train only on the first so many of the strategies that are not set apart;
        None: on all of them. What is set apart stays the same.
      left_out_states: leaf public states, as positions in the trunk's `leaves`, to leave out of
        training and of the validation errors; they get validation errors of their own.
      epochs_per_validation: epochs between two lines of metrics and their checkpoints.
      seed: seed of the batches.
      networks_per_decade: networks to keep per factor of 10 in steps; 0 keeps none.
    """

    num_epochs: int = 100
    batch_size: int = 128
    learning_rate: float = 2e-3
    final_learning_rate: float = 1e-5
    loss: str = "huber"
    mass_share: float = 0.0
    validation_share: float = 0.1
    max_strategies: int | None = None
    left_out_states: tuple[int, ...] = ()
    epochs_per_validation: int = 1
    seed: int = 0
    networks_per_decade: int = 4

    def __post_init__(self) -> None:
        check_types(self)
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r} must be one of {LOSSES}")
        if self.loss == "linf" and self.mass_share:
            raise ValueError(
                f"mass_share={self.mass_share} must be 0: loss='linf' has no positions"
            )
        check_counts(self, 1, "num_epochs", "batch_size", "epochs_per_validation")
        check_counts(self, 0, "networks_per_decade", "seed")
        for state in self.left_out_states:
            checked_count("left_out_states", state, 0)
        if self.max_strategies is not None:
            check_counts(self, 1, "max_strategies")
        self.rate(1)  # raises if the learning rates are wrong
        if not 0 <= self.mass_share <= 1:
            raise ValueError(f"mass_share={self.mass_share} must be between 0 and 1")
        if not 0 < self.validation_share < 1:
            raise ValueError(f"validation_share={self.validation_share} must be between 0 and 1")

    def rate(self, num_steps: int) -> LearningRate:
        """The learning-rate schedule of a training of `num_steps` steps."""
        return LearningRate(self.learning_rate, self.final_learning_rate, max(1, num_steps - 1))

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON can hold them."""
        return {**dataclasses.asdict(self), "left_out_states": list(self.left_out_states)}


@dataclasses.dataclass(frozen=True)
class OnPolicyConfig:
    """The configuration of training on policy.

    Attributes:
      num_rounds: rounds after round 0.
      num_iterations: iterations of DL-CFR+ per round.
      max_ranges: pairs of ranges to keep per round: those of evenly spaced iterations, two pairs
        each, as updates alternate.
      averaged_share: the part of the rounds, the last ones, over whose networks the last round
        averages; rounded up, and 0 stands for the last round alone.
      num_epochs: three numbers of epochs: on the random data, per round, and in the last round.
      seed: seed of the batches.
    """

    num_rounds: int = 20
    num_iterations: int = 1000
    max_ranges: int = 500
    averaged_share: float = 0.25
    num_epochs: tuple[int, ...] = (10, 2, 4)
    seed: int = 0

    def __post_init__(self) -> None:
        check_types(self)
        check_counts(self, 1, "num_rounds", "num_iterations", "max_ranges")
        check_counts(self, 0, "seed")
        if not 0 <= self.averaged_share <= 1:
            raise ValueError(f"averaged_share={self.averaged_share} must be from 0 to 1")
        if len(self.num_epochs) != 3 or not all(is_count(n) and n > 0 for n in self.num_epochs):
            raise ValueError(f"num_epochs={self.num_epochs} must be three positive integers")

    @property
    def averaged_rounds(self) -> range:
        """The rounds whose networks the last round averages, itself among them."""
        number = max(1, math.ceil(self.averaged_share * self.num_rounds))
        return range(self.num_rounds + 1 - number, self.num_rounds + 1)

    def training_of(self, number: int) -> TrainingConfig:
        """The training configuration of a round.

        From round 1 to the last one, both learning rates fall geometrically.
        """
        on_random, per_round, in_last = self.num_epochs
        if not number:
            return TrainingConfig(on_random, final_learning_rate=5e-4, seed=self.seed)
        share = (number - 1) / (self.num_rounds - 1) if self.num_rounds > 1 else 1.0
        return TrainingConfig(
            in_last if number == self.num_rounds else per_round,
            learning_rate=1e-3 ** (1 - share) * 1e-4**share,
            final_learning_rate=3e-4 ** (1 - share) * 1e-5**share,
            mass_share=_MASS_SHARE,
            seed=self.seed,
        )

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON can hold them."""
        return {**dataclasses.asdict(self), "num_epochs": list(self.num_epochs)}
