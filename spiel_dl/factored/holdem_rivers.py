"""Rivers of hold'em below a turn, side by side, to be solved by themselves.

A public state is a line of betting at whose end the river is dealt, and the card. Root infosets
are a player's live hands there: line by line, card by card.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from spiel_dl.factored import holdem_places
from spiel_dl.factored.holdem import HoldemForm
from spiel_dl.factored.holdem_kernels import Ends, Side
from spiel_dl.factored.holdem_places import Places
from spiel_dl.factored.holdem_trunk import HoldemTrunk
from spiel_dl.games.holdem_betting import TERMINAL
from spiel_dl.tree.sequence_form import Treeplex

Pair = tuple[np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False)
class RiverStarts:
    """Where rivers start: K lines times N cards, with R_p root infosets of each player.

    As leaves of the turn, they tell cards apart, which `HoldemLeaves` do not.

    Attributes:
      turn: above them.
      lines: int64 [K], which of the turn's leaves.
      boards: int64 [N], which of the game's last boards.
      hands: for each player, int64 [M_p], where the boards' live hands stand among all rivers'.
    """

    turn: HoldemTrunk
    lines: np.ndarray
    boards: np.ndarray
    hands: Pair

    @classmethod
    def of(cls, turn: HoldemTrunk, lines: Sequence[int], boards: Sequence[int]) -> RiverStarts:
        """Those of some lines and boards, both increasing."""
        live = turn.tree.deals.boards[1].live
        first, second = (
            np.concatenate([np.arange(*each.offset[board : board + 2]) for board in boards])
            for each in live
        )
        return cls(turn, np.asarray(lines), np.asarray(boards), (first, second))

    @property
    def num_public_states(self) -> int:
        """K * N."""
        return len(self.lines) * len(self.boards)

    @functools.cached_property
    def entries(self) -> Pair:
        """For each player, int64 [R_p], which leaf infosets of the turn are theirs."""
        leaves, found = self.turn.leaves, []
        for player in (0, 1):
            begin = leaves.infoset_offsets[player][self.lines]
            found.append((begin[:, None] + leaves.later[player][self.hands[player]]).ravel())
        return found[0], found[1]

    @functools.cached_property
    def sequences(self) -> Pair:
        """For each player, int64 [R_p], the turn's sequences from which they hang."""
        first, second = (self.turn.leaves.sequences[p][self.entries[p]] for p in (0, 1))
        return first, second

    @functools.cached_property
    def public_states(self) -> Pair:
        """For each player, int64 [R_p], the public state of each root infoset, from 0 on."""
        live, found = self.turn.tree.deals.boards[1].live, []
        for each in live:
            sizes = np.diff(each.offset)[self.boards]
            states = np.arange(self.num_public_states)
            found.append(np.repeat(states, np.tile(sizes, len(self.lines))))
        return found[0], found[1]

    def within(self, player: int, other: RiverStarts) -> np.ndarray:
        """Where a player's root infosets stand among those of others: int64 [R_p]."""
        line = np.searchsorted(other.lines, self.lines) * len(other.hands[player])
        found = line[:, None] + np.searchsorted(other.hands[player], self.hands[player])
        return found.ravel()

    @functools.cached_property
    def reach(self) -> HoldemForm:
        """A game on the ranges in which a player gets 1 for the opponent's reach, and chance's."""
        return self._ended(by_fold=True)

    @functools.cached_property
    def showdowns(self) -> HoldemForm:
        """A game on the ranges: what the pots of the lines are worth if nobody bets any more."""
        return self._ended(by_fold=False)

    def _ended(self, *, by_fold: bool) -> HoldemForm:
        deals = self.turn.tree.deals
        worth = np.ones(len(self.lines)) if by_fold else self.turn.leaves.spent[self.lines]
        worth = worth * deals.scale * deals.boards[1].chance
        ends = []
        for player in (0, 1):
            sizes = [len(self.hands[player]), len(self.hands[1 - player])]
            count = range(len(self.lines))
            rows = [[k * sizes[0], 1, k * sizes[1], 1, worth[k]] for k in count]
            here, none = holdem_places.as_ends(rows), holdem_places.as_ends([])
            ends.append((here, none) if by_fold else (none, here))
        empty, count_ = np.zeros(0, np.int32), [len(each) for each in self.public_states]
        treeplexes = [Treeplex(empty, empty, empty, size) for size in count_]
        return self._form((treeplexes[0], treeplexes[1]), (ends[0], ends[1]))

    def _form(
        self, treeplexes: tuple[Treeplex, Treeplex], ends: tuple[tuple[Ends, Ends], ...]
    ) -> HoldemForm:
        """A game on these boards alone."""
        form = self.turn.tree.sequence_form
        first, second = (_part(form.sides[1][p], self.boards, self.hands[p]) for p in (0, 1))
        return dataclasses.replace(
            form,
            treeplexes=treeplexes,
            ends=([ends[0]], [ends[1]]),
            sides=[(first, second)],
            last=[np.arange(len(self.boards) + 1)],
        )


