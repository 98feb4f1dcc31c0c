"""Policy gradients with entropy for self-play: what MMD and PPO have in common.

One learner step:

  1. A batch of games is played by the current policy pi_old, from the root to the end.
  2. The advantages A of its moves are those of generalized advantage estimation, each player seeing
     the moves of the other as part of its environment: v-trace on the acting policy, whose c_bar is
     then GAE's lambda. Utilities are in units of the game's largest one.
  3. Once or a few times, Adam descends the mean over all moves of the algorithm's own policy loss,
     minus the entropy H(pi) times the temperature, plus `value_weight` times the squared error of
     the value.
  4. The target network moves by `target_averaging` of the way to the current one.

The temperature falls as 1 / sqrt(1 + step / annealing_steps). The learning rate is large for long,
because small steps learn too little where games seldom come. The price is that the current policy
goes round the fixed point that the losses have. The policy handed out is that of the target
network, an average over many steps, which is much nearer to it (docs/algorithms/rnad.md has
numbers).
"""

from __future__ import annotations

import abc
import dataclasses
import math

import torch

from spiel_dl.learning.action_values import HistoryValues
from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.learning.sources import Trajectories
from spiel_dl.learning.vtrace import v_trace
from spiel_dl.policies.policy_network import MaskedPolicy


@dataclasses.dataclass(frozen=True)
class PolicyGradientConfig(LearnerConfig):
    """How to learn; `LearnerConfig` has the rest.

    Attributes:
      gae_lambda: how far advantages trust rewards rather than values; 1: rewards alone.
      num_epochs: steps of Adam per batch of games.
      value_weight: weight of the value's squared error.
      temperature: weight of the entropy in the first step, in units of `utility_scale`.
      annealing_steps: learner steps until the temperature has fallen by a factor of sqrt(2);
        infinite: it does not fall.
    """

    gae_lambda: float = 0.95
    num_epochs: int = 1
    value_weight: float = 0.5
    temperature: float = 0.1
    annealing_steps: float = 2000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("gae_lambda", 0 <= self.gae_lambda <= 1, "between 0 and 1")
        self._check("temperature", 0 <= self.temperature < math.inf, "finite and not negative")
        for name in ("num_epochs", "value_weight", "annealing_steps"):
            self._check(name, getattr(self, name) > 0, "positive")

    @property
    def descents_per_step(self) -> int:
        """As `LearnerConfig.descents_per_step`."""
        return self.num_epochs


