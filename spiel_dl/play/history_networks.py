"""Values of histories by critics and policy networks, for `control_variates`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyspiel
import torch

from spiel_dl.games import features
from spiel_dl.learning import checkpoints, history_features
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.play import registry
from spiel_dl.play.control_variates import HistoryValues
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.tree.load import AnyGame, turn_based_game


class CriticValues(HistoryValues):
    """A critic's values of histories, if both players follow its blueprint."""

    def __init__(self, critic: NetworkCritic):
        """Takes the critic."""
        self._critic = critic

    @torch.inference_mode()
    def of(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """See `HistoryValues`."""
        critic = self._critic
        rows = [history_features.of_state(state) for state in states]
        tensor = torch.from_numpy(np.array(rows, np.float32)).to(critic.parameters.device)
        values = critic.network.values(critic.parameters, tensor)[..., 0].double()
        player_0_values: np.ndarray = ((values[:, 0] - values[:, 1]) / 2).cpu().numpy()
        return player_0_values


class NetworkValues(HistoryValues):
    """A policy network's value for the acting player, which sees only that player's infoset."""

    def __init__(self, policy: NetworkPolicy):
        """Takes the network."""
        self._policy = policy

    def of(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """See `HistoryValues`."""
        players = np.array([state.current_player() for state in states])
        rows = [features.features(state, state.current_player()) for state in states]
        values = self._policy.values(torch.from_numpy(np.array(rows, np.float32)))
        return np.where(players == 0, values, -values)


def load_values(name: str, game: AnyGame, device: torch.device | str = "cpu") -> HistoryValues:
    """The values of a learner's critic or, where there is none, of its policy network.

    Args:
      name: a checkpoint or a run directory of a learner, or a model of the zoo.
      game: the game, its game string, or the compiled game.
      device: torch device of the network.

    Raises:
      ValueError: if there is no such file, or it holds neither a critic nor a policy network.
    """
    path, turn_based = registry.path_in(name), turn_based_game(game)
    if path is None or not checkpoints.is_checkpoint(path):
        raise ValueError(
            f"control_variates={name!r} must be a checkpoint or a run directory of a learner, or a "
            "model of the zoo"
        )
    if checkpoints.has_critic(path):
        return CriticValues(checkpoints.load(path, turn_based, device).critic)
    blueprint = checkpoints.load_blueprint(path, turn_based, device)
    if not isinstance(blueprint, NetworkPolicy):
        raise ValueError(f"control_variates={name!r} has neither a critic nor a policy network")
    return NetworkValues(blueprint)
