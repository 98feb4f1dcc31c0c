"""MMD: magnetic mirror descent by self-play.

Sokota et al. (2023), "A unified approach to reinforcement learning, quantal response equilibria,
and two-player zero-sum games", section on deep reinforcement learning. A step is that of
`learning.policy_gradient` with the policy loss

    - ratio A + KL(pi, pi_old) / stepsize,    ratio = pi(a) / pi_old(a).

The magnet is the uniform policy, so its term is the entropy. The stepsize falls as the temperature
does. Without annealing, MMD heads for the quantal response equilibrium of its temperature.

    learner = mmd.MMDSolver("leduc_poker")
    learner.run(1000)
    policy = learner.policy()
"""

from __future__ import annotations

import math
from typing import Any

import torch

from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.policy_gradient import (
    PolicyGradientConfig,
    PolicyGradientLearner,
    move_ratio,
)
from spiel_dl.learning.self_play import Trajectories
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.policies.array_policy import AnyGame


class MMDSolver(PolicyGradientLearner):
    """Learns a policy by magnetic mirror descent; `Learner` has an example and the methods."""

    name = "mmd"

    def __init__(
        self,
        game: AnyGame,
        config: PolicyGradientConfig | None = None,
        *,
        stepsize: float = 0.5,
        device: torch.device | str = "cpu",
        transformations: PolicyTransformations | None = None,
        critic: CriticConfig | None = None,
    ):
        """Makes a fresh network.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn; None: the defaults.
          stepsize: inverse weight of the distance to the policy that played, at first.
          device: where games are played and networks live.
          transformations: what opponents may do by a critic that learns, too; None: no critic.
          critic: how the critic learns; None: the defaults.

        Raises:
          ValueError: as `SelfPlayLearner`, or if `stepsize` is not positive and finite.
        """
        if not 0 < stepsize < math.inf:
            raise ValueError(f"stepsize={stepsize} must be positive and finite")
        self._stepsize = stepsize
        super().__init__(
            game, config, device=device, transformations=transformations, critic=critic
        )

    def settings(self) -> dict[str, Any]:
        """As `Learner.settings`."""
        return {**super().settings(), "stepsize": self._stepsize}

    def policy_loss(
        self, log_pi: torch.Tensor, trajectories: Trajectories, advantage: torch.Tensor
    ) -> torch.Tensor:
        """As in the module's docstring: float32 [T, B]."""
        # Illegal actions have probability 0 in both policies.
        log_old = trajectories.behaviour.clamp(min=torch.finfo(log_pi.dtype).tiny).log()
        distance = (log_pi.exp() * (log_pi - log_old)).sum(dim=-1)
        ratio = move_ratio(log_pi, trajectories)
        return distance / (self._stepsize * self.annealing()) - ratio * advantage
