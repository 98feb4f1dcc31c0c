"""Hold'em's turn as a trunk for depth-limited solving.

A leaf public state is a line of betting that ends the turn, before the river is dealt. So a
player's leaf infosets are its hands, and a value function sums over river cards.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from spiel_dl.factored import holdem_places
from spiel_dl.factored.holdem import HoldemForm, HoldemGame
from spiel_dl.games.compiled import CHANCE
from spiel_dl.games.holdem_betting import NOBODY
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.factored_form import Pair


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemLeaves:
    """The K leaves of a turn, lines of betting.

    Ranges and counterfactual values are flat, line by line, by the hands live on the turn.

    Attributes:
      game: the whole game.
      depth_limit: the depth limit.
      lines: int64 [K], nodes of the betting tree that deal the river.
      spent: float64 [K], each player's contribution to the pot.
      is_open: bool [K], whether there is betting on the river.
      infoset_offsets: for each player, int64 [K + 1], the first infoset of each line.
      sequences: for each player, int64 [L_p], the trunk's last sequence before each infoset.
      later: for each player, int64 [M_p], the index on the turn of each live hand of all rivers.
    """

    game: HoldemGame
    depth_limit: DepthLimit
    lines: np.ndarray
    spent: np.ndarray
    is_open: np.ndarray
    infoset_offsets: Pair
    sequences: Pair
    later: Pair

    @property
    def num_public_states(self) -> int:
        """The number of lines."""
        return len(self.lines)

    def num_infosets(self, player: int) -> int:
        """L_p, the number of a player's leaf infosets."""
        return len(self.sequences[player])

    @functools.cached_property
    def line_above(self) -> np.ndarray:
        """For each node of the betting tree, the line at or above it, 0 to K - 1; -1: none."""
        tree = self.game.rules.tree
        lines = np.full(len(tree.player), -1)
        lines[self.lines] = np.arange(len(self.lines))
        for node in range(len(lines)):
            if lines[node] >= 0:
                is_chance = tree.player[node] == CHANCE
                actions = [0] if is_chance else np.flatnonzero(tree.legal[node])
                lines[tree.successor[node, actions]] = lines[node]
        return lines


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemTrunk:
    """A game of hold'em above a depth limit.

    Attributes:
      tree: the whole game.
      depth_limit: the depth limit.
      infosets: for each player, int64 [I_p], the trunk's infosets, as infosets of the game.
      sequences: for each player, int64 [S_p], the trunk's sequences, as sequences of the game.
      sequence_form: the trunk's treeplexes, and payoffs where the game ends in the trunk.
      leaves: the leaves.
    """

    tree: HoldemGame
    depth_limit: DepthLimit
    infosets: Pair
    sequences: Pair
    sequence_form: HoldemForm
    leaves: HoldemLeaves


def cut_holdem(game: HoldemGame, depth_limit: DepthLimit) -> HoldemTrunk:
    """The trunk of a turn.

    Raises:
      ValueError: if the game does not begin on the turn, or the limit is not one round.
    """
    rules, deals, tree = game.rules, game.deals, game.rules.tree
    is_turn = rules.betting.board_cards[1:] == (1,) and len(deals.boards[0].cards) <= 1
    if depth_limit.rounds != 1 or not is_turn:
        raise ValueError(
            f"depth_limit={depth_limit}: {game.game} is too large to list, and such hold'em is cut "
            "between turn and river only; begin on the turn, and take rounds=1"
        )
    first, second = (holdem_places.number_rounds(rules, deals, player, 1) for player in (0, 1))
    places = (first[0], second[0])
    ends = holdem_places.ends_in_round(rules, game.places, 0)
    folds = [node for node in ends if tree.folded[node] != NOBODY]
    form = dataclasses.replace(
        game.sequence_form,
        treeplexes=(first[1], second[1]),
        ends=(
            [holdem_places.ends_of(rules, deals, places, 0, 0, folds)],
            [holdem_places.ends_of(rules, deals, places, 1, 0, folds)],
        ),
        last=game.sequence_form.last[:1],
    )
    lines = np.flatnonzero((tree.player == CHANCE) & (tree.round == 1))
    sizes = [len(deals.boards[0].live[player].hand) for player in (0, 1)]
    sequences: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for player in (0, 1):
        places_ = places[player]
        for node in lines.tolist():
            # Both players have acted on the turn.
            decision, rank = places_.before[node]
            step = int(tree.legal[places_.nodes[decision]].sum())
            hands = np.arange(sizes[player])
            sequences[player].append(places_.first_sequence[decision] + hands * step + rank)
    later = [holdem_places.indices_in_round(deals, player, 1, 0) for player in (0, 1)]
    count = np.arange(len(lines) + 1)
    leaves = HoldemLeaves(
        game,
        depth_limit,
        lines,
        tree.spent[lines].min(axis=1),
        tree.player[tree.successor[lines, 0]] >= 0,
        (count * sizes[0], count * sizes[1]),
        (np.concatenate(sequences[0]), np.concatenate(sequences[1])),
        (later[0], later[1]),
    )
    (infosets_0, sequences_0), (infosets_1, sequences_1) = (
        holdem_places.game_indices(
            tree, game.places[p], places[p].nodes, np.arange(sizes[p]), np.zeros(1, np.int64)
        )
        for p in (0, 1)
    )
    return HoldemTrunk(
        game, depth_limit, (infosets_0, infosets_1), (sequences_0, sequences_1), form, leaves
    )
