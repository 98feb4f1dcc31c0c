"""`TurnResponses`: responses to a model in hold'em from the turn on, where it is too large to list.

Steps are those of CDRNR's gadget `joint` (`algorithms.cdrnr`), and with p = 1 those of CDBR. In the
step on the turn, the opponent follows its model there and is rational on the river: the whole game
is solved, or a value function values the river. In the step on the river, one for all rivers, the
player is bound to its strategy on the turn, and the opponent follows its model throughout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyspiel

from spiel_dl.factored.families import cut_any
from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.factored.holdem_rivers import NoLeaves
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.policy import LocalStrategy, Search, SearchPolicy, Source
from spiel_dl.search.spec import Root, Solution, Spec, ValuesAt
from spiel_dl.solvers.best_response import FixedStrategy, realization_plan
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME, DepthLimit
from spiel_dl.tree.factored_form import FactoredForm
from spiel_dl.value_functions.base import ValueFunction, bind_checked


class WholeGame(NamedTuple):
    """A whole game in the place of a trunk."""

    sequence_form: FactoredForm
    leaves: NoLeaves = NoLeaves()


class ResponsePath(NamedTuple):
    """The steps before a player decides: one on the turn, two on the river."""

    player: int
    decisions: list[int]


class TurnResponses(Source[ResponsePath, bool]):
    """Steps of a player whose opponent's model is known.

    Attributes:
      tree: the game.
      policy: the model, and the player's strategy: searched where it was, else uniform.
    """

    def __init__(self, game: HoldemGame, player: int, policy: ArrayPolicy, depth_limit: DepthLimit):
        """Takes the game and a policy of the opponent's model and a uniform player.

        Raises:
          ValueError: if the limit is neither one round of a game that begins on the turn, nor
            beyond the game.
        """
        self.tree, self.game, self.players = game, game.game, (player,)
        self.policy = policy
        opponent, forms = 1 - player, game.treeplexes
        self._model = realization_plan(forms[opponent], policy.strategies[opponent])
        on_turn = [np.ones(treeplex.num_infosets, np.bool_) for treeplex in forms]
        self._turn: Any = None
        if depth_limit != BEYOND_THE_GAME:
            self._turn = cut_any(game, depth_limit)
            for each in (0, 1):
                on_turn[each][:] = False
                on_turn[each][self._turn.infosets[each]] = True
        self._on_turn = on_turn

    def values(self, function: ValueFunction) -> ValuesAt:
        """A value function at the end of the turn; a ValueError if the step looks beyond it."""
        if self._turn is None:
            raise ValueError("value_function= would never be asked: the step looks at all the game")
        bound = bind_checked(function, self._turn.leaves)
        return lambda root: bound

    def path(self, state: pyspiel.State, player: int, spec: Spec) -> ResponsePath:
        """See `Source`."""
        del spec
        infoset = self.tree.find_infoset(state, player)
        if player not in self.players:
            return ResponsePath(player, [])
        return ResponsePath(player, [0] if self._on_turn[player][infoset] else [0, 1])

    def key(self, path: ResponsePath, position: int) -> int:
        """See `Source`: the step."""
        return position

    def solve(
        self, path: ResponsePath, position: int, previous: bool | None, spec: Spec, search: Search
    ) -> bool:
        """See `Source`."""
        del previous
        self._step(position, spec, search)
        return True

    def local_strategy(
        self, path: ResponsePath, state: pyspiel.State, result: bool | None
    ) -> LocalStrategy:
        """See `Source`."""
        return LocalStrategy(
            self.policy.action_probabilities(state, path.player), result is not None
        )

    def to_array_policy(self, policy: SearchPolicy) -> ArrayPolicy:
        """See `Source`; makes the steps that are missing."""
        for step in range(1 if self._turn is None else 2):
            if (self.players[0], step) not in policy.results:
                self._step(step, policy.spec, policy.search)
                policy.results[self.players[0], step] = True
        return self.policy.copy()

    def _step(self, step: int, spec: Spec, search: Search) -> None:
        """Makes a step, and writes its solution into the policy."""
        [player] = self.players
        opponent, ones = 1 - player, (np.ones(1), np.ones(1))
        strategy = self.policy.strategies[player]
        own, treeplex = self._on_turn[player], self.tree.treeplexes[player]
        if step == 0 and spec.values is not None:
            turn = self._turn
            plan = self._model[turn.sequences[opponent]]
            modelled = np.ones(len(turn.infosets[opponent]), np.bool_)
            root = Root(turn, player, ones, is_first=True, model_plan=plan, modelled=modelled)
            strategy[turn.sequences[player]] = search(root).strategy
            return
        whole: Any = WholeGame(self.tree.sequence_form)
        modelled, bound, kept = self._on_turn[opponent], None, own
        if step == 1:
            modelled = np.ones_like(modelled)
            bound, kept = FixedStrategy(own, strategy.copy()), ~own
        root = Root(
            whole,
            player,
            ones,
            is_first=True,
            model_plan=self._model,
            modelled=modelled,
            bound=bound,
            key=step,
        )
        solution: Solution = search(root)
        sequences = treeplex.sequences_of(kept)
        strategy[sequences] = solution.strategy[sequences]
