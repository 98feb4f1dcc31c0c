"""`Spec`: what a search solves, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from spiel_dl.search.root import Root
from spiel_dl.solvers.gadgets import SAFE_GADGETS
from spiel_dl.solvers.restricted_game import check_probability
from spiel_dl.value_functions.base import LeafValues

WHOLE_GAME = ("joint", "full")
"""Gadgets by which a search starts at the game's root each time, the player bound on the way."""

ValuesAt: TypeAlias = Callable[[Root], LeafValues | np.ndarray]
"""What the leaves below a root are worth: `LeafValues` of ranges; `MultiValuedLeaves`, where the
opponent chooses how to go on; or the searching player's utilities, float [N, J, K], by its own
choice in each of its leaf infosets and by the opponent's, of which the model's is the first."""


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a search solves.

    Attributes:
      values: says what leaves are worth; None: a search looks to the end of the game.
      gadget: what lets the opponent choose how it has come: "resolving", "max_margin",
        "reach_max_margin" (see `solvers.gadgets`), or "unsafe", nothing; or one of `WHOLE_GAME`.
      refinement: weights by which the gadget is refined, one of `solvers.refinement.WEIGHTS`; None:
        it is not.
      given_cfvs: says what the opponent may have instead of entering, float64 [R_-p]; None: what
        the search before says.
      p: the probability that the opponent follows its model; None: there is no model.
      model_to_the_end: whether the model binds the opponent to the end of the game, not only down
        to the depth limit.
      leaf_choice: how the opponent chooses at multi-valued leaves: "regret_matching", as everywhere
        else, or "best_response", anew in every iteration.
      averages: whether the cfvs of leaves are averaged over the iterations, as a next search needs
        them. If not, they are those of the average ranges.
      exact: whether to solve by linear programming.
    """

    values: ValuesAt | None = None
    gadget: str = "unsafe"
    refinement: str | None = None
    given_cfvs: Callable[[Root], np.ndarray] | None = None
    p: float | None = None
    model_to_the_end: bool = False
    leaf_choice: str = "regret_matching"
    averages: bool = True
    exact: bool = False

    def __post_init__(self) -> None:
        if self.p is not None:
            check_probability(self.p)
        if self.exact and self.values is not None and not self.model_to_the_end:
            raise ValueError(
                "exact=True solves the rest of the game by linear programming, so it cannot use "
                "a value function; leave out one of them"
            )

    @property
    def resolves(self) -> bool:
        """Whether the opponent may choose how it has come."""
        return self.gadget in SAFE_GADGETS

    @property
    def asks_prior(self) -> bool:
        """Whether a search needs to know the opponent's own reach of where it starts."""
        by_prior = self.refinement not in (None, "ones")
        return by_prior or not self.resolves or self.p is not None
