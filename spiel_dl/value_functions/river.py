"""Values of hold'em before its last card: exact showdowns, and a network for the betting.

A hand's value is its exact value if all checked, card removal included, plus the value of betting,
which a network estimates. The network's inputs (see `factored.river_quantiles`) are player 0's
share of both ranges in `NUM_PARTS` equal parts of the quantiles, and stacks in pots; its outputs
are the value of betting to each player's hands in these parts, in pots. As hands are given by
quantiles, one network serves all boards, suits play no part, and few rivers suffice for training.

Moravčík et al. (2017), "DeepStack", has networks for all cards to come, ranges by 1,000 clusters of
hands, and the same correction that makes both players' values sum to 0.
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
from spiel_dl.games.holdem_betting import ANY_NUMBER, parse_bets
from spiel_dl.networks.feed_forward import feed_forward
from spiel_dl.system import tensor_files
from spiel_dl.tree.counts import checked_count
from spiel_dl.value_functions.base import LeafValues, ValueFunction, Values

NUM_PARTS = 64
FILE = "river_pot_allin.safetensors"
_STACKS = np.geomspace(0.05, 50.0, 13)  # centres of the stack features, in pots


def stack_features(stacks: np.ndarray) -> np.ndarray:
    """Radial features of log stacks (float [n], in pots): float32 [n, 13]."""
    logs, centres = np.log(np.maximum(stacks, 1e-3))[:, None], np.log(_STACKS)
    width = centres[1] - centres[0]
    return np.exp(-(((logs - centres) / width) ** 2)).astype(np.float32)


def balanced(module: torch.nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    """A module's outputs, shifted so that both players' range-weighted values sum to 0.

    Args:
      module: maps float32 [n, B + 13] to [n, 2 * B].
      inputs: float32 [n, B + 13], shares and `stack_features`.

    Returns:
      Float32 [n, 2, B].
    """
    shares = inputs[:, :NUM_PARTS]
    values: torch.Tensor = module(torch.cat([2.0 * shares - 1.0, inputs[:, NUM_PARTS:]], dim=1))
    values = values.view(len(inputs), 2, NUM_PARTS)
    total = (values[:, 0] * shares + values[:, 1] * (1.0 - shares)).mean(dim=1)
    return values - total[:, None, None]


class RiverBoards(NamedTuple):
    """All boards with a river card, as the kernels take them.

    Attributes:
      sides: both players' hands on the boards.
      entries: for each player, see `HoldemLeaves.later`.
      classes: for each player, int64 [M_p], the class of equal strength of each live hand.
      counts: int64 [N], the number of classes of each board.
    """

    sides: tuple[Side, Side]
    entries: tuple[np.ndarray, np.ndarray]
    classes: tuple[np.ndarray, np.ndarray]
    counts: np.ndarray


class ShowdownValue(ValueFunction):
    """Values the leaves of a turn as if all checked on the river."""

    def bind(self, leaves: HoldemLeaves | RiverStarts) -> LeafValues:
        """Equities at these leaves; a ValueError if they are not those of a turn."""
        return _values_of(leaves, None)


class RiverNetwork(ValueFunction):
    """A network of the value of betting on the river; see the module.

    Attributes:
      module: the torch module, float32: inputs [n, B + 13] to outputs [n, 2 * B], in pots.
      sizes: the numbers of hidden layers and of units in each.
      bets: the bet sizes of the rivers it was trained on, in the format of `holdem_betting`.
    """

    kind = "river_network"

    def __init__(
        self, num_layers: int = 2, num_units: int = 256, *, bets: str = "pot allin", seed: int = 0
    ):
        """An untrained network.

        Args:
          num_layers: number of hidden layers.
          num_units: units in each of them.
          bets: bet sizes on the river.
          seed: seed of the initial parameters.

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
          ValueError: if they are not those of a turn, or the river's bets differ from `bets`, or
            player 0 does not act first there, or the number of wagers is limited.
        """
        leaf_values = _values_of(leaves, self)
        if isinstance(leaves, RiverStarts):
            leaves = leaves.turn.leaves
        betting, expected = leaves.game.rules.betting, parse_bets(self.bets, 1)[0]
        if betting.first_players[-1] != 0 or betting.max_wagers[-1] != ANY_NUMBER:
            raise ValueError(
                f"the network was trained on rivers that player 0 begins, with any number of "
                f"wagers, and {leaves.game.game} has others; train one for these"
            )
        if betting.streets[-1] != expected:
            raise ValueError(
                f"the network was trained on rivers with bets={self.bets!r}, and "
                f"{leaves.game.game} has others there; train one for these"
            )
        return leaf_values

    def betting(self, inputs: np.ndarray) -> np.ndarray:
        """The value of betting by quantiles, in pots: float32 [n, 2, B].

        Args:
          inputs: float32 [n, B + 13], shares and `stack_features`.
        """
        with torch.no_grad():
            values: np.ndarray = balanced(self.module, torch.from_numpy(inputs)).numpy()
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the parameters, sizes and bets to a file."""
        arrays = {name: x.numpy() for name, x in self.module.state_dict().items()}
        header = {"kind": self.kind, "sizes": list(self.sizes), "bets": self.bets}
        tensor_files.save(path, arrays, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RiverNetwork:
        """Reads what `save` wrote; a ValueError if the file is missing or of another kind."""
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
    """The values at leaves of a turn, or at the starts of its rivers."""
    if isinstance(leaves, RiverStarts):
        return RiverStartValues(leaves, network)
    return RiverLeafValues(leaves, network)


class RiverLeafValues(LeafValues):
    """Values at the leaves of one turn; see the module.

    Attributes:
      shares: float32 [N, K, B], the network's last inputs, by river cards and open lines.
    """

    def __init__(self, leaves: HoldemLeaves, network: RiverNetwork | None):
        """Values these leaves; a ValueError if they are not those of a turn."""
        if not isinstance(leaves, HoldemLeaves):
            raise ValueError(
                "these are not the leaves of hold'em on the turn that is too large to list; value "
                "them by ExactValue or another network"
            )
        self.leaves: Any = leaves
        game = leaves.game
        live = game.deals.boards[0].live
        cards = [game.deals.hands[player].cards[live[player].hand] for player in (0, 1)]
        self._hands = (cards[0], cards[1])
        self._weights = [game.deals.hands[p].weights[live[p].hand] for p in (0, 1)]
        self._boards = _boards(game.sequence_form.sides[-1], leaves.later)
        self._cards = game.deals.boards[1].cards[:, 0]
        chance = game.deals.scale * game.deals.boards[1].chance
        self._worth = (leaves.spent * chance)[:, None]
        self._equities = np.zeros((len(cards[0]), len(cards[1])))
        river_quantiles.add_equities(self._boards.sides, self._boards.entries, self._equities)
        no_card = game.rules.num_cards
        for own_card in (0, 1):
            for other_card in (0, 1):
                first, second = cards[0][:, own_card, None], cards[1][None, :, other_card]
                self._equities[(first == second) & (first < no_card)] = 0.0
        self._pairs = [_pairs(hands, no_card) for hands in self._hands]
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

    def update_shares(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """Updates `shares`; returns both ranges at open lines, times weights: [L_p, G]."""
        by_player = []
        for player, flat in enumerate((range_0, range_1)):
            weighted = np.zeros((len(self._weights[player]), self._width))
            by_line = flat.reshape(-1, len(weighted))[self._open]
            weighted[:, : len(self._open)] = (by_line * self._weights[player]).T
            by_player.append(weighted)
        ranges = (by_player[0], by_player[1])
        river_quantiles.shares_of_boards(
            *self._boards, ranges, len(self._open), self._masses, self.shares
        )
        return ranges

    def _values(
        self, players: tuple[int, ...], flat: tuple[np.ndarray, np.ndarray]
    ) -> list[np.ndarray]:
        cfvs = []
        for player, betting in zip(
            players, self.betting(players, flat, self._boards.entries), strict=True
        ):
            opponent = flat[1 - player].reshape(len(self._worth), -1) * self._weights[1 - player]
            values = opponent @ self._equities.T if player == 0 else -(opponent @ self._equities)
            values *= self._worth * self._weights[player]
            cfvs.append((values + betting).ravel())
        return cfvs

    def betting(
        self,
        players: tuple[int, ...],
        flat: tuple[np.ndarray, np.ndarray],
        rows: tuple[np.ndarray, np.ndarray],
    ) -> list[np.ndarray]:
        """The value of betting for each player: float64 [lines, rows], or a 0 without network.

        Args:
          players: the players to value.
          flat: for each player, float64 [L_p], ranges.
          rows: for each player, int64 [M_p], the row to which each live hand's value is added.
        """
        if self.network is None or not len(self._open):
            return [np.zeros(1)] * len(players)
        ranges, cfvs = self.update_shares(*flat), []
        outputs = self.network.betting(self._inputs.reshape(-1, self._inputs.shape[2]))
        outputs = outputs.reshape(*self.shares.shape[:2], 2, NUM_PARTS)
        for player in players:
            size = max(len(self._hands[player]), rows[player].max() + 1)
            betting = np.zeros((size, self._width))
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
                betting,
            )
            weights = np.zeros(len(betting))
            weights[rows[player]] = self._weights[player][self._boards.entries[player]]
            values = np.zeros((len(self._worth), len(betting)))
            # A pot is twice each player's contribution.
            values[self._open] = 2.0 * betting.T[: len(self._open)]
            cfvs.append(values * self._worth * weights)
        return cfvs


class RiverStartValues(LeafValues):
    """Values at `RiverStarts`: all rivers of a turn, by lines and river cards."""

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
            turn_range = np.zeros(starts.turn.leaves.num_infosets(player))
            turn_range[starts.entries[player]] = ranges[player]
            flat.append(turn_range)
        cfvs = []
        betting = self._of_turn.betting(players, (flat[0], flat[1]), starts.hands)
        for player, betting_values in zip(players, betting, strict=True):
            showdown = starts.showdowns.values_against(player, ranges[1 - player])
            cfvs.append((showdown.reshape(len(starts.lines), -1) + betting_values).ravel())
        return cfvs


def _boards(sides: tuple[Side, Side], entries: tuple[np.ndarray, np.ndarray]) -> RiverBoards:
    """The `RiverBoards` of both players' hands."""
    classes: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    counts = []
    for board in range(len(sides[0].offset) - 1):
        strengths = [side.strength[side.offset[board] : side.offset[board + 1]] for side in sides]
        distinct = np.unique(np.concatenate(strengths))
        counts.append(len(distinct))
        for player in (0, 1):
            classes[player].append(np.searchsorted(distinct, strengths[player]))
    both = (np.concatenate(classes[0]), np.concatenate(classes[1]))
    return RiverBoards(sides, entries, both, np.array(counts))


def _pairs(cards: np.ndarray, num_cards: int) -> np.ndarray:
    """The index of each hand of two cards: int64 [num_cards + 1, num_cards + 1]."""
    index = np.full((num_cards + 1, num_cards + 1), len(cards))
    index[cards[:, 0], cards[:, 1]] = index[cards[:, 1], cards[:, 0]] = np.arange(len(cards))
    return index
