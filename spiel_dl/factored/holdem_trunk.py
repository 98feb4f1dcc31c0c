"""Hold'em above its last round of betting, for depth-limited solving.

A leaf public state is a line of betting after which a card is dealt to a board, before that card. So
a player's leaf infosets are its live hands, and a value function sums over the cards to come.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from spiel_dl.factored import holdem
from spiel_dl.factored.holdem import HoldemForm, HoldemGame
from spiel_dl.games.holdem_betting import CHANCE
from spiel_dl.tree.depth_limit import DepthLimit

Pair = tuple[np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemLeaves:
    """The leaves of a trunk: K lines of betting times the N boards of the trunk's last round.

    Ranges and counterfactual values are flat, line by line, by the live hands of all boards.

    Attributes:
      game: the whole game.
      depth_limit: where it is cut.
      lines: int64 [K], nodes of the betting tree that deal the next board.
      spent: float64 [K], what each player has in.
      infoset_offsets: for each player, int64 [K + 1], where each line's infosets start.
      sequences: for each player, int64 [L_p], the trunk's sequence from which an infoset hangs.
      later: for each player, int64 [M_p], for each live hand of the last round's boards the place
        of that hand among those of a line.
    """

    game: HoldemGame
    depth_limit: DepthLimit
    lines: np.ndarray
    spent: np.ndarray
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


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemTrunk:
    """A game of hold'em above a depth limit.

    Attributes:
      tree: the whole game.
      depth_limit: where it is cut.
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
    """The trunk of a game before its last round.

    Raises:
      ValueError: if the limit is another one.
    """
    rules, deals = game.rules, game.deals
    num_rounds = depth_limit.rounds
    if num_rounds is None or num_rounds != rules.num_rounds - 1:
        raise ValueError(
            f"depth_limit={depth_limit}: {game.game} is too large to list, and such games of "
            f"hold'em are cut before their last round; take rounds={max(rules.num_rounds - 1, 1)}"
            " of a game of several rounds"
        )
    first, second = (holdem.places_before(rules, deals, p, num_rounds) for p in (0, 1))
    places = (first, second)
    whole = game.sequence_form
    rounds = range(num_rounds)
    ended = [holdem.ended_in(rules, game.places, index) for index in rounds]
    form = dataclasses.replace(
        whole,
        treeplexes=(
            holdem.treeplex_of(rules, deals, first, 0),
            holdem.treeplex_of(rules, deals, second, 1),
        ),
        ends=(
            [holdem.ends_of(rules, deals, places, 0, r, ended[r]) for r in rounds],
            [holdem.ends_of(rules, deals, places, 1, r, ended[r]) for r in rounds],
        ),
        last=whole.last[:num_rounds],
    )
    tree = rules.tree
    lines = np.array(
        [
            n
            for n in np.flatnonzero((tree.player == CHANCE) & (tree.round == num_rounds))
            if _bets_follow(game, n)
        ]
    )
    found = []
    for player in (0, 1):
        own, live = places[player], deals.boards[num_rounds - 1].live[player]
        size = len(live.hand)
        hung = []
        for node in lines.tolist():
            decision, rank = own.before[node]
            step = int(tree.legal[own.nodes[decision]].sum())
            where = np.arange(size)
            earlier = int(tree.round[own.nodes[decision]])
            where = holdem.earlier_places(deals, player, num_rounds - 1, earlier)
            hung.append(own.first_sequence[decision] + where * step + rank)
        found.append((np.arange(len(lines) + 1) * size, np.concatenate(hung)))
    leaves = HoldemLeaves(
        game,
        depth_limit,
        lines,
        tree.spent[lines].min(axis=1),
        (found[0][0], found[1][0]),
        (found[0][1], found[1][1]),
        tuple(holdem.earlier_places(deals, p, num_rounds, num_rounds - 1) for p in (0, 1)),
    )
    kept = [_kept(game, places[player], player) for player in (0, 1)]
    return HoldemTrunk(
        game,
        depth_limit,
        (kept[0][0], kept[1][0]),
        (kept[0][1], kept[1][1]),
        form,
        leaves,
    )


def _bets_follow(game: HoldemGame, node: int) -> bool:
    """Whether somebody acts after a deal."""
    tree = game.rules.tree
    while tree.player[node] == CHANCE:
        node = int(tree.successor[node, 0])
    return bool(tree.player[node] >= 0)


def _kept(game: HoldemGame, own: holdem.Places, player: int) -> Pair:
    """The infosets and sequences of a trunk, as those of the game."""
    whole = game.places[player]
    infosets, sequences = [], [np.zeros(1, np.int64)]
    for decision in np.searchsorted(whole.nodes, own.nodes).tolist():
        infosets.append(np.arange(*whole.first_infoset[decision : decision + 2]))
        sequences.append(np.arange(*whole.first_sequence[decision : decision + 2]))
    return np.concatenate(infosets), np.concatenate(sequences)
