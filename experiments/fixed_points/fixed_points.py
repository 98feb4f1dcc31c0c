"""What self-play learners head for, computed exactly: R-NaD's, MMD's and PPO's fixed points.

A learner that is given time enough in each period follows these policies; how far it is from them
is its own error, the rest of its exploitability is that of its target.

```python
exact = fixed_points.RNaDFixedPoints("leduc_poker", eta=1.0)
exact.run(5)
print(exploitability.nash_conv(exact.game, exact.current_policy()), exact.num_unfinished)
```

R-NaD (Perolat et al. 2022; Kubíček et al. 2023, section 3.2): the mover pays
eta log(pi / pi_reg) to the opponent; the fixed point becomes the next pi_reg.

MMD with a moving magnet (Sokota et al. 2023): the loss of a decision has -temperature times the
entropy and magnet_weight KL(pi, magnet), which nobody pays to anybody; the fixed point becomes the
next magnet. So pi is proportional to magnet^(m / (t + m)) exp(q / (t + m)), where t is
`temperature` and m is `magnet_weight`.

PPO with entropy, and MMD with a uniform magnet, as `algorithms.mmd` has it: the same with a
magnet_weight of 0, the agent quantal response equilibrium of their temperature.

`regularized` has the method. Two things that learners do are not in it: NeuRD's threshold, which
keeps logits near each other, and R-NaD's slide from one regularisation policy to the next in the
first half of a period.
"""

from __future__ import annotations

import abc
import math

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from experiments.fixed_points.regularized import FixedPoint, Pair, Regularization, RegularizedGame
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.checks import check_iterations
from spiel_dl.tree.load import AnyGame, compile_game


class RegularizedFixedPoints(abc.ABC):
    """Fixed point after fixed point, each the reference of the next one.

    Attributes:
      tree: the compiled game.
      num_unfinished: how many fixed points were not found to within the tolerance.
      last: what was found last; None before the first iteration.
    """

    def __init__(
        self,
        game: AnyGame,
        reference: openspiel_policy.Policy | None = None,
        *,
        tolerance: float = 1e-6,
        max_iterations: int = 50_000,
    ):
        """Starts at a reference policy.

        Args:
          game: the game, its game string, or the compiled game.
          reference: the first regularisation policy or magnet, without zeros; None: the uniform
            policy.
          tolerance: largest difference in probability between a policy and its response.
          max_iterations: steps after which a fixed point counts as unfinished.

        Raises:
          ValueError: if the game cannot be compiled, or the reference is no policy of it.
        """
        self.tree = compile_game(game, reference)
        self.num_unfinished = 0
        self.last: FixedPoint | None = None
        start = ArrayPolicy.uniform(self.tree) if reference is None else reference
        self._strategies: Pair = ArrayPolicy.from_policy(self.tree, start).strategies
        self._iteration = 0
        self._tolerance = tolerance
        self._max_iterations = max_iterations
        visits = (self.tree.decision_visits(0), self.tree.decision_visits(1))
        self._regularized = RegularizedGame(self.tree.sequence_form, visits)

    @property
    def game(self) -> pyspiel.Game:
        """The turn-based game."""
        return self.tree.game

    @property
    def iteration(self) -> int:
        """How many fixed points were looked for."""
        return self._iteration

    def evaluate_and_update_policy(self) -> None:
        """Finds the fixed point of the current reference, which is the next reference."""
        self.last = self._regularized.fixed_point(
            self.regularization(self._strategies),
            self._strategies,
            tolerance=self._tolerance,
            max_iterations=self._max_iterations,
        )
        self.num_unfinished += not self.last.converged
        self._strategies = self.last.strategies
        self._iteration += 1

    def run(self, num_iterations: int) -> None:
        """Finds so many fixed points, one after the other."""
        for _ in range(check_iterations(num_iterations)):
            self.evaluate_and_update_policy()

    def current_policy(self) -> ArrayPolicy:
        """A copy of the last fixed point; before the first iteration, of the reference."""
        first, second = self._strategies
        return ArrayPolicy(self.tree, (first.copy(), second.copy()))

    @abc.abstractmethod
    def regularization(self, strategies: Pair) -> Regularization:
        """What the reference policy (float64 [S_p] for each player) makes of the game."""


class RNaDFixedPoints(RegularizedFixedPoints):
    """The regularisation policies of R-NaD."""

    def __init__(
        self,
        game: AnyGame,
        reference: openspiel_policy.Policy | None = None,
        *,
        eta: float = 0.2,
        tolerance: float = 1e-6,
        max_iterations: int = 50_000,
    ):
        """As `RegularizedFixedPoints`.

        Args:
          game: the game, its game string, or the compiled game.
          reference: the first regularisation policy; None: the uniform policy.
          eta: weight of the reward regularisation, in utility units per nat.
          tolerance: largest difference in probability between a policy and its response.
          max_iterations: steps after which a fixed point counts as unfinished.

        Raises:
          ValueError: as `RegularizedFixedPoints`, or if eta is not positive and finite.
        """
        if not 0 < eta < math.inf:
            raise ValueError(f"eta={eta} must be positive and finite")
        super().__init__(game, reference, tolerance=tolerance, max_iterations=max_iterations)
        self._eta = eta

    def regularization(self, strategies: Pair) -> Regularization:
        """As `RegularizedFixedPoints`."""
        return Regularization(self._eta, _logarithms(strategies, 1.0), paid=True)


class MMDFixedPoints(RegularizedFixedPoints):
    """The magnets of MMD; without weight of the magnet, the fixed point of PPO with entropy."""

    def __init__(
        self,
        game: AnyGame,
        reference: openspiel_policy.Policy | None = None,
        *,
        temperature: float = 0.0,
        magnet_weight: float = 0.0,
        tolerance: float = 1e-6,
        max_iterations: int = 50_000,
    ):
        """As `RegularizedFixedPoints`.

        Args:
          game: the game, its game string, or the compiled game.
          reference: the first magnet; None: the uniform policy.
          temperature: weight of the entropy, in utility units per nat.
          magnet_weight: weight of the distance to the magnet, in utility units per nat.
          tolerance: largest difference in probability between a policy and its response.
          max_iterations: steps after which a fixed point counts as unfinished.

        Raises:
          ValueError: as `RegularizedFixedPoints`, or if a weight is negative or not finite, or both
            are 0.
        """
        weights = (temperature, magnet_weight)
        if not all(0 <= weight < math.inf for weight in weights) or sum(weights) == 0:
            raise ValueError(
                f"temperature={temperature} and magnet_weight={magnet_weight} must be finite and "
                "not negative, and one of them positive"
            )
        super().__init__(game, reference, tolerance=tolerance, max_iterations=max_iterations)
        self._weight = temperature + magnet_weight
        self._share = magnet_weight / self._weight

    def regularization(self, strategies: Pair) -> Regularization:
        """As `RegularizedFixedPoints`."""
        return Regularization(self._weight, _logarithms(strategies, self._share), paid=False)


def _logarithms(strategies: Pair, share: float) -> Pair:
    """The logarithms of policies times a number; with a number of 0 zeros do not matter."""
    if share == 0:
        return np.zeros_like(strategies[0]), np.zeros_like(strategies[1])
    with np.errstate(divide="ignore"):
        return share * np.log(strategies[0]), share * np.log(strategies[1])
