"""How every network of this package is trained: Adam, at a learning rate that may fall."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

import torch


@dataclasses.dataclass(frozen=True)
class LearningRate:
    """A learning rate that falls exponentially for some steps, and then stays.

    Attributes:
      first: the rate of the first step.
      final: the rate after `num_steps` steps and from then on; None: the rate never changes.
      num_steps: how many steps the fall takes.
    """

    first: float
    final: float | None = None
    num_steps: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.first < math.inf:
            raise ValueError(f"learning_rate={self.first} must be positive and finite")
        if self.final is not None and not 0 < self.final <= self.first:
            raise ValueError(
                f"final_learning_rate={self.final} must be None, or positive and at most "
                f"learning_rate={self.first}"
            )
        if self.num_steps < 1:
            raise ValueError(f"a learning rate cannot fall for {self.num_steps} steps; use 1")

    def at(self, step: int) -> float:
        """The rate once so many steps are done."""
        if self.final is None:
            return self.first
        return self.first * (self.final / self.first) ** min(1.0, step / self.num_steps)

    def on_device(self, step: torch.Tensor) -> torch.Tensor:
        """The same of a count of steps on a device (a scalar), without a look at it: float32 []."""
        decay = math.log((self.final or self.first) / self.first)
        return self.first * torch.exp(decay * (step / self.num_steps).clamp(max=1.0))


class Descent:
    """Adam on some parameters.

    Attributes:
      parameters: the tensors that every step changes in place.
    """

    def __init__(
        self,
        parameters: Iterable[torch.Tensor],
        rate: LearningRate,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        gradient_clip: float = math.inf,
    ):
        """Makes Adam with its moments, so that a checkpoint can be loaded into them.

        Args:
          parameters: floating-point tensors, leaves; not copied.
          rate: the learning rate.
          betas: decay of Adam's mean gradient, and of its mean squared gradient.
          epsilon: Adam's epsilon.
          gradient_clip: bound on every entry of the gradient.
        """
        self.parameters = [parameter.requires_grad_() for parameter in parameters]
        self._rate, self._gradient_clip = rate, gradient_clip
        device = self.parameters[0].device
        # As a tensor, the rate can follow the count of steps without asking the device for it.
        self._falling_rate = None if rate.final is None else torch.tensor(rate.first, device=device)
        self._optimizer = torch.optim.Adam(
            self.parameters,
            lr=rate.first if self._falling_rate is None else self._falling_rate,
            betas=betas,
            eps=epsilon,
            fused=True,
            # Costs nothing where it is possible, and a CUDA graph demands it.
            capturable=device.type == "cuda",
        )
        for parameter in self.parameters:
            self._optimizer.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    def step(self, loss: torch.Tensor, gradient: torch.Tensor | None = None) -> None:
        """One step of Adam down a loss.

        The learning rate goes by the number of steps so far, which is counted on the device, as a
        CUDA graph demands.

        Args:
          loss: a scalar; or, with a gradient, the network's outputs.
          gradient: the loss's derivative by the outputs.
        """
        for parameter in self.parameters:
            parameter.grad = None  # then the gradient is not copied
        loss.backward(gradient)
        if self._gradient_clip < math.inf:
            for parameter in self.parameters:
                assert parameter.grad is not None
                parameter.grad.clamp_(-self._gradient_clip, self._gradient_clip)
        if self._falling_rate is not None:
            count = self.state(self.parameters[0])["step"]
            self._falling_rate.copy_(self._rate.on_device(count))
        self._optimizer.step()

    def state(self, parameter: torch.Tensor) -> dict[str, torch.Tensor]:
        """Adam's `step` (float32 []) and moments `exp_avg`, `exp_avg_sq` of one parameter.

        A checkpoint holds them, and is loaded by writing into them.
        """
        state: dict[str, torch.Tensor] = self._optimizer.state[parameter]
        return state
