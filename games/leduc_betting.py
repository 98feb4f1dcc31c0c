"""The betting of Leduc as a finite automaton.

What may happen next in a hand depends on which deals were made, on the betting round, on how many
wagers the round has seen and on who moves; cards and chips do not matter. There are few such
combinations, so the rules step them by table. They are numbered

    0 and 1            private deals: to player 0 (or to both), to player 1 (unused if to both)
    2 ...              first round: wagers w = 0 .. max_raises + 1, each with player 0, 1 to move
    then one           the public deal
    then as many       second round
    then two           ends: by a fold in the first round; otherwise
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import torch

from spiel_dl.games import rules

FOLD, CALL, FIRST_WAGER = 0, 1, 2
NUM_ROUNDS = 2
SECOND_ROUND_FACTOR = 2  # wagers of the second round are twice as large
NOBODY = -1


class Transition(NamedTuple):
    """What an action does.

    Attributes:
      successor: number of the next node.
      payer: the player whose stake it raises, to the opponent's plus `wager`; or NOBODY.
      wager: chips.
    """

    successor: int
    payer: int
    wager: int


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of the automaton.

    Attributes:
      player: who acts, OpenSpiel's ids.
      transitions: by legal action; a chance node has a single one, under CALL, for all outcomes.
      round: how many betting rounds are over.
      num_dealt: how many players have their private card.
      action_slot: where the next action is recorded, or -1 if none is due: the number of actions
        of the round so far, plus the longest round's length in the second round.
      card_slots: whose cards the chance event deals: player 0, player 1, and 2 for the table.
    """

    player: int
    transitions: dict[int, Transition]
    round: int
    num_dealt: int
    action_slot: int = -1
    card_slots: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Betting:
    """Parameters of the betting; see `LeducRules`."""

    bet_sizes: Sequence[int]
    raise_sizes: Sequence[int]
    max_raises: int

    @property
    def num_actions(self) -> int:
        """A: fold, call, and one action per size."""
        return FIRST_WAGER + max(len(self.bet_sizes), len(self.raise_sizes))

    @property
    def longest_round(self) -> int:
        """The most actions in a round: a check, a bet, all raises, a call."""
        return self.max_raises + 3

    @property
    def largest_stake(self) -> int:
        """The most chips a player can add to the ante."""
        one_round = max(self.bet_sizes) + self.max_raises * max(self.raise_sizes, default=0)
        return (1 + SECOND_ROUND_FACTOR) * one_round

    def nodes(self, joint_deal: bool) -> list[Node]:
        """All nodes, by number.

        Args:
          joint_deal: whether a single chance event deals both private cards.
        """
        chance, terminal = rules.CHANCE_PLAYER, rules.TERMINAL_PLAYER

        def to(number: int) -> dict[int, Transition]:
            return {CALL: Transition(number, NOBODY, 0)}

        first, second = self._number(0), self._number(1)
        slots: tuple[int, ...] = (0, 1) if joint_deal else (0,)
        nodes = [
            Node(chance, to(first if joint_deal else 1), round=0, num_dealt=0, card_slots=slots),
            Node(chance, to(first), round=0, num_dealt=1, card_slots=(1,)),
        ]
        situations = list(itertools.product(range(self.max_raises + 2), (0, 1)))
        nodes += [self._decision(0, wagers, player) for wagers, player in situations]
        nodes.append(Node(chance, to(second), round=1, num_dealt=2, card_slots=(2,)))
        nodes += [self._decision(1, wagers, player) for wagers, player in situations]
        nodes += [Node(terminal, {}, round=over, num_dealt=2) for over in (1, 2)]
        return nodes

    def _number(self, round_index: int, wagers: int = 0, player: int = 0) -> int:
        per_round = 2 * (self.max_raises + 2)
        return 2 + round_index * (per_round + 1) + 2 * wagers + player

    def _decision(self, round_index: int, wagers: int, player: int) -> Node:
        """Where `player` acts after `wagers` bets and raises in the round."""
        after_round = self._number(round_index + 1) - 1  # public deal; first of the two ends
        fold_ends = self._number(NUM_ROUNDS) - 1
        transitions = {}
        if wagers:
            transitions[FOLD] = Transition(fold_ends + round_index, NOBODY, 0)
        is_opening_check = wagers == 0 and player == 0
        called = self._number(round_index, 0, 1) if is_opening_check else after_round + round_index
        transitions[CALL] = Transition(called, player, 0)
        if wagers <= self.max_raises:
            wagered = self._number(round_index, wagers + 1, 1 - player)
            factor = (1, SECOND_ROUND_FACTOR)[round_index]
            for index, size in enumerate(self.raise_sizes if wagers else self.bet_sizes):
                transitions[FIRST_WAGER + index] = Transition(wagered, player, factor * size)
        # Players alternate, so the parity of what happened, the wagers and perhaps an opening
        # check before them, is the player to move.
        num_actions = wagers + (wagers % 2 != player)
        slot = round_index * self.longest_round + num_actions
        return Node(player, transitions, round=round_index, num_dealt=2, action_slot=slot)


class BettingTables(NamedTuple):
    """The automaton's N nodes as tables on one device, for A actions.

    Transitions of a node and an action are found at node * A + action. An illegal action stays.
    """

    player: torch.Tensor  # int8 [N]
    legal: torch.Tensor  # bool [N, A]
    round: torch.Tensor  # int16 [N]
    deals: torch.Tensor  # float32 [N, D], thermometer of the D private chance events
    action_slot: torch.Tensor  # int8 [N]
    card_slots: torch.Tensor  # bool [N, 3]
    is_chance: torch.Tensor  # float64 [N]
    successor: torch.Tensor  # int32 [N * A]
    payer: torch.Tensor  # int8 [N * A]
    wager: torch.Tensor  # int32 [N * A]


def betting_tables(betting: Betting, joint_deal: bool, device: torch.device) -> BettingTables:
    """The tables of `betting`; for `joint_deal` see `Betting.nodes`."""
    nodes = betting.nodes(joint_deal)
    columns = range(betting.num_actions)
    legal, transitions = [], []
    for number, node in enumerate(nodes):
        stay = Transition(number, NOBODY, 0)
        is_chance = node.player == rules.CHANCE_PLAYER
        other = node.transitions[CALL] if is_chance else stay
        transitions += [node.transitions.get(action, other) for action in columns]
        legal.append([not is_chance and action in node.transitions for action in columns])
    # A joint deal is a single event, over once both have their card.
    thermometer = (2,) if joint_deal else (1, 2)
    deals = [[node.num_dealt >= cards for cards in thermometer] for node in nodes]
    tables = BettingTables(
        player=torch.tensor([node.player for node in nodes], dtype=torch.int8),
        legal=torch.tensor(legal),
        round=torch.tensor([node.round for node in nodes], dtype=torch.int16),
        deals=torch.tensor(deals, dtype=torch.float32),
        action_slot=torch.tensor([node.action_slot for node in nodes], dtype=torch.int8),
        card_slots=torch.tensor([[slot in node.card_slots for slot in range(3)] for node in nodes]),
        is_chance=torch.tensor([node.player == rules.CHANCE_PLAYER for node in nodes]).double(),
        successor=torch.tensor([move.successor for move in transitions], dtype=torch.int32),
        payer=torch.tensor([move.payer for move in transitions], dtype=torch.int8),
        wager=torch.tensor([move.wager for move in transitions], dtype=torch.int32),
    )
    return BettingTables(*(table.to(device) for table in tables))
