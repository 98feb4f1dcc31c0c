"""PPO with entropy, by self-play.

Schulman et al. (2017), "Proximal policy optimization algorithms", eq. 7 and 9. A step is that of
`learning.policy_gradient` with the policy loss

    - min(ratio A, clip(ratio, 1 - clip, 1 + clip) A),    ratio = pi(a) / pi_old(a).

    learner = ppo.PPOSolver("leduc_poker")
    learner.run(1000)
    policy = learner.policy()
"""

from __future__ import annotations

import dataclasses
import math

import torch

from spiel_dl.learning.policy_gradient import (
    PolicyGradientConfig,
    PolicyGradientLearner,
    move_ratio,
)
from spiel_dl.learning.self_play import Trajectories


@dataclasses.dataclass(frozen=True)
class PPOConfig(PolicyGradientConfig):
    """How to learn; `PolicyGradientConfig` has the rest.

    Attributes:
      clip: how far the ratio to the policy that played may gain from leaving 1. Without effect if
        there is one epoch, whose gradient is taken where that ratio is 1.
    """

    num_epochs: int = 4
    clip: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("clip", 0 < self.clip < math.inf, "positive and finite")


class PPOSolver(PolicyGradientLearner):
    """Learns a policy by PPO with entropy; `Learner` has an example and the methods."""

    name = "ppo"
    config: PPOConfig
    default_config = PPOConfig

    def policy_loss(
        self,
        log_pi: torch.Tensor,
        trajectories: Trajectories,
        advantage: torch.Tensor,
        log_magnets: torch.Tensor,
    ) -> torch.Tensor:
        """As in the module's docstring: float32 [T, B]."""
        ratio = move_ratio(log_pi, trajectories)
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        return -torch.minimum(ratio * advantage, clipped * advantage)
