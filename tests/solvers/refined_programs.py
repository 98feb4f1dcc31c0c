"""Refined solutions of gadgets by linear programs (`solvers.refinement` says what they are)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse

from spiel_dl.solvers import linear_program
from spiel_dl.solvers.best_response import best_response
from spiel_dl.solvers.checks import check_weights
from spiel_dl.tree.sequence_form import SequenceForm

# The second program may give up so much of the first one's optimum: the rounding of that.
_RELATIVE_SLACK = 1e-9


class Refined(NamedTuple):
    """A refined solution.

    Attributes:
      plan: float64 [S_p], the player's realization plan in the subgame.
      cfvs: float64 [R_-p], v: the opponent's best-response cfvs against it.
      first: the optimum of the first program: of the sum of max(v, w), or the largest margin's
        loss.
      second: the optimum of the second one: of the sum of c v, or of c (v - w) / r.
    """

    plan: np.ndarray
    cfvs: np.ndarray
    first: float
    second: float


def solve_resolving(
    subgame: SequenceForm,
    player: int,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray,
    weights: np.ndarray,
) -> Refined:
    """The refined solution of `gadgets.resolving`.

    Args:
      subgame: its root sequences are the root infosets.
      player: who resolves.
      player_range: float64 [R_p], its reach of its root infosets.
      opponent_cfvs: float64 [R_-p], the given cfvs w, in the opponent's utility.
      weights: float64 [R_-p], c.

    Raises:
      ValueError: if the subgame has constants, or weights are negative or not finite.
      RuntimeError: if HiGHS does not find an optimum.
    """
    num_roots = len(opponent_cfvs)
    program = _Program(subgame, player, player_range, num_roots)
    # The extra variables are at least v, and at least w.
    program.add_rows(program.cfvs(), -scipy.sparse.eye_array(num_roots), np.zeros(num_roots))
    bounds = np.stack([opponent_cfvs, np.full(num_roots, np.inf)], axis=1)
    check_weights(weights, num_roots, "the weights c", "root infoset")
    first = program.minimise(np.zeros(num_roots), np.ones(num_roots), bounds)
    program.add_rows(None, np.ones((1, num_roots)), [first[0] + program.slack])
    second = program.minimise(weights, np.zeros(num_roots), bounds)
    return program.refined(first, second, 0.0)


def solve_max_margin(
    subgame: SequenceForm,
    player: int,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray,
    weights: np.ndarray,
    reaches: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Refined:
    """The refined solution of `gadgets.max_margin`.

    Args:
      subgame, player, player_range, opponent_cfvs, weights: as in `solve_resolving`. With gifts
        added to the cfvs, it is that of `gadgets.reach_max_margin`.
      reaches: float64 [R_-p], r; root infosets of reach 0 are left out. None: 1.
      groups: as in `weights`. The largest margin's losses of all public states are summed.

    Raises:
      ValueError: as `solve_resolving`, or if reaches are negative or not finite, or all 0 in a
        public state.
      RuntimeError: if HiGHS does not find an optimum.
    """
    num_roots = len(opponent_cfvs)
    program = _Program(subgame, player, player_range, num_roots)
    check_weights(weights, num_roots, "the weights c", "root infoset")
    reaches = np.ones(num_roots) if reaches is None else reaches
    check_weights(reaches, num_roots, "the reaches", "root infoset")
    groups = np.zeros(num_roots, np.int64) if groups is None else groups
    if not np.bincount(groups, reaches).all():
        raise ValueError("the reaches of all root infosets are 0: there is nothing to solve")
    counted = np.flatnonzero(reaches)
    scale = np.zeros(num_roots)
    scale[counted] = 1.0 / reaches[counted]
    margins = scipy.sparse.diags_array(scale).tocsr()[counted]
    # The extra variables are the largest (v - w) / r of each public state.
    num_groups = int(groups.max()) + 1
    largest = scipy.sparse.eye_array(num_groups, format="csr")[groups[counted]]
    program.add_rows(margins @ program.cfvs(), -largest, (scale * opponent_cfvs)[counted])
    bounds = np.tile([-np.inf, np.inf], (num_groups, 1))
    first = program.minimise(np.zeros(num_roots), np.ones(num_groups), bounds)
    program.add_rows(None, np.ones((1, num_groups)), [first[0] + program.slack])
    second = program.minimise(weights * scale, np.zeros(num_groups), bounds)
    return program.refined(first, second, float((weights * scale) @ opponent_cfvs))


def least_exploitable(
    trunk: SequenceForm,
    trunk_plan: np.ndarray,
    leaf_sequences: np.ndarray,
    subgames: SequenceForm,
    player: int,
    player_range: np.ndarray,
    opponent_cfvs: np.ndarray,
) -> np.ndarray:
    """The solution of `gadgets.resolving` against which the opponent gets least in the whole game.

    Nobody who resolves can know it: it is what could be reached at best by another solution of the
    same gadgets, all subgames together. The given cfvs must be such that they can be kept.

    Args:
      trunk: the game above the subgames.
      trunk_plan: float64 [S_p], the player's realization plan there.
      leaf_sequences: int [R_-p], the opponent's sequence in the trunk from which each of its root
        infosets of the subgames hangs.
      subgames: all of them, as `LeafSet.subgames` has them.
      player, player_range, opponent_cfvs: as in `solve_resolving`.

    Returns:
      float64 [S_p], the player's realization plan in the subgames.

    Raises:
      ValueError: as `solve_resolving`.
      RuntimeError: if HiGHS does not find an optimum.
    """
    num_roots, opponent = len(opponent_cfvs), trunk.treeplexes[1 - player]
    program = _Program(subgames, player, player_range, num_roots)
    values = opponent.constraints()
    num_extras, num_sequences = values.shape
    slack = np.full(num_roots, program.slack)
    nothing = scipy.sparse.csr_array((num_roots, num_extras))
    program.add_rows(program.cfvs(), nothing, opponent_cfvs + slack)
    # The extra variables are the opponent's values in the trunk, with the cfvs below them.
    places = (np.ones(num_roots), (leaf_sequences, np.arange(num_roots)))
    hangs = scipy.sparse.csr_array(places, shape=(num_sequences, num_roots))
    limits = -trunk.values_against(1 - player, trunk_plan)
    program.add_rows((hangs @ program.cfvs()).tocsr(), -values.T, limits)
    objective = np.zeros(num_extras)
    objective[: opponent.num_root_sequences] = 1.0
    bounds = np.tile([-np.inf, np.inf], (num_extras, 1))
    return program.minimise(np.zeros(num_roots), objective, bounds)[1]


class _Program:
    """Linear programs on a player's plan, bounds of the opponent's values, and extra variables.

    With E x = e the player's constraints and A its payoffs, u are the opponent's values at its
    roots and infosets: F^T u >= -A^T x, as in `solvers.linear_program`.
    """

    def __init__(self, subgame: SequenceForm, player: int, player_range: np.ndarray, size: int):
        if subgame.constants is not None:
            raise ValueError("the subgame has constants; give it without a gadget or leaf values")
        if player not in (0, 1):
            raise ValueError(f"player={player} must be 0 or 1")
        own, other = subgame.treeplexes[player], subgame.treeplexes[1 - player]
        check_weights(player_range, own.num_root_sequences, f"player {player}'s range", "root")
        if size != other.num_root_sequences:
            raise ValueError(
                f"there are {size} given cfvs, but {other.num_root_sequences} root infosets of "
                f"player {1 - player}"
            )
        self._subgame, self._player = subgame, player
        self._num_plan, self._num_roots = own.num_sequences, size
        values = other.constraints()
        self._num_values = values.shape[0]
        self._equalities = own.constraints()
        self._right = np.concatenate([player_range, np.zeros(own.num_infosets)])
        self._blocks = [(subgame.payoffs_for(1 - player), -values.T, None)]
        self._limits = [np.zeros(other.num_sequences)]
        self.slack = _RELATIVE_SLACK * subgame.utility_range

    def cfvs(self) -> scipy.sparse.csr_array:
        """The rows that pick the root infosets' cfvs out of the opponent's values."""
        shape = (self._num_roots, self._num_values)
        return scipy.sparse.eye_array(*shape, format="csr")

    def add_rows(
        self,
        of_values: scipy.sparse.csr_array | None,
        of_extras: scipy.sparse.csr_array | np.ndarray,
        limits: np.ndarray | list[float],
    ) -> None:
        """Adds inequalities: rows of values, and of extra variables, at most `limits`."""
        if of_values is None:
            of_values = scipy.sparse.csr_array((len(limits), self._num_values))
        nothing = scipy.sparse.csr_array((len(limits), self._num_plan))
        self._blocks.append((nothing, of_values, scipy.sparse.csr_array(of_extras)))
        self._limits.append(np.asarray(limits, np.float64))

    def minimise(
        self, of_cfvs: np.ndarray, of_extras: np.ndarray, bounds: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """The least of an objective of root cfvs and extra variables, and the plan, [S_p]."""
        num_extras = len(of_extras)
        rows = [
            [plan, values, scipy.sparse.csr_array((plan.shape[0], num_extras)) if e is None else e]
            for plan, values, e in self._blocks
        ]
        of_values = np.zeros(self._num_values)
        of_values[: self._num_roots] = of_cfvs
        free = np.tile([-np.inf, np.inf], (self._num_values, 1))
        empty = scipy.sparse.csr_array((self._equalities.shape[0], self._num_values + num_extras))
        result = linear_program.run_highs(
            c=np.concatenate([np.zeros(self._num_plan), of_values, of_extras]),
            A_ub=scipy.sparse.block_array(rows).tocsc(),
            b_ub=np.concatenate(self._limits),
            A_eq=scipy.sparse.hstack([self._equalities, empty]).tocsc(),
            b_eq=self._right,
            bounds=np.concatenate([np.tile([0.0, np.inf], (self._num_plan, 1)), free, bounds]),
        )
        return float(result.fun), np.maximum(result.x[: self._num_plan], 0.0)

    def refined(
        self, first: tuple[float, np.ndarray], second: tuple[float, np.ndarray], shift: float
    ) -> Refined:
        """What both programs found."""
        plan = second[1]
        return Refined(plan, self.response_to(plan), first[0], second[0] - shift)

    def response_to(self, plan: np.ndarray) -> np.ndarray:
        """The opponent's best-response cfvs at its root infosets: float64 [R_-p]."""
        return best_response(self._subgame, 1 - self._player, plan).cfv[: self._num_roots]
