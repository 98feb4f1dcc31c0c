"""`PositionalNetwork`: a feed-forward network of a public state and both ranges.

Kovařík et al. (2021), "Domain-Independent Encoding". The network's input is one leaf public state:
its public features, and each player's range, laid out over all private action-observation histories
that the player can have at any leaf (its *positions*). Its output are both players' counterfactual
values over the same positions. Positions that a public state rules out are 0 in the input, and
ignored in the output.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch

from spiel_dl.networks.feed_forward import feed_forward
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import NormalizedLeafValues, Values, check_leaves
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.samples import Batch, Samples
from spiel_dl.value_functions.value_network import ValueNetwork


@dataclasses.dataclass(frozen=True, eq=False)
class PositionalLayout:
    """The indices of the D inputs and Q outputs of a trunk's P leaf public states.

    Both are read from one flat row per trunk strategy, so that no loop over public states is
    needed. A row holds range_0 (or cfv_0), range_1 (or cfv_1), a 0 and a 1: L_0 + L_1 + 2 entries.
    The first D - Q inputs are the public features, which are bits; the others are player 0's
    positions and then player 1's, as in the output.

    Attributes:
      num_positions: for each player, the number of its positions; they sum to Q.
      input_index: int64 [P, D], the row's entry of each input.
      output_index: int64 [P, Q], the row's entry of each output; the constant 0 where a position is
        impossible.
      output_of_infoset: int64 [L_0 + L_1], the index of each leaf infoset in the P * Q outputs.
    """

    num_positions: tuple[int, int]
    input_index: np.ndarray
    output_index: np.ndarray
    output_of_infoset: np.ndarray

    @staticmethod
    def of_leaves(leaves: LeafSet) -> PositionalLayout:
        """The layout of a trunk's leaves.

        In games with `Rules`, a position is a distinct perfect-recall private tensor, and the
        public features are the perfect-recall public tensor without its constant entries. In other
        games a position is an index among the infosets of a public state, and the public features
        are a one-hot of the leaf public state.

        Raises:
          ValueError: if there are no leaves.
        """
        check_leaves(leaves)
        if leaves.tree.public_key is None:
            public = np.eye(leaves.num_public_states, dtype=np.bool_)
            positions = [_indices_in_public_states(leaves, player) for player in (0, 1)]
        else:
            public = _public_bits(leaves)
            positions = [_private_positions(leaves, player) for player in (0, 1)]
        return _lay_out(leaves, public, positions)

    @property
    def num_inputs(self) -> int:
        """D, the number of public features and both players' positions."""
        return self.input_index.shape[1]

    @property
    def num_outputs(self) -> int:
        """Q, the number of both players' positions."""
        return self.output_index.shape[1]

    def rows(self, values_0: np.ndarray, values_1: np.ndarray) -> np.ndarray:
        """Joins ranges or values (float [..., L_p]) to rows: float32 [..., L_0 + L_1 + 2]."""
        constants = np.zeros((*values_0.shape[:-1], 2), np.float32)
        constants[..., 1] = 1.0
        return np.concatenate([values_0, values_1, constants], axis=-1, dtype=np.float32)


class PositionalNetwork(ValueNetwork):
    """A feed-forward value network. It has parameters after `initialize` or `load`.

    Attributes:
      module: the torch module, float32: inputs [..., D] to outputs [..., Q], values at ranges that
        sum to 1, in utility units.
      device: where it computes.
    """

    kind = "positional_network"
    module: torch.nn.Sequential

    def __init__(
        self,
        num_layers: int = 5,
        num_units: int = 400,
        *,
        layer_norm: bool = True,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ):
        """Describes an untrained network.

        Args:
          num_layers: number of hidden layers (the paper: 4 to 6).
          num_units: units in each of them (the paper: 200 to 500).
          layer_norm: normalise the outputs of each hidden layer. It is not in the paper; with it,
            training reaches smaller errors in the same number of steps.
          seed: seed of the initial parameters, which are the same on every device.
          device: where to compute.

        Raises:
          ValueError: if a size is no positive integer.
        """
        super().__init__(device)
        self._num_layers = checked_count("num_layers", num_layers, 1)
        self._num_units = checked_count("num_units", num_units, 1)
        self._layer_norm = layer_norm
        self._seed = seed

    def bind(self, leaves: LeafSet) -> PositionalLeafValues:
        """Lays out the leaves. See `ValueNetwork`."""
        return PositionalLeafValues(self, leaves, self._layout(leaves))

    def describe(self, leaves: LeafSet) -> dict[str, Any]:
        """See `ValueNetwork`."""
        return _describe(leaves, PositionalLayout.of_leaves(leaves))

    def make_module(self, domain: dict[str, Any]) -> torch.nn.Sequential:
        """See `ValueNetwork`."""
        hidden = [self._num_units] * self._num_layers
        sizes = [domain["number of inputs"], *hidden, domain["number of outputs"]]
        generator = torch.Generator().manual_seed(self._seed)
        # Untrained values are then small beside utilities.
        return feed_forward(sizes, generator, output_scale=0.1, layer_norm=self._layer_norm)

    def _layout(self, leaves: LeafSet) -> PositionalLayout:
        """The leaves' layout; a ValueError if the parameters are for other leaves."""
        layout = PositionalLayout.of_leaves(leaves)
        self.check_domain(_describe(leaves, layout), leaves.tree.game)
        return layout

    def settings(self) -> dict[str, Any]:
        """The sizes of the network, as JSON can hold them."""
        return {
            "num_layers": self._num_layers,
            "num_units": self._num_units,
            "layer_norm": self._layer_norm,
        }

    def samples(self, dataset: Dataset) -> PositionalSamples:
        """A dataset's samples; see `ValueNetwork.samples`."""
        return PositionalSamples(self._layout(dataset.trunk.leaves), dataset, self.device)


