"""`PositionalNetwork`: a feed-forward network of a public state and both ranges.

Kovařík et al. (2021), "Domain-Independent Encoding". The network sees one leaf public state at a
time: what is public, and each player's range, laid out over all private action-observation
histories that the player can have at any leaf (its *positions*). It answers with both players'
counterfactual values over the same positions. Positions that a public state rules out are 0 in the
input, and ignored in the output.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
from typing import Any

import numpy as np
import torch

from spiel_dl.io import tensor_files
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.trunk import LeafSet
from spiel_dl.value_functions.base import ValueFunction, Values, normalize_ranges

_KIND = "positional_network"


@dataclasses.dataclass(frozen=True, eq=False)
class PositionalLayout:
    """Where the P leaf public states of a trunk find their D inputs and Q outputs.

    Both are read from one flat row per trunk strategy, so that no loop over public states is
    needed. A row holds range_0 (or cfv_0), range_1 (or cfv_1), a 0 and a 1: L_0 + L_1 + 2 entries.
    The first D - Q inputs are the public features, which are bits; the others are player 0's
    positions and then player 1's, as in the output.

    Attributes:
      num_positions: for each player, the number of its positions; they sum to Q.
      input_index: int64 [P, D], the row's entry that each input shows.
      output_index: int64 [P, Q], the row's entry that each output stands for; the constant 0 where
        a position is impossible.
      output_of_infoset: int64 [L_0 + L_1], the place of each leaf infoset in the P * Q outputs.
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
        games a position is a place among the infosets of a public state, and the public features
        are a one-hot of the leaf public state.

        Raises:
          ValueError: if there are no leaves.
        """
        if not leaves.num_public_states:
            raise ValueError(
                f"{leaves.trunk.tree.game} ends above a depth limit of {leaves.trunk.depth_limit}, "
                "so there is nothing to value; choose a smaller limit, or solve the game by CFR"
            )
        if leaves.trunk.tree.public_key is None:
            public = np.eye(leaves.num_public_states, dtype=np.bool_)
            positions = [_places_in_public_states(leaves, player) for player in (0, 1)]
        else:
            public = _public_bits(leaves)
            positions = [_private_histories(leaves, player) for player in (0, 1)]
        return _lay_out(leaves, public, positions)

    @property
    def num_inputs(self) -> int:
        """D, the public features and both players' positions."""
        return self.input_index.shape[1]

    @property
    def num_outputs(self) -> int:
        """Q, both players' positions."""
        return self.output_index.shape[1]

    def rows(self, values_0: np.ndarray, values_1: np.ndarray) -> np.ndarray:
        """Joins ranges or values (float [..., L_p]) to rows: float32 [..., L_0 + L_1 + 2]."""
        constants = np.zeros((*values_0.shape[:-1], 2), np.float32)
        constants[..., 1] = 1.0
        return np.concatenate([values_0, values_1, constants], axis=-1, dtype=np.float32)


