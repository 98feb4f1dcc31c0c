"""Exact frequencies of games' ends, and tests of counts against them."""

import collections

import numpy as np
import scipy.stats

LEAST_P_VALUE = 1e-3  # of chi-square tests with fixed seeds


def exact_ends(state, probability=1.0, moves=0, ends=None):
    """Probability of every (number of moves, player 0's return) under uniform play."""
    ends = collections.Counter() if ends is None else ends
    if state.is_terminal():
        ends[moves, state.returns()[0]] += probability
    elif state.is_chance_node():
        for outcome, chance in state.chance_outcomes():
            exact_ends(state.child(outcome), probability * chance, moves, ends)
    else:
        legal = state.legal_actions()
        for action in legal:
            exact_ends(state.child(action), probability / len(legal), moves + 1, ends)
    return ends


def check_frequencies(counts, probabilities):
    """A chi-square test; what was expected fewer than five times is taken together."""
    assert counts.keys() <= probabilities.keys()
    total = sum(counts.values())
    rare = [key for key, probability in probabilities.items() if probability * total < 5]
    common = [key for key in probabilities if key not in rare]
    observed = [counts[key] for key in common] + [sum(counts[key] for key in rare)]
    expected = [probabilities[key] * total for key in common]
    expected.append(sum(probabilities[key] for key in rare) * total)
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1]
        expected = list(np.array(expected) * sum(observed) / sum(expected))
    if len(observed) > 1:
        assert scipy.stats.chisquare(observed, expected).pvalue > LEAST_P_VALUE
