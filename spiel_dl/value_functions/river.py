"""Values of hold'em before its last card: exact showdowns, and a network for the betting.

Each hand is worth what it would win if all checked, exactly, cards that block each other included;
to that a network adds what betting changes. The network sees a river as `factored.river_quantiles`
says: player 0's share of both ranges in `NUM_PARTS` equal parts of the quantiles, and stacks in
pots. It says, in pots, what betting is worth to each player's hands in these parts. Since all is by
quantiles, one network serves all boards, suits play no part, and it learns from few rivers.

Moravčík et al. (2017), "DeepStack", has networks for all cards to come, ranges by 1,000 clusters of
hands, and the correction that makes both players' values sum to 0, which is here, too.
"""

from __future__ import annotations

import importlib.resources
import os
from typing import Any, NamedTuple

import numpy as np
import torch

from spiel_dl.factored import river_quantiles
from spiel_dl.factored.holdem_kernels import LANES, Side
from spiel_dl.factored.holdem_rivers import RiverStarts
from spiel_dl.factored.holdem_trunk import HoldemLeaves
from spiel_dl.games.holdem_betting import parse_bets
from spiel_dl.networks.feed_forward import feed_forward
from spiel_dl.system import tensor_files
from spiel_dl.tree.counts import checked_count
from spiel_dl.value_functions.base import LeafValues, ValueFunction, Values

NUM_PARTS = 64
FILE = "river_pot_allin.safetensors"
_STACKS = np.geomspace(0.05, 50.0, 13)  # centres of what a network sees of stacks, in pots


def stack_features(stacks: np.ndarray) -> np.ndarray:
    """What a network sees of stacks (float [n], in pots): float32 [n, 13]."""
    logs, centres = np.log(np.maximum(stacks, 1e-3))[:, None], np.log(_STACKS)
    width = centres[1] - centres[0]
    return np.exp(-(((logs - centres) / width) ** 2)).astype(np.float32)


