"""Critics that are networks of histories; `learning.critic_training` trains them.

Kubíček et al. (2023), section 4.1: a network takes a history and says, for both players, what each
is worth if its opponent follows each of the transformations.
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

# Histories whose values are made at a time: enough for full speed, few to hold in a cache.
_BATCH = 2048


@dataclasses.dataclass(frozen=True)
class CriticNetwork(Perceptron):
    """A perceptron whose last layer says both players' values for all transformations.

    Attributes:
      num_inputs: E, how much it sees of a history.
      num_transformations: K.
      hidden_sizes: units of each hidden layer.
      bound: the largest absolute value there is, towards which the last layer's numbers are
        squashed; infinite: they are the values.
    """

    num_inputs: int
    num_transformations: int
    hidden_sizes: tuple[int, ...]
    bound: float = math.inf

    def __post_init__(self) -> None:
        if min(self.sizes) < 1:
            raise ValueError(
                f"a critic of {self.num_inputs} inputs, hidden_sizes={self.hidden_sizes} and "
                f"{self.num_transformations} transformations has an empty layer; all must be "
                "positive"
            )

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
        """What the last layer's numbers, float32 [...], mean as values."""
        return outputs if self.bound == math.inf else self.bound * outputs.tanh()


class NetworkCritic(Critic):
    """Values the histories in which a player acts, of any tree of its game, by a network.

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
          network: for this game's histories.
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
        """See `Critic`; float32, of any tree of the critic's game.

        Raises:
          ValueError: if the tree is of another game, or if no player acts in one of the histories.
        """
        self._check(tree, histories)
        num_values = self.network.num_transformations
        found = np.empty((len(histories), num_values), np.float32)
        first, *middle, last = self.network.split_layers(self.parameters)
        own = slice(player * num_values, (player + 1) * num_values)
        later = [*middle, Layer.of(last.weight_and_bias[:, own].contiguous())]
        sums = history_features.weighted_sums(tree, histories, first.weight, first.bias)
        for start in range(0, len(histories), _BATCH):
            units = sums(slice(start, start + _BATCH))
            units = evaluate(later, units.relu_())
            found[start : start + _BATCH] = self.network.squashed(units).cpu().numpy()
        return found

    def _check(self, tree: CompiledTree, histories: np.ndarray) -> None:
        if not is_same_game(tree.game, self.game):
            raise ValueError(f"the critic is one of {self.game}, not of {tree.game}")
        idle = np.asarray(histories)[tree.player[histories] < 0]
        if len(idle):
            raise ValueError(
                f"no player acts in history {idle[0]} of {tree.game}; a network critic values "
                "histories in which one does"
            )
