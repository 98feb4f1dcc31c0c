"""Solves games whose leaves are valued by a callback: the solver of all searches.

The game is a `RestrictedGame`, in which player 0 responds and player 1 is bound to a model or free.
Its leaves are valued by a callback (`Leaves`). Games without leaves are solved here too, with a
certified gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from spiel_dl.solvers import linear_program
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.effort import Clock, Effort
from spiel_dl.solvers.regret_minimization import LeafCfvs, Pair, RegretMinimizer
from spiel_dl.solvers.restricted_game import RestrictedGame
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.sequence_form import SequenceForm

_ITERATIONS_PER_GAP = 25
"""Iterations between computations of the gap above leaves; one takes as long as about two."""


class Leaves(NamedTuple):
    """The leaves of a game.

    Attributes:
      sequences: for each player, int [L_p], the sequences from which its leaf infosets hang.
      values: computes the values of some players at both ranges, float64 [L_p].
      best_values: maps a player and both average ranges to this player's values if it plays a best
        response to the opponent's average below the leaves; None: not available, and no gap.
    """

    sequences: Pair
    values: LeafCfvs
    best_values: Callable[[int, Pair], np.ndarray] | None = None


class Solution(NamedTuple):
    """A solved game.

    Attributes:
      strategy: float64 [S_0], player 0's behaviour strategy; 1 at root sequences.
      plans: for each player, float64 [S_p], the average realization plan; player 1's without the
        model's part. Where the opponent is bound everywhere, those of the iterate that is kept.
      cfvs: for each player, float64 [L_p], the counterfactual values at the leaves against the
        other player's plan, averaged as it is; empty if there are no leaves or they were not
        recorded.
      gap: an upper bound on the optimal value minus the strategy's guaranteed value. NaN: not
        known.
    """

    strategy: np.ndarray
    plans: Pair
    cfvs: Pair
    gap: float


def solve_by_lp(game: RestrictedGame) -> Solution:
    """An optimal response in a game without leaves, by linear programming.

    Raises:
      RuntimeError: if HiGHS does not find an optimum.
      ValueError: if payoffs are not listed.
    """
    if not game.opponent_has_choices:
        return _best_response(game)
    form, treeplex = game.sequence_form, game.sequence_form.treeplexes[0]
    if not isinstance(form, SequenceForm):
        raise ValueError("the game is too large to list, as linear programs do; take exact=False")
    equilibrium = linear_program.solve(
        form, game.ranges, game.fixed.plan(treeplex, game.ranges[0]), game.inflows
    )
    strategy = game.bind(behaviour_strategy(treeplex, equilibrium.plans[0]))
    return Solution(strategy, equilibrium.plans, _no_cfvs(), 0.0)


def solve(game: RestrictedGame, effort: Effort) -> Solution:
    """A response in a game without leaves, by CFR, with a certified gap.

    It evaluates the average and the current strategy and returns the best one of all checks: where
    the opponent is bound, CFR converges in the current strategy (Milec et al. 2024, lemma in
    section 3); where it is free, in the average. Without a tolerance, it does all iterations and
    returns the average, with an unknown gap.
    """
    if not game.opponent_has_choices:
        return _best_response(game)
    minimizer = new_minimizer(game, effort)
    best, lower, upper = minimizer.learned[0].strategy.copy(), -np.inf, np.inf
    clock = Clock(effort)
    tolerance = effort.allowed_gap(game.sequence_form.utility_range)
    while clock.allows(minimizer.iteration) and (tolerance is None or upper - lower > tolerance):
        minimizer.run(clock.next_iterations(minimizer.iteration))
        if tolerance is None:
            continue
        for strategy in (minimizer.average_strategy(0), minimizer.learned[0].strategy):
            strategy = game.bind(strategy)
            value = game.guaranteed_value(strategy)
            if value > lower:
                best, lower = strategy.copy(), value
        upper = min(upper, game.best_response_to(minimizer.average_plan(1))[0])
    plans = (minimizer.average_plan(0), minimizer.average_plan(1))
    if tolerance is None:
        return Solution(game.bind(minimizer.average_strategy(0)), plans, _no_cfvs(), np.nan)
    return Solution(best, plans, _no_cfvs(), upper - lower)


def solve_with_leaves(
    game: RestrictedGame, leaves: Leaves, effort: Effort, *, record: bool = True
) -> Solution:
    """A response in a game whose leaves are valued by a callback, by CFR.

    If the opponent is bound everywhere, the leaves included, it returns the iterate of highest
    value: among T iterates of CFR's current strategy there is one whose value is within its average
    regret of the optimum (Milec et al. 2024, lemma in section 3: the value is concave in the
    strategy, and the leaf values are a supergradient of it). Else it returns the average strategy.

    Args:
      game: the game above the leaves. The opponent's range at the leaves is that of its whole plan,
        the model's part included.
      leaves: the leaves and their values.
      effort: how long to iterate; its tolerance is used where the leaves have `best_values`.
      record: average each player's leaf values together with the opponent's plans that they are
        against. If not, `plans` are the averages of all iterations' plans, and `cfvs` are empty.
    """
    # Leaves with best values have choices of the opponent, whether it is bound above or not.
    opponent_is_bound = not game.opponent_has_choices and leaves.best_values is None
    minimizer = new_minimizer(game, effort, alternating_updates=not opponent_is_bound)
    recorder: _BestIterate | _Averages | None = None
    if opponent_is_bound:
        recorder = _BestIterate(game, minimizer)
    elif record:
        recorder = _Averages(minimizer, leaves)
    model_part = game.model_part[leaves.sequences[1]]

    def leaf_cfvs(players: tuple[int, ...], plans: Pair) -> Sequence[np.ndarray]:
        ranges = (plans[0][leaves.sequences[0]], plans[1][leaves.sequences[1]] + model_part)
        cfvs = leaves.values(players, ranges)
        if recorder is not None:
            recorder.record(players, plans, ranges, cfvs)
        return cfvs

    clock, gap, tolerance = Clock(effort), np.nan, None
    if leaves.best_values is not None:
        tolerance = effort.allowed_gap(game.sequence_form.utility_range)
    while clock.allows(minimizer.iteration) and (tolerance is None or not gap <= tolerance):
        num_iterations = clock.next_iterations(minimizer.iteration)
        if tolerance is not None:
            num_iterations = min(num_iterations, _ITERATIONS_PER_GAP)
        minimizer.run_with_leaves(num_iterations, leaves.sequences, leaf_cfvs)
        if tolerance is not None:
            gap = _gap_of_averages(game, leaves, minimizer)
    if recorder is not None:
        return recorder.solution(game)._replace(gap=gap)
    plans = (minimizer.average_plan(0), minimizer.average_plan(1))
    return Solution(game.bind(minimizer.average_strategy(0)), plans, _no_cfvs(), gap)


def _gap_of_averages(game: RestrictedGame, leaves: Leaves, minimizer: RegretMinimizer) -> float:
    """A bound on the gap: both players' gains from best responses to the averages, in sum."""
    assert leaves.best_values is not None
    plans = (minimizer.average_plan(0), minimizer.average_plan(1))
    sequences_0, sequences_1 = leaves.sequences
    ranges = (plans[0][sequences_0], plans[1][sequences_1] + game.model_part[sequences_1])
    best = leaves.best_values(0, ranges), leaves.best_values(1, ranges)
    forms = []
    for player in (0, 1):
        values = [np.zeros(len(sequences)) for sequences in leaves.sequences]
        values[player] = best[player]
        forms.append(game.sequence_form.with_constants(leaves.sequences, (values[0], values[1])))
    upper, _ = game._replace(sequence_form=forms[0]).best_response_to(plans[1])
    strategy = game.bind(minimizer.average_strategy(0))
    lower = game._replace(sequence_form=forms[1]).guaranteed_value(strategy)
    # The model's part also reaches the leaves, and `guaranteed_value` does not count it there.
    return upper - (lower - float(game.model_part[sequences_1] @ best[1]))


