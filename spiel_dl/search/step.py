"""`Step`: what a continual search solves where it starts anew.

A new search is a class derived from `Step` with one method, `solve`. It says what is fixed, what is
mixed and what values the leaves, and keeps what it finds:

    class MyStep(Step):
        def solve(self, player, places):
            trunk = self.cut(places)
            ...
            self.keep(player, trunk, strategy)

`search.engine.ContinualPolicy` calls it where the game comes.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.found import Found, Watch
from spiel_dl.solvers import depth_limited
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.depth_limited import LeafValuer, Leaves, Solution
from spiel_dl.solvers.effort import Effort, check_effort
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import RestrictedGame
from spiel_dl.solvers.strategies import check_strategy
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME, DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.sequence_form import SequenceForm
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.base import (
    LeafValues,
    PartOfLeaves,
    ValueFunction,
    ask,
    bound_to,
    check_arguments,
)

AnyValueFunction: TypeAlias = ValueFunction | Mapping[DepthLimit, ValueFunction]
"""One value function for all horizons, or one for each, by the depth limit that ends there if it is
counted from the game's root: networks know one depth limit only."""


class Step(abc.ABC):
    """What a continual search solves at a place where it starts anew.

    A *place* is the public state in which a piece of the game begins (`tree.pieces`), or `ROOT`.

    Attributes:
      pieces: how the game is taken apart.
      policy: what both players do as far as it is known, in the whole game. `keep` writes what was
        solved into it.
      players: for whom the search decides.
      value_function: values the leaves; None: each step looks to the end of the game.
      effort: how long to iterate at each place.
      responder_first: whether the player for whom a place is solved is player 0 of the games that
        are solved there, who is updated first. If not, players keep their names.
      watch: is told of every solution; None: nobody asks.
    """

    responder_first = False
    watch: Watch | None = None

    def __init__(
        self,
        pieces: Pieces,
        policy: ArrayPolicy,
        *,
        players: tuple[int, ...] = (0, 1),
        value_function: AnyValueFunction | None = None,
        effort: Effort | None = None,
        exact: bool = False,
    ):
        """Takes what the search goes by.

        Args:
          pieces: how the game is taken apart.
          policy: the policy to begin with. It is written to.
          players: for whom the search decides.
          value_function: values the leaves; None: look to the end of the game.
          effort: how long to iterate at each place; None: the defaults.
          exact: solve by linear programming; without a value function only.

        Raises:
          ValueError: if `exact` is asked for with a value function, if the pieces, the value
            function or the effort is something else, or if a piece would begin in a part of a
            public state only.
        """
        if exact and value_function is not None:
            raise ValueError(
                "exact=True solves the rest of the game by linear programming, so it cannot use "
                f"value_function={value_function}; leave out one of them"
            )
        if not isinstance(pieces, Pieces):
            raise ValueError(
                f"pieces={pieces!r:.60} must be the Pieces of a game, such as Pieces(tree, "
                "depth_limit, 'block'), and the policy the second argument"
            )
        check_arguments(value_function, pieces.depth_limit, by_limit=True)
        effort = Effort() if effort is None else effort
        check_effort(effort)
        _ = pieces.of_history  # A game that cannot be taken apart so is refused at once.
        self.pieces = pieces
        self.policy = policy
        self.players = players
        self.value_function = value_function
        self.effort = effort
        self._exact = exact
        self._bound: dict[DepthLimit, LeafValues] = {}

    @abc.abstractmethod
    def solve(self, player: int, places: list[int]) -> None:
        """Solves a batch of places for a player, after those that they depend on."""

    def path(self, player: int, piece: int) -> Sequence[int]:
        """The places to solve for a piece: those on the way that it depends on, and itself."""
        del player
        return self.pieces.path(piece)

    def places(self, player: int, infoset: int) -> Iterable[int]:
        """The places to solve before a player's decision infoset is decided."""
        return self.path(player, int(self.pieces.of_infosets(player)[infoset]))

    def all_places(self, player: int) -> Iterable[int]:
        """The places to solve before all of a player's infosets are decided."""
        pieces = np.unique(self.pieces.of_infosets(player)).tolist()
        return {place for piece in pieces for place in self.path(player, piece)}

    def batches(self, player: int, places: Iterable[int]) -> Iterator[list[int]]:
        """Shares places out into batches, each to be solved at once, in the order to solve them."""
        del player
        for place in sorted(places, key=lambda place: (self.pieces.start(place), place)):
            yield [place]

    @property
    def tree(self) -> GameTree:
        """The compiled game."""
        return self.pieces.tree

    def order(self, player: int) -> tuple[int, int]:
        """The players of the game as players 0 and 1 of what is solved for a player."""
        return (1, 0) if self.responder_first and player == 1 else (0, 1)

    def form(self, player: int, trunk: Trunk) -> SequenceForm:
        """A trunk's sequence form, with the players in their `order`."""
        form = trunk.sequence_form
        return form if self.order(player) == (0, 1) else form.swapped()

    def horizon(self, places: Sequence[int]) -> int:
        """The level down to which a step looks from places that begin at one depth."""
        return self.pieces.horizon(self.pieces.start(places[0]))

    def cut(self, places: Sequence[int], horizon: int | None = None) -> Trunk:
        """What a step looks at: down to a level or, without a value function, to the end.

        Args:
          places: where it starts; pieces that begin at one depth, or `ROOT` alone.
          horizon: the level; None: that of the pieces.
        """
        places = list(places)
        if self.value_function is None:
            return self.whole_game if places == [ROOT] else cut(self.tree, BEYOND_THE_GAME, places)
        if horizon is None:
            horizon = self.horizon(places)
        limit = self.pieces.limit(horizon - self.pieces.start(places[0]))
        return cut(self.tree, limit, None if places == [ROOT] else places)

    @functools.cached_property
    def whole_game(self) -> Trunk:
        """The trunk of the whole game."""
        return cut(self.tree, BEYOND_THE_GAME)

    def root_range(self, player: int, places: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """A player's reach of the root infosets of `cut`, by the policy so far.

        Returns:
          float64 [R], and the piece in which each root infoset lies, int [R].
        """
        partition, plan = self.tree.public_states, self._plan_so_far(player)
        if list(places) == [ROOT]:
            return plan[:1], np.full(1, ROOT)
        histories = np.sort(np.concatenate([partition.histories(place) for place in places]))
        _, first = first_occurrence_ids(partition.augmented_infoset[player, histories])
        firsts = histories[first]
        return plan[self.tree.sequence[player, firsts]], partition.of_history[firsts]

    def _plan_so_far(self, player: int) -> np.ndarray:
        return realization_plan(self.tree.treeplexes[player], self.policy.strategies[player])

    def solve_game(
        self,
        player: int,
        game: RestrictedGame,
        trunk: Trunk,
        *,
        horizon: int | None,
        new_sequences: Pair | None = None,
        unit: float = 1.0,
    ) -> Solution:
        """Solves the game of a trunk by the step's effort and value function.

        Args:
          player: for whom.
          game: of the trunk's `form`, with or without a gadget on top.
          trunk: the trunk.
          horizon: the level where the trunk ends; None: at several ones.
          new_sequences: the gadget's; None: without a gadget.
          unit: how large a unit of utility of the whole game is in this one.
        """
        solution = self._solution(player, game, trunk, horizon, new_sequences, unit)
        if self.watch is not None:
            self.watch(self._as_found(player, game, trunk, new_sequences, solution))
        return solution

    def _solution(
        self,
        player: int,
        game: RestrictedGame,
        trunk: Trunk,
        horizon: int | None,
        new_sequences: Pair | None,
        unit: float,
    ) -> Solution:
        if self._exact:
            return depth_limited.solve_by_lp(game)
        if self.value_function is None or not trunk.leaves.num_public_states:
            return depth_limited.solve(game, self.effort.in_unit(unit))
        first, second = (trunk.leaves.sequences[p] for p in self.order(player))
        if new_sequences is not None:
            first, second = new_sequences[0][first], new_sequences[1][second]
        values = self._bind(trunk.leaves, horizon)
        leaves = Leaves((first, second), _in_order(values, self.order(player)))
        return depth_limited.solve_with_leaves(game, leaves, self.effort)

    def _as_found(
        self,
        player: int,
        game: RestrictedGame,
        trunk: Trunk,
        new_sequences: Pair | None,
        solution: Solution,
    ) -> Found:
        """A solution as those see it who watch."""
        treeplex = game.sequence_form.treeplexes[0]
        # What is played need not be the plan of the averages.
        responder = realization_plan(treeplex, solution.strategy, game.ranges[0], game.inflows[0])
        plans = [responder, solution.plans[1] + game.model_part]
        if new_sequences is not None:
            plans = [plan[new] for plan, new in zip(plans, new_sequences, strict=True)]
        order = first, second = self.order(player)
        # A step may give players choices at the leaves, whose sequences come last.
        sizes = [trunk.sequence_form.treeplexes[p].num_sequences for p in order]
        plans = [plan[:size] for plan, size in zip(plans, sizes, strict=True)]
        cfvs = None
        if len(solution.cfvs[0]):
            cfvs = (solution.cfvs[first], solution.cfvs[second])
        elif not trunk.leaves.num_public_states:
            cfvs = (np.zeros(0), np.zeros(0))
        return Found(player, trunk, (plans[first], plans[second]), cfvs)

    def check_value_functions(self) -> None:
        """Raises a ValueError if leaves at one of the horizons in the game cannot be valued.

        Of value functions that are made for one depth limit it is known beforehand.
        """
        limits = [self.pieces.limit(horizon) for horizon in self.pieces.horizons()]
        for limit in limits:
            function = self._function_at(limit)
            if not function.one_limit:
                continue
            try:
                self._bound_at(limit)
            except ValueError as error:
                raise ValueError(
                    f"the {type(function).__name__} does not fit the leaves at a depth limit of "
                    f"{limit}: {error}. Steps end at {', '.join(map(str, limits))}, counted from "
                    "the root; give a mapping from each of these depth limits to a value function, "
                    "or a ParticleNetwork, which serves several"
                ) from None

    def _bind(self, leaves: LeafSet, horizon: int | None) -> LeafValues:
        """The value function at a trunk's leaves."""
        if horizon is None:
            assert isinstance(self.value_function, ValueFunction)
            return bound_to(self.value_function, leaves)
        limit = self.pieces.limit(horizon)
        function = self._function_at(limit)
        if function.one_limit:
            return PartOfLeaves(self._bound_at(limit), leaves)
        return bound_to(function, leaves)

    def _function_at(self, limit: DepthLimit) -> ValueFunction:
        """The value function for a depth limit that is counted from the root."""
        function = self.value_function
        if isinstance(function, Mapping):
            if limit not in function:
                raise ValueError(
                    f"value_function has no entry for {limit!r}, where a step ends; it has "
                    f"{list(function)}"
                )
            function = function[limit]
        assert isinstance(function, ValueFunction)
        return function

    def _bound_at(self, limit: DepthLimit) -> LeafValues:
        """The value function at all leaves of a depth limit that is counted from the root."""
        if limit not in self._bound:
            leaves = cut(self.tree, limit).leaves
            self._bound[limit] = bound_to(self._function_at(limit), leaves)
        return self._bound[limit]

    def keep(
        self,
        player: int,
        trunk: Trunk,
        strategy: np.ndarray,
        infosets: np.ndarray | None = None,
    ) -> None:
        """Writes a player's strategy of a trunk into the policy.

        Args:
          player: whose.
          trunk: the trunk.
          strategy: float64 [S], of the trunk's sequences. Those of choices at the leaves may come
            behind, and are not kept.
          infosets: bool [I], in which of the trunk's infosets; None: in all.

        Raises:
          ValueError: if a shape is wrong, or probabilities in these infosets are negative or do not
            sum to 1.
        """
        treeplex = trunk.sequence_form.treeplexes[player]
        if infosets is None:
            infosets = np.ones(treeplex.num_infosets, np.bool_)
        check_strategy(treeplex, strategy[: treeplex.num_sequences], infosets)
        own = treeplex.sequences_of(infosets)
        self.policy.strategies[player][trunk.sequences[player][own]] = strategy[own]


def _in_order(values: LeafValues, order: tuple[int, int]) -> LeafValuer:
    """Values of leaves for a solver that has the players in another order."""

    def valuer(players: tuple[int, ...], ranges: Pair) -> Sequence[np.ndarray]:
        range_0, range_1 = ranges[order[0]], ranges[order[1]]
        if len(players) == 1:
            return ask(values, (order[players[0]],), range_0, range_1)
        both = ask(values, (0, 1), range_0, range_1)
        return [both[order[player]] for player in players]

    return valuer