class NoLeaves:
    """Rivers go to the end of the game."""

    num_public_states = 0


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemRivers:
    """Rivers of a turn to their end.

    Attributes:
      starts: where they start; in all lines there is betting.
      infosets: for each player, int64 [I_p], as infosets of the game.
      sequences: for each player, int64 [S_p], as sequences of the game; those of the turn at roots.
      sequence_form: of the rivers.
      leaves: none.
    """

    starts: RiverStarts
    infosets: Pair
    sequences: Pair
    sequence_form: HoldemForm
    leaves: NoLeaves

    @classmethod
    def of(cls, starts: RiverStarts) -> HoldemRivers:
        """The rivers that start somewhere."""
        game = starts.turn.tree
        tree = game.rules.tree
        is_below = np.isin(starts.turn.leaves.line_above, starts.lines)
        ended = np.flatnonzero(is_below & (tree.player == TERMINAL)).tolist()
        own = [
            _places(starts, player, np.flatnonzero(is_below & (tree.player == player)))
            for player in (0, 1)
        ]
        places = (own[0], own[1])
        first, second = (_treeplex(starts, player, places[player]) for player in (0, 1))
        ends = [
            holdem_places.ends_of(game.rules, game.deals, places, player, 1, ended)
            for player in (0, 1)
        ]
        kept = [_kept(starts, player, places[player]) for player in (0, 1)]
        return cls(
            starts,
            (kept[0][0], kept[1][0]),
            (kept[0][1], kept[1][1]),
            starts._form((first, second), (ends[0], ends[1])),
            NoLeaves(),
        )


def _part(side: Side, boards: np.ndarray, hands: np.ndarray) -> Side:
    """A player's hands on some boards."""
    return side._replace(
        offset=np.cumsum([0, *np.diff(side.offset)[boards]]),
        hand=side.hand[hands],
        position=side.position[boards],
        strength=side.strength[hands],
        same=side.same[hands],
    )


def _places(starts: RiverStarts, player: int, nodes: np.ndarray) -> Places:
    """Where a player's decisions at some nodes stand; nothing is before its first ones."""
    game = starts.turn.tree
    whole, size = game.places[player], len(starts.hands[player])
    number = {node: decision for decision, node in enumerate(nodes.tolist())}
    before = {
        node: (number[int(whole.nodes[decision])], rank)
        for node, (decision, rank) in whole.before.items()
        if decision >= 0 and int(whole.nodes[decision]) in number
    }
    num_actions = game.rules.tree.legal[nodes].sum(axis=1)
    roots = size * len(starts.lines)
    count = np.arange(len(nodes) + 1) * size
    return Places(nodes, count, roots + np.cumsum([0, *(size * num_actions)]), before)


def _treeplex(starts: RiverStarts, player: int, places: Places) -> Treeplex:
    """A player's strategy space."""
    tree, hands = starts.turn.tree.rules.tree, np.arange(len(starts.hands[player]))
    line_of = np.searchsorted(starts.lines, starts.turn.leaves.line_above)
    parents, num_actions = [np.zeros(0, int)], tree.legal[places.nodes].sum(axis=1)
    for node in places.nodes.tolist():
        if node in places.before:
            decision, rank = places.before[node]
            first = places.first_sequence[decision] + rank
            parents.append(first + hands * num_actions[decision])
        else:
            parents.append(line_of[node] * len(hands) + hands)
    counts = np.repeat(num_actions, len(hands)).astype(np.int32)
    roots = len(hands) * len(starts.lines)
    firsts = roots + np.cumsum(counts) - counts
    return Treeplex(
        np.concatenate(parents).astype(np.int32), firsts.astype(np.int32), counts, roots
    )


def _kept(starts: RiverStarts, player: int, places: Places) -> Pair:
    """The infosets and sequences of rivers, as those of the game."""
    game = starts.turn.tree
    whole, hands = game.places[player], starts.hands[player]
    infosets = [np.zeros(0, np.int64)]
    sequences = [starts.turn.sequences[player][starts.sequences[player]]]
    for node in places.nodes.tolist():
        decision = int(np.searchsorted(whole.nodes, node))
        step = int(game.rules.tree.legal[node].sum())
        infosets.append(whole.first_infoset[decision] + hands)
        first = whole.first_sequence[decision] + hands * step
        sequences.append((first[:, None] + np.arange(step)).ravel())
    return np.concatenate(infosets), np.concatenate(sequences)
