"""MMD: magnetic mirror descent by self-play, with a magnet that moves.

Sokota et al. (2023), "A unified approach to reinforcement learning, quantal response equilibria,
and two-player zero-sum games", section on deep reinforcement learning; the moving magnet is that of
its section on Nash equilibria. A step is that of `learning.policy_gradient` with the policy loss

    - ratio A + magnet_weight KL(pi, magnet) + KL(pi, pi_old) / stepsize,

where ratio = pi(a) / pi_old(a). Each `magnet_period` steps the target network's policy becomes the
magnet; the first magnet is the fresh network's nearly uniform policy. With a fixed magnet the
losses have one fixed point, and magnet after magnet those come near an equilibrium. The entropy,
which pulls towards the uniform policy, is needed beside the magnet: without it nothing holds the
magnets back from where noise carries them.

    learner = mmd.MMDSolver("leduc_poker")
    learner.run(1000)
    policy = learner.policy()
"""

from __future__ import annotations

import dataclasses
import math

import torch

from spiel_dl.learning.mmd_kernel import MMDNumbers, mmd_gradient
from spiel_dl.learning.policy_gradient import (
    PolicyGradientConfig,
    PolicyGradientLearner,
    divergence,
    move_ratio,
)
from spiel_dl.learning.self_play import Distinct, Trajectories


@dataclasses.dataclass(frozen=True)
class MMDConfig(PolicyGradientConfig):
    """How to learn; `PolicyGradientConfig` has the rest.

    Attributes:
      magnet_weight: weight of the distance to the magnet, in units of `utility_scale`.
      magnet_period: learner steps until the magnet is renewed.
      stepsize: inverse weight of the distance to the policy that played. Without effect if there is
        one epoch, whose gradient is taken where that distance is 0.
    """

    magnet_weight: float = 0.2
    magnet_period: int = 2000
    stepsize: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("magnet_weight", 0 <= self.magnet_weight < math.inf, "finite and not negative")
        self._check("magnet_period", self.magnet_period > 0, "positive")
        self._check("stepsize", 0 < self.stepsize < math.inf, "positive and finite")


class MMDSolver(PolicyGradientLearner):
    """Learns a policy by magnetic mirror descent.

    The module `learning.learner` has an example, `Learner` the methods.
    """

    name = "mmd"
    config: MMDConfig
    default_config = MMDConfig
    num_regularization_policies = 1

    def step(self) -> None:
        """As `Learner.step`; also renews the magnet when it is time."""
        super().step()
        if self.num_steps % self.config.magnet_period == 0:
            self._renew_regularization()

    def _descend(self, trajectories: Trajectories, seen: Distinct) -> list[torch.Tensor]:
        # A subclass may have another loss, which the compiled loop does not know.
        is_mine = type(self).policy_loss is MMDSolver.policy_loss
        by_kernel = is_mine and self.parameters.is_cpu
        descend = self._descend_by_kernel if by_kernel else self._descend_by_torch
        return descend(trajectories, seen)

    def _descend_by_kernel(self, trajectories: Trajectories, seen: Distinct) -> list[torch.Tensor]:
        """As `_descend_by_torch`, on a CPU."""
        config = self.config
        numbers = MMDNumbers(
            reward_scale=1 / self.utility_scale,
            gae_lambda=config.gae_lambda,
            value_weight=config.value_weight,
            temperature=self.temperature(),
            magnet_weight=config.magnet_weight,
            old_weight=1 / config.stepsize if config.num_epochs > 1 else 0.0,
            trace_decay=config.history_trace_decay,
        )
        magnet = self._references(trajectories, seen, 1)
        histories = self._history_answer(trajectories)
        old_value: torch.Tensor | None = None
        sums = torch.zeros(len(self.terms))
        for _ in range(config.num_epochs):
            said = self.network.answer(self.parameters, seen.tensors)
            if old_value is None:
                old_value = said.outputs[:, -1]
            if histories is not None:
                histories.gradient.zero_()  # every epoch finds the same
            gradient, terms = mmd_gradient(
                said.outputs, old_value, magnet, histories, trajectories, seen, numbers
            )
            self._descent.follow(said.gradient(gradient), at=self.num_steps)
            sums += terms
        self._learn_histories(histories)
        return list(sums / config.num_epochs)

    def policy_loss(
        self,
        log_pi: torch.Tensor,
        trajectories: Trajectories,
        advantage: torch.Tensor,
        log_magnets: torch.Tensor,
    ) -> torch.Tensor:
        """As in the module's docstring: float32 [T, B]."""
        loss = self.config.magnet_weight * divergence(log_pi, log_magnets[0])
        loss = loss - move_ratio(log_pi, trajectories) * advantage
        if self.config.num_epochs > 1:
            # Illegal actions have probability 0 in both policies.
            log_old = trajectories.behaviour.clamp(min=torch.finfo(log_pi.dtype).tiny).log()
            loss = loss + divergence(log_pi, log_old) / self.config.stepsize
        return loss
