"""MMD: magnetic mirror descent by self-play, with a magnet that moves.

Sokota et al. (2023), "A unified approach to reinforcement learning, quantal response equilibria,
and two-player zero-sum games", section on deep reinforcement learning; the moving magnet is that of
its section on Nash equilibria. A step is that of `learning.policy_gradient` with the policy loss

    - ratio A + magnet_weight KL(pi, magnet) + KL(pi, pi_old) / stepsize,

where ratio = pi(a) / pi_old(a). Each `magnet_period` steps the target network's policy becomes the
magnet; the first magnet is the fresh network's nearly uniform policy. With a fixed magnet the
losses have one fixed point, and as magnets are renewed these approach an equilibrium. The entropy,
which pulls towards the uniform policy, is needed beside the magnet: without it nothing stops the
magnets from drifting with noise.

    learner = mmd.MMDSolver("leduc_poker")
    learner.run(1000)
    policy = learner.policy()
"""

from __future__ import annotations

import torch

from spiel_dl.learning.config import MMDConfig
from spiel_dl.learning.policy_gradient import PolicyGradientLearner, PolicyLoss
from spiel_dl.learning.sources import Trajectories
from spiel_dl.policies.policy_network import MaskedPolicy


class MMDSolver(PolicyGradientLearner):
    """Learns a policy by magnetic mirror descent.

    The module `learning.learner` has an example, `Learner` the methods.
    """

    name = "mmd"
    config: MMDConfig
    default_config = MMDConfig
    num_regularization_policies = 1

    def step(self) -> None:
        """As `Learner.step`; also renews the magnet every `magnet_period` steps."""
        super().step()
        if self.num_steps % self.config.magnet_period == 0:
            self._renew_regularization()

    def policy_loss(
        self,
        current: MaskedPolicy,
        trajectories: Trajectories,
        advantage: torch.Tensor,
        magnets: list[torch.Tensor],
    ) -> PolicyLoss:
        """The loss of the module's docstring.

        A divergence KL(pi, other) is the sum of pi log(pi / other). The logarithm is also its
        slope, up to the constant 1.
        """
        slope = (current.log_policy - magnets[0]).mul_(self.config.magnet_weight)
        old, column = trajectories.behaviour, trajectories.action.unsqueeze(-1)
        if self.config.num_epochs > 1:
            # Illegal actions have probability 0 in both policies.
            log_old = old.clamp(min=torch.finfo(old.dtype).tiny).log()
            slope.add_(current.log_policy - log_old, alpha=1 / self.config.stepsize)
        by_action = -advantage / trajectories.of_actions(old)
        slope.scatter_add_(-1, column, by_action.unsqueeze(-1))
        return PolicyLoss.linear(current, slope)
