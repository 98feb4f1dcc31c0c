"""A learning rate that may fall."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclasses.dataclass(frozen=True)
class LearningRate:
    """A learning rate that falls exponentially for some steps, and is constant afterwards.

    Attributes:
      first: the rate of the first step.
      final: the rate after `num_steps` steps and from then on; None: the rate never changes.
      num_steps: how many steps the fall takes.
    """

    first: float
    final: float | None = None
    num_steps: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.first <= 1:
            raise ValueError(f"learning_rate={self.first} must be above 0 and at most 1")
        if self.final is not None and not 0 < self.final <= self.first:
            raise ValueError(
                f"final_learning_rate={self.final} must be None, or positive and at most "
                f"learning_rate={self.first}"
            )
        if self.num_steps < 1:
            raise ValueError(f"a learning rate cannot fall for {self.num_steps} steps; use 1")

    def at(self, step: int) -> float:
        """The rate after so many steps."""
        if self.final is None:
            return self.first
        return self.first * (self.final / self.first) ** min(1.0, step / self.num_steps)

    def on_device(self, step: torch.Tensor) -> torch.Tensor:
        """The rate after `step` steps, a scalar on a device that is not read back: float32 []."""
        decay = math.log((self.final or self.first) / self.first) / self.num_steps
        return step.clamp(max=self.num_steps).mul_(decay).add_(math.log(self.first)).exp_()
