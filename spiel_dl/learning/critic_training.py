"""Trains a critic on trajectories that were played for something else, or for it.

Kubíček et al. (2023), section 4.1 and Table 2. One step, on one batch of games:

  1. Off-policy v-trace (`learning.history_vtrace`), with the values of the target network, gives
     targets for both players and all transformations. Own moves are weighted with pi / mu, the
     opponent's with f(pi) / mu: pi is the blueprint, mu the policy that acted.
  2. Adam descends the mean squared error of the values, over all histories of the batch, both
     players and all transformations.
  3. The target network moves by `target_averaging` of the way to the current one.

As with the blueprint, the critic handed out is the target network. The paper does not say whether
its critic has one; here Table 2 holds for the critic as it does for the blueprint.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pyspiel
import torch

from spiel_dl.learning.config import NetworkConfig
from spiel_dl.learning.critic_kernel import critic_gradient, transformed_moves
from spiel_dl.learning.critic_network import CriticNetwork, NetworkCritic
from spiel_dl.learning.history_vtrace import history_v_trace, transformation_ratios
from spiel_dl.learning.self_play import Distinct, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations


@dataclasses.dataclass(frozen=True)
class CriticConfig(NetworkConfig):
    """How to learn a critic; `NetworkConfig` has the rest.

    Attributes:
      c_bar: v-trace's bound on the ratios that carry targets backwards.
      rho_bar: v-trace's bound on the ratios that correct values; infinite: unbiased.
      target_averaging: how far the target network moves to the current one in a step.
    """

    c_bar: float = 1.0
    rho_bar: float = math.inf
    target_averaging: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("c_bar", "rho_bar"):
            self._check(name, getattr(self, name) > 0, "positive")
        self._check("target_averaging", 0 < self.target_averaging <= 1, "above 0 and at most 1")


class CriticTrainer:
    """A critic in training; it plays no games.

    Attributes:
      transformations: what opponents may do.
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
    ):
        """Makes a fresh network.

        Args:
          num_inputs: E, the length of a history's tensor.
          num_actions: A.
          transformations: K of them.
          config: how to learn.
          device: where the network lives.

        Raises:
          ValueError: if a transformation returns no weights for so many actions.
        """
        everything = torch.ones((1, num_actions), dtype=torch.bool, device=device)
        transformations.apply(everything / num_actions, everything)
        self.transformations = transformations
        self.config = config
        self.network = CriticNetwork(num_inputs, len(transformations), config.hidden_sizes)
        self._parameters = self.network.initial_parameters(config.seed).to(device)
        self._target = self._parameters.clone()
        self._descent = config.descent(self._parameters)

    def learn(self, trajectories: Trajectories, policy: torch.Tensor) -> torch.Tensor:
        """One step, as in the module's docstring.

        Args:
          trajectories: with histories.
          policy: the blueprint at all moves, float32 [T, B, A]; 0 for illegal actions.

        Returns:
          The mean squared error before the step, a scalar.
        """
        loss = self._learn_by_kernel if policy.is_cpu else self._learn_by_torch
        error = loss(trajectories, policy)
        self._target.lerp_(self._parameters.detach(), self.config.target_averaging)
        return error

    def _learn_by_kernel(self, trajectories: Trajectories, policy: torch.Tensor) -> torch.Tensor:
        """Steps 1 and 2 on a CPU; returns the error."""
        seen = trajectories.distinct_histories().lists()
        said = self.network.answer(self._parameters, seen.tensors)
        with torch.no_grad():
            old = self.network.outputs(self._target, seen.tensors)
        gradient, error = critic_gradient(
            said.outputs,
            old,
            transformed_moves(trajectories, policy, self.transformations),
            trajectories,
            seen,
            self.config.c_bar,
            self.config.rho_bar,
        )
        self._descent.follow(said.gradient(gradient))
        return error

    def _learn_by_torch(self, trajectories: Trajectories, policy: torch.Tensor) -> torch.Tensor:
        """The same on any device."""
        seen = trajectories.distinct_histories().dense()
        target = self.targets(trajectories, seen, policy)
        outputs = seen.at_moves(self.network.values(self._parameters, seen.tensors))
        error = outputs.detach() - target
        count = trajectories.valid.sum().clamp(min=1) * error[0, 0].numel()
        weight = (trajectories.valid / count)[..., None, None]
        self._descent.step(outputs, 2 * weight * error)
        return (weight * error.square()).sum()

    def critic(self, game: pyspiel.Game) -> NetworkCritic:
        """The critic that was learned so far, of a game; later steps do not change it."""
        return NetworkCritic(game, self.network, self._target.clone(), self.transformations.names)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        adam = self._descent.state(self._parameters)
        tensors = {"parameters": self._parameters, **{f"adam.{n}": t for n, t in adam.items()}}
        return {**tensors, "target_parameters": self._target}

    def identity(self) -> dict[str, Any]:
        """What a checkpoint must have in common with the trainer."""
        return {
            "config": self.config.to_json(),
            "num_inputs": self.network.num_inputs,
            "transformations": list(self.transformations.names),
        }

    @torch.no_grad()
    def targets(
        self, trajectories: Trajectories, seen: Distinct, policy: torch.Tensor
    ) -> torch.Tensor:
        """What the values should be, by v-trace: float32 [T, B, 2, K].

        Args:
          trajectories: with histories.
          seen: these histories.
          policy: the blueprint at all moves, float32 [T, B, A]; 0 for illegal actions.
        """
        ratio = transformation_ratios(
            policy=policy,
            legal=trajectories.legal,
            behaviour=trajectories.behaviour,
            action=trajectories.action,
            player=trajectories.player,
            transformations=self.transformations,
        )
        return history_v_trace(
            value=seen.at_moves(self.network.values(self._target, seen.tensors)),
            # Where nobody moves, the acting policy may be 0 at any action.
            ratio=torch.where(trajectories.valid[..., None, None], ratio, 0.0),
            valid=trajectories.valid,
            reward=trajectories.reward,
            c_bar=self.config.c_bar,
            rho_bar=self.config.rho_bar,
        )