class PositionalNetwork(ValueFunction):
    """The network. Its parameters exist from the first `bind` on, or after `load`.

    Attributes:
      module: the torch module, float32: inputs [..., D] to outputs [..., Q], values at ranges that
        sum to 1, in utility units.
      layout: how its inputs and outputs belong to the leaves it is bound to.
      device: where it computes.
    """

    module: torch.nn.Sequential
    layout: PositionalLayout

    def __init__(
        self,
        num_layers: int = 5,
        num_units: int = 400,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ):
        """Describes an untrained network.

        Args:
          num_layers: number of hidden layers (the paper: 4 to 6).
          num_units: units in each of them (the paper: 200 to 500).
          seed: of the initial parameters, which are the same on every device.
          device: where to compute.

        Raises:
          ValueError: if a size is not positive.
        """
        if num_layers < 1 or num_units < 1:
            raise ValueError(f"num_layers={num_layers} and num_units={num_units} must be positive")
        self.device = torch.device(device)
        self._num_layers = num_layers
        self._num_units = num_units
        self._seed = seed
        # Game, depth limit and sizes that the parameters are for.
        self._domain: dict[str, Any] | None = None
        self._leaves: LeafSet | None = None

    def bind(self, leaves: LeafSet) -> None:
        """Lays out the leaves; the first time, initialises the parameters for them.

        Raises:
          ValueError: if there are no leaves, or if the parameters are for another game or depth
            limit.
        """
        layout = PositionalLayout.of_leaves(leaves)
        domain = _describe(leaves, layout)
        if self._domain is None:
            sizes = [layout.num_inputs, *[self._num_units] * self._num_layers, layout.num_outputs]
            self.module = _initial_module(sizes, self._seed).to(self.device)
            self._domain = domain
        for name, value in domain.items():
            if self._domain[name] != value:
                raise ValueError(
                    f"the network's {name} is {self._domain[name]}, but the leaves' is {value}; "
                    "load or train a network for these leaves"
                )
        self.layout = layout
        self._leaves = leaves
        self._public_state = [leaves.public_state_of_infoset(player) for player in (0, 1)]

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `ValueFunction`.

        Raises:
          ValueError: if the network was not bound, or if the ranges' shapes do not fit the leaves.
        """
        leaves = self._leaves
        if leaves is None:
            raise ValueError("bind the network to the leaves before evaluating it")
        sizes = (leaves.num_infosets(0), leaves.num_infosets(1))
        batch = range_0.shape[:-1]
        if (range_0.shape, range_1.shape) != ((*batch, sizes[0]), (*batch, sizes[1])):
            raise ValueError(
                f"the ranges have shapes {range_0.shape} and {range_1.shape}, but the leaves need "
                f"[..., {sizes[0]}] and [..., {sizes[1]}] with equal leading dimensions"
            )
        scaled_0, mass_0 = normalize_ranges(leaves, 0, range_0)
        scaled_1, mass_1 = normalize_ranges(leaves, 1, range_1)
        inputs = self.layout.rows(scaled_0, scaled_1).take(self.layout.input_index, axis=-1)
        with torch.inference_mode():
            outputs = self.module(torch.from_numpy(inputs).to(self.device)).cpu().numpy()
        flat = outputs.reshape(*batch, math.prod(outputs.shape[-2:]))
        cfvs = flat.take(self.layout.output_of_infoset, axis=-1)
        # The product is float64, as the masses are.
        cfv_0 = cfvs[..., : sizes[0]] * mass_1.take(self._public_state[0], axis=-1)
        cfv_1 = cfvs[..., sizes[0] :] * mass_0.take(self._public_state[1], axis=-1)
        return cfv_0, cfv_1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the parameters, and what they are for.

        Raises:
          ValueError: if there are no parameters yet.
        """
        tensor_files.save(path, self.parameter_arrays(), self.header())

    @staticmethod
    def load(path: str | os.PathLike[str], device: torch.device | str = "cpu") -> PositionalNetwork:
        """Reads what `save` wrote. The network must still be bound.

        Raises:
          ValueError: if there is no such file, or if it holds no such network.
        """
        arrays, header = tensor_files.load(path)
        if header.get("kind") != _KIND:
            raise ValueError(
                f"{path} holds a {header.get('kind')}, not a {_KIND}; give a file that "
                "PositionalNetwork.save wrote"
            )
        network = PositionalNetwork(header["num_layers"], header["num_units"], device=device)
        network._domain = header["domain"]
        sizes = [
            header["domain"]["number of inputs"],
            *[header["num_units"]] * header["num_layers"],
            header["domain"]["number of outputs"],
        ]
        network.module = _initial_module(sizes, seed=0).to(device)
        network.load_parameters(arrays)
        return network

    def header(self) -> dict[str, Any]:
        """Game, depth limit and sizes, as JSON can hold them.

        Raises:
          ValueError: if there are no parameters yet.
        """
        if self._domain is None:
            raise ValueError("a network has no parameters before it is bound; bind it to leaves")
        sizes = {"num_layers": self._num_layers, "num_units": self._num_units}
        return {"kind": _KIND, **sizes, "domain": self._domain}

    def parameter_arrays(self) -> dict[str, np.ndarray]:
        """Copies of the parameters, float32, by torch's names for them.

        Raises:
          ValueError: if there are no parameters yet.
        """
        self.header()
        state = self.module.state_dict()
        return {name: tensor.cpu().numpy().copy() for name, tensor in state.items()}

    def load_parameters(self, arrays: dict[str, np.ndarray]) -> None:
        """Replaces the parameters by `parameter_arrays` of a network of the same sizes.

        Raises:
          ValueError: if names or shapes differ; nothing has changed then.
        """
        own = {name: tuple(tensor.shape) for name, tensor in self.module.state_dict().items()}
        given = {name: array.shape for name, array in arrays.items()}
        if own != given:
            raise ValueError(f"the parameters have shapes {given}, but the network needs {own}")
        self.module.load_state_dict({name: torch.from_numpy(a) for name, a in arrays.items()})


