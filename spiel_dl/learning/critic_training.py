"""`CriticTrainer`: trains a critic on trajectories of a learner.

Kubíček et al. (2023), section 4.1 and Table 2. One step, on one batch of games:

  1. Off-policy v-trace (`learning.history_vtrace`) gives targets for both players and all
     transformations. Own moves are weighted with pi / mu, the opponent's with f(pi) / mu: pi is the
     blueprint, mu the policy that acted. In compiled games on a CPU, where the history after every
     action is known, the sampled step is replaced by its expectation over actions, which has no
     noise:

         v_t' = sum_a f(pi)(a | h_t) v(h_t a) + min(c_bar, rho_t) (v_(t+1)' - v_(t+1)).

  2. Adam descends the values' loss, over all histories of the batch, both players and all
     transformations. Values are the game's largest utility times tanh of the network's outputs, and
     the loss is the cross-entropy of (1 + v) / 2, in these units: its derivative by the outputs is
     v - v', so that, as with squared errors, noise in targets does not bias values.
  3. The target network moves towards the current one; `critic` returns the target network.

The paper has squared errors of values that are not bounded (`bounded=False`), and takes all values
from the target network. Here targets are made of the current network's values, which learn sooner.
"""

from __future__ import annotations

import math
from typing import Any

import pyspiel
import torch

from spiel_dl.learning.config import CriticConfig
from spiel_dl.learning.critic_network import CriticNetwork, NetworkCritic
from spiel_dl.learning.history_vtrace import history_v_trace, transformation_ratios
from spiel_dl.learning.sources import Branches, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations, check_transformations
from spiel_dl.policies.sight import FEATURES


class CriticTrainer:
    """Trains a critic network; it plays no games.

    Attributes:
      transformations: the opponent's deviations that are valued.
      config: how to learn.
      network: the network.
    """

    def __init__(
        self,
        num_inputs: int,
        num_actions: int,
        transformations: PolicyTransformations,
        config: CriticConfig,
        device: torch.device | str = "cpu",
        *,
        largest_utility: float,
    ):
        """Makes a fresh network.

        Args:
          num_inputs: E, the length of a history's tensor.
          num_actions: A.
          transformations: K of them.
          config: how to learn.
          device: that of the network.
          largest_utility: the game's largest absolute utility.

        Raises:
          ValueError: if a transformation returns no weights, or negative ones, for uniform or
            deterministic policies over A actions.
        """
        check_transformations(transformations)
        pure = torch.eye(num_actions, device=device)
        for policies in (pure, torch.full_like(pure, 1 / num_actions)):
            transformations.apply(policies, torch.ones_like(pure, dtype=torch.bool))
        self.transformations = transformations
        self.config = config
        bound = largest_utility if config.bounded else math.inf
        self.network = CriticNetwork(num_inputs, len(transformations), config.hidden_sizes, bound)
        self._parameters = self.network.initial_parameters(config.seed).to(device)
        self._target = self._parameters.clone()
        self._descent = config.descent(self._parameters)

    @torch.no_grad()
    def learn(self, trajectories: Trajectories, policy: torch.Tensor) -> torch.Tensor:
        """One step, as in the module's docstring.

        Args:
          trajectories: with histories.
          policy: the blueprint at each observation, float32 [N, A]; 0 for illegal actions.

        Returns:
          The mean squared error before the step, a scalar.
        """
        histories, rate = trajectories.histories, self._target_rate()
        assert histories is not None  # they are recorded
        forward = self.network.forward_pass(self._parameters, histories.rows)
        values = self.network.squashed(histories.at_moves(forward.outputs)).unflatten(-1, (2, -1))
        error = values - self.targets(trajectories, values, policy)
        count = trajectories.valid.sum().clamp(min=1) * error[0, 0].numel()
        weight = (trajectories.valid / count)[..., None, None]
        gradient = (2 * weight * error).flatten(-2)
        self._descent.apply_gradients([forward.gradient(histories.sum_by_row(gradient))])
        self._target.lerp_(self._parameters.detach(), rate)
        return (weight * error.square()).sum()

    def _target_rate(self) -> torch.Tensor:
        """How far the target network moves in this step; on the device, as a CUDA graph demands."""
        step, least = self._descent.state(self._parameters)["step"], self.config.target_averaging
        if math.isinf(self.config.target_share):
            return torch.full_like(step, least)
        return (1 / (1 + self.config.target_share * step)).clamp(min=least)

    def _values_of(self, rows: torch.Tensor) -> torch.Tensor:
        """The current network's values of histories: float32 [M, 2 K]."""
        return self.network.squashed(self.network.outputs(self._parameters.detach(), rows))

    def critic(self, game: pyspiel.Game) -> NetworkCritic:
        """The critic learned so far, of a game; later steps do not change it."""
        return NetworkCritic(game, self.network, self._target.clone(), self.transformations.names)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        tensors = {"parameters": self._parameters, "target_parameters": self._target}
        return {**tensors, **self._descent.state(self._parameters, "adam.")}

    def identity(self) -> dict[str, Any]:
        """The header entries that a checkpoint must have in common with the trainer."""
        return {
            "config": self.config.to_json(),
            "num_inputs": self.network.num_inputs,
            "sight": FEATURES,
            "transformations": list(self.transformations.names),
            "bound": None if self.network.bound == math.inf else self.network.bound,
        }

    @torch.no_grad()
    def targets(
        self, trajectories: Trajectories, values: torch.Tensor, policy: torch.Tensor
    ) -> torch.Tensor:
        """The targets of the values of all histories: float32 [T, B, 2, K].

        Args:
          trajectories: with histories.
          values: the current values, float32 [T, B, 2, K].
          policy: the blueprint at each observation, float32 [N, A]; 0 for illegal actions.
        """
        legal = trajectories.observations.legal
        assert legal is not None  # they are observations
        transformed = self.transformations.apply(policy, legal, check=False)
        ratio = transformation_ratios(transformed, trajectories)
        expected = None
        if trajectories.branches is not None:
            expected = self._expected(trajectories, trajectories.branches, transformed)
        return history_v_trace(
            value=values,
            # Where nobody moves, the acting policy may be 0 at any action.
            ratio=torch.where(trajectories.valid[..., None, None], ratio, 0.0),
            valid=trajectories.valid,
            reward=trajectories.reward,
            c_bar=self.config.c_bar,
            expected=expected,
        )

    def _expected(
        self, trajectories: Trajectories, branches: Branches, transformed: torch.Tensor
    ) -> torch.Tensor:
        """The expected values after the moves, over all actions: float32 [T, B, 2, K].

        Args:
          trajectories: the games.
          branches: those of their histories.
          transformed: the blueprint under all transformations, float32 [K, N, A].
        """
        next_values = self._values_of(branches.rows).unflatten(-1, (2, -1))
        sign = torch.tensor([1.0, -1.0])
        values = branches.utility[..., None, None] * sign[:, None].expand(next_values.shape[1:])
        goes_on = branches.row_index >= 0
        values[goes_on] = next_values[branches.row_index[goes_on]]
        assert trajectories.histories is not None
        at_moves = trajectories.histories.at_moves(values)  # [T, B, A, 2, K]
        policies = trajectories.observations.at_moves(transformed.movedim(0, -1)).unsqueeze(3)
        expected = (policies * at_moves).sum(dim=2)
        own = (policies[..., :1] * at_moves).sum(dim=2)
        is_own = trajectories.player.unsqueeze(-1) == torch.tensor([0, 1])
        return torch.where(is_own.unsqueeze(-1), own, expected)
