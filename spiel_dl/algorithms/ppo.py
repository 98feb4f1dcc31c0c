"""PPO with entropy, by self-play.

Schulman et al. (2017), "Proximal policy optimization algorithms", eq. 7 and 9. A step is that of
`learning.policy_gradient` with the policy loss

    - min(ratio A, clip(ratio, 1 - clip, 1 + clip) A),    ratio = pi(a) / pi_old(a).

With action values of histories, the loss from these is clipped likewise: the sum of this loss over
all actions, weighted by pi_old, where A is an action's value minus the mean under pi_old.

The temperature begins three times as high as MMD's: in Goofspiel, where MMD has a magnet, PPO's
policy becomes deterministic for good at the first steps below (docs/algorithms/rnad.md).

    learner = ppo.PPOSolver("leduc_poker")
    learner.run(1000)
    policy = learner.policy()
"""

from __future__ import annotations

import torch

from spiel_dl.learning.config import PPOConfig
from spiel_dl.learning.policy_gradient import PolicyGradientLearner, PolicyLoss, move_ratio
from spiel_dl.learning.sources import Trajectories
from spiel_dl.policies.policy_network import MaskedPolicy


class PPOSolver(PolicyGradientLearner):
    """Learns a policy by PPO with entropy.

    The module `learning.learner` has an example, `Learner` the methods.
    """

    name = "ppo"
    config: PPOConfig
    default_config = PPOConfig

    def policy_loss(
        self,
        current: MaskedPolicy,
        trajectories: Trajectories,
        advantage: torch.Tensor,
        magnets: list[torch.Tensor],
    ) -> PolicyLoss:
        """The loss of the module's docstring."""
        gain, is_free = self._gain(move_ratio(current, trajectories), advantage)
        by_action = -(advantage * is_free) / trajectories.of_actions(trajectories.behaviour)
        slope = torch.zeros_like(current.policy)
        slope.scatter_(-1, trajectories.action.unsqueeze(-1), by_action.unsqueeze(-1))
        return PolicyLoss(-gain, slope)

    def expected_loss(
        self, current: MaskedPolicy, trajectories: Trajectories, expected: torch.Tensor
    ) -> PolicyLoss:
        """The loss of the module's docstring."""
        old = trajectories.behaviour
        advantages = expected - (old * expected).sum(dim=-1, keepdim=True)
        # What is illegal has probability 0 in both.
        ratios = current.policy / old.clamp(min=torch.finfo(old.dtype).tiny)
        gain, is_free = self._gain(ratios, advantages)
        return PolicyLoss(-(old * gain).sum(dim=-1), -(advantages * is_free))

    def _gain(
        self, ratio: torch.Tensor, advantage: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The clipped gain min(ratio A, clip(ratio) A), and where the clip leaves it as it is."""
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        free, bounded = ratio * advantage, clipped * advantage
        return torch.minimum(free, bounded), free <= bounded
