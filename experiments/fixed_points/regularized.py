"""Fixed points of regularised games: what R-NaD, MMD and PPO with entropy head for.

Every decision has the policy

    pi(a) proportional to exp(log_anchor(a) + q(a) / temperature)

where q(a) is what the action earns its player from here on, given that it came here, by the
policies of both players: a counterfactual value divided by its infoset's counterfactual reach.

In R-NaD the mover pays temperature * (log pi(a) - log_anchor(a)) to the opponent, and q contains
all such payments of later decisions (Perolat et al. 2021, "From Poincaré recurrence to convergence
in imperfect information games", section 3). The cost is convex in the player's realization plan and
linear in the opponent's, so there is one fixed point: the saddle point of the regularised game.

Where nothing is paid, q is the utility alone: the fixed point is an agent quantal response
equilibrium (McKelvey and Palfrey 1998; Sokota et al. 2023, section 3). At low temperatures there
may be several of them; which one is found depends on the start.

The method: all log-probabilities move at once by

    log pi  +=  stepsize (2 F - F'),    F = log response - log pi,    F' the F before,

optimistic mirror descent with per-infoset normalised values. Plain steps, which leave out F', turn
around the fixed point and need a stepsize of the order of temperature squared. The stepsize grows
while the residual falls, and shrinks, with a bound on later growth, when it does not.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import scipy.sparse

from experiments.fixed_points import regularized_kernels
from experiments.fixed_points.regularized_kernels import Side
from spiel_dl.solvers import kernels
from spiel_dl.solvers.checks import check_iterations
from spiel_dl.solvers.minimizer_state import Pair
from spiel_dl.solvers.strategies import check_strategy
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex

# Logits of one infoset differ at most by this over the player's longest chain of decisions, so
# that every sequence keeps a weight that a float64 can hold.
_SPREAD_OF_A_PLAN = 600.0
_LARGEST_STEPSIZE = 0.4
_FIRST_STEPSIZE = 0.2
_GROWTH, _SHRINKAGE, _BELOW_TOO_LARGE = 1.25, 0.6, 0.9
_SHORTEST_STRETCH, _LONGEST_STRETCH = 20, 2000


@dataclasses.dataclass(frozen=True, eq=False)
class Regularization:
    """What draws a policy away from a best response; the module's docstring says how.

    Attributes:
      temperature: in utility units per nat, positive.
      log_anchor: for each player, float64 [S_p]; in each infoset up to a constant, where nothing is
        paid. Entries of root sequences are ignored.
      paid: whether the mover pays its cost to the opponent (R-NaD), or it is part of the mover's
        own loss alone (MMD, PPO).
    """

    temperature: float
    log_anchor: Pair
    paid: bool

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature={self.temperature} must be positive and finite")
        if not all(np.isfinite(anchor).all() for anchor in self.log_anchor):
            raise ValueError(
                "log_anchor must be finite: give a reference policy without zeros, for example "
                "mixed with a little of the uniform one"
            )


@dataclasses.dataclass(frozen=True, eq=False)
class FixedPoint:
    """What `RegularizedGame.fixed_point` found.

    Attributes:
      strategies: for each player, float64 [S_p], 1 at root sequences.
      residual: largest difference, in probability, between a policy and its response at any infoset
        of both players.
      num_iterations: how many steps it took.
      converged: whether the residual is within the tolerance.
    """

    strategies: Pair
    residual: float
    num_iterations: int
    converged: bool


class RegularizedGame:
    """A game whose fixed points are found, for any number of regularisations."""

    def __init__(
        self,
        sequence_form: SequenceForm,
        visits: tuple[scipy.sparse.csr_array, scipy.sparse.csr_array],
    ):
        """Prepares payoffs for many iterations.

        Args:
          sequence_form: the whole game.
          visits: for each player, float64 [I_p, S_-p], chance's reach of its infosets by the
            opponent's sequences: `NumberedHistories.decision_visits`.

        Raises:
          ValueError: if the visits are not of these treeplexes.
        """
        for player, treeplex in enumerate(sequence_form.treeplexes):
            shape = (treeplex.num_infosets, sequence_form.treeplexes[1 - player].num_sequences)
            if visits[player].shape != shape:
                raise ValueError(
                    f"the visits of player {player} have the shape {visits[player].shape}; give "
                    f"one row per infoset and one column per sequence of the opponent, {shape}"
                )
        self.sequence_form = sequence_form
        self._sides = (self._new_side(0, visits), self._new_side(1, visits))
        longest = max(_longest_chain(treeplex) for treeplex in sequence_form.treeplexes)
        self._spread = _SPREAD_OF_A_PLAN / max(longest, 1)

    def response(self, regularization: Regularization, strategies: Pair) -> FixedPoint:
        """One application of the map: both players' regularised responses to some policies.

        Args:
          regularization: the temperature and what draws the policies.
          strategies: for each player, float64 [S_p], positive.

        Returns:
          The responses, and as residual how far the given policies are from them.
        """
        self._start(regularization, strategies)
        residual = self._respond(regularization)
        first, second = (side.response.copy() for side in self._sides)
        return FixedPoint((first, second), residual, 0, residual == 0)

    def fixed_point(
        self,
        regularization: Regularization,
        start: Pair | None = None,
        *,
        tolerance: float = 1e-6,
        max_iterations: int = 50_000,
    ) -> FixedPoint:
        """The policies that are their own regularised responses.

        Args:
          regularization: the temperature and what draws the policies.
          start: for each player, float64 [S_p], positive; None: the uniform policy.
          tolerance: the residual to stop at.
          max_iterations: when to give up; the result then says that it has not converged.

        Raises:
          ValueError: if the start is no positive strategy, or for an impossible tolerance or number
            of iterations.
        """
        if not 0 < tolerance < 1:
            raise ValueError(f"tolerance={tolerance} must be between 0 and 1")
        max_iterations = check_iterations(max_iterations)
        if start is None:
            first, second = (t.uniform_strategy() for t in self.sequence_form.treeplexes)
            start = (first, second)
        self._start(regularization, start)
        residual, done = self._respond(regularization), 0
        for side in self._sides:
            side.last_force[:] = side.force
        stepsize, ceiling = self._first_stepsize(regularization), _LARGEST_STEPSIZE
        while residual > tolerance and done < max_iterations:
            before = residual
            stretch = min(max(_SHORTEST_STRETCH, round(2 / stepsize)), _LONGEST_STRETCH)
            steps, residual = regularized_kernels.iterate(
                self._sides,
                regularization.temperature,
                regularization.paid,
                self._spread,
                stepsize,
                min(stretch, max_iterations - done),
                tolerance,
            )
            done += steps
            if residual > before:
                ceiling = min(ceiling, _BELOW_TOO_LARGE * stepsize)
                stepsize *= _SHRINKAGE
            elif residual < before / 2:
                stepsize = min(_GROWTH * stepsize, ceiling)
        first, second = (side.policy.copy() for side in self._sides)
        return FixedPoint((first, second), residual, done, residual <= tolerance)

    def _first_stepsize(self, regularization: Regularization) -> float:
        # Utilities turn the dynamics the faster, the lower the temperature.
        scale = max(self.sequence_form.utility_range, np.finfo(float).tiny)
        return min(_FIRST_STEPSIZE, 2 * regularization.temperature / scale)

    def _start(self, regularization: Regularization, strategies: Pair) -> None:
        for player, side in enumerate(self._sides):
            treeplex, strategy = self.sequence_form.treeplexes[player], strategies[player]
            check_strategy(treeplex, strategy, np.ones(treeplex.num_infosets, np.bool_))
            if not strategy.min() > 0:
                raise ValueError(
                    f"player {player}'s strategy has zeros; mix it with a little of the uniform one"
                )
            if regularization.log_anchor[player].shape != strategy.shape:
                raise ValueError(
                    f"player {player}'s log_anchor has the shape "
                    f"{regularization.log_anchor[player].shape}; give one number per sequence, "
                    f"{strategy.shape}"
                )
            side.log_anchor[:] = regularization.log_anchor[player]
            np.log(strategy, out=side.log_policy)
            side.cost[:] = 0.0

    def _respond(self, regularization: Regularization) -> float:
        return float(
            regularized_kernels.respond(
                self._sides, regularization.temperature, regularization.paid, self._spread
            )
        )

    def _new_side(self, player: int, visits: tuple[scipy.sparse.csr_array, ...]) -> Side:
        treeplex = self.sequence_form.treeplexes[player]
        constants = self.sequence_form.constants
        per_sequence = [np.zeros(treeplex.num_sequences) for _ in range(7)]
        per_infoset = [np.zeros(treeplex.num_infosets) for _ in range(3)]
        log_anchor, log_policy, cfv, log_response, response, force, last_force = per_sequence
        cost, paid, reach = per_infoset
        return Side(
            treeplex=treeplex.arrays,
            payoffs=kernels.slice_payoffs(self.sequence_form.payoffs_for(player)),
            visits=kernels.slice_payoffs(visits[player]),
            opponent_visits=kernels.slice_payoffs(visits[1 - player].T.tocsr()),
            constants=np.zeros_like(cfv) if constants is None else constants[player],
            log_anchor=log_anchor,
            log_policy=log_policy,
            policy=np.ones_like(cfv),
            plan=np.ones_like(cfv),
            cost=cost,
            paid=paid,
            reach=reach,
            cfv=cfv,
            log_response=log_response,
            response=np.ones_like(response),
            force=force,
            last_force=last_force,
        )


def _longest_chain(treeplex: Treeplex) -> int:
    """The largest number of decisions that a player makes one after the other."""
    depth = np.zeros(treeplex.num_sequences, np.int64)
    for infoset in range(treeplex.num_infosets):
        depth[treeplex.sequences(infoset)] = depth[treeplex.parent_sequence[infoset]] + 1
    return int(depth.max(initial=0))