class PositionalLeafValues(NormalizedLeafValues):
    """A network whose module maps a `PositionalLayout`'s inputs to its outputs, at some leaves.

    Attributes:
      layout: the indices of the leaves' inputs and outputs.
    """

    def __init__(self, network: ValueNetwork, leaves: LeafSet, layout: PositionalLayout):
        """See `PositionalNetwork.bind`."""
        super().__init__(leaves)
        self.layout = layout
        self._network = network

    @torch.inference_mode()
    def normalized_values(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `NormalizedLeafValues`."""
        network = self._network
        inputs = self.layout.rows(range_0, range_1)[self.layout.input_index]
        outputs = network.module(torch.from_numpy(inputs).to(network.device)).cpu().numpy()
        values = outputs.reshape(-1)[self.layout.output_of_infoset]
        num_first = self.leaves.num_infosets(0)
        return values[:num_first], values[num_first:]


class PositionalSamples(Samples):
    """Samples with the D inputs and Q outputs of a `PositionalLayout`."""

    def __init__(self, layout: PositionalLayout, dataset: Dataset, device: torch.device):
        """Puts a dataset's samples on a device; the layout must be that of its leaves."""
        super().__init__(dataset, device)
        self._ranges = torch.from_numpy(layout.rows(*dataset.ranges)).to(device)
        self._cfvs = torch.from_numpy(layout.rows(*dataset.cfvs)).to(device)
        self._num_positions = torch.tensor(layout.num_positions, device=device)
        self._input_index = torch.from_numpy(layout.input_index).to(device)
        self._output_index = torch.from_numpy(layout.output_index).to(device)
        self._is_possible = self._output_index < len(layout.output_of_infoset)

    def batch(self, samples: np.ndarray) -> Batch:
        """Inputs, float32 [b, D]; targets, float32 [b, Q]; possible positions, bool [b, Q]."""
        strategies, states = self._split(samples)
        row = strategies[:, None]
        inputs = self._ranges[row, self._input_index[states]]
        return inputs, self._cfvs[row, self._output_index[states]], self._is_possible[states]

    def opponent_masses(self, samples: np.ndarray) -> torch.Tensor:
        """See `Samples`."""
        return self._masses[self._split(samples)].repeat_interleave(self._num_positions, dim=1)


def _describe(leaves: LeafSet, layout: PositionalLayout) -> dict[str, Any]:
    """The network's domain; see `ValueNetwork.describe`."""
    domain = {
        "game": str(leaves.tree.game),
        "depth limit": str(leaves.depth_limit),
        "number of inputs": layout.num_inputs,
        "number of outputs": layout.num_outputs,
    }
    if not leaves.extent.is_whole:
        # Subgames of equal sizes have inputs and outputs of different meaning.
        states = leaves.tree.public_states.of_history[leaves.extent.starts]
        domain["start in public states"] = np.unique(states).tolist()
    return domain


def _lay_out(leaves: LeafSet, public: np.ndarray, positions: list[np.ndarray]) -> PositionalLayout:
    """The layout of public bits (bool [P, F]) and leaf infosets' positions (int [L_p] each)."""
    sizes = [leaves.num_infosets(0), leaves.num_infosets(1)]
    num_positions = (int(positions[0].max()) + 1, int(positions[1].max()) + 1)
    num_outputs = sum(num_positions)
    zero = sum(sizes)
    column = np.concatenate([positions[0], num_positions[0] + positions[1]])
    state = np.concatenate([leaves.public_state_of_infoset(player) for player in (0, 1)])
    output_index = np.full((leaves.num_public_states, num_outputs), zero, np.int64)
    output_index[state, column] = np.arange(zero)
    input_index = np.concatenate([zero + public.astype(np.int64), output_index], axis=1)
    return PositionalLayout(num_positions, input_index, output_index, state * num_outputs + column)


def _indices_in_public_states(leaves: LeafSet, player: int) -> np.ndarray:
    """Each leaf infoset's index among those of its public state: int64 [L_p]."""
    start = leaves.infoset_offsets[player][leaves.public_state_of_infoset(player)]
    return np.arange(leaves.num_infosets(player)) - start


def _public_bits(leaves: LeafSet) -> np.ndarray:
    """The entries of the public tensor that differ among leaf public states: bool [P, F]."""
    tree = leaves.tree
    states = tree.states_of(leaves.histories[leaves.history_offsets[:-1]])
    bits = tree.game.rules.public_tensor(states, perfect_recall=True).numpy() > 0
    return bits[:, (bits != bits[:1]).any(axis=0)]


def _private_positions(leaves: LeafSet, player: int) -> np.ndarray:
    """Each leaf infoset's position: the number of its private tensor, int64 [L_p]."""
    tree = leaves.tree
    states = tree.states_of(leaves.first_histories[player])
    tensors = tree.game.rules.private_tensor(states, player, perfect_recall=True).numpy()
    return np.unique(tensors, axis=0, return_inverse=True)[1].reshape(-1)
