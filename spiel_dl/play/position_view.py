"""What a policy thinks where a game stands: ranges, cfvs and strategies in a public state.

    watched = Watched(lambda: load_policy("resolving:exact", "leduc_poker"))
    insight = look(watched, state)

Who searches is looked at in what its search found: its own range, the one that it expected of its
opponent, and what both thought their actions were worth. Other policies are looked at as if both
players followed them to the end of the game, where that is small enough; in larger games with
`Rules` the public state is reconstructed, and ranges and strategies alone are told.

What is said depends on the public state alone. `Insight.is_private` says where it does not.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.play.public_state_view import PublicStateNumbers, PublicStateView
from spiel_dl.play.public_tree_view import PolicyNumbers
from spiel_dl.policies import asking
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.small_policies import RememberingPolicy, SeatsPolicy
from spiel_dl.search.compiled import CompiledSource
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.spec import Solution
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import compile_if_small
from spiel_dl.tree.public_texts import public_text

MAX_COMPILED = 200_000
"""Games of more histories are not compiled only to be looked at."""
_MAX_SHOWN = 60
_SHOW_ALL_OF = 150
_MAX_FOUND = 64
_MAX_HISTORIES_KEPT = 2_000_000

SEARCHED = "These are the numbers that its search found here."
WHOLE_GAME = "The numbers are those of both players following this policy to the end of the game."
NOT_SEARCHED = (
    "It did not search here. The numbers are those of both players going on by what it knows "
    "so far."
)
RECONSTRUCTED = (
    "This game is too large to be looked at as a whole, so there are ranges and strategies here, "
    "and no values."
)
PRIVATE = (
    "Its search starts from what only the player knows who searches, so it is shown once the game "
    "is over, or all is revealed."
)
TOO_LARGE = "This game is too large to be looked at."
SILENT = "This kind of policy does not tell what it thinks."
TOO_MANY = "This public state has too many histories to be looked at."
_Place: TypeAlias = int | frozenset[int]


@dataclasses.dataclass(frozen=True)
class Insight:
    """What a policy thinks in a public state.

    Attributes:
      player: who acts there.
      how: what the numbers are, or why there are none: a whole sentence.
      is_private: whether they depend on what only this player knows.
      num_left_out: how many histories of the public state were left out of the infosets shown.
      state: the public state; ranges of a search are scaled to sum 1. None: there is nothing to be
        said without telling what only the player knows.
    """

    player: int
    how: str
    is_private: bool
    num_left_out: int
    state: PublicStateView | None


class Watched:
    """A policy, and what its searches have found.

    Attributes:
      policy: the policy.
    """

    def __init__(self, make: Callable[[], openspiel_policy.Policy]):
        """Makes the policy.

        Args:
          make: makes it; called again where it is to search anew.
        """
        self._make = make
        self._unsearched: set[tuple[int, _Place]] = set()
        self._restart()

    def _restart(self) -> None:
        self.policy = self._make()
        self._found: collections.deque[Solution] = collections.deque(maxlen=_MAX_FOUND)
        self._numbers: dict[int, PolicyNumbers] = {}  # By the identity of who searches.
        for seat in (0, 1):
            searcher = self.searcher(seat)
            if isinstance(searcher, SearchPolicy):
                searcher.watch = self._remember

    def _remember(self, found: Solution) -> None:
        self._found.append(found)
        while sum(each.trunk.tree.num_histories for each in self._found) > _MAX_HISTORIES_KEPT:
            if len(self._found) == 1:
                return
            self._found.popleft()

    def searcher(self, player: int) -> openspiel_policy.Policy:
        """The policy that plays a seat, without what is wrapped around it."""
        policy = self.policy
        while isinstance(policy, (RememberingPolicy, SeatsPolicy)):
            policy = policy.seats[player] if isinstance(policy, SeatsPolicy) else policy.policy
        return policy

    def found_at(self, state: pyspiel.State, player: int) -> tuple[Solution, int] | None:
        """What the player's search found that decides in a state, and the public state in its tree.

        None if there was no search. Solves what is on the way.
        """
        place = _place(self.searcher(player), state, player)
        if place is None:
            return None
        asking.action_probabilities(self.policy, state, player)
        found = self._latest(state, player, place)
        if found is None and (player, place) not in self._unsearched:
            # It may have been forgotten; then the search is made again.
            self._restart()
            asking.action_probabilities(self.policy, state, player)
            found = self._latest(state, player, place)
            if found is None:
                self._unsearched.add((player, place))
        return found

    def _latest(
        self, state: pyspiel.State, player: int, place: _Place
    ) -> tuple[Solution, int] | None:
        fitting = []
        for order, found in enumerate(self._found):
            is_own, tree, extent = found.player == player, found.trunk.tree, found.trunk.extent
            is_other = isinstance(place, frozenset) and found.root.key not in place
            if is_other or not (is_own or extent.is_whole):
                continue
            history = _history_in(tree, self.searcher(player), state, player)
            if history is not None and extent.holds(history):
                start = int(tree.depth[extent.starts[0]])
                number = int(tree.public_states.of_history[history])
                fitting.append(((is_own, start, order), found, number))
        if not fitting:
            return None
        _, found, number = max(fitting, key=lambda each: each[0])
        return found, number

    def numbers(self, player: int, compiled: Callable[[], GameTree | None]) -> PolicyNumbers | None:
        """The policy of a seat in the whole game; None if that is too large.

        Args:
          player: the seat.
          compiled: the compiled game; asked only if the policy does not have it.
        """
        searcher = self.searcher(player)
        if id(searcher) not in self._numbers:
            array = self._array_policy(player, compiled)
            if array is None:
                return None
            numbers = PolicyNumbers(array)
            if _compiled_source(searcher) is not None:
                return numbers  # It may know more the next time.
            self._numbers[id(searcher)] = numbers
        return self._numbers[id(searcher)]

    def _array_policy(
        self, player: int, compiled: Callable[[], GameTree | None]
    ) -> ArrayPolicy | None:
        policy = self.searcher(player)
        source = _compiled_source(policy)
        if source is not None:
            return source.policy
        if isinstance(policy, ArrayPolicy) and isinstance(policy.tree, GameTree):
            return policy
        if isinstance(policy, SearchPolicy):
            return None
        tree = compiled()
        return None if tree is None else ArrayPolicy.from_policy(tree, policy)


def look(
    watched: Watched,
    state: pyspiel.State,
    *,
    may_tell_private: bool = False,
    own: int | None = None,
) -> Insight:
    """What a policy thinks in the public state of a state.

    Args:
      watched: the policy.
      state: a state of the turn-based game in which a player acts.
      may_tell_private: whether to tell what depends on what only the acting player knows.
      own: the player whose infoset is to be among those that are shown; None: nobody's.

    Raises:
      ValueError: if no player acts in the state, or the policy has no answer there.
    """
    player = asking.acting_player(state)
    searcher = watched.searcher(player)
    is_private = _is_private(searcher)
    if is_private and not may_tell_private:
        return Insight(player, PRIVATE, True, 0, None)
    found = watched.found_at(state, player)
    if found is not None:
        numbers: PublicStateNumbers = FoundNumbers(*found)
        return _insight(numbers, found[1], player, SEARCHED, is_private=is_private)
    is_search = _compiled_source(searcher) is not None
    whole = watched.numbers(player, lambda: compiled(str(state.get_game())))
    if whole is not None:
        assert isinstance(whole.tree, GameTree)
        history = int(whole.tree.first_history[player][whole.tree.find_infoset(state, player)])
        number = int(whole.tree.public_states.of_history[history])
        shown = history if own == player else None
        return _insight(whole, number, player, NOT_SEARCHED if is_search else WHOLE_GAME, shown)
    return _reconstructed(searcher, state, player)


def _insight(
    numbers: PublicStateNumbers,
    number: int,
    player: int,
    how: str,
    own_history: int | None = None,
    *,
    is_private: bool = False,
) -> Insight:
    shown = shown_histories(numbers, number, own_history)
    total = len(numbers.tree.public_states.histories(number))
    left_out = 0 if shown is None else total - len(shown)
    text = public_text(numbers.tree, number, shown)
    view = numbers.public_state(number, text, name="", depth=0, is_leaf=False, shown=shown)
    return Insight(player, how, is_private, left_out, view)


def shown_histories(
    numbers: PublicStateNumbers, number: int, own_history: int | None = None
) -> np.ndarray | None:
    """The likeliest histories of a public state that is too large to be shown; None: it is not.

    Args:
      numbers: say what is likely.
      number: the public state.
      own_history: one that is shown in any case; None: none is.
    """
    tree = numbers.tree
    histories = tree.public_states.histories(number)
    if len(histories) <= _SHOW_ALL_OF:
        return None
    order = np.argsort(-numbers.total_reach(histories), kind="stable")
    shown = histories[order[:_MAX_SHOWN]]
    return np.unique(shown if own_history is None else np.append(shown, own_history))


def _reconstructed(searcher: openspiel_policy.Policy, state: pyspiel.State, player: int) -> Insight:
    """The blueprint of who did not search, or a network, in a large game with `Rules`."""
    if not hasattr(state.get_game(), "rules"):
        return Insight(player, TOO_LARGE, False, 0, None)
    from spiel_dl.play import reconstructed_view  # It imports torch.

    act = reconstructed_view.acting_policy_within(searcher)
    if act is None:
        return Insight(player, SILENT, False, 0, None)
    found = reconstructed_view.reconstruct(state, act)
    if found is None:
        return Insight(player, TOO_MANY, False, 0, None)
    number = int(found.trunk.tree.public_states.of_history[1])
    return _insight(FoundNumbers(found, number), number, player, RECONSTRUCTED)


class FoundNumbers(PublicStateNumbers):
    """What a search found in a public state; both players' ranges there are scaled to sum 1."""

    def __init__(self, found: Solution, number: int):
        """Looks at a public state of a search's tree."""
        super().__init__(found.trunk.tree)
        self._found = found
        self._scale = [1.0, 1.0]
        histories = self.tree.public_states.histories(number)
        for player in (0, 1):
            infosets = self.tree.public_states.augmented_infoset[player, histories]
            first = np.unique(infosets, return_index=True)[1]
            mass = self.reach(player, histories[first]).sum()
            self._scale[player] = 1.0 / mass if mass > 0 else 1.0

    def reach(self, player: int, histories: np.ndarray) -> np.ndarray:
        """See `PublicStateNumbers`."""
        sequences = self._found.trunk.sequences_at(player, histories)
        found: np.ndarray = self._found.plans[player][sequences] * self._scale[player]
        return found

    def cfvs(
        self, player: int, histories: np.ndarray, others_reach: np.ndarray, infoset: np.ndarray
    ) -> np.ndarray:
        """See `PublicStateNumbers`. Who waits is valued where the search started alone."""
        del others_reach
        found = np.full(int(infoset.max()) + 1, np.nan)
        trunk = self._found.trunk
        if self._found.leaf_cfvs is None:
            return found
        for number, row in enumerate(np.unique(infoset, return_index=True)[1]):
            history = int(histories[row])
            if self.tree.player[history] == player:
                strategy, cfvs = self.decisions(player, int(self.tree.infoset[history]))
                found[number] = strategy @ cfvs
            elif trunk.extent.starts_at(history):
                root = int(trunk.extent.roots_at(player, histories[row : row + 1])[0])
                found[number] = self._found.cfvs[player][root] * self._scale[1 - player]
        return found

    def decisions(self, player: int, infoset: int) -> tuple[np.ndarray, np.ndarray]:
        """See `PublicStateNumbers`."""
        trunk = self._found.trunk
        own = trunk.sequence_form.treeplexes[player].sequences(
            int(np.searchsorted(trunk.infosets[player], infoset))
        )
        strategy = self._found.strategies[player][own]
        if self._found.leaf_cfvs is None:
            return strategy, np.full(len(strategy), np.nan)
        return strategy, self._found.cfvs[player][own] * self._scale[1 - player]


