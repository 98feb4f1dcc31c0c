"""PPO with entropy, by self-play.

Schulman et al. (2017), "Proximal policy optimization algorithms", eq. 7 and 9. A step is that of
`learning.policy_gradient` with the policy loss

    - min(ratio A, clip(ratio, 1 - clip, 1 + clip) A),    ratio = pi(a) / pi_old(a).

    learner = ppo.PPOSolver("leduc_poker")
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


class PPOSolver(PolicyGradientLearner):
    """Learns a policy by PPO with entropy; `Learner` has an example and the methods."""

    name = "ppo"

    def __init__(
        self,
        game: AnyGame,
        config: PolicyGradientConfig | None = None,
        *,
        clip: float = 0.2,
        device: torch.device | str = "cpu",
        transformations: PolicyTransformations | None = None,
        critic: CriticConfig | None = None,
    ):
        """Makes a fresh network.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn; None: the defaults.
          clip: how far the ratio to the policy that played may gain from leaving 1.
          device: where games are played and networks live.
          transformations: what opponents may do by a critic that learns, too; None: no critic.
          critic: how the critic learns; None: the defaults.

        Raises:
          ValueError: as `SelfPlayLearner`, or if `clip` is not positive and finite.
        """
        if not 0 < clip < math.inf:
            raise ValueError(f"clip={clip} must be positive and finite")
        self._clip = clip
        super().__init__(
            game, config, device=device, transformations=transformations, critic=critic
        )

    def settings(self) -> dict[str, Any]:
        """As `Learner.settings`."""
        return {**super().settings(), "clip": self._clip}

    def policy_loss(
        self, log_pi: torch.Tensor, trajectories: Trajectories, advantage: torch.Tensor
    ) -> torch.Tensor:
        """As in the module's docstring: float32 [T, B]."""
        ratio = move_ratio(log_pi, trajectories)
        clipped = ratio.clamp(1 - self._clip, 1 + self._clip)
        return -torch.minimum(ratio * advantage, clipped * advantage)
