"""Goofspiel where players see who won each prize, but not the opponent's bids.

What a player sees is the prizes, its own bids, and who won each round. So fix the order of prizes
and how both players bid, as two permutations of the cards: then both players' last sequences and
the payoff are known. They are the same for all orders of prizes but for where a block of sequences
begins and for who gets how many points. So payoffs are sums over orders of prizes times pairs of
permutations, 3.7 * 10^8 with six cards, by tables of pairs alone. The last card of both players is
forced, and that of the prizes, too.

Both players are told the same about themselves, so one table serves both.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math

import numpy as np
import pyspiel

from spiel_dl.factored import goofspiel_kernels
from spiel_dl.factored.stones import check_mover
from spiel_dl.tree.factored_form import Cost, FactoredForm
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.information_states import Observations
from spiel_dl.tree.sequence_form import Treeplex

_NUM_PARTS = 16
_SECONDS_PER_PAIR = 2e-9
_LOST, _TIED, _WON = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class GoofspielRules:
    """The parameters of a game for two players.

    Attributes:
      num_cards: n, at least 2.
      points_order: of the prizes: random, ascending or descending.
      counts_points: whether returns are half the difference of points, and not who has more.
    """

    num_cards: int
    points_order: str
    counts_points: bool

    @functools.cached_property
    def permutations(self) -> np.ndarray:
        """All orders of cards, in lexicographic order: int8 [n!, n]."""
        return np.array(list(itertools.permutations(range(self.num_cards))), np.int8)

    @functools.cached_property
    def orders(self) -> np.ndarray:
        """All orders of prizes that there may be: int8 [Q, n]."""
        first_or_last = {"ascending": slice(0, 1), "descending": slice(-1, None)}
        return self.permutations[first_or_last.get(self.points_order, slice(None))]

    def num_prefixes(self, length: int) -> int:
        """How many beginnings of orders of prizes there are."""
        return math.perm(self.num_cards, length) if len(self.orders) > 1 else 1

    def prefix(self, order: np.ndarray, length: int) -> np.ndarray:
        """The number of the beginning of a permutation: as many as are in lexicographic order."""
        return order // math.factorial(self.num_cards - length)

    def utilities(self) -> np.ndarray:
        """By order and outcomes, what their owner gets times the order's chance: [Q, 3^n]."""
        digits = np.arange(3**self.num_cards)[:, None] // 3 ** np.arange(self.num_cards) % 3
        points = (self.orders.astype(np.float64) + 1) @ (digits.T - 1.0)
        # OpenSpiel's point differences are to the mean of both players.
        return (points / 2 if self.counts_points else np.sign(points)) / len(self.orders)


@dataclasses.dataclass(frozen=True, eq=False)
class Bids:
    """What pairs of permutations look like to the first one's owner.

    A *node* of depth d is what a player has bid in d rounds, and how these came out.

    Attributes:
      outcomes: int16 [n!, n!], in base 3, the first round in the lowest digit: see `_LOST`.
      nodes: for each depth d below n - 1, int32 [n!, n!], the node of a pair.
      keys: for each depth, int64 [N_d], ascending: the beginning of the bids times 3^d, plus the
        outcomes.
      pairs: for each depth, int64 [N_d, 2], a pair of permutations with this node.
    """

    outcomes: np.ndarray
    nodes: list[np.ndarray]
    keys: list[np.ndarray]
    pairs: list[np.ndarray]

    @staticmethod
    def of_rules(rules: GoofspielRules) -> Bids:
        """All pairs."""
        own = rules.permutations.astype(np.int64)
        results = np.sign(own[:, None] - own[None]) + _TIED
        powers = 3 ** np.arange(rules.num_cards)
        numbers = np.arange(len(own))
        nodes, keys, pairs = [], [], []
        for depth in range(rules.num_cards - 1):
            prefixes = rules.prefix(numbers, depth)[:, None]
            told = prefixes * 3**depth + results[:, :, :depth] @ powers[:depth]
            key, first, node = np.unique(told, return_index=True, return_inverse=True)
            nodes.append(node.reshape(told.shape).astype(np.int32))
            keys.append(key)
            pairs.append(np.stack(np.divmod(first, len(own)), axis=1))
        return Bids((results @ powers).astype(np.int16), nodes, keys, pairs)

    @property
    def num_nodes(self) -> list[int]:
        """By depth."""
        return [len(key) for key in self.keys]


