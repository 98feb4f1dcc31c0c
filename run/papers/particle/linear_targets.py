"""Can architectures learn a linear function of beliefs? Figure 2 of the particle paper.

Šustr et al. (2021), section 5.3 and appendix D: inputs x in R^n are random, targets are A x for a
random matrix A, and there are no public features. The linear model is told the place of each
number. The particle networks see a set of n infostates with beliefs x_j and one-hot features, and
all blocks are linear; the inner product represents A x exactly, and so does concatenation with one
hidden layer of ReLUs (appendix C, Figure 5), but that is hard to find.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import torch

from spiel_dl.optimization import Descent, LearningRate
from spiel_dl.runs.run_directory import log_spaced_steps
from spiel_dl.value_functions.feed_forward import feed_forward
from spiel_dl.value_functions.particle_module import ParticleBatch, ParticleModule, ParticleSizes

ARCHITECTURES = ("linear", "projection", "concatenation_1", "concatenation_2")
_POINTS_PER_DECADE = 8


@dataclasses.dataclass(frozen=True)
class LinearTargetsConfig:
    """The regression task and how to train; the paper says n only.

    Attributes:
      dimension: n.
      num_samples: inputs, standard normal; all are in every step.
      num_steps: of Adam, with torch's defaults but for the rate.
      learning_rate: of the first step.
      final_learning_rate: of the last step; it falls exponentially in between.
      seed: of inputs, A and parameters.
    """

    dimension: int = 10
    num_samples: int = 200
    num_steps: int = 20_000
    learning_rate: float = 1e-2
    final_learning_rate: float = 1e-6
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.dimension, self.num_samples, self.num_steps) < 1 or self.seed < 0:
            raise ValueError(f"{self}: numbers must be positive and the seed not negative")
        self.rate()  # raises if the learning rates are wrong

    def rate(self) -> LearningRate:
        """The learning rate of every step."""
        return LearningRate(self.learning_rate, self.final_learning_rate, self.num_steps)


class LossAtStep(NamedTuple):
    """A point of a curve: steps taken, and the mean squared error after them."""

    step: int
    loss: float


def train_on_linear_targets(architecture: str, config: LinearTargetsConfig) -> Iterator[LossAtStep]:
    """Trains an architecture; gives points at log-spaced steps.

    Args:
      architecture: "linear"; "projection", the particle network; or "concatenation_1" and
        "concatenation_2", the same with so many hidden layers of ReLUs in place of the product.
      config: the task.

    Raises:
      ValueError: if the architecture is unknown.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(f"architecture={architecture!r} must be one of {ARCHITECTURES}")
    size = config.dimension
    generator = torch.Generator().manual_seed(config.seed)
    inputs = torch.randn(config.num_samples, size, generator=generator)
    matrix = torch.randn(size, size, generator=generator) / size**0.5
    targets = inputs @ matrix.T
    if architecture == "linear":
        module: torch.nn.Module = feed_forward([size, size], generator)
    else:
        layers = 0 if architecture == "projection" else int(architecture[-1])
        sizes = ParticleSizes(size, 1, 1, 1, 1, concatenation_layers=layers)
        module = ParticleModule(sizes, size, 0, config.seed)
    descent = Descent(module.parameters(), config.rate())
    model_inputs = inputs if architecture == "linear" else _as_sets(inputs)
    shown = set(log_spaced_steps(config.num_steps, _POINTS_PER_DECADE))
    for step in range(1, config.num_steps + 1):
        descent.step(torch.nn.functional.mse_loss(module(model_inputs), targets), at=step - 1)
        if step in shown:
            with torch.inference_mode():
                loss = torch.nn.functional.mse_loss(module(model_inputs), targets)
            yield LossAtStep(step, loss.item())


def _as_sets(inputs: torch.Tensor) -> ParticleBatch:
    """Every number of an input (float32 [L, n]) as the belief of an infostate."""
    num_samples, size = inputs.shape
    infostate = torch.arange(size).expand(num_samples, size)
    return ParticleBatch(torch.eye(size), infostate, inputs, inputs.new_zeros(num_samples, 0))
