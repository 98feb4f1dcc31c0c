"""Hold'em's rivers below a turn as games of their own, many in one sequence form.

A public state is a line of betting that ends the turn, and a river card. Root infosets are a
player's live hands there: line by line, card by card.
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
from spiel_dl.games.compiled import TERMINAL
from spiel_dl.tree.factored_form import Pair
from spiel_dl.tree.sequence_form import Treeplex


@dataclasses.dataclass(frozen=True, eq=False)
class RiverStarts:
    """The starts of rivers: K lines times N cards, with R_p root infosets of each player.

    As leaves of the turn, they have one public state per river card, unlike `HoldemLeaves`.

    Attributes:
      turn: the trunk above them.
      lines: int64 [K], leaves of the turn.
      boards: int64 [N], boards of the game's last round.
      hands: for each player, int64 [M_p], the boards' live hands among those of all rivers.
    """

    turn: HoldemTrunk
    lines: np.ndarray
    boards: np.ndarray
    hands: Pair

    @classmethod
    def of(cls, turn: HoldemTrunk, lines: Sequence[int], boards: Sequence[int]) -> RiverStarts:
        """The starts at some lines and boards, both increasing."""
        live = turn.tree.deals.boards[1].live
        first, second = (
            np.concatenate([np.arange(*each.offset[board : board + 2]) for board in boards])
            for each in live
        )
        return cls(turn, np.asarray(lines), np.asarray(boards), (first, second))

    @property
    def num_public_states(self) -> int:
        """K * N, the number of lines times cards."""
        return len(self.lines) * len(self.boards)

    @functools.cached_property
    def entries(self) -> Pair:
        """For each player, int64 [R_p], the turn's leaf infoset of each root infoset."""
        leaves, entries = self.turn.leaves, []
        for player in (0, 1):
            begin = leaves.infoset_offsets[player][self.lines]
            entries.append((begin[:, None] + leaves.later[player][self.hands[player]]).ravel())
        return entries[0], entries[1]

    @functools.cached_property
    def sequences(self) -> Pair:
        """For each player, int64 [R_p], the turn's last sequence before each root infoset."""
        first, second = (self.turn.leaves.sequences[p][self.entries[p]] for p in (0, 1))
        return first, second

    @functools.cached_property
    def public_states(self) -> Pair:
        """For each player, int64 [R_p], the public state of each root infoset, from 0 on."""
        live_by_player, states_by_player = self.turn.tree.deals.boards[1].live, []
        for live_hands in live_by_player:
            sizes = np.diff(live_hands.offset)[self.boards]
            states = np.arange(self.num_public_states)
            states_by_player.append(np.repeat(states, np.tile(sizes, len(self.lines))))
        return states_by_player[0], states_by_player[1]

    def within(self, player: int, other: RiverStarts) -> np.ndarray:
        """The indices of a player's root infosets among those of `other` starts: int64 [R_p]."""
        line = np.searchsorted(other.lines, self.lines) * len(other.hands[player])
        indices = line[:, None] + np.searchsorted(other.hands[player], self.hands[player])
        return indices.ravel()

    @functools.cached_property
    def reach(self) -> HoldemForm:
        """A game of the root infosets whose payoffs are the opponent's and chance's reach."""
        return self._ended(by_fold=True)

    @functools.cached_property
    def showdowns(self) -> HoldemForm:
        """A game of the root infosets whose payoffs are showdowns of the lines' pots."""
        return self._ended(by_fold=False)

    def _ended(self, *, by_fold: bool) -> HoldemForm:
        deals = self.turn.tree.deals
        worth = np.ones(len(self.lines)) if by_fold else self.turn.leaves.spent[self.lines]
        worth = worth * deals.scale * deals.boards[1].chance
        ends = []
        for player in (0, 1):
            sizes = [len(self.hands[player]), len(self.hands[1 - player])]
            lines = range(len(self.lines))
            rows = [[k * sizes[0], 1, k * sizes[1], 1, worth[k]] for k in lines]
            line_ends, no_ends = holdem_places.as_ends(rows), holdem_places.as_ends([])
            ends.append((line_ends, no_ends) if by_fold else (no_ends, line_ends))
        empty, num_roots = np.zeros(0, np.int32), [len(each) for each in self.public_states]
        treeplexes = [Treeplex(empty, empty, empty, size) for size in num_roots]
        return self._form((treeplexes[0], treeplexes[1]), (ends[0], ends[1]))

    def _form(
        self, treeplexes: tuple[Treeplex, Treeplex], ends: tuple[tuple[Ends, Ends], ...]
    ) -> HoldemForm:
        """A sequence form on these boards alone."""
        form = self.turn.tree.sequence_form
        first, second = (_restrict(form.sides[1][p], self.boards, self.hands[p]) for p in (0, 1))
        return dataclasses.replace(
            form,
            treeplexes=treeplexes,
            ends=([ends[0]], [ends[1]]),
            sides=[(first, second)],
            last=[np.arange(len(self.boards) + 1)],
        )


