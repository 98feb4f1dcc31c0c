"""What fixed points of regularised games have to fulfil, written a second time."""

from __future__ import annotations

import numpy as np
import pyspiel

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree import GameTree

KUHN = "kuhn_poker"


def skewed(game: str) -> ArrayPolicy:
    """A policy far from uniform, and from every fixed point."""
    tree, rng = GameTree.from_game(game), np.random.default_rng(3)
    strategies = []
    for treeplex in tree.treeplexes:
        strategy = rng.uniform(0.1, 1.0, treeplex.num_sequences)
        strategy[0] = 1.0
        sums = np.repeat(treeplex.sum_per_infoset(strategy), treeplex.num_actions)
        strategy[1:] /= sums
        strategies.append(strategy)
    return ArrayPolicy(tree, (strategies[0], strategies[1]))


class KuhnEquations:
    """The conditions of a fixed point in Kuhn poker, from OpenSpiel's states alone."""

    def __init__(self, temperature: float, reference: ArrayPolicy, share: float, *, paid: bool):
        self.temperature, self.share, self.paid = temperature, share, paid
        self.anchor: dict[str, np.ndarray] = {}
        self.root = self._node(pyspiel.load_game(KUHN).new_initial_state(), reference)
        self.keys = sorted(self.anchor)

    def _node(self, state: pyspiel.State, reference: ArrayPolicy) -> tuple:
        """(player, key or probabilities, children), or (None, utility)."""
        if state.is_terminal():
            return None, state.returns()[0]
        children = [self._node(state.child(a), reference) for a in state.legal_actions()]
        if state.is_chance_node():
            return -1, [p for _, p in state.chance_outcomes()], children
        key = state.information_state_string()
        policy = reference.action_probabilities(state)
        self.anchor[key] = self.share * np.log([policy[a] for a in state.legal_actions()])
        return state.current_player(), key, children

    def error(self, log_odds: np.ndarray) -> np.ndarray:
        """Log-odds of the first actions minus what they should be: float64 [12]."""
        odds = dict(zip(self.keys, log_odds, strict=True))
        self.policy = {k: np.array([1, np.exp(-x)]) / (1 + np.exp(-x)) for k, x in odds.items()}
        self.earned = {key: np.zeros(2) for key in self.keys}
        self.reach = dict.fromkeys(self.keys, 0.0)
        self._value(self.root, np.ones(2))
        wanted = [
            self.anchor[k] + self.earned[k] / self.reach[k] / self.temperature for k in self.keys
        ]
        return log_odds - np.array([row[0] - row[1] for row in wanted])

    def _value(self, node: tuple, reach: np.ndarray) -> float:
        if node[0] is None:
            return node[1]
        player, key, children = node
        if player == -1:
            return sum(p * self._value(c, reach * p) for p, c in zip(key, children, strict=True))
        policy, sign = self.policy[key], 1 - 2 * player
        values = []
        for probability, child in zip(policy, children, strict=True):
            after = reach.copy()
            after[player] *= probability
            values.append(sign * self._value(child, after))
        self.earned[key] += reach[1 - player] * np.array(values)
        self.reach[key] += reach[1 - player]
        cost = self.temperature * policy @ (np.log(policy) - self.anchor[key])
        return sign * (policy @ values - self.paid * cost)


def best_regularised_value(
    policy: ArrayPolicy, reference: ArrayPolicy, player: int, eta: float
) -> float:
    """What a player earns at best, payments included: backward induction over all histories."""
    tree, sign = policy.tree, 1 - 2 * player
    value = sign * tree.utility
    weight = tree.chance_reach.copy()  # chance's and the opponent's reach
    opponent = policy.strategies[1 - player]
    log_ratio = np.log(opponent / reference.strategies[1 - player])
    for start, end in tree.levels_below_root():
        children = np.arange(start, end)
        parent = tree.parent[children]
        moved = tree.player[parent] == 1 - player
        before = weight[parent] / tree.chance_reach[parent] * tree.chance_reach[children]
        step = opponent[tree.sequence[1 - player, children]]
        weight[children] = before * np.where(moved, step, 1.0)
    treeplex, anchor = tree.treeplexes[player], np.log(reference.strategies[player])
    for start, end in reversed(tree.levels_below_root()):
        children = np.arange(start, end)
        parent = tree.parent[children]
        mover = tree.player[parent]
        share = np.zeros(len(children))
        earned = value[children]
        chance = mover == -1
        share[chance] = (tree.chance_reach[children] / tree.chance_reach[parent])[chance]
        theirs = mover == 1 - player
        sequence = tree.sequence[1 - player, children[theirs]]
        share[theirs] = opponent[sequence]
        earned[theirs] += eta * log_ratio[sequence]
        own = mover == player
        infoset, sequence = tree.infoset[parent[own]], tree.sequence[player, children[own]]
        total = np.bincount(
            sequence, (weight[children] * value[children])[own], treeplex.num_sequences
        )
        # An infoset's histories are of one depth in these games, so all of them are here.
        reach = np.zeros(treeplex.num_sequences)
        np.add.at(reach, sequence, weight[children][own])
        used = reach > 0
        logits = np.full(treeplex.num_sequences, -np.inf)
        logits[used] = anchor[used] + total[used] / reach[used] / eta
        highest = np.full(treeplex.num_infosets, -np.inf)
        np.maximum.at(highest, infoset, logits[sequence])
        highest[~np.isfinite(highest)] = 0.0
        unnormalised = np.exp(
            logits - np.concatenate([[0], np.repeat(highest, treeplex.num_actions)])
        )
        sums = treeplex.sum_per_infoset(unnormalised)
        share[own] = unnormalised[sequence] / sums[infoset]
        earned[own] -= eta * (np.log(share[own]) - anchor[sequence])
        np.add.at(value, parent, share * earned)
    return float(value[0])
