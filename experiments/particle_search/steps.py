"""Mirror-descent search in all infosets of a compiled game: action values, steps, and gains."""

from __future__ import annotations

import numpy as np

from spiel_dl.algorithms.mirror_descent_search import (
    MirrorDescentConfig,
    MirrorDescentPolicy,
    stepped,
)
from spiel_dl.policies.array_policy import plans_of
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.solvers.best_response import (
    FixedStrategy,
    best_response,
    expected_value,
    realization_plan,
)
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.sequence_form import SequenceForm

Pair = tuple[np.ndarray, np.ndarray]
"""Both players' numbers of their sequences, float64 [S_p]."""


def searched_values(tree: GameTree, network: NetworkPolicy, config: MirrorDescentConfig) -> Pair:
    """What the search says that each action is worth, in utility ranges: float64 [S_p] each."""
    policy = MirrorDescentPolicy(tree.game, network, config)
    found = []
    for player, treeplex in enumerate(tree.treeplexes):
        values = np.zeros(treeplex.num_sequences)
        for infoset in np.flatnonzero(treeplex.num_actions > 1).tolist():
            state = tree.state(int(tree.first_history[player][infoset]))
            values[treeplex.sequences(infoset)] = policy.found(state).values
        found.append(values)
    return found[0], found[1]


def exact_values(tree: GameTree, strategies: Pair) -> Pair:
    """The same, exactly; 0 where the opponent never comes."""
    found = []
    for player, treeplex in enumerate(tree.treeplexes):
        plan = realization_plan(tree.treeplexes[1 - player], strategies[1 - player])
        everywhere = FixedStrategy(np.ones(treeplex.num_infosets, np.bool_), strategies[player])
        cfv = best_response(tree.sequence_form, player, plan, fixed=everywhere).cfv
        own = np.flatnonzero(tree.player == player)
        reach = plan[tree.sequence[1 - player, own]] * tree.chance_reach[own]
        of_infoset = np.bincount(tree.infoset[own], reach, treeplex.num_infosets)
        values = np.zeros(treeplex.num_sequences)
        first = treeplex.num_root_sequences
        weight = of_infoset[treeplex.infoset_of_sequence[first:]]
        np.divide(cfv[first:], weight, out=values[first:], where=weight > 0)
        found.append(values / tree.utility_range)
    return found[0], found[1]


def stepped_everywhere(
    tree: GameTree, strategies: Pair, values: Pair, stepsize: float, temperature: float
) -> Pair:
    """Both players' strategies after one step in all infosets: float64 [S_p] each."""
    found = []
    for treeplex, strategy, worth in zip(tree.treeplexes, strategies, values, strict=True):
        after = strategy.copy()
        for infoset in np.flatnonzero(treeplex.num_actions > 1).tolist():
            own = treeplex.sequences(infoset)
            after[own] = stepped(strategy[own], worth[own], stepsize, temperature)
        found.append(after)
    return found[0], found[1]


def gain(tree: GameTree, after: Pair, before: Pair) -> float:
    """What search earns against the network, mean of both seats, in utility ranges."""
    plans = plans_of(tree, after), plans_of(tree, before)
    return earned(tree.sequence_form, *plans) / tree.utility_range


def earned(form: SequenceForm | FactoredForm, searched: Pair, network: Pair) -> float:
    """What plans earn against the network's, mean of both seats, in utility units."""
    as_first = expected_value(form, (searched[0], network[1]))
    as_second = -expected_value(form, (network[0], searched[1]))
    return (as_first + as_second) / 2
