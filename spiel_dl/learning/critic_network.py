"""Critics that are networks; `learning.critic_training` trains them.

Kubíček et al. (2023), section 4.1: a network maps a history to both players' values if the opponent
follows each of the transformations.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyspiel
import torch

from spiel_dl.learning import history_features
from spiel_dl.learning.critics import Critic
from spiel_dl.networks.perceptron import Layer, Perceptron, evaluate
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.from_openspiel import is_same_game

# Histories evaluated at a time: enough for full speed, few enough for the cache.
_BATCH = 2048


@dataclasses.dataclass(frozen=True)
class CriticNetwork(Perceptron):
    """A perceptron from a history to both players' values under all transformations.

    Attributes:
      num_inputs: E, the length of a history's tensor.
      num_transformations: K.
      hidden_sizes: units of each hidden layer.
      bound: bound on absolute values, towards which the outputs are squashed; infinite: the outputs
        are the values.
    """

    num_inputs: int
    num_transformations: int
    hidden_sizes: tuple[int, ...]
    bound: float = math.inf

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of inputs, of each hidden layer's units, and of outputs."""
        return (self.num_inputs, *self.hidden_sizes, 2 * self.num_transformations)

    def values(self, parameters: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        """Both players' values: float32 [..., 2, K].

        Args:
          parameters: float32 [P].
          history: float32 [..., E].
        """
        outputs = self.squashed(self.outputs(parameters, history.reshape(-1, self.num_inputs)))
        return outputs.view(*history.shape[:-1], 2, self.num_transformations)

    def squashed(self, outputs: torch.Tensor) -> torch.Tensor:
        """The values of the last layer's outputs, float32 [...]: bound times tanh."""
        return outputs if self.bound == math.inf else self.bound * outputs.tanh()


class NetworkCritic(Critic):
    """A network's values of the histories in which a player acts, in any tree of its game.

    Attributes:
      game: the turn-based game.
      network: the network.
      parameters: float32 [P], its parameters.
      names: the names of the transformations, the identity first.
    """

    def __init__(
        self,
        game: pyspiel.Game,
        network: CriticNetwork,
        parameters: torch.Tensor,
        names: tuple[str, ...],
    ):
        """Wraps a network.

        Args:
          game: the turn-based game.
          network: a network for this game's histories.
          parameters: float32 [P], not copied.
          names: the names of the transformations, K of them.

        Raises:
          ValueError: if the parameters or the names are not those of the network.
        """
        if len(parameters) != network.num_parameters or len(names) != network.num_transformations:
            raise ValueError(
                f"{len(parameters)} parameters and the transformations {names} are not those of "
                f"{network}; give {network.num_parameters} parameters and "
                f"{network.num_transformations} names"
            )
        self.game = game
        self.network = network
        self.parameters = parameters
        self.names = names

    @torch.inference_mode()
    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; float32, for any tree of the critic's game.

        Raises:
          ValueError: if the tree is of another game, or if no player acts in one of the histories.
        """
        self._check(tree, histories)
        num_values = self.network.num_transformations
        values = np.empty((len(histories), num_values), np.float32)
        first, *middle, last = self.network.split_layers(self.parameters)
        own = slice(player * num_values, (player + 1) * num_values)
        later = [*middle, Layer.of(last.weight_and_bias[:, own].contiguous())]
        sums = history_features.weighted_sums(tree, histories, first.weight, first.bias)
        for start in range(0, len(histories), _BATCH):
            outputs = evaluate(later, sums(slice(start, start + _BATCH)).relu_())
            values[start : start + _BATCH] = self.network.squashed(outputs).cpu().numpy()
        return values

    def _check(self, tree: CompiledTree, histories: np.ndarray) -> None:
        if not is_same_game(tree.game, self.game):
            raise ValueError(f"the critic is one of {self.game}, not of {tree.game}")
        idle = np.asarray(histories)[tree.player[histories] < 0]
        if len(idle):
            raise ValueError(
                f"no player acts in history {idle[0]} of {tree.game}; a network critic values "
                "histories in which one does"
            )
