"""`SearchPolicy`: plays by searches, which are made when they are needed.

    policy = SearchPolicy(source, spec, effort)

A `Source` says where searches start on the way to a state and yields their roots; a `Spec` says
what each solves. The same policy serves compiled and played games, by the source it is given.
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
"""How much memory what is kept of searches may take together."""

Search: TypeAlias = Callable[[Root], Solution]


class Way(Protocol):
    """What a player has seen on the way to a state."""

    @property
    def player(self) -> int:
        """The player."""

    @property
    def decisions(self) -> list[int]:
        """The positions on the way at which a search may start."""


class Answer(NamedTuple):
    """What a player does in a state.

    Attributes:
      probabilities: of all legal actions.
      was_searched: whether a search found them; if not, they are a blueprint's.
    """

    probabilities: dict[int, float]
    was_searched: bool = True


WayT = TypeVar("WayT", bound=Way)
KeptT = TypeVar("KeptT")


class Source(abc.ABC, Generic[WayT, KeptT]):
    """Where searches start on the way to a state, and what is kept of them.

    Attributes:
      game: the game.
      players: for whom there are searches.
      is_private: whether searches start from more than what is public.
      num_left_to_blueprint: how many searches were not made, because they would have been too large
        or the player never comes there.
    """

    game: pyspiel.Game
    players: tuple[int, ...] = (0, 1)
    is_private: bool = False
    num_left_to_blueprint: int = 0

    def check_state(self, state: pyspiel.State) -> None:
        """Raises a ValueError if a state is of another game."""
        check_game_of(state, self.game)

    @abc.abstractmethod
    def way(self, state: pyspiel.State, player: int, spec: Spec) -> WayT:
        """What a player has seen on the way to a state; nothing hidden from it is read."""

    @abc.abstractmethod
    def key(self, way: WayT, position: int) -> Hashable:
        """The key under which the search that starts at a position is kept."""

    def following(self, way: WayT, position: int | None, kept: KeptT | None) -> int | None:
        """Where the search after the one at a position starts; None: that is the last one.

        Of position None it is the first search. From wherever a search was kept, it must lead to
        the same place in the end. Here there is a search at each of the way's positions.
        """
        del kept
        after = 0 if position is None else position + 1
        return after if after < len(way.decisions) else None

    @abc.abstractmethod
    def solve(
        self, way: WayT, position: int, before: KeptT | None, spec: Spec, search: Search
    ) -> KeptT:
        """Makes a root, has it searched, and returns what is kept of it.

        Args:
          way: what was seen.
          position: where the search starts.
          before: what was kept of the search before on this way; None: this is the first one.
          spec: what is solved.
          search: the search.
        """

    @abc.abstractmethod
    def answer(self, way: WayT, state: pyspiel.State, kept: KeptT | None) -> Answer:
        """What the player does at the end of the way, by the last search on it; None: none."""

    def num_bytes(self, kept: KeptT) -> int:
        """How much memory takes what is kept of a search; 0 where that is little."""
        del kept
        return 0

    def to_array_policy(self, policy: SearchPolicy) -> ArrayPolicy:
        """A policy that searches from this source, in all infosets."""
        return ArrayPolicy.from_policy(compile_game(self.game), policy)


class SearchPolicy(openspiel_policy.Policy):
    """Both players' policies by search, each as if only that player searched.

    Nothing is searched before it is asked for. Where there is one legal action, nothing is.

    Attributes:
      source: where searches start.
      spec: what they solve.
      effort: how long each iterates.
      kept: what is kept of the latest searches, by player and what each is the search of.
      watch: is told of every search; None: nobody asks.
      gap: by how much all searches may be below their optima together, in utility units of the
        whole game; NaN where that is not known.
      num_searches: how many searches were made; those that are made side by side count each.
      num_unfinished: how many solutions ended above the tolerance of their effort.
      num_moves, num_moves_searched: how many questions with more than one answer there were, and
        how many were answered by search, not by a blueprint.
      answer_was_searched: whether the last answer was.
    """

    def __init__(
        self,
        source: Source[Any, Any],
        spec: Spec,
        effort: Effort,
        *,
        max_kept: int | None = None,
    ):
        """Searches nothing yet; `max_kept` searches are kept, None: all that there is room for.

        Raises:
          ValueError: if the effort is something else, or none may be kept.
        """
        check_effort(effort)
        if max_kept is not None and max_kept < 1:
            raise ValueError(f"max_kept={max_kept} must be at least 1")
        super().__init__(source.game, [0, 1])
        self.source, self.spec, self.effort = source, spec, effort
        self.watch: Watch | None = None
        self.kept: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        self.gap = 0.0
        self.num_searches = self.num_unfinished = 0
        self.num_moves = self.num_moves_searched = 0
        self.answer_was_searched = False
        self._max_kept = max_kept
        self._num_bytes = 0

    @property
    def num_left_to_blueprint(self) -> int:
        """How many searches were not made; see `Source`."""
        return self.source.num_left_to_blueprint

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
        way, kept = self._solved(state, player)
        answer = self.source.answer(way, state, kept)
        self.num_moves += 1
        self.num_moves_searched += answer.was_searched
        self.answer_was_searched = answer.was_searched
        return answer.probabilities

    def found(self, state: pyspiel.State) -> Any:
        """What is kept of the search that the answer at a state is read from; None: no search.

        Raises:
          ValueError: as `action_probabilities`.
        """
        self.source.check_state(state)
        return self._solved(state, asking.acting_player(state))[1]

    def to_array_policy(self) -> ArrayPolicy:
        """A copy of the policy in all infosets, in a game that can be compiled."""
        return self.source.to_array_policy(self)

    def _solved(self, state: pyspiel.State, player: int) -> tuple[Any, Any]:
        """What a player has seen on the way to a state, and what is kept of the last search."""
        way = self.source.way(state, player, self.spec)
        keys = {i: (player, self.source.key(way, i)) for i in way.decisions}
        solved = [i for i in keys if keys[i] in self.kept]
        position = solved[-1] if solved else self.source.following(way, None, None)
        kept = None
        while position is not None:
            kept = self._at(way, position, keys[position], kept)
            position = self.source.following(way, position, kept)
        return way, kept

    def _at(self, way: Any, position: int, key: Hashable, before: Any) -> Any:
        """What is kept of the search at a position, after it was made if need be."""
        if key in self.kept:
            self.kept.move_to_end(key)
            return self.kept[key]
        kept = self.source.solve(way, position, before, self.spec, self.search)
        self.kept[key] = kept
        self._num_bytes += self.source.num_bytes(kept)
        while self._is_too_much():
            _, oldest = self.kept.popitem(last=False)
            self._num_bytes -= self.source.num_bytes(oldest)
        return kept

    def _is_too_much(self) -> bool:
        too_many = self._max_kept is not None and len(self.kept) > self._max_kept
        return too_many or (self._num_bytes > MAX_BYTES and len(self.kept) > 1)

    def search(self, root: Root) -> Solution:
        """Searches below a root, and counts and tells it."""
        solution = search(root, self.spec, self.effort)
        self.num_searches += root.num_public_states
        self.gap += solution.gap / root.unit
        form = root.trunk.sequence_form
        tolerance = self.effort.in_unit(root.unit).allowed_gap(form.utility_range)
        self.num_unfinished += tolerance is not None and solution.gap > tolerance
        if self.watch is not None:
            self.watch(solution)
        return solution