def new_minimizer(
    game: RestrictedGame,
    effort: Effort,
    *,
    alternating_updates: bool = True,
) -> RegretMinimizer:
    """A regret minimizer for a restricted game: player 1's plans are the free parts z."""
    minimizer = RegretMinimizer(
        game.sequence_form,
        effort.variant,
        alternating_updates=alternating_updates,
    )
    minimizer.hold_fixed(0, *game.fixed)
    for player in (0, 1):
        minimizer.set_range(player, game.ranges[player])
        if game.inflows[player].any():
            minimizer.set_inflow(player, game.inflows[player])
    return minimizer


class _BestIterate:
    """Keeps the iterate of highest value; without alternating updates."""

    def __init__(self, game: RestrictedGame, minimizer: RegretMinimizer):
        self._constants = game.constants
        self._minimizer = minimizer
        self._best = -np.inf

    def record(
        self, players: tuple[int, ...], plans: Pair, ranges: Pair, cfvs: Sequence[np.ndarray]
    ) -> None:
        """Keeps player 0's current strategy if its value is the highest so far."""
        assert players == (0, 1)
        value = float(self._constants @ plans[0] + ranges[0] @ cfvs[0])
        if value > self._best:
            self._best = value
            self._strategy = self._minimizer.learned[0].strategy.copy()
            self._plans = (plans[0].copy(), plans[1].copy())
            self._cfvs = (cfvs[0].copy(), cfvs[1].copy())

    def solution(self, game: RestrictedGame) -> Solution:
        return Solution(game.bind(self._strategy), self._plans, self._cfvs, np.nan)


