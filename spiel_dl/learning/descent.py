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
      learning_rate: Adam's.
      adam_beta1: decay of Adam's mean gradient.
      adam_beta2: decay of Adam's mean squared gradient.
      adam_epsilon: Adam's epsilon.
      gradient_clip: bound on every entry of the gradient.
      seed: of the first parameters and of whatever else is random.
    """

    hidden_sizes: tuple[int, ...] = (512, 512)
    learning_rate: float = 3e-4
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
        self._gradient_clip = config.gradient_clip
        self.optimizer = torch.optim.Adam(
            [parameters],
            lr=config.learning_rate,
            betas=(config.adam_beta1, config.adam_beta2),
            eps=config.adam_epsilon,
            fused=True,
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
        self.parameters.grad.clamp_(-self._gradient_clip, self._gradient_clip)
        self.optimizer.step()

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        state = self.optimizer.state[self.parameters]
        return {"parameters": self.parameters, **{f"adam.{n}": t for n, t in state.items()}}
