"""Takes luck out of matches without bias, as AIVAT does.

Burch, Schmid, Moravčík, Morrill, Bowling: *AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games* (AAAI 2018). Take any values v of histories. Where a
game went from h by a to ha, a having been drawn with the probabilities p,

    v(ha) - sum over b of p(b) v(hb)

is luck: its mean is 0, whoever acts and whatever v is. A game counts as its return without the luck
of chance and of both players. So the mean stays what it was, and the better v is, the less is left
of the variance: nothing, if v(h) is what the two policies come to from h on.

Values of another scale, or of players who see less, may tell more luck than there was. So the luck
is taken off as often as the observations themselves say, each half of them for the other half: this
leaves the mean as it is, too.

What AIVAT has besides is left out: it also averages over what the players might have held.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyspiel
import torch

from spiel_dl.learning import checkpoints, history_tensors
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.play import registry
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.tree.load import AnyGame, turn_based_game

Step = tuple[Mapping[int, float], int]
"""The probabilities of all outcomes or actions, and the one that was drawn."""

_LEAST = 20
"""Of fewer observations no factor is estimated; it is 1."""


class HistoryValues(abc.ABC):
    """Guesses what histories are worth; any guess is allowed."""

    @abc.abstractmethod
    def of(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """Player 0's expected utility in states in which a player acts: float64 [N]."""


class CriticValues(HistoryValues):
    """Both players go on by a critic's blueprint: its values of the identity, of both players."""

    def __init__(self, critic: NetworkCritic):
        """Takes the critic."""
        self._critic = critic

    @torch.inference_mode()
    def of(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """See `HistoryValues`."""
        critic = self._critic
        rows = np.zeros((len(states), critic.network.num_inputs), np.float32)
        for state, row in zip(states, rows, strict=True):
            history_tensors.write_state(state, row)
        tensor = torch.from_numpy(rows).to(critic.parameters.device)
        values = critic.network.values(critic.parameters, tensor)[..., 0].double()
        found: np.ndarray = ((values[:, 0] - values[:, 1]) / 2).cpu().numpy()
        return found


class NetworkValues(HistoryValues):
    """What a policy network's value says to the player who acts; it does not see what is hidden."""

    def __init__(self, policy: NetworkPolicy):
        """Takes the network."""
        self._policy = policy

    @torch.inference_mode()
    def of(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """See `HistoryValues`."""
        policy = self._policy
        players = np.array([state.current_player() for state in states])
        rows = np.empty((len(states), policy.network.num_inputs), np.float32)
        for state, player, row in zip(states, players.tolist(), rows, strict=True):
            row[:] = state.information_state_tensor(player)
        tensor = torch.from_numpy(rows).to(policy.parameters.device)
        values = policy.network.evaluate(policy.parameters, tensor).value.double().cpu().numpy()
        return np.where(players == 0, values, -values)


def load_values(name: str, game: AnyGame, device: torch.device | str = "cpu") -> HistoryValues:
    """The values of a learner's critic or, where there is none, of its policy network.

    Args:
      name: a checkpoint or a run directory of a learner, or a model of the zoo.
      game: the game, its game string, or the compiled game.
      device: where the network lives.

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


def luck(initial: pyspiel.State, steps: Iterable[Step], values: HistoryValues) -> float:
    """Player 0's luck in a game, in utility units: of chance and of both players.

    Args:
      initial: where the game began.
      steps: all of its steps, chance's as well.
      values: of histories.
    """
    terms, state = _Terms(), initial.clone()
    for probabilities, drawn in steps:
        total = sum(probabilities.values())
        for outcome, probability in probabilities.items():
            terms.add(state, outcome, float(outcome == drawn) - probability / total)
        state.apply_action(drawn)
    return terms.total(values)


def without_luck(returns: np.ndarray, lucks: np.ndarray) -> np.ndarray:
    """Independent observations of returns less their luck: float64 [N].

    The luck of each half of them (those of even, and of odd numbers) is multiplied by the factor
    that would leave least of the other half's variance.

    Args:
      returns: float64 [N].
      lucks: float64 [N], of mean 0.
    """
    factors = np.ones(len(returns))
    for half in (0, 1):
        other = slice(1 - half, None, 2)
        if len(lucks[other]) >= _LEAST:
            centred = lucks[other] - lucks[other].mean()
            variance = centred @ centred
            factors[half::2] = centred @ returns[other] / variance if variance > 0 else 1.0
    return returns - factors * lucks


class _Terms:
    """A weighted sum of values of histories; those that networks value are asked for at once."""

    def __init__(self) -> None:
        self._known = 0.0
        self._states: list[pyspiel.State] = []
        self._weights: list[float] = []

    def add(self, state: pyspiel.State, outcome: int, weight: float) -> None:
        """Adds the value behind an outcome; before chance, it is the mean over what chance does."""
        if weight == 0:
            return
        child = state.child(outcome)
        if child.is_terminal():
            self._known += weight * child.returns()[0]
        elif child.is_chance_node():
            for event, probability in child.chance_outcomes():
                self.add(child, event, weight * probability)
        else:
            self._states.append(child)
            self._weights.append(weight)

    def total(self, values: HistoryValues) -> float:
        """The sum."""
        if not self._states:
            return self._known
        return self._known + float(np.array(self._weights) @ values.of(self._states))
