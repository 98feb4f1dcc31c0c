"""Places of hold'em's decisions among infosets and sequences, and the ends of the betting."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from spiel_dl.factored.holdem_deals import Deals
from spiel_dl.factored.holdem_kernels import LANES, Ends
from spiel_dl.games.compiled import CHANCE, TERMINAL
from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_betting import NOBODY, BettingTree
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


def number(
    tree: BettingTree,
    nodes: np.ndarray,
    sizes: np.ndarray | int,
    num_roots: int,
    roots_at: Callable[[int], np.ndarray],
    index_in: Callable[[int, int], np.ndarray],
) -> tuple[Places, Treeplex]:
    """The places of some of a player's decisions, and its strategy space there.

    Args:
      tree: the betting tree.
      nodes: int [D], the decisions, in ascending order.
      sizes: int [D], the number of infosets of each, or the one of all.
      num_roots: the number of root sequences.
      roots_at: from a node that follows none of `nodes` to the root sequence of each infoset.
      index_in: from a node and the one of the decision before to each infoset's index among those
        of that decision.
    """
    num_actions = tree.legal[nodes].sum(axis=1)
    sizes = np.broadcast_to(sizes, len(nodes)).astype(np.int64)
    first_sequence = num_roots + np.cumsum([0, *(sizes * num_actions)])
    decision_at = {node: decision for decision, node in enumerate(nodes.tolist())}
    before, parents = {0: (-1, 0)}, [np.zeros(0, np.int64)]
    for node in range(len(tree.player)):
        decision, rank = before[node]
        if tree.player[node] == CHANCE:
            before[int(tree.successor[node, 0])] = decision, rank
        if node in decision_at and decision < 0:
            parents.append(roots_at(node))
        elif node in decision_at:
            index = index_in(node, int(nodes[decision]))
            parents.append(first_sequence[decision] + index * num_actions[decision] + rank)
        for choice, action in enumerate(np.flatnonzero(tree.legal[node])):
            last = (decision_at[node], choice) if node in decision_at else (decision, rank)
            before[int(tree.successor[node, action])] = last
    counts = np.repeat(num_actions, sizes).astype(np.int32)
    treeplex = Treeplex(
        np.concatenate(parents).astype(np.int32),
        (num_roots + np.cumsum(counts) - counts).astype(np.int32),
        counts,
        num_roots,
    )
    return Places(nodes, np.cumsum([0, *sizes]), first_sequence, before), treeplex


def number_rounds(
    rules: HoldemRules, deals: Deals, player: int, num_rounds: int
) -> tuple[Places, Treeplex]:
    """`number` of a player's decisions of the first `num_rounds` rounds."""
    round_of = rules.tree.round
    nodes = np.flatnonzero((rules.tree.player == player) & (round_of < num_rounds))
    num_hands = np.array([len(boards.live[player].hand) for boards in deals.boards])
    return number(
        rules.tree,
        nodes,
        num_hands[round_of[nodes]],
        1,
        lambda node: np.zeros(num_hands[round_of[node]], np.int64),
        lambda node, earlier: indices_in_round(deals, player, round_of[node], round_of[earlier]),
    )


def game_indices(
    tree: BettingTree, places: Places, nodes: np.ndarray, hands: np.ndarray, roots: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A player's infosets and sequences of a part of a game, as numbered in the game: int64.

    Args:
      tree: the betting tree.
      places: the places of the player's decisions in the game.
      nodes: its decisions in the part.
      hands: int64 [n], the part's infosets of each decision among the game's of that decision.
      roots: int64 [R], the game's sequences that are the part's roots.
    """
    infosets, sequences = [np.zeros(0, np.int64)], [roots]
    for node in nodes.tolist():
        decision, step = int(np.searchsorted(places.nodes, node)), int(tree.legal[node].sum())
        infosets.append(places.first_infoset[decision] + hands)
        first = places.first_sequence[decision] + hands * step
        sequences.append((first[:, None] + np.arange(step)).ravel())
    return np.concatenate(infosets), np.concatenate(sequences)


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
