"""Values of hold'em before its last card: exact showdowns, and a network for the betting.

Each hand is worth what it would win if all checked, exactly, cards that block each other included;
to that a network adds what betting changes. The network sees a river as `factored.river_kernels`
says: player 0's share of both ranges in `NUM_PARTS` equal parts of the quantiles, and stacks in
pots. It says, in pots, what betting is worth to each player's hands in these parts. Since all is by
quantiles, one network serves all boards, suits play no part, and it learns from few rivers.

Moravčík et al. (2017), "DeepStack", has networks for all cards to come, ranges by 1,000 clusters of
hands, and the correction that makes both players' values sum to 0, which is here, too.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import torch

from spiel_dl.factored import river_kernels
from spiel_dl.factored.holdem_kernels import LANES, Side
from spiel_dl.factored.holdem_trunk import HoldemLeaves
from spiel_dl.networks.feed_forward import feed_forward
from spiel_dl.networks.perceptron import evaluate
from spiel_dl.system import tensor_files
from spiel_dl.value_functions.base import LeafValues, ValueFunction, Values

NUM_PARTS = 64
_STACKS = np.geomspace(0.05, 50.0, 13)  # centres of what a network sees of stacks, in pots


def stack_features(stacks: np.ndarray) -> np.ndarray:
    """What a network sees of stacks (float [n], in pots): float32 [n, 13]."""
    logs, centres = np.log(np.maximum(stacks, 1e-3))[:, None], np.log(_STACKS)
    width = centres[1] - centres[0]
    return np.exp(-(((logs - centres) / width) ** 2)).astype(np.float32)


class RiverBoards(NamedTuple):
    """All last boards, as the kernels take them.

    Attributes:
      sides: both players' hands on them.
      entries: for each player, see `HoldemLeaves.later`.
      classes: for each player, int64 [M_p], the class of equal strength of each live hand.
      counts: int64 [N], how many classes each board has.
    """

    sides: tuple[Side, Side]
    entries: tuple[np.ndarray, np.ndarray]
    classes: tuple[np.ndarray, np.ndarray]
    counts: np.ndarray

    @staticmethod
    def of(sides: tuple[Side, Side], entries: tuple[np.ndarray, np.ndarray]) -> RiverBoards:
        """Those of some boards."""
        classes: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        counts = []
        for board in range(len(sides[0].offset) - 1):
            own = [s.strength[s.offset[board] : s.offset[board + 1]] for s in sides]
            distinct = np.unique(np.concatenate(own))
            counts.append(len(distinct))
            for player in (0, 1):
                classes[player].append(np.searchsorted(distinct, own[player]))
        return RiverBoards(
            sides,
            entries,
            (np.concatenate(classes[0]), np.concatenate(classes[1])),
            np.array(counts),
        )


class ShowdownValue(ValueFunction):
    """Values leaves as if all checked from there on. No network."""

    def bind(self, leaves: Any) -> LeafValues:
        return RiverLeafValues(leaves, None)


class RiverNetwork(ValueFunction):
    """The network; see the module.

    Attributes:
      module: the torch module, float32: inputs [n, 64 + 13] to outputs [n, 2 * 64], in pots.
      domain: what it was trained for, in words.
    """

    kind = "river_network"

    def __init__(self, num_layers: int = 3, num_units: int = 256, *, seed: int = 0):
        """An untrained network."""
        self.sizes = (num_layers, num_units)
        generator = torch.Generator().manual_seed(seed)
        sizes = [NUM_PARTS + len(_STACKS), *[num_units] * num_layers, 2 * NUM_PARTS]
        self.module = feed_forward(sizes, generator, output_scale=0.1, layer_norm=False)
        self.domain: dict[str, Any] = {}

    def bind(self, leaves: Any) -> LeafValues:
        return RiverLeafValues(leaves, self)

    def save(self, path: str | os.PathLike[str]) -> None:
        arrays = {name: x.numpy() for name, x in self.module.state_dict().items()}
        tensor_files.save(
            path, arrays, {"kind": self.kind, "sizes": list(self.sizes), "domain": self.domain}
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RiverNetwork:
        arrays, header = tensor_files.load(path)
        network = cls(*header["sizes"])
        network.domain = header["domain"]
        network.module.load_state_dict({n: torch.from_numpy(a) for n, a in arrays.items()})
        return network


class RiverLeafValues(LeafValues):
    def __init__(self, leaves: HoldemLeaves, network: RiverNetwork | None):
        self.leaves: Any = leaves
        game = leaves.game
        self.boards = RiverBoards.of(game.sequence_form.sides[-1], leaves.later)
        self.num_lines = len(leaves.lines)
        self.padded = -(-self.num_lines // LANES) * LANES
        chance = game.deals.scale * game.deals.boards[-1].chance
        self.worth = np.zeros(self.padded)
        self.worth[: self.num_lines] = leaves.spent * chance
        live = game.deals.boards[-2].live
        self.weights = [game.deals.hands[p].weights[live[p].hand] for p in (0, 1)]
        self.network = network
        stack = min(game.rules.betting.stacks)
        stacks = stack_features((stack - leaves.spent) / (2 * leaves.spent))
        num_boards = len(self.boards.counts)
        width = 0 if network is None else NUM_PARTS
        self.inputs = np.zeros((num_boards, self.num_lines, width + stacks.shape[1]), np.float32)
        self.inputs[:, :, width:] = stacks
        self.outputs = np.zeros((num_boards, self.num_lines, 2 * width), np.float32)

    def _ranges(self, player: int, flat: np.ndarray) -> np.ndarray:
        size = len(self.weights[player])
        found = np.zeros((size, self.padded))
        found[:, : self.num_lines] = (flat.reshape(self.num_lines, size) * self.weights[player]).T
        return found

    def shares(self, range_0: np.ndarray, range_1: np.ndarray) -> np.ndarray:
        """Player 0's share of both ranges by quantiles: float32 [N, K, 64], not a copy."""
        shares = self.inputs[:, :, :NUM_PARTS]
        ranges = (self._ranges(0, range_0), self._ranges(1, range_1))
        river_kernels.shares_of_boards(*self.boards, ranges, self.num_lines, shares)
        return shares

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        first, second = self._values((0, 1), range_0, range_1)
        return first, second

    def values_for(self, player: int, range_0: np.ndarray, range_1: np.ndarray) -> np.ndarray:
        return self._values((player,), range_0, range_1)[0]

    def _values(
        self, players: tuple[int, ...], range_0: np.ndarray, range_1: np.ndarray
    ) -> list[np.ndarray]:
        ranges = (self._ranges(0, range_0), self._ranges(1, range_1))
        boards = self.boards
        if self.network is not None:
            self.shares(range_0, range_1)
            with torch.no_grad():
                flat = torch.from_numpy(self.inputs.reshape(-1, self.inputs.shape[2]))
                self.outputs[:] = self.network.module(flat).numpy().reshape(self.outputs.shape)
        found = []
        for player in players:
            cfv = np.zeros((len(self.weights[player]), self.padded))
            river_kernels.values_of_boards(
                player,
                self.leaves.game.rules.num_cards,
                *boards,
                ranges,
                self.num_lines,
                self.worth,
                self.outputs,
                cfv,
            )
            own = cfv[:, : self.num_lines].T * self.weights[player]
            found.append(own.ravel())
        return found