@dataclasses.dataclass(frozen=True, eq=False)
class GoofspielForm(FactoredForm):
    """The factored payoffs of goofspiel.

    Attributes:
      utilities: of `GoofspielRules`.
      outcomes: of `Bids`.
      own_last: int32 [n!, n!], the last sequence of the owner of the first permutation, behind the
        first one of the order of prizes.
      first_last: the first sequence of the last decisions.
      num_last: how many there are of one order of prizes.
    """

    utilities: np.ndarray
    outcomes: np.ndarray
    own_last: np.ndarray
    first_last: int
    num_last: int

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """What each of a player's sequences pays by itself: float64 [S_p], a new array."""
        del player  # Both see the same of themselves.
        cfv = np.zeros(self.treeplexes[0].num_sequences)
        plan = np.ascontiguousarray(opponent_plan, np.float64)
        shape = (len(self.utilities), self.num_last)
        own, others = (array[self.first_last :].reshape(shape) for array in (cfv, plan))
        bounds = np.linspace(0, len(self.utilities), _NUM_PARTS + 1).astype(np.int64)

        def work(part: int) -> None:
            chosen = slice(bounds[part], bounds[part + 1])
            goofspiel_kernels.add_pairs(
                self.utilities[chosen],
                self.outcomes,
                self.own_last,
                self._others_last,
                others[chosen],
                own[chosen],
            )

        self.in_threads(work, _NUM_PARTS)
        return cfv

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        return Cost(_SECONDS_PER_PAIR * len(self.utilities) * self.outcomes.size, 0)

    @functools.cached_property
    def _others_last(self) -> np.ndarray:
        """By the same pair, the last sequence of the other player."""
        return np.ascontiguousarray(self.own_last.T)


