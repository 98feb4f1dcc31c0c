"""R-NaD: regularised Nash dynamics, with networks and self-play ("DeepNash").

Perolat et al. (2022), "Mastering the game of Stratego with model-free multiagent reinforcement
learning" (arXiv 2206.15378), Methods and supplement; Kubíček et al. (2023), section 3.2, with its
Table 2 as `PAPER`. One learner step:

  1. A batch of games is played by the current policy pi, from the root to the end.
  2. Rewards are regularised: at each decision the mover pays eta log(pi / pi_reg) to the other.
     log pi_reg = alpha log pi_m + (1 - alpha) log pi_(m-1) interpolates the two last regularisation
     policies; alpha rises from 0 to 1 in the first half of a period, and stays 1.
  3. Two-player v-trace (`spiel_dl.learning.vtrace`), with the target network's values, gives
     targets for values and action values.
  4. Adam descends the sum over both players of the mean squared error of their values and of their
     mean NeuRD loss (`spiel_dl.learning.neurd`).
  5. The target network moves some of the way to the current one.
  6. At the end of a period the target network becomes the next regularisation policy pi_(m+1).

As in OpenSpiel's R-NaD, before it was removed there, the policy returned is the target network's.

The defaults add to the papers, and `PAPER` leaves out (docs/algorithms/rnad.md has the reasons):

  - In 3, action values of whole histories replace v-trace (`spiel_dl.learning.action_values`).
  - In 4, the force on an action is at most a multiple of its policy gradient (`neurd_max_gain`),
    which bounds it for actions that are seldom played.
  - In 2, a regularisation policy is mixed towards the uniform policy, by taking it to a power below
    1, so that noise in it does not drive actions out for good; the power rises to 1
    (`uniform_share`).

Deviation: logits are centred by their mean over legal actions, as the paper writes, where
OpenSpiel's code divides by all actions.

The acting policy is the current one, as in Kubíček et al., so v-trace's ratios are 1; they are
computed all the same.
"""

from __future__ import annotations

import torch

from spiel_dl.learning.config import PAPER_RNAD, RNaDConfig, annealed
from spiel_dl.learning.neurd import neurd_gradient
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.learning.sources import MoveInputs, Trajectories
from spiel_dl.learning.vtrace import Targets, v_trace
from spiel_dl.networks.sparse_rows import Inputs
from spiel_dl.policies.policy_network import MaskedPolicy, as_mask

PAPER = PAPER_RNAD
"""The settings of Kubíček et al. (2023), Table 2."""


class RNaDSolver(SelfPlayLearner):
    """Learns a policy by R-NaD.

    The module `learning.learner` has an example, `SelfPlayLearner` and `Learner` the methods.
    """

    name = "rnad"
    losses = ("value_loss", "policy_loss", "entropy")
    config: RNaDConfig
    default_config = RNaDConfig
    num_regularization_policies = 2

    def sharpness(self) -> float:
        """The power to which regularisation policies are taken at this step."""
        config = self.config
        return 1 - annealed(config.uniform_share, self.num_steps, config.annealing_steps)

    def step(self) -> None:
        """As `Learner.step`; also renews the regularisation policy at the end of a period."""
        done, length = self.config.place_in_period(self.num_steps)
        super().step()
        if done + 1 == length:
            self._renew_regularization()

    def _schedule(self) -> dict[str, float]:
        done, length = self.config.place_in_period(self.num_steps)
        share = min(1.0, 2 * done / length)
        return {**super()._schedule(), "share": share, "sharpness": self.sharpness()}

    def _descend(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Steps 2 to 4 of the module's docstring."""
        observations = trajectories.observations
        forward = self._acting.forward_pass(observations.rows)
        outputs = observations.at_moves(forward.outputs)
        logits, value = outputs[..., :-1], outputs[..., -1]
        # Rows are fewer than moves.
        mask = observations.mask()
        current = MaskedPolicy.of(forward.outputs[:, :-1], mask)
        entropy = -(current.policy * current.log_policy).sum(dim=-1)
        last = self._log_regularization_policy(observations, forward.inputs, mask)
        policy, log_ratio = (
            observations.at_moves(current.policy),
            observations.at_moves(current.log_policy - last),
        )
        targets = self._targets(trajectories, forward.inputs, policy, log_ratio)
        weight = _decision_weights(trajectories)
        pull = neurd_gradient(
            logits,
            policy,
            targets.action_value,
            as_mask(trajectories.legal),
            threshold=self.config.neurd_threshold,
            clip=self.config.neurd_clip,
            max_gain=self.config.neurd_max_gain,
        ).mul_(weight.unsqueeze(-1))
        error = value - targets.value
        gradient = torch.cat([pull, (2 * weight * error).unsqueeze(-1)], dim=-1)
        self._apply_gradient(forward, gradient, observations)
        return [
            (weight * error.square()).sum(),
            (pull * logits).sum(),
            (weight * observations.at_moves(entropy)).sum() / weight.sum(),
        ]

    def _targets(
        self,
        trajectories: Trajectories,
        inputs: Inputs,
        policy: torch.Tensor,
        log_ratio: torch.Tensor,
    ) -> Targets:
        """Steps 2 and 3 of the module's docstring; see `v_trace`."""
        eta, c_bar = self.config.eta, self.config.c_bar
        values = self._history_values(trajectories)
        if values is not None:
            cost = eta * (policy * log_ratio).sum(dim=-1)
            targets = self._history_targets(values, trajectories, policy, cost, c_bar=c_bar)
            return Targets(targets.value, targets.action_value - eta * log_ratio)
        return v_trace(
            value=self.target_value(trajectories.observations, inputs),
            policy=policy,
            log_ratio=log_ratio,
            trajectories=trajectories,
            reward=trajectories.reward / self.utility_scale,
            eta=eta,
            c_bar=c_bar,
            rho_bar=self.config.rho_bar,
        )

    def _log_regularization_policy(
        self, observations: MoveInputs, inputs: Inputs, mask: torch.Tensor
    ) -> torch.Tensor:
        """Logarithms of pi_reg at all observations: float32 [N, A]."""
        # In the second half of a period pi_(m-1) has no share; a CUDA graph cannot leave it out.
        done, length = self.config.place_in_period(self.num_steps)
        is_last_alone = 2 * done >= length and not self.is_graph
        logits = self.regularization_logits(observations, inputs, 1 if is_last_alone else 2)
        # Policies to the power of the sharpness, normalised; the newest first.
        logs = MaskedPolicy.of(self._schedule_values["sharpness"] * logits, mask).log_policy
        return logs[0] if is_last_alone else logs[1].lerp(logs[0], self._schedule_values["share"])


def _decision_weights(trajectories: Trajectories) -> torch.Tensor:
    """Weights of all decisions, float32 [T, B], that sum to 1 over each player's."""
    valid = trajectories.valid.to(trajectories.reward.dtype)
    second = valid * trajectories.player
    first = valid - second
    return first / first.sum().clamp(min=1) + second / second.sum().clamp(min=1)
