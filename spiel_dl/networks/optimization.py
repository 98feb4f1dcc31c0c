"""`Descent`: Adam, at a learning rate that may fall; every network here is trained by it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from spiel_dl.networks.learning_rate import LearningRate


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
        self._betas, self._epsilon = betas, epsilon
        device = self.parameters[0].device
        self._steps = [torch.zeros((), device=device) for _ in self.parameters]
        self._means, self._squares = (
            [torch.zeros_like(parameter, requires_grad=False) for parameter in self.parameters]
            for _ in range(2)
        )

    def step(self, loss: torch.Tensor) -> None:
        """One step of Adam down a loss, a scalar."""
        for parameter in self.parameters:
            parameter.grad = None  # so that the new gradient is not copied
        loss.backward()
        gradients = [parameter.grad for parameter in self.parameters]
        self.apply_gradients([gradient for gradient in gradients if gradient is not None])

    @torch.no_grad()
    def apply_gradients(self, gradients: list[torch.Tensor]) -> None:
        """One step of Adam, given the gradients of all parameters, which are clipped in place.

        The number of steps, on which the learning rate depends, is counted on the device, as a CUDA
        graph demands.
        """
        if self._gradient_clip < math.inf:
            for gradient in gradients:
                gradient.clamp_(-self._gradient_clip, self._gradient_clip)
        rate: Any = self._rate.first
        if self._rate.final is not None:
            rate = self._rate.on_device(self._steps[0])
        torch._foreach_add_(self._steps, 1)
        # Called directly, as torch.optim.Adam's own work takes longer than a small network's step.
        torch._fused_adam_(
            self.parameters,
            gradients,
            self._means,
            self._squares,
            [],
            self._steps,
            lr=rate,
            weight_decay=0.0,
            amsgrad=False,
            maximize=False,
            beta1=self._betas[0],
            beta2=self._betas[1],
            eps=self._epsilon,
        )

    def state(self, parameter: torch.Tensor, prefix: str = "") -> dict[str, torch.Tensor]:
        """Adam's `step` (float32 []) and moments `exp_avg`, `exp_avg_sq` of one parameter.

        A checkpoint holds them by these names, after a prefix, and is loaded by writing into them.
        """
        index = next(i for i, own in enumerate(self.parameters) if own is parameter)
        state = {"step": self._steps, "exp_avg": self._means, "exp_avg_sq": self._squares}
        return {prefix + name: tensors[index] for name, tensors in state.items()}
