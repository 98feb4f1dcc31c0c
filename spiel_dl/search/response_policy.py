"""What continual responses to an opponent model have in common: `ResponsePolicy`.

A response is computed step by step. Each step solves a *restricted game*
(`solvers.restricted_game`): from where it starts, the opponent follows the model with probability p
down to a horizon, and both players are rational below it. Nothing is solved before it is asked for,
and what was solved is kept.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import (
    AnyGame,
    ArrayPolicy,
    check_player,
    compile_game,
    read_strategy,
)
from spiel_dl.solvers import restricted_game
from spiel_dl.solvers.best_response import FixedStrategy, realization_plan
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.restricted_game import Effort, Response, RestrictedGame
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.sequence_form import SequenceForm
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.base import ValueFunction

BEYOND_THE_GAME = DepthLimit(moves=1_000_000)
DEFAULT_EFFORT = Effort()
AnyValueFunction: TypeAlias = ValueFunction | Mapping[DepthLimit, ValueFunction]
"""One for all horizons, or one for each, by the depth limit that ends there if counted from the
game's root: networks know one depth limit only."""


class ResponsePolicy(openspiel_policy.Policy):
    """A player's response to a model of its opponent, whose part plays the model.

    Where the player's own strategy or a model that is always followed never comes, any strategy is
    as good as another one, and there may be any.

    Attributes:
      tree: the compiled game.
      player: who responds.
      gap: by how much the steps that were solved may be below their optima, all together, in
        utility units of the whole game; NaN where a value function does not let it be known.
    """

    def __init__(
        self,
        game: AnyGame,
        player: int,
        opponent_policy: openspiel_policy.Policy,
        pieces: Pieces,
        value_function: AnyValueFunction | None,
        exact: bool,
        effort: Effort,
    ):
        """See the policies made of this."""
        check_player(player)
        if exact and value_function is not None:
            raise ValueError(
                "exact=True solves the rest of the game by linear programming, so it cannot use "
                f"value_function={value_function}; leave out one of them"
            )
        if effort.iterations < 1:
            raise ValueError(f"{effort}: iterations must be at least 1")
        self.tree = pieces.tree
        super().__init__(self.tree.game, [0, 1])
        self.player = player
        self.gap = 0.0
        self._solved_steps: set[int] = set()
        self._pieces = pieces
        self._value_function = value_function
        self._exact = exact
        self._effort = effort
        model = read_strategy(self.tree, opponent_policy, 1 - player)
        own = self.tree.treeplexes[player].uniform_strategy()
        self._solved = ArrayPolicy(self.tree, (own, model) if player == 0 else (model, own))
        self._model_plan = realization_plan(self.tree.treeplexes[1 - player], model)

    @abc.abstractmethod
    def _steps_to(self, infoset: int) -> list[int]:
        """The steps that decide what to do in an infoset of the player, in their order."""

    @abc.abstractmethod
    def _solve_step(self, step: int) -> float:
        """Solves a step after those before it; the gap in utility units of the whole game."""

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; solves what is needed for them.

        Arguments and errors are those of `ArrayPolicy.action_probabilities`.
        """
        player = state.current_player() if player_id is None else player_id
        if player == self.player:
            self._solve_down_to(self.tree.find_infoset(state, player))
        return self._solved.action_probabilities(state, player_id)

    def to_array_policy(self) -> ArrayPolicy:
        """A copy of the policy in all infosets; solves what was not asked for yet."""
        for infoset in range(self.tree.num_infosets(self.player)):
            self._solve_down_to(infoset)
        strategy_0, strategy_1 = (strategy.copy() for strategy in self._solved.strategies)
        return ArrayPolicy(self.tree, (strategy_0, strategy_1))

    def _solve_down_to(self, infoset: int) -> None:
        for step in self._steps_to(infoset):
            if step not in self._solved_steps:
                self.gap += self._solve_step(step)
                self._solved_steps.add(step)

    @property
    def _own_strategy(self) -> np.ndarray:
        return self._solved.strategies[self.player]

    def _cut(self, pieces: list[int], horizon: int) -> Trunk:
        """What a step looks at: down to the horizon or, without value function, to the end.

        Args:
          pieces: where it starts; pieces that begin at one depth, or `ROOT` alone.
          horizon: the level.
        """
        if self._value_function is not None:
            limit = self._pieces.limit(horizon - self._pieces.start(pieces[0]))
            return cut(self.tree, limit, None if pieces == [ROOT] else pieces)
        return self._whole_game if pieces == [ROOT] else cut(self.tree, BEYOND_THE_GAME, pieces)

    @functools.cached_property
    def _whole_game(self) -> Trunk:
        return cut(self.tree, BEYOND_THE_GAME)

    def _form(self, trunk: Trunk) -> SequenceForm:
        """The sequence form in which the player who responds is player 0."""
        return trunk.sequence_form if self.player == 0 else trunk.sequence_form.swapped()

    def _range(self, player: int, pieces: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """A player's reach of the root infosets of `_cut`.

        Returns:
          float64 [R], and the piece in which each root infoset lies, int [R].
        """
        partition, plan = self.tree.public_states, self._model_plan
        if player == self.player:
            plan = realization_plan(self.tree.treeplexes[player], self._own_strategy)
        if pieces == [ROOT]:
            return plan[:1], np.full(1, ROOT)
        histories = np.sort(np.concatenate([partition.histories(piece) for piece in pieces]))
        _, first = first_occurrence_ids(partition.augmented_infoset[player, histories])
        firsts = histories[first]
        return plan[self.tree.sequence[player, firsts]], partition.of_history[firsts]

    def _model_plan_on(self, trunk: Trunk, root_range: np.ndarray) -> np.ndarray:
        """The model's weights of a trunk's sequences: float64 [S]."""
        opponent = 1 - self.player
        strategy = self._solved.strategies[opponent][trunk.sequences[opponent]]
        return realization_plan(trunk.sequence_form.treeplexes[opponent], strategy, root_range)

    def _fixed_on(self, trunk: Trunk, infosets: np.ndarray) -> FixedStrategy:
        """Binds the player in some infosets of a trunk (bool [I]) to what it has decided."""
        return FixedStrategy(infosets, self._own_strategy[trunk.sequences[self.player]])

    def _above_horizon(self, trunk: Trunk, horizon: int) -> np.ndarray:
        """Which of the opponent's infosets in a trunk lie above a level: bool [I]."""
        opponent = 1 - self.player
        return self._pieces.infoset_depths[opponent][trunk.infosets[opponent]] < horizon

    def _respond(
        self,
        game: RestrictedGame,
        trunk: Trunk,
        horizon: int | None,
        new_sequences: Pair | None = None,
        unit: float = 1.0,
    ) -> tuple[Response, np.ndarray]:
        """Solves a restricted game.

        Args:
          game: the game, of a trunk's sequence form with or without a gadget on top.
          trunk: the trunk.
          horizon: the level where the trunk ends; None: at several ones.
          new_sequences: the gadget's; None: without a gadget.
          unit: how large a unit of utility of the whole game is in this one.

        Returns:
          The response, and the opponent's values at the trunk's leaves, if it has any.
        """
        if self._exact:
            return restricted_game.solve_by_lp(game), np.zeros(0)
        if self._value_function is None or not trunk.leaves.num_public_states:
            effort = self._effort._replace(tolerance=self._effort.tolerance * unit)
            return restricted_game.solve_by_cfr(game, effort), np.zeros(0)
        own, others = (trunk.leaves.sequences[p] for p in (self.player, 1 - self.player))
        if new_sequences is not None:
            others = new_sequences[1][others]
        leaf_values = self._leaf_values(trunk.leaves, horizon)
        return restricted_game.solve_with_leaves(game, (own, others), leaf_values, self._effort)

    def _leaf_values(self, leaves: LeafSet, horizon: int | None) -> Callable[[Pair], Pair]:
        """Binds the value function, and puts the player who responds first.

        It is bound to all leaves of the game at a horizon, of which some may be asked for, since
        networks are made for these; or if the horizon is None, to these leaves alone.
        """
        function, level = self._value_function, leaves
        if horizon is not None:
            limit = self._pieces.limit(horizon)
            level = cut(self.tree, limit).leaves
            if isinstance(function, Mapping):
                if limit not in function:
                    raise ValueError(
                        f"value_function has no entry for {limit!r}, where a step ends; it has "
                        f"{list(function)}"
                    )
                function = function[limit]
        assert isinstance(function, ValueFunction)
        function.bind(level)
        evaluate = function.evaluate
        places = [_places(level.infosets[p], leaves.infosets[p]) for p in (0, 1)]

        def leaf_values(ranges: Pair) -> Pair:
            in_order = ranges if self.player == 0 else ranges[::-1]
            whole = [np.zeros(level.num_infosets(p)) for p in (0, 1)]
            for p in (0, 1):
                whole[p][places[p]] = in_order[p]
            cfv_0, cfv_1 = evaluate(whole[0], whole[1])
            found = (cfv_0[places[0]], cfv_1[places[1]])
            return found if self.player == 0 else found[::-1]

        return leaf_values

    def _keep(self, trunk: Trunk, strategy: np.ndarray, infosets: np.ndarray) -> None:
        """Keeps a strategy (float64 [S]) in some of a trunk's infosets (bool [I])."""
        own = trunk.sequence_form.treeplexes[self.player].sequences_of(infosets)
        self._own_strategy[trunk.sequences[self.player][own]] = strategy[own]

    def _has_decisions(self, infosets: np.ndarray) -> bool:
        """Whether the player has a choice in one of its infosets (bool [I] of the tree)."""
        return bool((self.tree.treeplexes[self.player].num_actions[infosets] > 1).any())


def _places(infosets: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Where some of a list of distinct infosets stand in it: int64 [n]."""
    order = np.argsort(infosets)
    return order[np.searchsorted(infosets, some, sorter=order)]


def make_pieces(
    game: AnyGame,
    opponent_policy: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    scheme: str,
) -> Pieces:
    """The pieces of a game.

    Raises:
      ValueError: if the game cannot be compiled, or not be taken apart so.
    """
    return Pieces(compile_game(game, opponent_policy), depth_limit, scheme)