class NoLeaves:
    """The leaves of rivers, which are solved to the end of the game: none."""

    num_public_states = 0


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemRivers:
    """Rivers of a turn to the end of the game.

    Attributes:
      starts: their starts; all lines have betting on the river.
      infosets: for each player, int64 [I_p], the infosets as those of the game.
      sequences: for each player, int64 [S_p], as those of the game; at roots, the turn's.
      sequence_form: the rivers' sequence form.
      leaves: none.
    """

    starts: RiverStarts
    infosets: Pair
    sequences: Pair
    sequence_form: HoldemForm
    leaves: NoLeaves

    @classmethod
    def of(cls, starts: RiverStarts) -> HoldemRivers:
        """The rivers of these starts."""
        game = starts.turn.tree
        tree = game.rules.tree
        is_below = np.isin(starts.turn.leaves.line_above, starts.lines)
        end_nodes = np.flatnonzero(is_below & (tree.player == TERMINAL)).tolist()
        first, second = (
            _numbering(starts, player, np.flatnonzero(is_below & (tree.player == player)))
            for player in (0, 1)
        )
        places = (first[0], second[0])
        ends = [
            holdem_places.ends_of(game.rules, game.deals, places, player, 1, end_nodes)
            for player in (0, 1)
        ]
        (infosets_0, sequences_0), (infosets_1, sequences_1) = (
            holdem_places.game_indices(
                tree,
                game.places[player],
                places[player].nodes,
                starts.hands[player],
                starts.turn.sequences[player][starts.sequences[player]],
            )
            for player in (0, 1)
        )
        return cls(
            starts,
            (infosets_0, infosets_1),
            (sequences_0, sequences_1),
            starts._form((first[1], second[1]), (ends[0], ends[1])),
            NoLeaves(),
        )


def _restrict(side: Side, boards: np.ndarray, hands: np.ndarray) -> Side:
    """A player's side on some boards only; `hands` are their live hands."""
    return side._replace(
        offset=np.cumsum([0, *np.diff(side.offset)[boards]]),
        hand=side.hand[hands],
        position=side.position[boards],
        strength=side.strength[hands],
        same=side.same[hands],
    )


def _numbering(starts: RiverStarts, player: int, nodes: np.ndarray) -> tuple[Places, Treeplex]:
    """The places of a player's decisions at nodes of the rivers, and its strategy space."""
    tree, hands = starts.turn.tree.rules.tree, np.arange(len(starts.hands[player]))
    line_of = np.searchsorted(starts.lines, starts.turn.leaves.line_above)
    return holdem_places.number(
        tree,
        nodes,
        len(hands),
        len(starts.lines) * len(hands),
        lambda node: line_of[node] * len(hands) + hands,
        lambda *_: hands,
    )
