"""Restricted games: the opponent follows a model with probability p and is free otherwise.

Johanson, Zinkevich, Bowling (2008), "Computing Robust Counter-Strategies": the opponent is bound to
its model with probability p, and else free. Nobody else observes which, so only its mixed
realization plan matters:

    y = p * model + (1 - p) * free.

In a *restricted game*, the opponent is bound in some of its infosets only, the *modelled* ones and
all infosets above them; below it is free, as depth-limited responses assume behind their depth
limit (Milec, Kubíček, Lisý 2024, "Continual Depth-limited Responses for Computing
Counter-strategies in Sequential Games", sections 3 and 4). So its plans y are those with
y >= p * model on modelled sequences, and no tree has to be doubled: the *model's part* p * model
becomes constant payoffs of the responding player, and the *free part* is a plan z = y - p * model.
z has weight 1 - p at the root, and the model's part *flows in* at the infosets right below modelled
ones, where its weight becomes free. With p = 0 it is the game itself. With p = 1 and all infosets
modelled, the opponent has no choice, and the solution is a best response.

Here, player 0 responds and player 1 is restricted; `SequenceForm.swapped` exchanges them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.solvers.best_response import FixedStrategy, best_response, realization_plan
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.tree.counts import is_share
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.tree.sequence_form import SequenceForm


class RestrictedGame(NamedTuple):
    """A game on the responding player's plan x and the free part z of the opponent's plan.

    Attributes:
      sequence_form: player 0's constants include what the model's part pays.
      ranges: x's and z's weights at the root sequences, float64 [R_p] each.
      inflows: the weights that enter x's and z's infosets in addition to their parent sequences'
        weights, float64 [I_p] each.
      model_part: float64 [S_1], y - z.
      fixed: where player 0 is bound to its earlier decisions.
      opponent_has_choices: whether z can differ from 0.
    """

    sequence_form: SequenceForm | FactoredForm
    ranges: Pair
    inflows: Pair
    model_part: np.ndarray
    fixed: FixedStrategy
    opponent_has_choices: bool = True

    @property
    def constants(self) -> np.ndarray:
        """Payoffs of player 0's sequences against the model's part: float64 [S_0]."""
        assert self.sequence_form.constants is not None
        return self.sequence_form.constants[0]

    def best_response_to(self, free_part: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the strategy (float64 [S_0]) of a best response to z (float64 [S_1])."""
        response = best_response(
            self.sequence_form, 0, free_part, self.ranges[0], self.fixed, self.inflows[0]
        )
        return response.value, response.strategy

    def guaranteed_value(self, strategy: np.ndarray) -> float:
        """The value of a strategy (float64 [S_0]) against the worst z."""
        form = self.sequence_form
        plan = realization_plan(form.treeplexes[0], strategy, self.ranges[0], self.inflows[0])
        return -best_response(form, 1, plan, self.ranges[1], inflow=self.inflows[1]).value

    def bind(self, strategy: np.ndarray) -> np.ndarray:
        """A strategy (float64 [S_0]), with the fixed probabilities where player 0 is bound."""
        sequences = self.sequence_form.treeplexes[0].sequences_of(self.fixed.infosets)
        strategy = strategy.copy()
        strategy[sequences] = self.fixed.strategy[sequences]
        return strategy


def restrict(
    sequence_form: SequenceForm | FactoredForm,
    ranges: Pair,
    model_plan: np.ndarray,
    modelled: np.ndarray,
    p: float,
    inflows: Pair | None = None,
) -> RestrictedGame:
    """Binds player 1 to its model with probability p.

    Args:
      sequence_form: the game, or a subgame with or without a gadget.
      ranges: float64 [R_p] per player: player 0's range, and player 1's if it is free.
      model_plan: float64 [S_1], the model's weights, those of root sequences included.
      modelled: bool [I_1], the infosets where the model binds, and all infosets above them. A
        gadget's infosets count as modelled: the plan has the model's weight of each entrance.
      p: the probability of the model, 0 to 1.
      inflows: float64 [I_p] per player, the weight that enters each infoset in addition to that of
        its parent sequence where the player is free: floors of a gadget. None: 0.

    Raises:
      ValueError: if p is no probability.
    """
    check_probability(p)
    own, opponent = sequence_form.treeplexes
    is_modelled = np.ones(opponent.num_sequences, np.bool_)
    is_modelled[opponent.sequences_of(~modelled)] = False
    model_part = np.where(is_modelled, p * model_plan, 0.0)
    own_inflow, floors = inflows or (np.zeros(own.num_infosets), np.zeros(opponent.num_infosets))
    model_inflow = np.where(modelled, 0.0, model_part[opponent.parent_sequence])
    inflow = model_inflow + (1.0 - p) * floors
    constants = sequence_form.values_against(0, model_part)
    no_constants = np.zeros(opponent.num_sequences)
    constants_1 = no_constants if sequence_form.constants is None else sequence_form.constants[1]
    fixed = FixedStrategy(np.zeros(own.num_infosets, np.bool_), np.ones(own.num_sequences))
    form = sequence_form.replacing_constants((constants, constants_1))
    free_range = (1.0 - p) * ranges[1]
    has_choices = bool(free_range.any() or inflow.any())
    ranges, inflows = (ranges[0], free_range), (own_inflow, inflow)
    return RestrictedGame(form, ranges, inflows, model_part, fixed, has_choices)


def check_probability(p: float) -> None:
    """Raises a ValueError if p is no probability."""
    if not is_share(p):
        raise ValueError(f"p={p!r} must be between 0 and 1: it is the probability of the model")


def unrestricted(
    sequence_form: SequenceForm | FactoredForm, ranges: Pair, inflows: Pair | None = None
) -> RestrictedGame:
    """A game in which nobody is bound: p = 0. Arguments are those of `restrict`."""
    opponent = sequence_form.treeplexes[1]
    no_plan = np.zeros(opponent.num_sequences)
    everywhere = np.ones(opponent.num_infosets, np.bool_)
    game = restrict(sequence_form, ranges, no_plan, everywhere, p=0.0, inflows=inflows)
    return game._replace(opponent_has_choices=True)