def balanced(module: torch.nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    """What a module says of inputs, with what both players' values sum to taken from both.

    Args:
      module: from float32 [n, B + 13] to [n, 2 * B].
      inputs: shares and `stack_features`.

    Returns:
      Float32 [n, 2, B].
    """
    shares = inputs[:, :NUM_PARTS]
    found: torch.Tensor = module(torch.cat([2.0 * shares - 1.0, inputs[:, NUM_PARTS:]], dim=1))
    found = found.view(len(inputs), 2, NUM_PARTS)
    total = (found[:, 0] * shares + found[:, 1] * (1.0 - shares)).mean(dim=1)
    return found - total[:, None, None]


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


class ShowdownValue(ValueFunction):
    """Values a turn as if all checked on the river."""

    def bind(self, leaves: HoldemLeaves | RiverStarts) -> LeafValues:
        """Equities at these leaves; a ValueError if they are no turn's."""
        return _values_of(leaves, None)


class RiverNetwork(ValueFunction):
    """The network; see the module.

    Attributes:
      module: the torch module, float32: inputs [n, B + 13] to outputs [n, 2 * B], in pots.
      sizes: the numbers of hidden layers and of units in each.
      bets: the sizes of the rivers it was trained on, as `holdem_betting` has them.
    """

    kind = "river_network"

    def __init__(
        self, num_layers: int = 2, num_units: int = 256, *, bets: str = "pot allin", seed: int = 0
    ):
        """An untrained network.

        Args:
          num_layers: number of hidden layers.
          num_units: units in each of them.
          bets: sizes of bets on the river.
          seed: of the parameters.

        Raises:
          ValueError: if a size is no positive integer.
        """
        num_layers = checked_count("num_layers", num_layers, 1)
        self.sizes, self.bets = (num_layers, checked_count("num_units", num_units, 1)), bets
        generator = torch.Generator().manual_seed(seed)
        sizes = [NUM_PARTS + len(_STACKS), *[num_units] * num_layers, 2 * NUM_PARTS]
        self.module = feed_forward(sizes, generator, output_scale=0.1)

    @classmethod
    def pretrained(cls) -> RiverNetwork:
        """The network of the zoo, for bets of the pot and all-in."""
        return cls.load(str(importlib.resources.files("spiel_dl.models") / FILE))

    def bind(self, leaves: HoldemLeaves | RiverStarts) -> LeafValues:
        """The network at these leaves.

        Raises:
          ValueError: if they are no turn's, or the river's bets are others than it was trained on.
        """
        found = _values_of(leaves, self)
        if isinstance(leaves, RiverStarts):
            leaves = leaves.turn.leaves
        expected = parse_bets(self.bets, 1)[0]
        if leaves.game.rules.betting.streets[-1] != expected:
            raise ValueError(
                f"the network was trained on rivers with bets={self.bets!r}, and "
                f"{leaves.game.game} has others there; train one for these"
            )
        return found

    def betting(self, inputs: np.ndarray) -> np.ndarray:
        """What betting is worth by quantiles, in pots: float32 [n, 2, B].

        Args:
          inputs: float32 [n, B + 13], shares and `stack_features`.
        """
        with torch.no_grad():
            found: np.ndarray = balanced(self.module, torch.from_numpy(inputs)).numpy()
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the parameters, and what they are for."""
        arrays = {name: x.numpy() for name, x in self.module.state_dict().items()}
        header = {"kind": self.kind, "sizes": list(self.sizes), "bets": self.bets}
        tensor_files.save(path, arrays, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RiverNetwork:
        """Reads what `save` wrote; a ValueError if there is no such file, or it holds another."""
        arrays, header = tensor_files.load(path)
        if header.get("kind") != cls.kind:
            raise ValueError(
                f"{path} holds a {header.get('kind')}, not a {cls.kind}; give a file that "
                f"{cls.__name__}.save wrote"
            )
        network = cls(*header["sizes"], bets=header["bets"])
        network.module.load_state_dict({n: torch.from_numpy(a) for n, a in arrays.items()})
        return network


def _values_of(leaves: HoldemLeaves | RiverStarts, network: RiverNetwork | None) -> LeafValues:
    """What rivers are worth, cards told apart or not."""
    if isinstance(leaves, RiverStarts):
        return RiverStartValues(leaves, network)
    return RiverLeafValues(leaves, network)


class RiverLeafValues(LeafValues):
    """Values at the leaves of one turn; see the module.

    Attributes:
      shares: float32 [N, K, B], what the network saw last, by rivers and open lines.
    """

    def __init__(self, leaves: HoldemLeaves, network: RiverNetwork | None):
        """Values these leaves; a ValueError if they are no turn's."""
        if not isinstance(leaves, HoldemLeaves):
            raise ValueError(
                "these are not the leaves of hold'em on the turn that is too large to list; value "
                "them by ExactValue or another network"
            )
        self.leaves: Any = leaves
        game = leaves.game
        live = game.deals.boards[0].live
        own = [game.deals.hands[player].cards[live[player].hand] for player in (0, 1)]
        self._hands = (own[0], own[1])
        self._weights = [game.deals.hands[p].weights[live[p].hand] for p in (0, 1)]
        self._boards = _boards(game.sequence_form.sides[-1], leaves.later)
        self._cards = game.deals.boards[1].cards[:, 0]
        chance = game.deals.scale * game.deals.boards[1].chance
        self._worth = (leaves.spent * chance)[:, None]
        self._equities = np.zeros((len(own[0]), len(own[1])))
        river_quantiles.add_equities(self._boards.sides, self._boards.entries, self._equities)
        none = game.rules.num_cards
        for mine in (0, 1):
            for theirs in (0, 1):
                first, second = own[0][:, mine, None], own[1][None, :, theirs]
                self._equities[(first == second) & (first < none)] = 0.0
        self._pairs = [_pairs(cards, none) for cards in self._hands]
        self._open = np.flatnonzero(leaves.is_open)
        self.network = network
        size, number = len(self._cards), len(self._open)
        self._width = -(-number // LANES) * LANES
        stack = min(game.rules.betting.stacks)
        pots = 2 * leaves.spent[self._open]
        self._inputs = np.zeros((size, number, NUM_PARTS + len(_STACKS)), np.float32)
        self._inputs[:, :, NUM_PARTS:] = stack_features((stack - pots / 2) / pots)
        self.shares = self._inputs[:, :, :NUM_PARTS]
        self._masses = np.zeros((size, 2, self._boards.counts.max(), self._width))

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `LeafValues`."""
        first, second = self._values((0, 1), (range_0, range_1))
        return first, second

    def values_for(self, player: int, range_0: np.ndarray, range_1: np.ndarray) -> np.ndarray:
        """See `LeafValues`."""
        return self._values((player,), (range_0, range_1))[0]

    def look(self, range_0: np.ndarray, range_1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Brings `shares` up to date; both ranges at open lines, times weights: [L_p, G]."""
        found = []
        for player, flat in enumerate((range_0, range_1)):
            own = np.zeros((len(self._weights[player]), self._width))
            by_line = flat.reshape(-1, len(own))[self._open]
            own[:, : len(self._open)] = (by_line * self._weights[player]).T
            found.append(own)
        ranges = (found[0], found[1])
        river_quantiles.shares_of_boards(
            *self._boards, ranges, len(self._open), self._masses, self.shares
        )
        return ranges

    def _values(
        self, players: tuple[int, ...], flat: tuple[np.ndarray, np.ndarray]
    ) -> list[np.ndarray]:
        found = []
        for player, betting in zip(
            players, self.betting(players, flat, self._boards.entries), strict=True
        ):
            other = flat[1 - player].reshape(len(self._worth), -1) * self._weights[1 - player]
            values = other @ self._equities.T if player == 0 else -(other @ self._equities)
            values *= self._worth * self._weights[player]
            found.append((values + betting).ravel())
        return found

    def betting(
        self,
        players: tuple[int, ...],
        flat: tuple[np.ndarray, np.ndarray],
        rows: tuple[np.ndarray, np.ndarray],
    ) -> list[np.ndarray]:
        """What the network adds: float64 [lines, rows], or a 0 without one, for each player.

        Args:
          players: whose values are asked for.
          flat: for each player, float64 [L_p], ranges.
          rows: for each player, int64 [M_p], to which row what each live hand gets is added.
        """
        if self.network is None or not len(self._open):
            return [np.zeros(1)] * len(players)
        ranges, found = self.look(*flat), []
        outputs = self.network.betting(self._inputs.reshape(-1, self._inputs.shape[2]))
        outputs = outputs.reshape(*self.shares.shape[:2], 2, NUM_PARTS)
        for player in players:
            size = max(len(self._hands[player]), rows[player].max() + 1)
            added = np.zeros((size, self._width))
            river_quantiles.add_betting(
                player,
                self._cards,
                *self._boards,
                self._hands[player],
                self._pairs[1 - player],
                ranges,
                len(self._open),
                self._masses,
                outputs[:, :, player],
                rows[player],
                added,
            )
            weights = np.zeros(len(added))
            weights[rows[player]] = self._weights[player][self._boards.entries[player]]
            values = np.zeros((len(self._worth), len(added)))
            # Pots are twice what each player has in.
            values[self._open] = 2.0 * added.T[: len(self._open)]
            found.append(values * self._worth * weights)
        return found


class RiverStartValues(LeafValues):
    """The same by lines and cards: at `RiverStarts` of all rivers of a turn."""

    def __init__(self, starts: RiverStarts, network: RiverNetwork | None):
        """Values these leaves."""
        self.leaves: Any = starts
        self._of_turn = RiverLeafValues(starts.turn.leaves, network)

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `LeafValues`."""
        first, second = self._values((0, 1), (range_0, range_1))
        return first, second

    def values_for(self, player: int, range_0: np.ndarray, range_1: np.ndarray) -> np.ndarray:
        """See `LeafValues`."""
        return self._values((player,), (range_0, range_1))[0]

    def _values(
        self, players: tuple[int, ...], ranges: tuple[np.ndarray, np.ndarray]
    ) -> list[np.ndarray]:
        starts, flat = self.leaves, []
        for player in (0, 1):
            # A hand has the same range on all cards.
            own = np.zeros(starts.turn.leaves.num_infosets(player))
            own[starts.entries[player]] = ranges[player]
            flat.append(own)
        found = []
        betting = self._of_turn.betting(players, (flat[0], flat[1]), starts.hands)
        for player, added in zip(players, betting, strict=True):
            shown = starts.showdowns.values_against(player, ranges[1 - player])
            found.append((shown.reshape(len(starts.lines), -1) + added).ravel())
        return found


def _boards(sides: tuple[Side, Side], entries: tuple[np.ndarray, np.ndarray]) -> RiverBoards:
    """The boards of sides."""
    classes: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    counts = []
    for board in range(len(sides[0].offset) - 1):
        own = [side.strength[side.offset[board] : side.offset[board + 1]] for side in sides]
        distinct = np.unique(np.concatenate(own))
        counts.append(len(distinct))
        for player in (0, 1):
            classes[player].append(np.searchsorted(distinct, own[player]))
    both = (np.concatenate(classes[0]), np.concatenate(classes[1]))
    return RiverBoards(sides, entries, both, np.array(counts))


def _pairs(cards: np.ndarray, num_cards: int) -> np.ndarray:
    """Where hands of two cards stand: int64 [num_cards + 1, num_cards + 1]."""
    found = np.full((num_cards + 1, num_cards + 1), len(cards))
    found[cards[:, 0], cards[:, 1]] = found[cards[:, 1], cards[:, 0]] = np.arange(len(cards))
    return found
