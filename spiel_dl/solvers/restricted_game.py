"""Games against an opponent who follows a model with probability p: responding to it, safely.

Johanson, Zinkevich, Bowling (2008), "Computing Robust Counter-Strategies": the opponent is bound to
its model with probability p, and else free. Nobody else sees which, so all that counts is its
mixed realization plan

    y = p * model + (1 - p) * free.

In a *restricted game*, this binds the opponent in some of its infosets only, the *modelled* ones,
with whatever precedes them; below these it is free in any case, as a depth-limited response assumes
it behind its depth limit (Milec, Kubíček, Lisý 2024, "Continual Depth-limited Responses for
Computing Counter-strategies in Sequential Games", sections 3 and 4). So its plans are those plans y
with y >= p * model on modelled sequences, and no tree has to be doubled: the *model's part* p *
model becomes constant payoffs of the player who responds, and what is left is a plan z = y - p *
model. That one has weight 1 - p at the root, and the model's part *flows in* at the infosets
right below modelled ones, where its weight becomes free. p = 0 binds nobody: the game itself. p = 1
with all infosets modelled leaves the opponent no choice: a best response.

Here, player 0 responds and player 1 is restricted; `SequenceForm.swapped` exchanges them.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spiel_dl.solvers import linear_program
from spiel_dl.solvers.best_response import FixedStrategy, best_response, realization_plan
from spiel_dl.solvers.regret_minimization import CFR_PLUS, Pair, RegretMinimizer, Weighting
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.sequence_form import SequenceForm

_STRETCH = 100
_SHARE_OF_TIME = 1.0 / 8
"""Between two looks at the clock, at most this part of the time allowed may pass."""


class RestrictedGame(NamedTuple):
    """A game on the responding player's plan x and the free part z of the opponent's plan.

    Attributes:
      sequence_form: player 0's constants include what the model's part pays.
      ranges: x's and z's weights at the root sequences, float64 [R_p] each.
      inflow: float64 [I_1], what z's sequences in an infoset sum to besides their parent's weight.
      model_part: float64 [S_1], y - z.
      fixed: where player 0 is bound to what it has decided before.
    """

    sequence_form: SequenceForm
    ranges: Pair
    inflow: np.ndarray
    model_part: np.ndarray
    fixed: FixedStrategy

    @property
    def constants(self) -> np.ndarray:
        """What player 0's sequences earn against the model's part: float64 [S_0]."""
        assert self.sequence_form.constants is not None
        return self.sequence_form.constants[0]

    @property
    def opponent_has_choices(self) -> bool:
        """Whether z can be anything but 0."""
        return bool(self.ranges[1].any() or self.inflow.any())

    def best_response_to(self, free_part: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the strategy (float64 [S_0]) of a best response to z (float64 [S_1])."""
        response = best_response(self.sequence_form, 0, free_part, self.ranges[0], self.fixed)
        return response.value, response.strategy

    def guaranteed_value(self, strategy: np.ndarray) -> float:
        """What a strategy (float64 [S_0]) earns at least: against the worst z."""
        form = self.sequence_form
        plan = realization_plan(form.treeplexes[0], strategy, self.ranges[0])
        answer = best_response(form, 1, plan, self.ranges[1])
        treeplex = form.treeplexes[1]
        if not treeplex.num_infosets:
            return -answer.value
        entered = np.maximum.reduceat(answer.cfv, treeplex.first_sequence)
        return -answer.value - float(self.inflow @ entered)


class Response(NamedTuple):
    """A strategy for a restricted game.

    Attributes:
      strategy: float64 [S_0], as behaviour; 1 at root sequences.
      gap: by how much its guaranteed value is below the optimum, at most. NaN: not known.
    """

    strategy: np.ndarray
    gap: float


class Effort(NamedTuple):
    """How long to iterate.

    Attributes:
      iterations: at most so many iterations.
      tolerance: stop at this gap.
      seconds: stop after so long, but not before the first iterations; None: no limit.
      weighting: the variant of CFR.
    """

    iterations: int = 10_000
    tolerance: float = 1e-6
    seconds: float | None = None
    weighting: Weighting = CFR_PLUS


