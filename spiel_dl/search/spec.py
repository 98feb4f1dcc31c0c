"""The root, the specification and the solution of a search: `Root`, `Spec` and `Solution`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.solvers.checks import check_values
from spiel_dl.solvers.continuations import check_leaf_choice
from spiel_dl.solvers.gadgets import GADGETS, SAFE_GADGETS, check_gadget
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import check_probability
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.base import LeafValues, evaluate_checked

WHOLE_GAME = ("joint", "full", "full_trunk")
"""Gadgets by which each search starts at the game's root, with the player bound to its earlier
decisions: in all levels above, on the path, or wherever a search was made before."""


@dataclasses.dataclass(frozen=True, eq=False)
class Root:
    """Where a search starts: a trunk, and both players' ranges at its top. A `Source` makes it.

    Attributes:
      trunk: the trunk to search, from the public states where it starts down to its leaves.
      player: the player who searches.
      ranges: for each player, float64 [R_p], its own reach of its root infosets. The opponent's is
        used where no gadget lets it choose.
      is_first: whether the opponent's range is certain, so that no gadget is needed.
      given_cfvs: float64 [R_-p], the cfvs that the opponent may take instead of entering, in its
        utility and at the scale of the player's range; None: `Spec.given_cfvs` computes them.
      gifts: float64 [R_-p], how much these may rise at no loss of safety; None: 0.
      prior: float64 [R_-p], the opponent's own reach by its blueprint or model, of any scale, by
        which gadgets are refined. None: all root infosets count alike.
      public_states: int [R_-p], the number, from 0 on, of the public state of each of the
        opponent's root infosets; None: there is one public state.
      model_plan: float64 [S_-p], the realization plan of the opponent's model in the trunk; None:
        there is no model.
      modelled: bool [I_-p], its infosets in the trunk in which the model binds it.
      bound: the player's fixed strategy in some of its infosets in the trunk; None: it is free.
      kept: bool [I_p], the player's infosets whose strategy is taken from the solution; None: all.
      unit: the size here of one unit of utility of the whole game.
      limit: where the trunk ends, counted from the game's root; None: not needed.
      key: the search's key among those of its player; the seed of its draws.
      seconds: the time that making this root took, by step.
    """

    trunk: Trunk[Any]
    player: int
    ranges: Pair
    is_first: bool = False
    given_cfvs: np.ndarray | None = None
    gifts: np.ndarray | None = None
    prior: np.ndarray | None = None
    public_states: np.ndarray | None = None
    model_plan: np.ndarray | None = None
    modelled: np.ndarray | None = None
    bound: FixedStrategy | None = None
    kept: np.ndarray | None = None
    unit: float = 1.0
    limit: DepthLimit | None = None
    key: int = 0
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def opponent(self) -> int:
        """The other player."""
        return 1 - self.player

    @property
    def num_public_states(self) -> int:
        """The number of public states in which the search starts."""
        return 1 if self.public_states is None else int(self.public_states.max()) + 1

    @property
    def order(self) -> tuple[int, int]:
        """The game's players in the order in which the solver has and updates them.

        A player who responds to a model, or is bound, is first.
        """
        searcher_first = self.model_plan is not None or self.bound is not None
        return (self.player, self.opponent) if searcher_first else (0, 1)

    @property
    def histories(self) -> np.ndarray:
        """The histories at which the search starts: int [n]."""
        return self.trunk.extent.starts

    def at_histories(self, player: int) -> np.ndarray:
        """A player's range at the `histories`: float64 [n]."""
        return self.ranges[player][self.trunk.extent.roots_at(player, self.histories)]


ValuesAt: TypeAlias = Callable[[Root], LeafValues | np.ndarray]
"""The values of the leaves below a root: `LeafValues` of ranges; `MultiValuedLeaves`, where the
opponent chooses its continuation; or the searching player's utilities, float [N, J, K], by both
players' choice of a continuation in each leaf infoset. The model's continuation is the first."""
GivenCfvs: TypeAlias = Callable[[Root, LeafValues | np.ndarray | None], np.ndarray]
"""The cfvs that the opponent may take instead of entering, float64 [R_-p], of a root and the values
of its leaves; None: it has no leaves."""


