"""Liar's dice: hands are dealt independently and all bids are public.

A public state is the sequence of bids so far. When a bid is called, the payoff of a pair of hands
depends on the number of both players' dice that match the bid. So the value of a hand against
player p's realization plan x_p needs the sums of x_p over p's hands by their number of matches: for
each public state, as many terms as there are hands, not pairs of hands.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyspiel

from spiel_dl.factored import dice_kernels
from spiel_dl.factored.stones import check_mover
from spiel_dl.tree.factored_form import Cost, FactoredForm
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.information_states import Observations
from spiel_dl.tree.sequence_form import Treeplex

if TYPE_CHECKING:  # With torch.
    from spiel_dl.games.batches import StateBatch

_NUM_PARTS = 16
_SECONDS_PER_HAND = 1e-8


@dataclasses.dataclass(frozen=True)
class DiceRules:
    """The parameters of a game of liar's dice for two players.

    Attributes:
      num_dice: dice of each player.
      num_sides: sides of a die; the highest one matches any bid.
      resets_quantity: whether bids are ordered by face first; else by quantity first.
    """

    num_dice: int
    num_sides: int
    resets_quantity: bool

    @property
    def num_bids(self) -> int:
        """The number of bids; it is also the action of calling."""
        return 2 * self.num_dice * self.num_sides

    @property
    def hands(self) -> list[tuple[int, ...]]:
        """All hands: dice from 1 on, in ascending order."""
        sides = range(1, self.num_sides + 1)
        return list(itertools.combinations_with_replacement(sides, self.num_dice))

    def bid(self, number: int) -> tuple[int, int]:
        """Quantity and face of a bid."""
        if self.resets_quantity:
            face, quantity = divmod(number, 2 * self.num_dice)
        else:
            quantity, face = divmod(number, self.num_sides)
        return quantity + 1, face + 1


class DiceTables(NamedTuple):
    """The tables of a game, for compiled code. See `dice_kernels.number_sets`.

    Attributes:
      first_sequence: int64 [2, M / 2].
      num_actions: int64 [M].
      chance: float64 [H], the probability of each hand.
      matches: int64 [B, H], the number of a hand's dice that match a bid.
      quantity: int64 [B], the quantity of a bid.
    """

    first_sequence: np.ndarray
    num_actions: np.ndarray
    chance: np.ndarray
    matches: np.ndarray
    quantity: np.ndarray

    @staticmethod
    def of_rules(rules: DiceRules) -> DiceTables:
        """The tables of a game."""
        first_sequence, num_actions = dice_kernels.number_sets(rules.num_bids, len(rules.hands))
        orders = [
            math.factorial(rules.num_dice) / math.prod(map(math.factorial, Counter(hand).values()))
            for hand in rules.hands
        ]
        bids = [rules.bid(number) for number in range(rules.num_bids)]
        matches = [
            [sum(die in (face, rules.num_sides) for die in hand) for hand in rules.hands]
            for _, face in bids
        ]
        return DiceTables(
            first_sequence,
            num_actions,
            np.array(orders) / rules.num_sides**rules.num_dice,
            np.array(matches),
            np.array([quantity for quantity, _ in bids]),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class DiceForm(FactoredForm):
    """The factored payoffs of liar's dice.

    Attributes:
      tables: its numbering and payoffs.
    """

    tables: DiceTables

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """The payoff of each of a player's sequences against a plan: float64 [S_p], a new array."""
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        plan = np.ascontiguousarray(opponent_plan, np.float64)
        num_sets = len(self.tables.num_actions)
        bounds = np.linspace(1, num_sets, _NUM_PARTS + 1).astype(np.int64)

        def add_part(part: int) -> None:
            dice_kernels.add_calls(bounds[part], bounds[part + 1], player, self.tables, plan, cfv)

        self.in_threads(add_part, _NUM_PARTS)
        return cfv

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        size = len(self.tables.num_actions) * len(self.tables.chance)
        return Cost(_SECONDS_PER_HAND * size, 0)


