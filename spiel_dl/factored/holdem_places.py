"""Places of hold'em's decisions among infosets and sequences, and the ends of the betting."""

from __future__ import annotations

import dataclasses

import numpy as np

from spiel_dl.factored.holdem_deals import Deals
from spiel_dl.factored.holdem_kernels import LANES, Ends
from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_betting import CHANCE, NOBODY, TERMINAL
from spiel_dl.tree.sequence_form import Treeplex


@dataclasses.dataclass(frozen=True, eq=False)
class Places:
    """The places of a player's decisions among its infosets and sequences.

    Attributes:
      nodes: the nodes of the betting tree at which it decides, in ascending order.
      first_infoset: int64 [D + 1], the first infoset of each decision.
      first_sequence: int64 [D + 1], its first sequence.
      before: by node, ends included, the player's last decision (its index in `nodes`) and the rank
        of the action there; (-1, 0): none.
    """

    nodes: np.ndarray
    first_infoset: np.ndarray
    first_sequence: np.ndarray
    before: dict[int, tuple[int, int]]


def places_of(rules: HoldemRules, deals: Deals, player: int, num_rounds: int) -> Places:
    """The places of a player's decisions of the first `num_rounds` rounds."""
    tree = rules.tree
    nodes = np.flatnonzero((tree.player == player) & (tree.round < num_rounds))
    sizes = np.array([len(deals.boards[r].live[player].hand) for r in tree.round[nodes]], int)
    num_actions = tree.legal[nodes].sum(axis=1)
    number = {int(node): decision for decision, node in enumerate(nodes)}
    before = {0: (-1, 0)}
    for node in range(len(tree.player)):
        if tree.player[node] == CHANCE:
            before[int(tree.successor[node, 0])] = before[node]
        for rank, action in enumerate(np.flatnonzero(tree.legal[node])):
            last_decision = (number[node], rank) if node in number else before[node]
            before[int(tree.successor[node, action])] = last_decision
    return Places(
        nodes,
        np.cumsum([0, *sizes]),
        1 + np.cumsum([0, *(sizes * num_actions)]),
        before,
    )


def treeplex_of(rules: HoldemRules, deals: Deals, places: Places, player: int) -> Treeplex:
    """A player's strategy space."""
    tree = rules.tree
    parents, num_actions = [], []
    for node in places.nodes.tolist():
        index = int(tree.round[node])
        live = deals.boards[index].live[player]
        decision, rank = places.before[node]
        parent = np.zeros(len(live.hand), np.int64)
        if decision >= 0:
            earlier = int(tree.round[places.nodes[decision]])
            step = int(tree.legal[places.nodes[decision]].sum())
            index_of_hand = indices_in_round(deals, player, index, earlier)
            parent = places.first_sequence[decision] + index_of_hand * step + rank
        parents.append(parent.astype(np.int32))
        num_actions.append(np.full(len(parent), tree.legal[node].sum(), np.int32))
    counts = np.concatenate([np.zeros(0, np.int32), *num_actions])
    return Treeplex(
        np.concatenate([np.zeros(0, np.int32), *parents]),
        (1 + np.cumsum(counts) - counts).astype(np.int32),
        counts,
        1,
    )


def indices_in_round(deals: Deals, player: int, index: int, earlier: int) -> np.ndarray:
    """The index of each of a round's live hands among those of an earlier round: int64 [L]."""
    live = deals.boards[index].live[player]
    board = np.repeat(np.arange(len(live.offset) - 1), np.diff(live.offset))
    for later in range(index, earlier, -1):
        board = deals.boards[later].parent[board]
    earlier_live = deals.boards[earlier].live[player]
    indices: np.ndarray = earlier_live.offset[board] + earlier_live.position[board, live.hand]
    return indices


def ends_in_round(rules: HoldemRules, places: tuple[Places, Places], index: int) -> list[int]:
    """The ends of the betting whose last decision was in a round, as nodes."""
    tree, ends = rules.tree, []
    for node in np.flatnonzero(tree.player == TERMINAL).tolist():
        decisions = [(each, each.before[node][0]) for each in places]
        rounds = [int(tree.round[each.nodes[last]]) for each, last in decisions if last >= 0]
        if max(rounds) == index:
            ends.append(node)
    return ends


def ends_of(
    rules: HoldemRules,
    deals: Deals,
    places: tuple[Places, Places],
    player: int,
    index: int,
    nodes: list[int],
) -> tuple[Ends, Ends]:
    """The ends of the betting at nodes of a round, for a player: by folds, and at showdowns."""
    tree = rules.tree
    rows: tuple[list[list[float]], list[list[float]]] = ([], [])
    for node in nodes:
        row: list[float] = []
        for p in (player, 1 - player):
            decision, rank = places[p].before[node]
            if decision < 0:
                row += [0, 0]
            else:
                step = int(tree.legal[places[p].nodes[decision]].sum())
                row += [int(places[p].first_sequence[decision]) + rank, step]
        folded = int(tree.folded[node])
        chance = deals.scale * deals.boards[index if folded != NOBODY else -1].chance
        sign = -1.0 if folded == player else 1.0
        row.append(sign * chance * float(tree.spent[node].min()))
        rows[folded == NOBODY].append(row)
    return as_ends(rows[0]), as_ends(rows[1])


def as_ends(rows: list[list[float]]) -> Ends:
    """`Ends` of rows of numbers, padded with ends that pay nothing."""
    padded = rows + [[0, 0, 0, 0, 0.0]] * (-len(rows) % LANES)
    table = np.ascontiguousarray(np.array(padded, np.float64).reshape(-1, 5).T)
    # Numbers of sequences are far below what floats can hold.
    own_first, own_step, other_first, other_step = table[:4].astype(np.int64)
    return Ends(own_first, own_step, other_first, other_step, table[4])