def restrict(
    sequence_form: SequenceForm,
    ranges: Pair,
    model_plan: np.ndarray,
    modelled: np.ndarray,
    p: float,
    fixed: FixedStrategy | None = None,
) -> RestrictedGame:
    """Binds player 1 to its model with probability p.

    Args:
      sequence_form: the game, or a subgame with or without a gadget.
      ranges: float64 [R_p] per player: player 0's range, and that of player 1 where it is free.
      model_plan: float64 [S_1], the model's weights, those of root sequences included.
      modelled: bool [I_1], where the model binds; also in whatever infosets lie above. A gadget's
        infosets count as modelled: the model's weight of each entrance is in its plan.
      p: the probability of the model, 0 to 1.
      fixed: where player 0 is bound; None: nowhere.

    Raises:
      ValueError: if p is no probability.
    """
    check_probability(p)
    own, opponent = sequence_form.treeplexes
    is_part = np.ones(opponent.num_sequences, np.bool_)
    is_part[opponent.sequences_of(~modelled)] = False
    model_part = np.where(is_part, p * model_plan, 0.0)
    inflow = np.where(modelled, 0.0, model_part[opponent.parent_sequence])
    constants = sequence_form.values_against(0, model_part)
    no_constants = np.zeros(opponent.num_sequences)
    others = no_constants if sequence_form.constants is None else sequence_form.constants[1]
    if fixed is None:
        fixed = FixedStrategy(np.zeros(own.num_infosets, np.bool_), np.ones(own.num_sequences))
    form = SequenceForm(
        sequence_form.treeplexes,
        sequence_form.payoffs,
        sequence_form.utility_range,
        (constants, others),
    )
    return RestrictedGame(form, (ranges[0], (1.0 - p) * ranges[1]), inflow, model_part, fixed)


def check_probability(p: float) -> None:
    """Raises a ValueError if p is no probability."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p={p} must be between 0 and 1: it is the probability of the model")


def solve_by_lp(game: RestrictedGame) -> Response:
    """An optimal response, by linear programming.

    Raises:
      RuntimeError: if HiGHS does not find an optimum.
    """
    if not game.opponent_has_choices:
        return Response(game.best_response_to(np.zeros_like(game.model_part))[1], 0.0)
    treeplex = game.sequence_form.treeplexes[0]
    solution = linear_program.solve(
        game.sequence_form, game.ranges, game.fixed.plan(treeplex, game.ranges[0]), game.inflow
    )
    return Response(bind(game, behaviour_strategy(treeplex, solution.plans[0])), 0.0)


def solve_by_cfr(game: RestrictedGame, effort: Effort) -> Response:
    """A response by CFR, with a certified gap.

    Looks at the average and the current strategy and keeps the best one that it has seen: where the
    opponent is bound, CFR converges in the current strategy already (Milec et al. 2024, lemma in
    section 3); where it is free, in the average.
    """
    nothing = np.zeros_like(game.model_part)
    if not game.opponent_has_choices:
        return Response(game.best_response_to(nothing)[1], 0.0)
    minimizer = start_cfr(game, effort.weighting)
    best, lower, upper = minimizer.learners[0].strategy.copy(), -np.inf, np.inf
    clock = Clock(effort)
    while upper - lower > effort.tolerance and clock.allows(minimizer.iteration):
        minimizer.run(clock.stretch(minimizer.iteration))
        for strategy in (minimizer.average_strategy(0), minimizer.learners[0].strategy):
            strategy = bind(game, strategy)
            value = game.guaranteed_value(strategy)
            if value > lower:
                best, lower = strategy.copy(), value
        upper = min(upper, game.best_response_to(minimizer.average_plan(1))[0])
    return Response(best, upper - lower)


def solve_with_leaves(
    game: RestrictedGame, leaf_sequences: Pair, leaf_values: Callable[[Pair], Pair], effort: Effort
) -> tuple[Response, np.ndarray]:
    """A response by CFR in a game whose leaves are valued from outside.

    Where the opponent is bound everywhere, the iterate of highest value is taken: CFR's current
    strategy has, among T iterates, one whose value is within its average regret of the optimum
    (Milec et al. 2024, lemma in section 3: the value is concave in the strategy, and the leaf
    values are a supergradient of it). Else it is the average strategy.

    Args:
      game: the game above the leaves.
      leaf_sequences: int [L_p] per player, the sequences from which leaf infosets hang.
      leaf_values: takes both players' ranges at the leaves, float64 [L_p] each, and returns the
        counterfactual values, float64 [L_p] each; the opponent's range is that of its whole plan y.
      effort: how long to iterate; its tolerance is not used, as the gap is not known.

    Returns:
      The response, and the opponent's average values at the leaves against it, float64 [L_1].
    """
    alone = not game.opponent_has_choices
    minimizer = start_cfr(game, effort.weighting, alternating_updates=not alone)
    recorder = (_BestIterate if alone else _Averages)(game, minimizer, leaf_sequences, leaf_values)
    clock = Clock(effort)
    while clock.allows(minimizer.iteration):
        minimizer.run_with_leaves(clock.stretch(minimizer.iteration), recorder)
    return Response(bind(game, recorder.strategy()), np.nan), recorder.opponent_values()


class _Recorder(abc.ABC):
    """Values leaves for a regret minimizer, and remembers what its strategies were."""

    def __init__(
        self,
        game: RestrictedGame,
        minimizer: RegretMinimizer,
        leaf_sequences: Pair,
        leaf_values: Callable[[Pair], Pair],
    ):
        self.game = game
        self.minimizer = minimizer
        self.sequences = leaf_sequences
        self._values = leaf_values

    def __call__(self, plans: Pair) -> tuple[Pair, Pair]:
        """See `RegretMinimizer.run_with_leaves`."""
        own, others = self.sequences
        whole = plans[1] + self.game.model_part
        ranges = (plans[0][own], whole[others])
        values = self._values(ranges)
        self.record(plans[0], ranges[0], values)
        return self.sequences, values

    @abc.abstractmethod
    def record(self, plan: np.ndarray, own_range: np.ndarray, values: Pair) -> None:
        """Remembers an iterate: player 0's plan, its range at the leaves, and both's values."""

    @abc.abstractmethod
    def strategy(self) -> np.ndarray:
        """What player 0 should play: float64 [S_0]."""

    @abc.abstractmethod
    def opponent_values(self) -> np.ndarray:
        """The opponent's values at the leaves against it: float64 [L_1]."""


