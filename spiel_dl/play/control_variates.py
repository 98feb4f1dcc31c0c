"""Unbiased variance reduction for matches by control variates, as in AIVAT.

Burch, Schmid, Moravčík, Morrill, Bowling: *AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games* (AAAI 2018). Let v be any values of histories. When a
game goes from h by a to ha, where a was drawn with the probabilities p,

    v(ha) - sum over b of p(b) v(hb)

is luck: its mean is 0, whoever acts and whatever v is. A game counts as its return minus the luck
of chance and of both players. This leaves the mean unchanged, and the better v is, the smaller the
variance: it is 0 if v(h) is the expected utility of the two policies from h on.

Values of another scale, or of players who see less, may overestimate luck. So the luck is
multiplied by a factor that is estimated from the observations, for each half of them from the other
half: this leaves the mean unchanged, too.

One part of AIVAT is left out: it also averages over the hands that the players might have held.
`history_networks` has values by networks.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyspiel

Step = tuple[Mapping[int, float], int]
"""The probabilities of all outcomes or actions, and the one that was drawn."""

_MIN_OBSERVATIONS = 20
"""With fewer observations the factor is not estimated; it is 1."""


class HistoryValues(abc.ABC):
    """Estimates of the values of histories; any estimates leave matches unbiased."""

    @abc.abstractmethod
    def of(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """Player 0's expected utility in states in which a player acts: float64 [N]."""


def luck(initial: pyspiel.State, steps: Iterable[Step], values: HistoryValues) -> float:
    """Player 0's luck in a game, by chance and both players' choices, in utility units.

    Args:
      initial: the game's initial state.
      steps: all steps of the game, chance's as well.
      values: of histories.
    """
    terms, state = _Terms(), initial.clone()
    for probabilities, drawn in steps:
        total = sum(probabilities.values())
        for outcome, probability in probabilities.items():
            terms.add(state, outcome, float(outcome == drawn) - probability / total)
        state.apply_action(drawn)
    return terms.total(values)


def without_luck(returns: np.ndarray, lucks: np.ndarray) -> np.ndarray:
    """Independent observations of returns minus their luck: float64 [N].

    The luck of each half of them (those of even, and of odd numbers) is multiplied by the factor
    that minimises the other half's variance.

    Args:
      returns: float64 [N].
      lucks: float64 [N], of mean 0.
    """
    factors = np.ones(len(returns))
    for half in (0, 1):
        other = slice(1 - half, None, 2)
        if len(lucks[other]) >= _MIN_OBSERVATIONS:
            centred = lucks[other] - lucks[other].mean()
            variance = centred @ centred
            factors[half::2] = centred @ returns[other] / variance if variance > 0 else 1.0
    adjusted: np.ndarray = returns - factors * lucks
    return adjusted


class _Terms:
    """A weighted sum of values of histories, which are evaluated in one batch."""

    def __init__(self) -> None:
        self._terminal_sum = 0.0
        self._states: list[pyspiel.State] = []
        self._weights: list[float] = []

    def add(self, state: pyspiel.State, outcome: int, weight: float) -> None:
        """Adds the value of the state after an outcome; of a chance node, its children's mean."""
        if weight == 0:
            return
        child = state.child(outcome)
        if child.is_terminal():
            self._terminal_sum += weight * child.returns()[0]
        elif child.is_chance_node():
            for event, probability in child.chance_outcomes():
                self.add(child, event, weight * probability)
        else:
            self._states.append(child)
            self._weights.append(weight)

    def total(self, values: HistoryValues) -> float:
        """The sum."""
        if not self._states:
            return self._terminal_sum
        return self._terminal_sum + float(np.array(self._weights) @ values.of(self._states))
