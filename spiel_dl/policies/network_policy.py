"""Policies by policy networks, and their fine-tuning for play."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.games import features
from spiel_dl.policies import asking
from spiel_dl.policies.policy_network import PolicyNetwork, log_policy, policy_of
from spiel_dl.policies.sight import FEATURES
from spiel_dl.tree.counts import check_counts, is_share
from spiel_dl.tree.from_openspiel import check_game_of


@dataclasses.dataclass(frozen=True)
class FineTuning:
    """Removes the noise of unlikely actions from a policy when it is played.

    Perolat et al. (2022), Methods, "Fine-tuning"; there it is 0.03 and 32. First actions below the
    threshold are dropped, unless all are; then, from the likeliest action to the least likely one,
    each gets its probability rounded up to a multiple of 1 / num_levels, until nothing is left.

    Attributes:
      threshold: the least probability that is kept; 0 keeps all.
      num_levels: the number of levels above 0; None: probabilities are not rounded.
    """

    threshold: float = 0.03
    num_levels: int | None = 32

    def __post_init__(self) -> None:
        if not (is_share(self.threshold) and self.threshold < 1):
            raise ValueError(f"threshold={self.threshold!r} must be at least 0 and below 1")
        if self.num_levels is not None:
            check_counts(self, 1, "num_levels")

    def apply(self, policy: torch.Tensor) -> torch.Tensor:
        """The policy after fine-tuning: float [..., A], as `policy`."""
        is_kept = policy >= self.threshold
        is_kept |= ~is_kept.any(dim=-1, keepdim=True)
        kept = policy * is_kept
        kept = kept / kept.sum(dim=-1, keepdim=True)
        if self.num_levels is None:
            return kept
        ordered, order = kept.sort(dim=-1, descending=True, stable=True)
        # The margin keeps exact multiples at their own level in spite of rounding errors.
        rounded_up = (ordered * self.num_levels - 1e-6).ceil().clamp(min=0)
        num_before = rounded_up.cumsum(dim=-1) - rounded_up
        levels = rounded_up.minimum((self.num_levels - num_before).clamp(min=0))
        return torch.zeros_like(kept).scatter(-1, order, levels / self.num_levels)


class NetworkPolicy(openspiel_policy.Policy):
    """A policy network as an OpenSpiel policy, for games of any size.

    Attributes:
      network: the network.
      parameters: float32 [P], its parameters.
      fine_tuning: changes its policy before it is played; None: no change.
      value_unit: the unit of its values, in utility units.
      sight: which tensors it takes.
    """

    sight = FEATURES

    def __init__(
        self,
        game: pyspiel.Game,
        network: PolicyNetwork,
        parameters: torch.Tensor,
        fine_tuning: FineTuning | None = None,
        value_unit: float = 1.0,
    ):
        """Wraps a network.

        Args:
          game: the turn-based game.
          network: for this game's features and actions.
          parameters: float32 [P], not copied.
          fine_tuning: changes the network's policy before it is played; None: no change.
          value_unit: the unit of the network's values, in utility units.

        Raises:
          ValueError: if the network is for other features or actions, or has another number of
            parameters.
        """
        super().__init__(game, [0, 1])
        sizes = (features.num_features(game), game.num_distinct_actions())
        if sizes != (network.num_inputs, network.num_actions):
            raise ValueError(
                f"{game} has {sizes[0]} inputs and {sizes[1]} actions, the network "
                f"{network.num_inputs} and {network.num_actions}; use the network's own game"
            )
        if parameters.shape != (network.num_parameters,):
            raise ValueError(
                f"parameters of the shape {tuple(parameters.shape)} are none of a network of "
                f"{sizes[0]} inputs, hidden_sizes={network.hidden_sizes} and {sizes[1]} actions, "
                f"which has {network.num_parameters}; if {game} has changed since, train anew"
            )
        self.network = network
        self.parameters = parameters
        self.fine_tuning = fine_tuning
        self.value_unit = value_unit

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions.

        Args:
          state: a state of the turn-based game in which a player acts.
          player_id: the player; None: the player to move.

        Raises:
          ValueError: if the player does not act in this state, or both players do.
        """
        asking.acting_player(state, player_id)
        return self.probabilities_of([state])[0]

    def probabilities_of(self, states: Sequence[pyspiel.State]) -> list[dict[int, float]]:
        """Probabilities of all legal actions of the players to move, by one evaluation.

        Args:
          states: states of the turn-based game, in each of which a player acts.

        Raises:
          ValueError: if both players move in a state, or if the states are of another game.
        """
        if any(state.is_simultaneous_node() for state in states):
            raise ValueError(
                f"both players move in this state, but the network plays {self.game} turn by turn; "
                "ask in states of that game, pyspiel.convert_to_turn_based makes it"
            )
        if states:
            check_game_of(states[0], self.game)
        actions = [state.legal_actions() for state in states]
        observation = np.empty((len(states), self.network.num_inputs), np.float32)
        legal = np.zeros((len(states), self.network.num_actions), bool)
        for row, state in enumerate(states):
            observation[row] = features.features(state, state.current_player())
            legal[row, actions[row]] = True
        device = self.parameters.device
        rows = policy_rows(
            self.network,
            self.parameters,
            torch.from_numpy(observation).to(device),
            torch.from_numpy(legal).to(device),
            self.fine_tuning,
        )
        return [
            dict(zip(own, row[own].tolist(), strict=True))
            for own, row in zip(actions, rows, strict=True)
        ]

    @torch.no_grad()
    def act(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """The policy of many decisions at once, an `ActingPolicy`: float32 [..., A].

        Tensors may be on any device; the result is on that of the parameters.

        Args:
          observation: float32 [..., D], the network's input, see `Rules.features`.
          legal: bool [..., A]. Where no action is legal, all probabilities are 0.
        """
        device = self.parameters.device
        observation, legal = observation.to(device), legal.to(device)
        logits = self.network.outputs(self.parameters, observation.flatten(0, -2))[:, :-1]
        policy = policy_of(logits.view(legal.shape), legal)
        if self.fine_tuning is not None:
            policy = self.fine_tuning.apply(policy)
        return policy * legal

    @torch.inference_mode()
    def values(self, observation: torch.Tensor) -> np.ndarray:
        """Values of many decisions to the player who acts, in utility units: float64 [N].

        Args:
          observation: float32 [N, D], the network's input, on any device.
        """
        outputs = self.network.values(self.parameters, observation.to(self.parameters.device))
        values: np.ndarray = self.value_unit * outputs.double().cpu().numpy()
        return values


@torch.no_grad()
def policy_rows(
    network: PolicyNetwork,
    parameters: torch.Tensor,
    observation: torch.Tensor,
    legal: torch.Tensor,
    fine_tuning: FineTuning | None = None,
) -> np.ndarray:
    """Action probabilities of many decisions: float64 [N, A], summing to 1 to the last digit.

    Args:
      network: the network.
      parameters: float32 [P].
      observation: float32 [N, D], the network's input.
      legal: bool [N, A], at least one in every row.
      fine_tuning: changes the policy; None: no change.
    """
    logits = network.outputs(parameters, observation)[:, :-1]
    policy = log_policy(logits.double(), legal).exp() * legal
    if fine_tuning is not None:
        policy = fine_tuning.apply(policy)
    return (policy / policy.sum(dim=-1, keepdim=True)).cpu().numpy()
