"""`SearchPolicy`: an OpenSpiel policy by searches, each made when it is first needed.

    policy = SearchPolicy(source, spec, effort)

A `Source` finds where searches start on the way to a state and makes their roots; a `Spec` defines
the game that each solves. Sources exist for compiled games and for games with `Rules`.
"""

from __future__ import annotations

import abc
import collections
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies import asking
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.search import search
from spiel_dl.search.spec import Root, Solution, Spec, Watch
from spiel_dl.solvers.effort import Effort, check_effort
from spiel_dl.tree.from_openspiel import check_game_of
from spiel_dl.tree.load import compile_game

MAX_BYTES = 2**28
"""The most memory that the kept results of all searches may take."""

Search: TypeAlias = Callable[[Root], Solution]


class SearchPath(Protocol):
    """The positions from the root to a state, as one player observed them."""

    @property
    def player(self) -> int:
        """The player."""

    @property
    def decisions(self) -> list[int]:
        """The positions on the path at which a search may start."""


class LocalStrategy(NamedTuple):
    """A player's strategy in one state.

    Attributes:
      probabilities: of all legal actions.
      was_searched: whether a search computed them; if not, they are a blueprint's.
    """

    probabilities: dict[int, float]
    was_searched: bool = True


PathT = TypeVar("PathT", bound=SearchPath)
ResultT = TypeVar("ResultT")


class Source(abc.ABC, Generic[PathT, ResultT]):
    """Makes the roots of the searches on the way to a state, and the results kept of them.

    Attributes:
      game: the game.
      players: the players who search.
      is_private: whether roots may depend on the searching player's private observations.
    """

    game: pyspiel.Game
    players: tuple[int, ...] = (0, 1)
    is_private: bool = False

    def check_state(self, state: pyspiel.State) -> None:
        """Raises a ValueError if a state is of another game."""
        check_game_of(state, self.game)

    @abc.abstractmethod
    def path(self, state: pyspiel.State, player: int, spec: Spec) -> PathT:
        """The path to a state; reads nothing that is hidden from the player."""

    @abc.abstractmethod
    def key(self, path: PathT, position: int) -> Hashable:
        """The key of the result of the search that starts at a position."""

    def root_key(self, path: PathT, position: int) -> Hashable:
        """The `Root.key` of that search; by default, the key of its result."""
        return self.key(path, position)

    def next_start(self, path: PathT, position: int | None, result: ResultT | None) -> int | None:
        """The position of the search after the one at `position`; None: there is none.

        With position=None, it is that of the first search. From any kept result on, the same last
        search must be reached. By default, each of the path's positions has a search.
        """
        del result
        after = 0 if position is None else position + 1
        return after if after < len(path.decisions) else None

    @abc.abstractmethod
    def solve(
        self, path: PathT, position: int, previous: ResultT | None, spec: Spec, search: Search
    ) -> ResultT:
        """Makes the root of a search, searches it, and returns its result.

        Args:
          path: the path.
          position: where the search starts.
          previous: the result of the search before on this path; None: this is the first one.
          spec: the game to solve.
          search: the search.
        """

    @abc.abstractmethod
    def local_strategy(
        self, path: PathT, state: pyspiel.State, result: ResultT | None
    ) -> LocalStrategy:
        """The strategy at the end of a path by its last search's result; None: no search."""

    def num_bytes(self, result: ResultT) -> int:
        """The memory of a result; 0: negligible."""
        del result
        return 0

    def to_array_policy(self, policy: SearchPolicy) -> ArrayPolicy:
        """A policy that searches from this source, in all infosets."""
        return ArrayPolicy.from_policy(compile_game(self.game), policy)


class SearchPolicy(openspiel_policy.Policy):
    """Both players' policies by search, each as if only that player searched.

    A search is made when a state that needs it is first asked for. With one legal action, none is.

    Attributes:
      source: makes the roots of searches.
      spec: the game that each solves.
      effort: how long each iterates.
      results: the results of the latest searches, by player and `Source.key`.
      watch: called with every solution; None: nothing is called.
      gap: the largest total suboptimality of all searches so far, in utility units: of the whole
        game in responses to a model, else of the games that are searched; NaN: unknown.
      num_searches: the number of searches made; each public state of a batch counts.
      answer_was_searched: whether the last decision was made by search.
    """

    def __init__(
        self,
        source: Source[Any, Any],
        spec: Spec,
        effort: Effort,
        *,
        max_kept: int | None = None,
    ):
        """Makes no search yet; keeps `max_kept` results, None: as many as fit into `MAX_BYTES`.

        Raises:
          ValueError: if the effort is no `Effort`.
        """
        check_effort(effort)
        super().__init__(source.game, [0, 1])
        self.source, self.spec, self.effort = source, spec, effort
        self.watch: Watch | None = None
        self.results: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        self.gap = 0.0
        self.num_searches = 0
        self.answer_was_searched = False
        self._max_kept = max_kept
        self._num_bytes = 0

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; makes the searches on the way to the state.

        Args:
          state: a state of the game in which a player acts.
          player_id: that player; None: the player to move.

        Raises:
          ValueError: if the player does not act in this state, or the state is of another game.
        """
        self.source.check_state(state)
        player = asking.acting_player(state, player_id)
        actions = state.legal_actions(player)
        if len(actions) == 1:
            self.answer_was_searched = False
            return {actions[0]: 1.0}
        path, result = self._search_on_path(state, player)
        strategy = self.source.local_strategy(path, state, result)
        self.answer_was_searched = strategy.was_searched
        return strategy.probabilities

    def to_array_policy(self) -> ArrayPolicy:
        """A copy of the policy in all infosets, in a game that can be compiled."""
        return self.source.to_array_policy(self)

    def _search_on_path(self, state: pyspiel.State, player: int) -> tuple[Any, Any]:
        """The path to a state, and the result of the last search on it; makes those missing."""
        path = self.source.path(state, player, self.spec)
        keys = {i: (player, self.source.key(path, i)) for i in path.decisions}
        solved = [i for i in keys if keys[i] in self.results]
        position = solved[-1] if solved else self.source.next_start(path, None, None)
        result = None
        while position is not None:
            result = self._result_at(path, position, keys[position], result)
            position = self.source.next_start(path, position, result)
        return path, result

    def _result_at(self, path: Any, position: int, key: Hashable, previous: Any) -> Any:
        """The kept result of the search at a position, or that of a new search."""
        if key in self.results:
            self.results.move_to_end(key)
            return self.results[key]
        result = self.source.solve(path, position, previous, self.spec, self.search)
        self.results[key] = result
        self._num_bytes += self.source.num_bytes(result)
        while self._exceeds_memory():
            _, oldest = self.results.popitem(last=False)
            self._num_bytes -= self.source.num_bytes(oldest)
        return result

    def _exceeds_memory(self) -> bool:
        too_many = self._max_kept is not None and len(self.results) > self._max_kept
        return too_many or (self._num_bytes > MAX_BYTES and len(self.results) > 1)

    def search(self, root: Root) -> Solution:
        """Searches below a root, counts the search, and calls `watch`."""
        solution = search(root, self.spec, self.effort)
        self.num_searches += root.num_public_states
        self.gap += solution.gap / root.unit
        if self.watch is not None:
            self.watch(solution)
        return solution
