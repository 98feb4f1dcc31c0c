"""What a search starts from, what it solves, and what it finds: `Root`, `Spec` and `Solution`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.solvers.checks import check_values
from spiel_dl.solvers.gadgets import SAFE_GADGETS
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import check_probability
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.base import LeafValues, ask
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves

WHOLE_GAME = ("joint", "full", "full_trunk")
"""Gadgets by which a search starts at the game's root each time, the player bound in what it has
decided: in all levels above, on the way, or wherever a search was made before."""


@dataclasses.dataclass(frozen=True, eq=False)
class Root:
    """Where a search starts, and what is known there. A `Source` makes it.

    Attributes:
      trunk: what the search looks at, from the public states where it starts down to its leaves.
      player: who searches.
      ranges: for each player, float64 [R_p], its own reach of its root infosets. The opponent's is
        the one with which it comes where nothing lets it choose.
      is_first: whether the opponent cannot have come otherwise than expected, so that no gadget is
        needed.
      given_cfvs: float64 [R_-p], what the opponent may have instead of entering, in its utility and
        of the scale of the player's range; None: the spec says it.
      gifts: float64 [R_-p], by how much these may rise without harm; None: by nothing.
      prior: float64 [R_-p], the opponent's own reach as far as it is known, of any scale; gadgets
        are refined by it. None: all root infosets count alike.
      public_states: int [R_-p], in which of the search's public states each of the opponent's root
        infosets is, from 0 on; None: there is one.
      model_plan: float64 [S_-p], the weights of the opponent's model of the trunk's sequences;
        None: there is no model.
      modelled: bool [I_-p], in which of its infosets in the trunk the model binds it.
      bound: in which of its infosets in the trunk the player is bound, and to what; None: nowhere.
      kept: bool [I_p], for which of its infosets the player keeps the solution; None: for all.
      unit: how large a unit of utility of the whole game is here.
      limit: where the trunk ends, counted from the game's root; None: nobody asks.
      key: tells this search from others of its player; what is drawn for it goes by this.
      seconds: what it took to make this root, by what was made.
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
        """Who does not search."""
        return 1 - self.player

    @property
    def num_public_states(self) -> int:
        """In how many public states the search starts, side by side."""
        return 1 if self.public_states is None else int(self.public_states.max()) + 1

    @property
    def order(self) -> tuple[int, int]:
        """The players of the game as players 0 and 1 of the one that is solved.

        Who responds to a model, or is bound, comes first there, and is updated first.
        """
        comes_first = self.model_plan is not None or self.bound is not None
        return (self.player, self.opponent) if comes_first else (0, 1)

    @property
    def histories(self) -> np.ndarray:
        """The histories that the search starts at: int [n]."""
        return self.trunk.extent.starts

    def at_histories(self, player: int) -> np.ndarray:
        """A player's range at the `histories`: float64 [n]."""
        return self.ranges[player][self.trunk.extent.roots_at(player, self.histories)]


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
                "value_function=; leave out one of them"
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


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """A solved trunk.

    Attributes:
      root: where the search started.
      plans: for each player, float64 [S_p], realization plans in the trunk: what the player plays,
        and what it expected of its opponent. Behind a gadget, the opponent's begin with the
        probabilities with which it enters.
      strategy: float64 [S_p], what the searching player plays, as behaviour.
      gap: by how much the strategy may be below the optimum, in utility units here; NaN: not known.
      averaged_cfvs: for each player, float64 [L_p], the cfvs of the leaves, averaged over the
        iterations; None: they were not.
      values: what valued the leaves; None: nothing did.
      seconds: what the search took, by what was done.
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
        """What the search looked at."""
        return self.root.trunk

    @property
    def player(self) -> int:
        """Who searched."""
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
        """For each player, float64 [L_p], what the leaves are worth; None: that is not known.

        Raises:
          ValueError: if these values are not finite.
        """
        if self.averaged_cfvs is not None:
            return self.averaged_cfvs
        if self.values is None:
            return None if self.trunk.leaves.num_public_states else (np.zeros(0), np.zeros(0))
        if isinstance(self.values, MultiValuedLeaves):
            first, second = self.values.evaluate(*self.leaf_ranges)
        else:
            first, second = ask(self.values, (0, 1), *self.leaf_ranges)
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
        never comes, it goes on by a best response.
        """
        form, leaf_cfvs = self.trunk.sequence_form, self.leaf_cfvs
        assert leaf_cfvs is not None, "the leaves of this search have no cfvs"
        valued = form.with_constants(self.trunk.leaves.sequences, leaf_cfvs)
        found = []
        for player, treeplex in enumerate(form.treeplexes):
            comes = self.plans[player][treeplex.parent_sequence] > 0
            fixed = FixedStrategy(comes, self.strategies[player])
            found.append(best_response(valued, player, self.plans[1 - player], fixed=fixed).cfv)
        return found[0], found[1]

    @property
    def root_cfvs(self) -> Pair:
        """For each player, float64 [R_p], the cfvs of its root infosets."""
        first, second = (
            self.cfvs[player][: treeplex.num_root_sequences]
            for player, treeplex in enumerate(self.trunk.sequence_form.treeplexes)
        )
        return first, second


Watch: TypeAlias = Callable[[Solution], None]
"""Is told of every search."""