def _is_private(searcher: openspiel_policy.Policy) -> bool:
    """Whether a search starts from more than the public state: all do that draw histories."""
    return isinstance(searcher, SearchPolicy) and searcher.source.is_private


def _compiled_source(searcher: openspiel_policy.Policy) -> CompiledSource | None:
    """From what a policy searches that searches in a compiled game; None: it does not."""
    source = searcher.source if isinstance(searcher, SearchPolicy) else None
    return source if isinstance(source, CompiledSource) else None


def _place(searcher: openspiel_policy.Policy, state: pyspiel.State, player: int) -> _Place | None:
    """Where a state is for who searches; None: nobody does.

    In a compiled game, its public state; else the keys of the searches on the way to it. These may
    be those of infosets: then searches in other infosets of a public state are others.
    """
    if not isinstance(searcher, SearchPolicy) or player not in searcher.source.players:
        return None
    source = _compiled_source(searcher)
    if source is None:
        played: Any = searcher.source
        path = played.path(state, player)
        return frozenset(played.seed_of(path, position) for position in path.decisions)
    return int(
        source.tree.public_states.of_history[_history_in(source.tree, searcher, state, player)]
    )


def _public_key(searcher: Any, state: pyspiel.State) -> int:
    return int(searcher.source.keys.of_level(state.batch)[1][0])


def _history_in(
    tree: CompiledTree, searcher: openspiel_policy.Policy, state: pyspiel.State, player: int
) -> int | None:
    """A history of a state's public state in the tree of a search; None: there is none."""
    if isinstance(tree, GameTree):
        return int(tree.first_history[player][tree.find_infoset(state, player)])
    assert tree.public_key is not None
    here = np.flatnonzero((tree.public_key == _public_key(searcher, state)) & (tree.player >= 0))
    return int(here[0]) if len(here) else None


@functools.lru_cache(maxsize=4)
def compiled(game: str) -> GameTree | None:
    """The compiled game; None if it has too many histories to be looked at as a whole."""
    return compile_if_small(game, MAX_COMPILED)