@dataclasses.dataclass(frozen=True, eq=False)
class GoofspielGame(FactoredGame):
    """OpenSpiel's goofspiel with imperfect information, converted to turns.

    Attributes:
      sequence_form: its payoffs.
      rules: its parameters.
      bids: what players may have bid.
      first_infoset: the first infoset of each round, and the number of all.
    """

    sequence_form: GoofspielForm
    rules: GoofspielRules
    bids: Bids
    first_infoset: np.ndarray

    @staticmethod
    def build(game: pyspiel.Game, rules: GoofspielRules, *, num_threads: int) -> GoofspielGame:
        """The game; see the attributes."""
        bids, n = Bids.of_rules(rules), rules.num_cards
        rounds = range(1, n)
        sizes = [rules.num_prefixes(r) * bids.num_nodes[r - 1] for r in rounds]
        first_infoset = np.cumsum([0, *sizes])
        num_actions = np.concatenate(
            [np.full(size, n - r + 1) for r, size in zip(rounds, sizes, strict=True)]
        )
        first_sequence = 1 + np.cumsum(num_actions) - num_actions
        parents = [_parents(rules, bids, r, first_infoset, first_sequence) for r in rounds]
        treeplex = Treeplex(
            np.concatenate(parents).astype(np.int32),
            first_sequence.astype(np.int32),
            num_actions.astype(np.int32),
            1,
        )
        rank = np.arange(len(rules.permutations))[:, None] % 2
        form = GoofspielForm(
            (treeplex, treeplex),
            game.max_utility() - game.min_utility(),
            num_threads,
            rules.utilities(),
            bids.outcomes,
            (2 * bids.nodes[n - 2] + rank).astype(np.int32),
            int(first_sequence[first_infoset[n - 2]]),
            2 * bids.num_nodes[n - 2],
        )
        return GoofspielGame(game, form, rules, bids, first_infoset)

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        depth, _, node = self._parts(np.array([infoset]))
        own = self._own_bids(depth, node)[0]
        return np.setdiff1d(np.arange(self.rules.num_cards), own).astype(np.int32)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        actions, is_random = state.history(), len(self.rules.orders) > 1
        width = 3 if is_random else 2
        depth = len(actions) // width
        prizes = actions[::width] if is_random else []
        own, others = (actions[width - 2 + p :: width] for p in (player, 1 - player))
        outcomes = [int(np.sign(a - b)) + _TIED for a, b in zip(own, others, strict=False)]
        key = self._number(own[:depth]) * 3**depth
        key += sum(result * 3**k for k, result in enumerate(outcomes[:depth]))
        node = int(np.searchsorted(self.bids.keys[depth], key))
        return int(
            self.first_infoset[depth] + self._number(prizes) * self.bids.num_nodes[depth] + node
        )

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of one of the histories in an infoset; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        depth, prefix, node = self._parts(np.array([infoset]))
        bids = self.rules.permutations[self.bids.pairs[depth][node[0]]]  # Its own ones first.
        prizes = self._prizes(depth, prefix)[0]
        actions: list[int] = []
        for turn in range(depth + 1):
            if len(self.rules.orders) > 1:
                actions.append(int(prizes[turn]))
            actions += bids[:, turn].tolist()[:: 1 - 2 * player]  # Player 0 first.
        return actions[: len(actions) - 2 + player]

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """What a player sees in the infosets from `begin` to before `end`."""
        found = []
        for depth in range(len(self.first_infoset) - 1):
            first, last = self.first_infoset[depth : depth + 2]
            infosets = np.arange(max(begin, first), min(end, last))
            if len(infosets):
                found.append(self._observe(player, infosets))
        tensors, legal = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Observations(tensors, legal)

    def _observe(self, player: int, infosets: np.ndarray) -> Observations:
        """The same of infosets of one round. The first parts are those of the conversion."""
        n = self.rules.num_cards
        depth, prefix, node = self._parts(infosets)
        prizes, own = self._prizes(depth, prefix).astype(np.int64), self._own_bids(depth, node)
        results = self.bids.keys[depth][node][:, None] // 3 ** np.arange(depth) % 3
        rows = np.arange(len(infosets))[:, None]
        tensors = np.zeros((len(infosets), self.game.information_state_tensor_size()), np.float32)
        tensors[:, [player, 2 + player]] = 1.0
        most = n * (n + 1) // 2 + 1
        for place, result in ((4, _WON), (4 + most, _LOST)):
            points = ((prizes[:, :depth] + 1) * (results == result)).sum(axis=1, keepdims=True)
            tensors[rows, place + points] = 1.0
        hand = 4 + 2 * most
        legal = np.ones((len(infosets), n), np.bool_)
        legal[rows, own] = False
        tensors[:, hand : hand + n] = legal
        turns = np.arange(depth)
        winners = np.where(results == _WON, player, 1 - player)
        tensors[rows, hand + n + 2 * turns + winners] = results != _TIED
        seen = hand + 3 * n
        tensors[rows, seen + n * np.arange(depth + 1) + prizes] = 1.0
        tensors[rows, seen + n * n + n * turns + own] = 1.0
        return Observations(tensors, legal)

    def _parts(self, infosets: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """Of infosets of one round: the rounds before, the numbers of the prizes, and the nodes."""
        depth = int(np.searchsorted(self.first_infoset, infosets[0], side="right")) - 1
        behind = infosets - self.first_infoset[depth]
        prefix, node = np.divmod(behind, self.bids.num_nodes[depth])
        return depth, prefix, node

    def _own_bids(self, depth: int, node: np.ndarray) -> np.ndarray:
        """The bids of nodes: int64 [N, depth]."""
        own = self.bids.pairs[depth][node, 0]
        return self.rules.permutations[own, :depth].astype(np.int64)

    def _prizes(self, depth: int, prefix: np.ndarray) -> np.ndarray:
        """The prizes that were seen in a round: int8 [N, depth + 1]."""
        rest = math.factorial(self.rules.num_cards - depth - 1) if len(self.rules.orders) > 1 else 1
        return self.rules.orders[prefix * rest, : depth + 1]

    def _number(self, cards: list[int]) -> int:
        """The place of the beginning of a permutation among those of its length."""
        number, left = 0, list(range(self.rules.num_cards))
        for card in cards:
            number = number * len(left) + left.index(card)
            left.remove(card)
        return number


def _parents(
    rules: GoofspielRules,
    bids: Bids,
    number: int,
    first_infoset: np.ndarray,
    first_sequence: np.ndarray,
) -> np.ndarray:
    """The sequences that lead to the infosets of a round, counted from 1."""
    if number == 1:
        return np.zeros(rules.num_prefixes(1), np.int64)
    n, depth = rules.num_cards, number - 1
    own, others = bids.pairs[depth].T
    above = bids.nodes[depth - 1][own, others]
    rank = rules.prefix(own, depth) % (n - depth + 1)
    prefixes = np.arange(rules.num_prefixes(number))
    if len(rules.orders) > 1:
        prefixes = prefixes // (n - number + 1)
    infosets = first_infoset[depth - 1] + prefixes[:, None] * bids.num_nodes[depth - 1] + above
    return (first_sequence[infosets] + rank).ravel()
