"""R-NaD: regularised Nash dynamics, with networks and self-play ("DeepNash").

Perolat et al. (2022), "Mastering the game of Stratego with model-free multiagent reinforcement
learning" (arXiv 2206.15378), Methods and supplement; Kubíček et al. (2023), section 3.2, with its
Table 2 as `PAPER`. One learner step:

  1. A batch of games is played by the current policy pi, from the root to the end.
  2. Rewards are regularised: at each decision the mover pays eta log(pi / pi_reg) to the other.
     log pi_reg = alpha log pi_m + (1 - alpha) log pi_(m-1) lies between the two last regularisation
     policies; alpha rises from 0 to 1 in the first half of a period, and stays.
  3. Two-player v-trace (`spiel_dl.learning.vtrace`), with the target network's values, gives
     targets for values and action values.
  4. Adam descends the sum over both players of the mean squared error of their values and of their
     mean NeuRD loss (`spiel_dl.learning.neurd`).
  5. The target network moves some of the way to the current one.
  6. At the end of a period the target network becomes the next regularisation policy pi_(m+1).

As in OpenSpiel's R-NaD, before it was removed there, the policy handed out is the target network's.

What the defaults add to the papers, and `PAPER` leaves out; docs/algorithms/rnad.md says why:

  - In 3, action values of whole histories take the place of v-trace in compiled games
    (`spiel_dl.learning.action_values`).
  - In 4, an action that is seldom played is pushed by a bounded multiple of the policy gradient
    (`neurd_max_gain`).
  - In 2, a regularisation policy is moved some of the way to the uniform policy, by taking it to a
    power below 1, so that it cannot follow its own noise to where no action is played any more; the
    power rises to 1 (`uniform_share`).

Deviation: logits are centred by their mean over legal actions, as the paper writes, where
OpenSpiel's code divides by all actions.

The policy that acts is the current one, as in Kubíček et al., so v-trace's ratios are 1; they are
computed all the same. With workers that play ahead it is one of some steps ago, and they are not 1.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.neurd import neurd_gradient
from spiel_dl.learning.played_ahead import Games, PlayedAhead
from spiel_dl.learning.rnad_kernel import RNaDNumbers, rnad_gradient
from spiel_dl.learning.self_play import Distinct, Trajectories
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.learning.step_graph import StepGraph
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.learning.vtrace import Targets, v_trace
from spiel_dl.policies.policy_network import log_policy
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame


@dataclasses.dataclass(frozen=True)
class RNaDConfig(LearnerConfig):
    """How to learn; `LearnerConfig` has the rest.

    Attributes:
      eta: weight of the reward regularisation, in units of `utility_scale`.
      first_period: learner steps per regularisation policy at first.
      num_first_periods: how many periods are of this length.
      period: learner steps per regularisation policy later.
      neurd_threshold: beta, how far logits are pushed from their mean.
      neurd_clip: bound on the advantages that push logits.
      neurd_max_gain: bound on what NeuRD's force on a logit is of the policy gradient's, whose
        inverse probability of an action is noise where that is seldom played; infinite: NeuRD.
      uniform_share: how far a regularisation policy is moved to the uniform policy in the first
        step: it is taken to the power of 1 minus this, and normalised. 0: not at all.
      annealing_steps: learner steps until that has fallen by a factor of sqrt(2); infinite: it does
        not fall.
      c_bar: v-trace's bound on the ratios that carry targets backwards.
      rho_bar: v-trace's bound on the ratios that correct values.
    """

    eta: float = 0.2
    first_period: int = 2000
    num_first_periods: int = 200
    period: int = 10_000
    neurd_threshold: float = 5.0
    neurd_clip: float = 10_000.0
    neurd_max_gain: float = 5.0
    uniform_share: float = 0.5
    annealing_steps: float = 2000.0
    c_bar: float = 1.0
    rho_bar: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("eta", 0 <= self.eta < math.inf, "finite and not negative")
        for name in (
            "first_period",
            "period",
            "neurd_threshold",
            "neurd_clip",
            "neurd_max_gain",
            "annealing_steps",
            "c_bar",
            "rho_bar",
        ):
            self._check(name, getattr(self, name) > 0, "positive")
        self._check("uniform_share", 0 <= self.uniform_share < 1, "at least 0 and below 1")
        self._check("num_first_periods", self.num_first_periods >= 0, "0 or more")

    def place_in_period(self, step: int) -> tuple[int, int]:
        """How many steps of its period are over after `step` steps, and the period's length."""
        steps_of_first = self.first_period * self.num_first_periods
        if step < steps_of_first:
            return step % self.first_period, self.first_period
        return (step - steps_of_first) % self.period, self.period