def _describe(leaves: LeafSet, layout: PositionalLayout) -> dict[str, Any]:
    """What must be equal for a network to be used at other leaves, in words for people."""
    return {
        "game": str(leaves.trunk.tree.game),
        "depth limit": str(leaves.trunk.depth_limit),
        "number of inputs": layout.num_inputs,
        "number of outputs": layout.num_outputs,
    }


def _initial_module(sizes: list[int], seed: int) -> torch.nn.Sequential:
    """Linear layers with ReLU between them; He initialisation, the last layer smaller."""
    generator = torch.Generator().manual_seed(seed)
    layers: list[torch.nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        # Torch's own initialisation would draw from its global generator.
        layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
        bound = math.sqrt(6.0 / inputs)
        with torch.no_grad():
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.zero_()
        layers += [layer, torch.nn.ReLU()]
    with torch.no_grad():
        # Untrained values are then small beside utilities.
        layer.weight.mul_(0.1)
    return torch.nn.Sequential(*layers[:-1])


def _lay_out(leaves: LeafSet, public: np.ndarray, positions: list[np.ndarray]) -> PositionalLayout:
    """Joins public bits (bool [P, F]) and the positions of leaf infosets (int [L_p] each)."""
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


def _places_in_public_states(leaves: LeafSet, player: int) -> np.ndarray:
    """Each leaf infoset's place among those of its public state: int64 [L_p]."""
    start = leaves.infoset_offsets[player][leaves.public_state_of_infoset(player)]
    return np.arange(leaves.num_infosets(player)) - start


def _public_bits(leaves: LeafSet) -> np.ndarray:
    """The entries of the public tensor that differ among leaf public states: bool [P, F]."""
    tree = leaves.trunk.tree
    states = _replay(tree, leaves.histories[leaves.history_offsets[:-1]])
    bits = tree.game.rules.public_tensor(states, perfect_recall=True).numpy() > 0
    return bits[:, (bits != bits[:1]).any(axis=0)]


def _private_histories(leaves: LeafSet, player: int) -> np.ndarray:
    """Numbers the distinct private tensors of a player's leaf infosets: int64 [L_p]."""
    tree = leaves.trunk.tree
    _, first = np.unique(leaves.infoset_of_history[player], return_index=True)
    states = _replay(tree, leaves.histories[first])
    tensors = tree.game.rules.private_tensor(states, player, perfect_recall=True).numpy()
    return np.unique(tensors, axis=0, return_inverse=True)[1].reshape(-1)


def _replay(tree: GameTree, histories: np.ndarray) -> Any:
    """The rules' states of histories (int [N]), as one batch."""
    steps = []
    node = np.asarray(histories, np.int64)
    while (node > 0).any():
        steps.append((tree.action[node].astype(np.int64), node > 0))
        node = np.where(node > 0, tree.parent[node], 0)
    rules = tree.game.rules
    states = rules.initial_state(len(histories))
    for action, moves in reversed(steps):
        # Histories that are shorter than others wait at the root; what they do there is dropped.
        moved = rules.apply(states, torch.from_numpy(np.where(moves, action, 0)))
        states = moved.where(torch.from_numpy(moves), states)
    return states