@dataclasses.dataclass(frozen=True, eq=False)
class DiceGame(FactoredGame):
    """Liar's dice, OpenSpiel's or ours.

    Attributes:
      sequence_form: its payoffs.
      rules: its parameters.
    """

    sequence_form: DiceForm
    rules: DiceRules

    @staticmethod
    def build(game: pyspiel.Game, rules: DiceRules, *, num_threads: int) -> DiceGame:
        """The factored form of a game."""
        tables = DiceTables.of_rules(rules)
        treeplexes = []
        for player in (0, 1):
            parent, first, num_actions = dice_kernels.treeplex_arrays(
                player,
                rules.num_bids,
                len(rules.hands),
                tables.first_sequence,
                tables.num_actions,
            )
            treeplexes.append(Treeplex(parent, first, num_actions, 1))
        pair = (treeplexes[0], treeplexes[1])
        return DiceGame(game, DiceForm(pair, 2.0, num_threads, tables), rules)

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none such."""
        _, bids = self._parts(player, infoset)
        return np.arange(bids.bit_length(), self.rules.num_bids + bool(bids), dtype=np.int32)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        actions = state.history()
        num_dice = self.rules.num_dice
        hand = sorted(die + 1 for die in actions[player * num_dice : (player + 1) * num_dice])
        bids = sum(1 << bid for bid in actions[2 * num_dice :])
        return (bids >> 1) * len(self.rules.hands) + self.rules.hands.index(tuple(hand))

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of a history in an infoset, in which both players hold the same dice."""
        hand, bids = self._parts(player, infoset)
        dice = [die - 1 for die in self.rules.hands[hand]]
        return 2 * dice + [bid for bid in range(self.rules.num_bids) if bids >> bid & 1]

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """A player's observations in the infosets from `begin` to before `end`."""
        if hasattr(self.game, "rules"):
            return super().observations(player, begin, end)
        # OpenSpiel's: the player and its dice, one-hot; the bids made; whether one is called.
        was_bid, dice = self._bids_and_dice(player, begin, end)
        seat = np.tile(np.eye(2)[player], (end - begin, 1))
        one_hot = (dice[:, :, None] == np.arange(1, self.rules.num_sides + 1)).reshape(
            len(dice), -1
        )
        tensors = np.concatenate([seat, one_hot, was_bid, np.zeros((end - begin, 1))], axis=1)
        is_illegal = np.logical_or.accumulate(was_bid[:, ::-1], axis=1)[:, ::-1]
        can_call = was_bid.any(axis=1, keepdims=True)
        legal = np.concatenate([~is_illegal, can_call], axis=1)
        return Observations(tensors.astype(np.float32), legal)

    def states_of(self, player: int, begin: int, end: int) -> StateBatch | None:
        """See `FactoredGame.states_of`; the opponent's dice are 0."""
        if not hasattr(self.game, "rules"):
            return None
        import torch  # Games without `Rules` do without.

        was_bid, own_dice = self._bids_and_dice(player, begin, end)
        dice = np.zeros((end - begin, 2, self.rules.num_dice), np.int8)
        dice[:, player] = own_dice
        step = 2 * self.rules.num_dice + was_bid.sum(axis=1)
        return dataclasses.replace(
            self.game.rules.initial_state(end - begin),
            step=torch.from_numpy(step.astype(np.int16)),
            dice=torch.from_numpy(dice).flatten(1),
            was_bid=torch.from_numpy(was_bid),
        )

    def _bids_and_dice(self, player: int, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """The bids made (bool [N, B]) and the own dice (int [N, d]) in some infosets."""
        rules = self.rules
        sets, hands = np.divmod(np.arange(begin, end), len(rules.hands))
        # A set's number without its lowest bit; the lowest bit follows from the set's size.
        higher_bids = sets[:, None] >> np.arange(rules.num_bids - 1) & 1
        lowest_bid = (higher_bids.sum(axis=1) + player) % 2
        was_bid = np.concatenate([lowest_bid[:, None], higher_bids], axis=1).astype(np.bool_)
        return was_bid, np.array(rules.hands)[hands]

    def _parts(self, player: int, infoset: int) -> tuple[int, int]:
        """The number of the hand, and the set of bids, of an infoset."""
        self.check_infoset(player, infoset)
        half, hand = divmod(infoset, len(self.rules.hands))
        bids = 2 * half + (half.bit_count() + player) % 2
        return hand, bids