PAPER = RNaDConfig(
    hidden_sizes=(512, 512),
    batch_size=128,
    learning_rate=3e-4,
    final_learning_rate=None,
    adam_beta1=0.0,
    first_period=500,
    target_averaging=1e-3,
    target_share=math.inf,
    utility_unit=1.0,
    neurd_threshold=2.0,
    neurd_max_gain=math.inf,
    uniform_share=0.0,
    history_values=False,
)
"""The settings of Kubíček et al. (2023), Table 2."""


class RNaDSolver(SelfPlayLearner):
    """Learns a policy by R-NaD.

    The module `learning.learner` has an example, `SelfPlayLearner` and `Learner` the methods.
    """

    name = "rnad"
    terms = ("value_loss", "policy_loss", "entropy")
    config: RNaDConfig
    default_config = RNaDConfig
    num_regularization_policies = 2

    def __init__(
        self,
        game: AnyGame,
        config: RNaDConfig | None = None,
        *,
        device: torch.device | str = "cpu",
        transformations: PolicyTransformations | None = None,
        critic: CriticConfig | None = None,
        cuda_graph: bool = False,
        num_workers: int = 0,
    ):
        """Starts at a fresh network, which is the first regularisation policy as well.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn; None: the defaults.
          device: where games are played and networks live.
          transformations: what opponents may do by a critic that learns, too; None: no critic.
          critic: how the critic learns; None: the defaults.
          cuda_graph: do a step as one CUDA graph, see `StepGraph`; on a CUDA device only.
          num_workers: processes that play while this one learns, by parameters of as many steps
            ago, see `learning.played_ahead`; 0: this one plays, too. On a CPU only.

        Raises:
          ValueError: if the game is none that can be learned here, if there are parameters of a
            critic without transformations, if there is to be a graph on another device, or if
            there are workers on another one or for a compiled tree.
        """
        super().__init__(
            game, config, device=device, transformations=transformations, critic=critic
        )
        # Shares of the last regularisation policy and of the one before. A tensor, because a graph
        # does not notice what changes in Python.
        self._shares = torch.zeros(2, device=device)
        # Whether the one before has no share, and need not be asked. A graph must ask both.
        self._is_last_alone = False
        self._sharpness = torch.ones((), device=device)
        if cuda_graph:
            self._advance = StepGraph(self._play_and_learn, self._self_play.environment.generator)
        self._ahead = self._played_ahead(game, num_workers) if num_workers else None

    def _played_ahead(self, game: AnyGame, num_workers: int) -> PlayedAhead:
        if isinstance(game, GameTree) or not self.parameters.is_cpu:
            raise ValueError(
                f"num_workers={num_workers} play games that are told by their string, on a CPU; "
                "pass the game instead of its tree, or leave them out"
            )
        if self._critic is not None:
            self._critic.expect_no_branches()
        config = self.config
        games = Games(
            str(self.game),
            config.batch_size,
            config.max_tree_histories,
            records_histories=self._histories is not None or self._critic is not None,
            network=self.network,
            seed=config.seed,
        )
        return PlayedAhead(games, self.parameters, num_workers)

    def _games_of_step(self) -> Trajectories:
        if self._ahead is None:
            return super()._games_of_step()
        return self._ahead.take(self.parameters.detach())

    def settings(self) -> dict[str, Any]:
        """As `Learner.settings`."""
        workers = {} if self._ahead is None else {"num_workers": len(self._ahead.parameters)}
        return {**super().settings(), **workers}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """As `Learner.load_state`."""
        super().load_state(state)
        if self._ahead is not None:
            self._ahead.begin_again(self.num_steps)

    def _tensors(self) -> dict[str, torch.Tensor]:
        ahead = {} if self._ahead is None else {"parameters_ahead": self._ahead.parameters}
        return {**super()._tensors(), **ahead}

    def sharpness(self) -> float:
        """The power to which regularisation policies are taken at this step."""
        fallen = math.sqrt(1 + self.num_steps / self.config.annealing_steps)
        return 1 - self.config.uniform_share / fallen

    def step(self) -> None:
        """As `Learner.step`; also moves on to the next regularisation policy when it is time."""
        done, length = self.config.place_in_period(self.num_steps)
        share = min(1.0, 2 * done / length)
        self._shares[0].fill_(share)
        self._shares[1].fill_(1 - share)
        self._sharpness.fill_(self.sharpness())
        self._is_last_alone = share == 1 and not isinstance(self._advance, StepGraph)
        super().step()
        if done + 1 == length:
            self._renew_regularization()

    def _descend(self, trajectories: Trajectories, seen: Distinct) -> list[torch.Tensor]:
        descend = self._descend_by_kernel if self.parameters.is_cpu else self._descend_by_torch
        return descend(trajectories, seen)

    def _descend_by_kernel(self, trajectories: Trajectories, seen: Distinct) -> list[torch.Tensor]:
        """Steps 2 to 4 of the module's docstring, on a CPU."""
        config = self.config
        numbers = RNaDNumbers(
            reward_scale=1 / self.utility_scale,
            eta=config.eta,
            c_bar=config.c_bar,
            rho_bar=config.rho_bar,
            threshold=config.neurd_threshold,
            clip=config.neurd_clip,
            max_gain=config.neurd_max_gain,
            sharpness=self._sharpness.item(),
            trace_decay=config.history_trace_decay,
        )
        said = self.network.answer(self.parameters, seen.tensors)
        histories = self._history_answer(trajectories)
        num_reference = 1 if self._is_last_alone else 2
        gradient, terms = rnad_gradient(
            said.outputs,
            self._target_rows(seen) if histories is None else said.outputs[:, -1],
            self._references(trajectories, seen, num_reference),
            self._shares[:num_reference],
            histories,
            trajectories,
            seen,
            numbers,
        )
        self._descent.follow(said.gradient(gradient))
        self._learn_histories(histories)
        return list(terms)

    def _descend_by_torch(self, trajectories: Trajectories, seen: Distinct) -> list[torch.Tensor]:
        """The same on any device."""
        outputs = seen.at_moves(self.network.outputs(self.parameters, seen.tensors))
        logits, value = outputs.detach()[..., :-1], outputs.detach()[..., -1]
        log_pi = log_policy(logits, trajectories.legal)
        policy = log_pi.exp()
        targets = self._targets(trajectories, seen, log_pi, policy)
        weight = _decision_weights(trajectories)
        pull = weight.unsqueeze(-1) * neurd_gradient(
            logits,
            policy,
            targets.action_value,
            trajectories.legal,
            threshold=self.config.neurd_threshold,
            clip=self.config.neurd_clip,
            max_gain=self.config.neurd_max_gain,
        )
        error = value - targets.value
        gradient = torch.cat([pull, (2 * weight * error).unsqueeze(-1)], dim=-1)
        self._descent.step(outputs, gradient)
        entropy = -(policy * log_pi).sum(dim=-1)
        return [
            (weight * error.square()).sum(),
            (pull * logits).sum(),
            (weight * entropy).sum() / weight.sum(),
        ]

    def _targets(
        self,
        trajectories: Trajectories,
        seen: Distinct,
        log_pi: torch.Tensor,
        policy: torch.Tensor,
    ) -> Targets:
        """Steps 2 and 3 of the module's docstring."""
        log_reg = self._log_regularization_policy(trajectories, seen)
        log_ratio = (log_pi - log_reg) * trajectories.legal
        values = self._history_values(trajectories)
        if self._histories is not None and values is not None:
            cost = self.config.eta * (policy * log_ratio).sum(dim=-1)
            found = self._history_targets(
                values, trajectories, policy, cost, c_bar=self.config.c_bar
            )
            self._histories.learn_targets(values, found, trajectories)
            return Targets(found.value, found.action_value - self.config.eta * log_ratio)
        return v_trace(
            value=self.target_value(seen),
            policy=policy,
            log_ratio=log_ratio,
            behaviour=trajectories.behaviour,
            action=trajectories.action,
            player=trajectories.player,
            valid=trajectories.valid,
            reward=trajectories.reward / self.utility_scale,
            eta=self.config.eta,
            c_bar=self.config.c_bar,
            rho_bar=self.config.rho_bar,
        )

    def _log_regularization_policy(
        self, trajectories: Trajectories, seen: Distinct
    ) -> torch.Tensor:
        """What the regularisation policy, between the two last ones, says: float32 [T, B, A]."""
        num_newest = 1 if self._is_last_alone else 2
        log_policies = self.regularization_log_policies(trajectories, seen, num_newest)
        # The second normalises what has been taken to a power.
        log_policies = log_policy(self._sharpness * log_policies, trajectories.legal)
        if self._is_last_alone:
            return log_policies[0]
        log_last, log_second_to_last = log_policies
        mean: torch.Tensor = self._shares[0] * log_last + self._shares[1] * log_second_to_last
        return mean


def _decision_weights(trajectories: Trajectories) -> torch.Tensor:
    """Weights of all decisions, float32 [T, B], that sum to 1 over each player's."""
    weight = torch.zeros_like(trajectories.reward)
    for player in (0, 1):
        own = trajectories.valid & (trajectories.player == player)
        weight += own / own.sum().clamp(min=1)
    return weight