class _Averages:
    """Averages plans and leaf values; with alternating updates.

    A player's values are averaged with the opponent's plans against which they were computed. So
    player 0's plans are those after its update and player 1's those before, and both pairs of
    averages match exactly.
    """

    def __init__(self, minimizer: RegretMinimizer, leaves: Leaves):
        self._minimizer = minimizer
        self._total = 0.0
        self._plans = [np.zeros(len(learner.strategy)) for learner in minimizer.learned]
        self._cfvs = [np.zeros(len(sequences)) for sequences in leaves.sequences]

    def record(
        self, players: tuple[int, ...], plans: Pair, ranges: Pair, cfvs: Sequence[np.ndarray]
    ) -> None:
        """Adds the values of the player who is updated next, and the opponent's plan."""
        [player] = players
        weight = self._minimizer.variant.weight(self._minimizer.iteration)
        self._cfvs[player] += weight * cfvs[0]
        self._plans[1 - player] += weight * plans[1 - player]
        # Once per iteration, not once per player.
        self._total += weight * player

    def solution(self, game: RestrictedGame) -> Solution:
        strategy = behaviour_strategy(game.sequence_form.treeplexes[0], self._plans[0])
        plan_0, plan_1 = (plan / self._total for plan in self._plans)
        cfv_0, cfv_1 = (cfv / self._total for cfv in self._cfvs)
        return Solution(game.bind(strategy), (plan_0, plan_1), (cfv_0, cfv_1), np.nan)


def _best_response(game: RestrictedGame) -> Solution:
    """The solution where the opponent is bound everywhere."""
    no_free_part = np.zeros_like(game.model_part)
    strategy = game.best_response_to(no_free_part)[1]
    treeplex = game.sequence_form.treeplexes[0]
    plan = realization_plan(treeplex, strategy, game.ranges[0], game.inflows[0])
    return Solution(strategy, (plan, no_free_part), _no_cfvs(), 0.0)


def _no_cfvs() -> Pair:
    return np.zeros(0), np.zeros(0)
