"""Policy gradients with entropy for self-play: magnetic mirror descent (MMD) and PPO.

Sokota et al. (2023), "A unified approach to reinforcement learning, quantal response equilibria,
and two-player zero-sum games", section on deep reinforcement learning; Schulman et al. (2017),
"Proximal policy optimization algorithms", eq. 7 and 9. One learner step:

  1. A batch of games is played by the current policy pi_old, from the root to the end.
  2. The advantages A of its moves are those of generalized advantage estimation, each player seeing
     the moves of the other as part of its environment: v-trace on the acting policy, whose c_bar is
     then GAE's lambda.
  3. A few times, Adam descends the mean over all moves of

       MMD:  - ratio A + KL(pi, pi_old) / stepsize - temperature H(pi)
       PPO:  - min(ratio A, clip(ratio, 1 - clip, 1 + clip) A) - temperature H(pi)

     plus `value_weight` times the squared error of the value, where ratio = pi(a) / pi_old(a) and H
     is the entropy: for MMD, the magnet is the uniform policy. Temperature, and MMD's stepsize,
     fall as 1 / sqrt(1 + step / annealing_steps).

Without annealing MMD heads for the quantal response equilibrium of its temperature. The policy
handed out is the last iterate.
"""

from __future__ import annotations

import abc
import dataclasses
import math

import torch

from spiel_dl.learning.self_play import Distinct, Trajectories
from spiel_dl.learning.self_play_learner import LearnerConfig, SelfPlayLearner
from spiel_dl.learning.vtrace import v_trace
from spiel_dl.policies.policy_network import log_policy


@dataclasses.dataclass(frozen=True)
class PolicyGradientConfig(LearnerConfig):
    """How to learn; `LearnerConfig` has the rest.

    Attributes:
      adam_beta1: decay of Adam's mean gradient.
      gae_lambda: how far advantages trust rewards rather than values; 1: rewards alone.
      num_epochs: steps of Adam per batch of games.
      value_weight: weight of the value's squared error.
      temperature: weight of the entropy at first, in utility units per nat.
      annealing_steps: learner steps in which it falls by a factor of sqrt(2); infinite: never.
    """

    adam_beta1: float = 0.9
    gae_lambda: float = 0.95
    num_epochs: int = 4
    value_weight: float = 0.5
    temperature: float = 0.1
    annealing_steps: float = 2000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("gae_lambda", 0 <= self.gae_lambda <= 1, "between 0 and 1")
        self._check("temperature", 0 <= self.temperature < math.inf, "finite and not negative")
        for name in ("num_epochs", "value_weight", "annealing_steps"):
            self._check(name, getattr(self, name) > 0, "positive")


@dataclasses.dataclass(frozen=True)
class MMDConfig(PolicyGradientConfig):
    """How to learn by MMD.

    Attributes:
      stepsize: inverse weight of the distance to the policy that played, at first.
    """

    stepsize: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("stepsize", 0 < self.stepsize < math.inf, "positive and finite")


@dataclasses.dataclass(frozen=True)
class PPOConfig(PolicyGradientConfig):
    """How to learn by PPO.

    Attributes:
      clip: how far the ratio to the policy that played may gain from leaving 1.
    """

    clip: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("clip", 0 < self.clip < math.inf, "positive and finite")


class PolicyGradientSolver(SelfPlayLearner):
    """What MMD and PPO have in common; `SelfPlayLearner` has an example and the methods."""

    terms = ("value_loss", "policy_loss", "entropy")
    config: PolicyGradientConfig

    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        seen = trajectories.distinct_observations()
        target, advantage = self._targets(trajectories, seen)
        weight = trajectories.valid / trajectories.valid.sum().clamp(min=1)
        temperature = self.config.temperature * self._annealing()
        reported = []
        for _ in range(self.config.num_epochs):
            outputs = seen.at_moves(self.network.outputs(self.parameters, seen.tensors))
            log_pi = log_policy(outputs[..., :-1], trajectories.legal)
            entropy = -(log_pi.exp() * log_pi).sum(dim=-1)
            policy_loss = (weight * self._policy_loss(log_pi, trajectories, advantage)).sum()
            value_loss = (weight * (outputs[..., -1] - target).square()).sum()
            mean_entropy = (weight * entropy).sum()
            loss = policy_loss + self.config.value_weight * value_loss - temperature * mean_entropy
            self._descent.step(loss)
            reported.append(torch.stack([value_loss, policy_loss, mean_entropy]).detach())
        return list(torch.stack(reported).mean(dim=0))

    @abc.abstractmethod
    def _policy_loss(
        self, log_pi: torch.Tensor, trajectories: Trajectories, advantage: torch.Tensor
    ) -> torch.Tensor:
        """What is descended besides value and entropy, at every move: float32 [T, B]."""

    @torch.no_grad()
    def _targets(
        self, trajectories: Trajectories, seen: Distinct
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Targets of values, and advantages of moves: float32 [T, B] each."""
        value = seen.at_moves(self.network.evaluate(self.parameters, seen.tensors).value)
        targets = v_trace(
            value=value,
            policy=trajectories.behaviour,
            log_ratio=torch.zeros_like(trajectories.behaviour),
            behaviour=trajectories.behaviour,
            action=trajectories.action,
            player=trajectories.player,
            valid=trajectories.valid,
            reward=trajectories.reward,
            eta=0.0,
            c_bar=self.config.gae_lambda,
        )
        return targets.value, targets.value - value

    def _annealing(self) -> float:
        return 1 / math.sqrt(1 + self.num_steps / self.config.annealing_steps)


class MMDSolver(PolicyGradientSolver):
    """Learns a policy by magnetic mirror descent."""

    name = "mmd"
    config: MMDConfig
    default_config = MMDConfig

    def _policy_loss(
        self, log_pi: torch.Tensor, trajectories: Trajectories, advantage: torch.Tensor
    ) -> torch.Tensor:
        # Illegal actions have probability 0 in both policies.
        log_old = trajectories.behaviour.clamp(min=torch.finfo(log_pi.dtype).tiny).log()
        distance = (log_pi.exp() * (log_pi - log_old)).sum(dim=-1)
        ratio = _ratio(log_pi, trajectories)
        return distance / (self.config.stepsize * self._annealing()) - ratio * advantage


class PPOSolver(PolicyGradientSolver):
    """Learns a policy by PPO with entropy."""

    name = "ppo"
    config: PPOConfig
    default_config = PPOConfig

    def _policy_loss(
        self, log_pi: torch.Tensor, trajectories: Trajectories, advantage: torch.Tensor
    ) -> torch.Tensor:
        ratio = _ratio(log_pi, trajectories)
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        return -torch.minimum(ratio * advantage, clipped * advantage)


def _ratio(log_pi: torch.Tensor, trajectories: Trajectories) -> torch.Tensor:
    """Probabilities of the moves made, over what they were: float [T, B]."""
    column = trajectories.action.unsqueeze(-1)
    log_now = log_pi.gather(-1, column)[..., 0]
    return log_now.exp() / trajectories.behaviour.gather(-1, column)[..., 0]
