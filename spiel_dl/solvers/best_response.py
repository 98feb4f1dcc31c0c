"""Values and best responses of realization plans on a sequence form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.solvers import kernels
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex


class FixedStrategy(NamedTuple):
    """Infosets where a player is bound to a strategy.

    Attributes:
      infosets: bool [I], whether the player is bound there.
      strategy: float64 [S], its strategy; used in these infosets only.
    """

    infosets: np.ndarray
    strategy: np.ndarray

    def plan(self, treeplex: Treeplex, root_range: np.ndarray | None = None) -> np.ndarray:
        """The weights of the sequences in these infosets, NaN in others: float64 [S].

        A player who is bound in an infoset must be bound in all infosets above it.
        """
        plan = realization_plan(treeplex, self.strategy, root_range)
        plan[treeplex.sequences_of(~self.infosets)] = np.nan
        return plan


class BestResponse(NamedTuple):
    """A best response to a realization plan.

    Attributes:
      value: its expected utility.
      strategy: float64 [S], a pure behaviour strategy; 1 at root sequences.
      cfv: float64 [S], the counterfactual value of each sequence under best continuation.
    """

    value: float
    strategy: np.ndarray
    cfv: np.ndarray


class Evaluation(NamedTuple):
    """The value of two plans, and of the best responses to them.

    Attributes:
      value: player 0's expected utility.
      best: the expected utility of each player's best response to the other's plan.
    """

    value: float
    best: tuple[float, float]

    @property
    def exploitability(self) -> float:
        """NashConv / 2: half of the sum of both players' possible gains."""
        return sum(self.best) / 2


def realization_plan(
    treeplex: Treeplex,
    strategy: np.ndarray,
    root_range: np.ndarray | None = None,
    inflow: np.ndarray | None = None,
) -> np.ndarray:
    """The realization plan of a behaviour strategy.

    Args:
      treeplex: the player's strategy space.
      strategy: float64 [S]; entries of root sequences are ignored.
      root_range: float64 [num_root_sequences], the weights of the root sequences; None: all 1.
      inflow: float64 [I], the weight that enters each infoset in addition to that of its parent
        sequence; None: 0.

    Returns:
      float64 [S].
    """
    plan = np.ones(treeplex.num_sequences)
    if root_range is not None:
        plan[: treeplex.num_root_sequences] = root_range
    strategy = np.ascontiguousarray(strategy, np.float64)
    if inflow is None:
        kernels.realization_plan(treeplex.arrays, strategy, plan)
    else:
        flows = treeplex.per_sequence(inflow)
        kernels.realization_plan_with_inflow(treeplex.arrays, strategy, flows, plan)
    return plan


def best_response(
    sequence_form: SequenceForm | FactoredForm,
    player: int,
    opponent_plan: np.ndarray,
    root_range: np.ndarray | None = None,
    fixed: FixedStrategy | None = None,
    inflow: np.ndarray | None = None,
) -> BestResponse:
    """The best response of a player to the opponent's realization plan.

    Args:
      sequence_form: the game or subgame.
      player: who responds.
      opponent_plan: float64 [S_-p].
      root_range: float64 [num_root_sequences], the player's own weights of its root sequences, for
        `value`; None: all 1.
      fixed: infosets where the player is bound to a strategy; None: nowhere.
      inflow: float64 [I], the weight that enters each of the player's infosets in addition to that
        of its parent sequence, for `value`; None: 0.
    """
    treeplex = sequence_form.treeplexes[player]
    cfv = sequence_form.values_against(player, opponent_plan)
    if fixed is None:
        fixed = FixedStrategy(
            np.zeros(treeplex.num_infosets, np.bool_), np.ones(treeplex.num_sequences)
        )
    strategy = fixed.strategy.copy()
    kernels.best_response_values(treeplex.arrays, fixed.infosets, cfv, strategy)
    root_cfv = cfv[: treeplex.num_root_sequences]
    value = float(root_cfv.sum() if root_range is None else root_range @ root_cfv)
    if inflow is not None:
        value += float(inflow @ treeplex.sum_per_infoset(strategy * cfv))
    if sequence_form.constants is not None:
        value -= float(sequence_form.constants[1 - player] @ opponent_plan)
    return BestResponse(value, strategy, cfv)


def evaluate(
    sequence_form: SequenceForm | FactoredForm, plans: tuple[np.ndarray, np.ndarray]
) -> Evaluation:
    """The value of two realization plans (float64 [S_p]), and both best responses to them.

    It computes `values_against` once per player, which takes most of the time in large games.
    """
    best = []
    value = 0.0
    for player, treeplex in enumerate(sequence_form.treeplexes):
        cfv = sequence_form.values_against(player, plans[1 - player])
        constant = 0.0
        if sequence_form.constants is not None:
            constant = float(sequence_form.constants[1 - player] @ plans[1 - player])
        if player == 0:
            value = float(plans[0] @ cfv) - constant
        is_fixed = np.zeros(treeplex.num_infosets, np.bool_)
        kernels.best_response_values(treeplex.arrays, is_fixed, cfv, np.empty(len(cfv)))
        best.append(float(cfv[: treeplex.num_root_sequences].sum()) - constant)
    return Evaluation(value, (best[0], best[1]))


def expected_value(
    sequence_form: SequenceForm | FactoredForm, plans: tuple[np.ndarray, np.ndarray]
) -> float:
    """Player 0's expected utility of two realization plans (float64 [S_p])."""
    value = float(plans[0] @ sequence_form.values_against(0, plans[1]))
    if sequence_form.constants is not None:
        value -= float(sequence_form.constants[1] @ plans[1])
    return value
