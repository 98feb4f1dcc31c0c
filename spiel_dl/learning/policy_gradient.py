"""Policy gradients with entropy for self-play: the base of MMD and PPO.

One learner step:

  1. A batch of games is played by the current policy pi_old, from the root to the end.
  2. The advantages A of its moves are estimated by generalized advantage estimation, in which the
     moves of the other player are part of a player's environment: on-policy v-trace, with GAE's
     lambda as its c_bar. Utilities are in units of the game's largest one.
  3. Once or a few times, Adam descends the mean over all moves of the algorithm's own policy loss,
     minus the entropy H(pi) times the temperature, plus `value_weight` times the squared error of
     the value.
  4. The target network moves some of the way to the current one.

The temperature falls as 1 / sqrt(1 + step / annealing_steps). The learning rate is large for long,
because small steps learn too little at infosets that are seldom reached. The price is that the
current policy cycles around the fixed point of the losses. The policy returned is that of the
target network, an average over many steps, which is much nearer to it.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

import torch

from spiel_dl.learning.action_values import HistoryValues
from spiel_dl.learning.config import PolicyGradientConfig, annealed
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.learning.sources import Trajectories
from spiel_dl.learning.vtrace import on_policy_targets
from spiel_dl.policies.policy_network import MaskedPolicy


class PolicyLoss(NamedTuple):
    """A policy loss at every move, and its derivatives.

    Attributes:
      losses: float32 [T, B].
      slope: float32 [T, B, A], the derivatives by the probabilities of actions, up to a constant
        for each move, which makes no difference, as probabilities sum to 1.
    """

    losses: torch.Tensor
    slope: torch.Tensor

    @staticmethod
    def linear(current: MaskedPolicy, slope: torch.Tensor) -> PolicyLoss:
        """The loss sum_a pi(a) slope(a), whose slope is held fixed."""
        return PolicyLoss((current.policy * slope).sum(dim=-1), slope)


class PolicyGradientLearner(SelfPlayLearner):
    """Descends the policy loss of a subclass, `policy_loss`.

    The module `learning.learner` has an example, `Learner` the methods. Where action values of
    histories are learned, `policy_loss` gets only the part of the advantages that these do not
    explain, and `expected_loss` gets these.
    """

    losses = ("value_loss", "policy_loss", "entropy")
    config: PolicyGradientConfig
    default_config = PolicyGradientConfig

    def _schedule(self) -> dict[str, float]:
        return {**super()._schedule(), "temperature": self.temperature()}

    def _descend(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Steps 2 and 3 of the module's docstring."""
        observations, at_moves = trajectories.observations, trajectories.observations.at_moves
        forward = self._acting.forward_pass(observations.rows)
        values = self._history_values(trajectories)
        if values is not None:
            target, advantage, expected = self._targets_by_histories(values, trajectories)
        else:
            target, advantage = self.targets(trajectories, at_moves(forward.outputs[:, -1]))
            expected = None
        mask = observations.mask()
        magnets: list[torch.Tensor] = []
        if num_magnets := self.num_regularization_policies:
            logits = self.regularization_logits(observations, forward.inputs, num_magnets)
            magnets = [at_moves(x) for x in MaskedPolicy.of(logits, mask).log_policy]
        weight = trajectories.valid / trajectories.valid.sum().clamp(min=1)
        reported = []
        for epoch in range(self.config.num_epochs):
            if epoch:
                forward = self.network.forward_pass(self.parameters, forward.inputs)
            current = MaskedPolicy(*map(at_moves, MaskedPolicy.of(forward.outputs[:, :-1], mask)))
            losses, slope = self.policy_loss(current, trajectories, advantage, magnets)
            if expected is not None:
                more = self.expected_loss(current, trajectories, expected)
                losses, slope = losses + more.losses, slope + more.slope
            # Minus the entropy, whose slope is minus the logarithm, again up to a constant.
            slope = torch.addcmul(slope, current.log_policy, self._schedule_values["temperature"])
            surplus = slope - (current.policy * slope).sum(dim=-1, keepdim=True)
            by_logits = surplus.mul_(current.policy).mul_(weight.unsqueeze(-1))
            error = at_moves(forward.outputs[:, -1]) - target
            by_value = (2 * self.config.value_weight) * weight * error
            gradient = torch.cat([by_logits, by_value.unsqueeze(-1)], dim=-1)
            entropies = -(current.policy * current.log_policy).sum(dim=-1)
            numbers = torch.stack([error.square(), losses, entropies])
            reported.append((weight * numbers).sum(dim=(1, 2)))
            self._apply_gradient(forward, gradient, observations)
        return list(torch.stack(reported).mean(dim=0))

    def _targets_by_histories(
        self, values: HistoryValues, trajectories: Trajectories
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Step 2 with action values of histories, which are trained, too.

        Returns:
          Targets of values, float32 [T, B]; advantages of the moves made over their action values,
          float32 [T, B]; and the mover's action values, float32 [T, B, A].
        """
        no_cost = torch.zeros_like(trajectories.reward)
        targets = self._history_targets(values, trajectories, trajectories.behaviour, no_cost)
        sign, action_value = 1 - 2 * trajectories.player.to(no_cost.dtype), values.at_moves
        advantage = sign * (targets.taken_value - trajectories.of_actions(action_value))
        return targets.value, advantage, sign.unsqueeze(-1) * action_value

    @abc.abstractmethod
    def policy_loss(
        self,
        current: MaskedPolicy,
        trajectories: Trajectories,
        advantage: torch.Tensor,
        magnets: list[torch.Tensor],
    ) -> PolicyLoss:
        """The loss at every move besides those of value and entropy.

        Args:
          current: the policy of the current parameters at all moves.
          trajectories: the games, played by pi_old.
          advantage: float32 [T, B], of the moves made, in units of `utility_scale`; with action
            values of histories, over these.
          magnets: float32 [T, B, A], log-probabilities of each regularisation policy.
        """

    def expected_loss(
        self, current: MaskedPolicy, trajectories: Trajectories, expected: torch.Tensor
    ) -> PolicyLoss:
        """The loss at every move from action values of histories.

        Args:
          current: the policy of the current parameters at all moves.
          trajectories: the games, played by pi_old.
          expected: float32 [T, B, A], the mover's action values, in units of `utility_scale`.
        """
        return PolicyLoss.linear(current, -expected)

    def targets(
        self, trajectories: Trajectories, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Targets of values, and advantages of moves, in units of `utility_scale`.

        Args:
          trajectories: the games, played by pi_old.
          value: the values by pi_old's network, float32 [T, B].

        Returns:
          Float32 [T, B] each.
        """
        target = on_policy_targets(
            value=value,
            trajectories=trajectories,
            reward=trajectories.reward / self.utility_scale,
            c_bar=self.config.gae_lambda,
        )
        return target, target - value

    def temperature(self) -> float:
        """The weight of the entropy at this step."""
        config = self.config
        return annealed(config.temperature, self.num_steps, config.annealing_steps)


def move_ratio(current: MaskedPolicy, trajectories: Trajectories) -> torch.Tensor:
    """pi(a) / pi_old(a) of the moves made: float32 [T, B]."""
    return trajectories.of_actions(current.policy) / trajectories.of_actions(trajectories.behaviour)
