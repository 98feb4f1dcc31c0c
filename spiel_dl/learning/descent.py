"""Adam on the flat parameters of one network."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """What every network that learns from games is told.

    Attributes:
      hidden_sizes: units of the network's hidden layers.
      learning_rate: Adam's, of its first step.
      final_learning_rate: Adam's from its step `decay_steps` on; it falls exponentially until then.
        None: it does not fall.
      decay_steps: for how many steps of Adam it falls.
      adam_beta1: decay of Adam's mean gradient.
      adam_beta2: decay of Adam's mean squared gradient.
      adam_epsilon: Adam's epsilon.
      gradient_clip: bound on every entry of the gradient.
      seed: of the first parameters and of whatever else is random.
    """

    hidden_sizes: tuple[int, ...] = (512, 512)
    learning_rate: float = 3e-4
    final_learning_rate: float | None = None
    decay_steps: int = 100_000
    adam_beta1: float = 0.0
    adam_beta2: float = 0.999
    adam_epsilon: float = 1e-8
    gradient_clip: float = 10_000.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("learning_rate", "adam_epsilon", "gradient_clip"):
            self._check(name, 0 < getattr(self, name) < math.inf, "positive and finite")
        for name in ("adam_beta1", "adam_beta2"):
            self._check(name, 0 <= getattr(self, name) < 1, "at least 0 and below 1")
        final = self.final_learning_rate
        remedy = f"None, or positive and at most learning_rate={self.learning_rate}"
        self._check("final_learning_rate", final is None or 0 < final <= self.learning_rate, remedy)
        self._check("decay_steps", self.decay_steps > 0, "positive")

    def _check(self, name: str, is_good: bool, remedy: str) -> None:
        if not is_good:
            raise ValueError(f"{name}={getattr(self, name)} must be {remedy}")

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        fields["hidden_sizes"] = list(self.hidden_sizes)
        return {n: str(v) if v in (math.inf, -math.inf) else v for n, v in fields.items()}


class Descent:
    """Parameters, and Adam that moves them.

    Attributes:
      parameters: float32 [P], which every step changes in place.
      optimizer: Adam.
    """

    def __init__(self, parameters: torch.Tensor, config: NetworkConfig):
        """Makes Adam with its moments, so that a checkpoint can be loaded into them.

        Args:
          parameters: float32 [P], a leaf; not copied.
          config: how to descend.
        """
        self.parameters = parameters.requires_grad_()
        self.parameters.grad = torch.zeros_like(parameters)
        self._config = config
        # As a tensor, the rate can follow the count of steps without asking the device for it.
        rate = torch.tensor(config.learning_rate, device=parameters.device)
        self._falling_rate = rate if config.final_learning_rate else None
        self.optimizer = torch.optim.Adam(
            [parameters],
            lr=config.learning_rate if self._falling_rate is None else self._falling_rate,
            betas=(config.adam_beta1, config.adam_beta2),
            eps=config.adam_epsilon,
            fused=True,
            # Costs nothing where it is possible, and a CUDA graph demands it.
            capturable=parameters.is_cuda,
        )
        self.optimizer.state[parameters] = {
            "step": torch.zeros((), dtype=torch.float32, device=parameters.device),
            "exp_avg": torch.zeros_like(parameters),
            "exp_avg_sq": torch.zeros_like(parameters),
        }

    def step(self, loss: torch.Tensor, gradient: torch.Tensor | None = None) -> None:
        """One step of Adam down a loss.

        Args:
          loss: a scalar; or, with a gradient, the network's outputs.
          gradient: the loss's derivative by the outputs.
        """
        assert self.parameters.grad is not None
        self.parameters.grad.zero_()
        loss.backward(gradient)
        bound = self._config.gradient_clip
        self.parameters.grad.clamp_(-bound, bound)
        self._lower_rate()
        self.optimizer.step()

    def _lower_rate(self) -> None:
        """Sets the rate of the next step, if rates fall."""
        config = self._config
        if self._falling_rate is None or config.final_learning_rate is None:
            return
        done = self.optimizer.state[self.parameters]["step"] / config.decay_steps
        decay = math.log(config.final_learning_rate / config.learning_rate)
        self._falling_rate.copy_(config.learning_rate * torch.exp(decay * done.clamp(max=1.0)))

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        state = self.optimizer.state[self.parameters]
        return {"parameters": self.parameters, **{f"adam.{n}": t for n, t in state.items()}}