class PolicyGradientLearner(SelfPlayLearner):
    """Descends a policy loss that its subclasses say, in `policy_loss`.

    The module `learning.learner` has an example, `Learner` the methods. Where action values of
    histories are learned, in compiled games unless the config says otherwise, `policy_loss` gets a
    part of the advantages only, and `expected_loss` the rest.
    """

    losses = ("value_loss", "policy_loss", "entropy")
    config: PolicyGradientConfig
    default_config = PolicyGradientConfig

    def _schedule(self) -> dict[str, float]:
        return {**super()._schedule(), "temperature": self.temperature()}

    def _descend(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Steps 2 and 3 of the module's docstring."""
        seen = trajectories.seen
        said = self._said(trajectories)
        values = self._history_values(trajectories)
        if values is not None:
            target, advantage, expected = self._targets_by_histories(values, trajectories)
        else:
            target, advantage = self.targets(trajectories, seen.at_moves(said.outputs[:, -1]))
            expected = None
        mask = trajectories.legal.to(target.dtype)
        magnets = [
            MaskedPolicy.of(logits, mask).log_policy
            for logits in self.regularization_logits(trajectories, self.num_regularization_policies)
        ]
        weight = trajectories.valid / trajectories.valid.sum().clamp(min=1)
        reported = []
        for epoch in range(self.config.num_epochs):
            if epoch:
                said = self.network.answer(self.parameters, seen.rows)
            with torch.enable_grad():
                outputs = seen.at_moves(said.outputs).requires_grad_()
                current = MaskedPolicy.of(outputs[..., :-1], mask)
                losses = self.policy_loss(current, trajectories, advantage, magnets)
                if expected is not None:
                    losses = losses + self.expected_loss(current, trajectories, expected)
                policy_loss = (weight * losses).sum()
                value_loss = (weight * (outputs[..., -1] - target).square()).sum()
                entropies = -(current.policy * current.log_policy).sum(dim=-1)
                entropy = (weight * entropies).sum()
                loss = policy_loss + self.config.value_weight * value_loss
                loss = loss - self._now["temperature"] * entropy
            (gradient,) = torch.autograd.grad(loss, outputs)
            self._follow(said, gradient, seen)
            reported.append(torch.stack([value_loss, policy_loss, entropy]).detach())
        return list(torch.stack(reported).mean(dim=0))

    def _targets_by_histories(
        self, values: HistoryValues, trajectories: Trajectories
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Step 2 with action values of histories, which learn, too.

        Returns:
          Targets of values, float32 [T, B]; by how much moves did better than expected, as
          advantages, float32 [T, B]; and what is expected of actions, float32 [T, B, A].
        """
        no_cost = torch.zeros_like(trajectories.reward)
        found = self._history_targets(values, trajectories, trajectories.behaviour, no_cost)
        sign, said = 1 - 2 * trajectories.player.to(no_cost.dtype), values.at_moves
        column = trajectories.action.unsqueeze(-1)
        surprise = sign * (found.taken - said.gather(-1, column).squeeze(-1))
        return found.value, surprise, sign.unsqueeze(-1) * said

    @abc.abstractmethod
    def policy_loss(
        self,
        current: MaskedPolicy,
        trajectories: Trajectories,
        advantage: torch.Tensor,
        magnets: list[torch.Tensor],
    ) -> torch.Tensor:
        """What is descended besides value and entropy, at every move: float32 [T, B].

        Args:
          current: the policy of the current parameters at all moves.
          trajectories: the games, played by pi_old.
          advantage: float32 [T, B], of the moves made, in units of `utility_scale`; with action
            values of histories, by how much they did better than these said.
          magnets: float32 [T, B, A], log-probabilities of each regularisation policy.
        """

    def expected_loss(
        self, current: MaskedPolicy, trajectories: Trajectories, expected: torch.Tensor
    ) -> torch.Tensor:
        """What is descended of action values of histories, at every move: float32 [T, B].

        Args:
          current: the policy of the current parameters at all moves.
          trajectories: the games, played by pi_old.
          expected: float32 [T, B, A], what actions are worth to who acts, in units of
            `utility_scale`.
        """
        return -(current.policy * expected).sum(dim=-1)

    def targets(
        self, trajectories: Trajectories, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Targets of values, and advantages of moves, in units of `utility_scale`.

        Args:
          trajectories: the games, played by pi_old.
          value: what pi_old's network says of them, float32 [T, B].

        Returns:
          Float32 [T, B] each.
        """
        targets = v_trace(
            value=value,
            policy=trajectories.behaviour,
            log_ratio=torch.zeros_like(trajectories.behaviour),
            trajectories=trajectories,
            reward=trajectories.reward / self.utility_scale,
            eta=0.0,
            c_bar=self.config.gae_lambda,
        )
        return targets.value, targets.value - value

    def temperature(self) -> float:
        """The weight of the entropy at this step."""
        fallen = math.sqrt(1 + self.num_steps / self.config.annealing_steps)
        return self.config.temperature / fallen


def move_ratio(current: MaskedPolicy, trajectories: Trajectories) -> torch.Tensor:
    """pi(a) / pi_old(a) of the moves made: float32 [T, B]."""
    column = trajectories.action.unsqueeze(-1)
    now, before = (x.gather(-1, column)[..., 0] for x in (current.policy, trajectories.behaviour))
    return now / before


def divergence(current: MaskedPolicy, log_other: torch.Tensor) -> torch.Tensor:
    """KL(pi, other) at every move, in nats: float32 [T, B].

    Args:
      current: pi.
      log_other: float32 [T, B, A], 0 for illegal actions.
    """
    return (current.policy * (current.log_policy - log_other)).sum(dim=-1)