@dataclasses.dataclass(frozen=True)
class Spec:
    """The game that a search solves.

    Attributes:
      values: values the leaves; None: for searches that look to the end of the game. Those of a
        compiled game do so then, except at policies' ranges without a model; all others need a
        depth limit beyond the game.
      gadget: the opponent's decision at the root: "resolving", "max_margin", "reach_max_margin"
        (see `solvers.gadgets`), or "unsafe", none; or one of `WHOLE_GAME`.
      refinement: weights by which the gadget is refined, one of `solvers.refinement.REFINEMENTS`.
      given_cfvs: computes the opponent's given cfvs; None: they are those of the search before.
      p: the probability that the opponent follows its model; None: there is no model.
      model_to_the_end: whether the model binds the opponent to the end of the game, not only down
        to the depth limit.
      leaf_choice: how the opponent chooses at multi-valued leaves: "regret_matching", as everywhere
        else, or "best_response", anew in every iteration.
      averages: whether the cfvs of leaves are averages over the iterations, as the next search
        needs them, or those of the average ranges.
      exact: whether to solve by linear programming.
    """

    values: ValuesAt | None = None
    gadget: str = "unsafe"
    refinement: str = "none"
    given_cfvs: GivenCfvs | None = None
    p: float | None = None
    model_to_the_end: bool = False
    leaf_choice: str = "regret_matching"
    averages: bool = True
    exact: bool = False

    def __post_init__(self) -> None:
        check_gadget(self.gadget, self.refinement, (*GADGETS, *WHOLE_GAME))
        if self.p is not None:
            check_probability(self.p)
        elif self.gadget in WHOLE_GAME:
            raise ValueError(f"gadget={self.gadget!r} is for responses to a model; give p")
        check_leaf_choice(self.leaf_choice)
        for name in ("values", "given_cfvs"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise ValueError(
                    f"{name}={function!r} must be a function of a Root; of a value function V, "
                    "search.leaf_values.ByValueFunction(pieces, V) is one"
                )
        if self.exact and self.values is not None and not self.model_to_the_end:
            raise ValueError(
                "exact=True solves the rest of the game by linear programming, so it cannot use "
                "value_function=; leave out one of them"
            )

    @property
    def resolves(self) -> bool:
        """Whether a gadget lets the opponent choose its root infosets."""
        return self.gadget in SAFE_GADGETS

    @property
    def continues(self) -> bool:
        """Whether a search takes ranges and given cfvs from the solution of the one before it."""
        independent = self.gadget in WHOLE_GAME or self.given_cfvs is not None
        return not independent and (self.resolves or self.p is None)

    @property
    def shares_root(self) -> bool:
        """Whether both players go on from one solution of the game's root."""
        return self.continues and self.p is None

    @property
    def uses_policy_ranges(self) -> bool:
        """Whether a search starts at the ranges of both players' policies."""
        return not self.continues and self.gadget not in WHOLE_GAME

    @property
    def needs_prior(self) -> bool:
        """Whether a search depends on the opponent's own reach of its root infosets."""
        by_prior = self.refinement in ("prior", "mixed")
        return by_prior or not self.resolves or self.p is not None


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """A solved trunk.

    Attributes:
      root: where the search started.
      plans: for each player, float64 [S_p], its realization plan in the trunk. Behind a gadget, the
        opponent's starts with the probabilities with which it enters.
      strategy: float64 [S_p], the searching player's behaviour strategy.
      gap: the largest suboptimality of the strategy, in utility units here; NaN: unknown.
      averaged_cfvs: for each player, float64 [L_p], the cfvs of the leaves, averaged over the
        iterations; None: they were not averaged.
      values: the values of the leaves; None: there were none, or none of ranges.
      seconds: the time that the search took, by step.
    """

    root: Root
    plans: Pair
    strategy: np.ndarray
    gap: float = np.nan
    averaged_cfvs: Pair | None = None
    values: LeafValues | None = None
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def trunk(self) -> Trunk[Any]:
        """The trunk that was searched."""
        return self.root.trunk

    @property
    def player(self) -> int:
        """The player who searched."""
        return self.root.player

    @property
    def leaf_ranges(self) -> Pair:
        """For each player, float64 [L_p], the weights of its leaf infosets in the plans."""
        first, second = self.trunk.leaves.sequences
        return self.plans[0][first], self.plans[1][second]

    @property
    def leaf_reach(self) -> np.ndarray:
        """The product of chance's and both players' reach of every leaf: float64 [N]."""
        leaves, (first, second) = self.trunk.leaves, self.leaf_ranges
        infosets = leaves.infoset_of_history
        reach: np.ndarray = leaves.chance_reach * first[infosets[0]] * second[infosets[1]]
        return reach

    @functools.cached_property
    def leaf_cfvs(self) -> Pair | None:
        """For each player, float64 [L_p], the cfvs of the leaves; None: unknown.

        Raises:
          ValueError: if these values are not finite.
        """
        if self.averaged_cfvs is not None:
            return self.averaged_cfvs
        if self.values is None:
            return None if self.trunk.leaves.num_public_states else (np.zeros(0), np.zeros(0))
        first, second = evaluate_checked(self.values, (0, 1), *self.leaf_ranges)
        check_values(first)
        check_values(second)
        return first, second

    @functools.cached_property
    def strategies(self) -> Pair:
        """For each player, float64 [S_p], the behaviour strategies of the plans."""
        treeplexes = self.trunk.sequence_form.treeplexes
        first, second = (behaviour_strategy(treeplexes[p], self.plans[p]) for p in (0, 1))
        return first, second

    @functools.cached_property
    def cfvs(self) -> Pair:
        """For each player, float64 [S_p], the cfv of each of its sequences under both plans.

        A sequence's cfv is that of taking its action in its infoset. Where the player's own plan
        has reach 0, it goes on by a best response.
        """
        form, leaf_cfvs = self.trunk.sequence_form, self.leaf_cfvs
        assert leaf_cfvs is not None, "the leaves of this search have no cfvs"
        valued = form.with_constants(self.trunk.leaves.sequences, leaf_cfvs)
        cfvs = []
        for player, treeplex in enumerate(form.treeplexes):
            is_reached = self.plans[player][treeplex.parent_sequence] > 0
            fixed = FixedStrategy(is_reached, self.strategies[player])
            cfvs.append(best_response(valued, player, self.plans[1 - player], fixed=fixed).cfv)
        return cfvs[0], cfvs[1]

    @property
    def root_cfvs(self) -> Pair:
        """For each player, float64 [R_p], the cfvs of its root infosets."""
        first, second = (
            self.cfvs[player][: treeplex.num_root_sequences]
            for player, treeplex in enumerate(self.trunk.sequence_form.treeplexes)
        )
        return first, second


Watch: TypeAlias = Callable[[Solution], None]
"""A callback that gets the solution of every search."""
