"""Takes luck out of matches without bias, as AIVAT does.

Burch, Schmid, Moravčík, Morrill, Bowling: *AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games* (AAAI 2018). Take any values v of histories. Where a
game went from h by a to ha, a having been drawn with the probabilities p,

    v(ha) - sum over b of p(b) v(hb)

is luck: its mean is 0, whoever acts and whatever v is. A game counts as its return without the luck
of chance and of both players. So the mean stays what it was, and the better v is, the less is left
of the variance: nothing, if v(h) is what the two policies come to from h on.

Values of another scale, or of players who see less, may tell more luck than there was. So the luck
is taken off as often as the observations themselves say, each half of them for the other half: this
leaves the mean as it is, too.

What AIVAT has besides is left out: it also averages over what the players might have held.
`history_networks` has values that networks tell.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyspiel

Step = tuple[Mapping[int, float], int]
"""The probabilities of all outcomes or actions, and the one that was drawn."""

_LEAST = 20
"""Of fewer observations no factor is estimated; it is 1."""


class HistoryValues(abc.ABC):
    """Guesses what histories are worth; any guess is allowed."""

    @abc.abstractmethod
    def of(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """Player 0's expected utility in states in which a player acts: float64 [N]."""


def luck(initial: pyspiel.State, steps: Iterable[Step], values: HistoryValues) -> float:
    """Player 0's luck in a game, in utility units: of chance and of both players.

    Args:
      initial: where the game began.
      steps: all of its steps, chance's as well.
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
    """Independent observations of returns less their luck: float64 [N].

    The luck of each half of them (those of even, and of odd numbers) is multiplied by the factor
    that would leave least of the other half's variance.

    Args:
      returns: float64 [N].
      lucks: float64 [N], of mean 0.
    """
    factors = np.ones(len(returns))
    for half in (0, 1):
        other = slice(1 - half, None, 2)
        if len(lucks[other]) >= _LEAST:
            centred = lucks[other] - lucks[other].mean()
            variance = centred @ centred
            factors[half::2] = centred @ returns[other] / variance if variance > 0 else 1.0
    found: np.ndarray = returns - factors * lucks
    return found


class _Terms:
    """A weighted sum of values of histories; those that networks value are asked for at once."""

    def __init__(self) -> None:
        self._known = 0.0
        self._states: list[pyspiel.State] = []
        self._weights: list[float] = []

    def add(self, state: pyspiel.State, outcome: int, weight: float) -> None:
        """Adds the value behind an outcome; before chance, it is the mean over what chance does."""
        if weight == 0:
            return
        child = state.child(outcome)
        if child.is_terminal():
            self._known += weight * child.returns()[0]
        elif child.is_chance_node():
            for event, probability in child.chance_outcomes():
                self.add(child, event, weight * probability)
        else:
            self._states.append(child)
            self._weights.append(weight)

    def total(self, values: HistoryValues) -> float:
        """The sum."""
        if not self._states:
            return self._known
        return self._known + float(np.array(self._weights) @ values.of(self._states))
