"""Rules stepped by compiled loops, for batches so small that tensor operations are mostly overhead.

The tensors of `Rules` say what a game is. A compiled form is the same said a second time, for speed
alone: it changes the very tensors of a state batch, in place and on the CPU, and the tests hold it
to the tensor rules step by step. A game need not have one.
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
    """What compiled rules read and write besides the states of B games, as arrays.

    Attributes:
      action: int64 [B], the action or chance outcome to make; `NO_ACTION`: none.
      uniform: float64 [E, B], random numbers in [0, 1), one for each of E chance events.
      player: int8 [B], who acts.
      legal: bool [B, A], the legal actions of the player who acts.
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
      constants: of the game.
      feature_kernel: the compiled loop that writes features. It takes the constants, the arrays of
        the states, `observer` and `rows` as `write_features` has them.
    """

    kernel: Callable[..., None]
    constants: NamedTuple
    feature_kernel: Callable[..., None]

    def advance(self, state: tuple[np.ndarray, ...], games: Games) -> None:
        """Goes on in all games, in place."""
        self.kernel(self.constants, *state, games)

    def write_features(
        self, state: tuple[np.ndarray, ...], observer: np.ndarray, rows: np.ndarray
    ) -> None:
        """Writes what networks see, as `Rules.features` has it.

        Args:
          state: the arrays of B states.
          observer: int8 [B], the player as whom to look; negative: nobody, and no row is written.
          rows: float32 [N, F], of the games in which somebody looks, in order; is written, whatever
            it held.
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