class _BestIterate(_Recorder):
    """Remembers the iterate of highest value; for updates at once, one call an iteration."""

    _best = -np.inf

    def record(self, plan: np.ndarray, own_range: np.ndarray, values: Pair) -> None:
        value = float(self.game.constants @ plan + own_range @ values[0])
        if value > self._best:
            self._best = value
            self._strategy = self.minimizer.learners[0].strategy.copy()
            self._opponent_values = values[1].copy()

    def strategy(self) -> np.ndarray:
        return self._strategy

    def opponent_values(self) -> np.ndarray:
        return self._opponent_values


class _Averages(_Recorder):
    """Averages plans and the opponent's values against them; for alternating updates.

    Every second call values the plan that player 1's update answers; plan and values are averaged
    together, so that they match exactly.
    """

    _num_calls = 0
    _plan: np.ndarray | float = 0.0
    _cfvs: np.ndarray | float = 0.0
    _total = 0.0

    def record(self, plan: np.ndarray, own_range: np.ndarray, values: Pair) -> None:
        self._num_calls += 1
        if self._num_calls % 2 == 0:
            weight = float(self._num_calls // 2) ** self.minimizer.weighting.gamma
            self._plan = self._plan + weight * plan
            self._cfvs = self._cfvs + weight * values[1]
            self._total += weight

    def strategy(self) -> np.ndarray:
        return behaviour_strategy(self.game.sequence_form.treeplexes[0], np.asarray(self._plan))

    def opponent_values(self) -> np.ndarray:
        return np.asarray(self._cfvs / self._total)


def start_cfr(
    game: RestrictedGame, weighting: Weighting, alternating_updates: bool = True
) -> RegretMinimizer:
    """A regret minimizer for a restricted game: player 1's plans are the free parts z."""
    minimizer = RegretMinimizer(
        game.sequence_form, weighting, alternating_updates=alternating_updates
    )
    minimizer.hold_fixed(0, *game.fixed)
    for player in (0, 1):
        minimizer.set_range(player, game.ranges[player])
    minimizer.set_inflow(1, game.inflow)
    return minimizer


def bind(game: RestrictedGame, strategy: np.ndarray) -> np.ndarray:
    """Player 0's strategy (float64 [S_0]), where it is bound replaced by what it is bound to."""
    sequences = game.sequence_form.treeplexes[0].sequences_of(game.fixed.infosets)
    strategy = strategy.copy()
    strategy[sequences] = game.fixed.strategy[sequences]
    return strategy


class Clock:
    """Shares out the iterations of an `Effort` between looks at gap and time."""

    def __init__(self, effort: Effort):
        """Starts now."""
        self._effort = effort
        self._start = time.perf_counter()

    def allows(self, iteration: int) -> bool:
        """Whether to go on after so many iterations."""
        if iteration >= self._effort.iterations:
            return False
        seconds = self._effort.seconds
        return iteration == 0 or seconds is None or time.perf_counter() - self._start < seconds

    def stretch(self, iteration: int) -> int:
        """How many iterations to do before the next look; few while their time is not known."""
        left = self._effort.iterations - iteration
        seconds = self._effort.seconds
        if seconds is None:
            return min(_STRETCH, left)
        if iteration == 0:
            return 1
        rate = iteration / max(time.perf_counter() - self._start, 1e-9)
        return max(1, min(_STRETCH, left, int(rate * seconds * _SHARE_OF_TIME)))
