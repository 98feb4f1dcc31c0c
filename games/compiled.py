"""Rules stepped by compiled loops, for small batches, where tensor operations are mostly overhead.

`Rules` define a game. A compiled form is a second implementation, for speed alone: it changes the
tensors of a state batch in place, on the CPU, and tests compare it with the tensor rules step by
step. It is optional.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

CHANCE, TERMINAL = -1, -4  # OpenSpiel's player ids, as constants of compiled loops
NO_ACTION = -1
SEATS = 2  # features of games whose seats differ begin with a one-hot of the player

kernel = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
# A call hands over all arrays of games one by one, which takes longer than a short function.
inlined = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)


class Games(NamedTuple):
    """The arrays that compiled rules read and write besides the states of B games.

    Attributes:
      action: int64 [B], the action or chance outcome to make; `NO_ACTION`: none.
      uniform: float64 [E, B], random numbers in [0, 1), one for each of E chance events.
      player: int8 [B], the player to act.
      legal: bool [B, A], its legal actions.
      returns: float64 [B], player 0's utility where the game is over; else 0.
    """

    action: np.ndarray
    uniform: np.ndarray
    player: np.ndarray
    legal: np.ndarray
    returns: np.ndarray


@dataclasses.dataclass(frozen=True)
class CompiledRules:
    """The compiled form of a `Rules`.

    Attributes:
      kernel: the compiled loop. It takes the constants, the arrays of the states in the order of
        the fields of their class, and `Games`, and changes these in place. In each game it makes
        the action, if there is one; then it plays chance events, each with the next of the game's
        random numbers, until a player acts, the game is over, or no number is left. The outcome is
        the first one at which the sum of probabilities exceeds the number. A game that is over
        stays as it is.
      constants: the game's constants.
      feature_kernel: the compiled loop that writes features. It takes the constants, the arrays of
        the states, and `observer` and `rows` of `write_features`.
    """

    kernel: Callable[..., None]
    constants: NamedTuple
    feature_kernel: Callable[..., None]

    def advance(self, state: tuple[np.ndarray, ...], games: Games) -> None:
        """Makes the actions of all games, in place; see `kernel`."""
        self.kernel(self.constants, *state, games)

    def write_features(
        self, state: tuple[np.ndarray, ...], observer: np.ndarray, rows: np.ndarray
    ) -> None:
        """Writes the networks' inputs, see `Rules.features`.

        Args:
          state: the arrays of B states.
          observer: int8 [B], the observing player; negative: none, and no row is written.
          rows: float32 [N, F], overwritten: one row for each game with an observer, in order.
        """
        self.feature_kernel(self.constants, *state, observer, rows)


@kernel
def sample(weights: np.ndarray, uniform: float) -> int:
    """The first column at which the sum of weights exceeds its share of the whole."""
    total = 0.0
    for column in range(len(weights)):
        total += weights[column]
    target, cumulative = uniform * total, 0.0
    for column in range(len(weights)):
        cumulative += weights[column]
        if cumulative > target:
            return column
    return len(weights) - 1
