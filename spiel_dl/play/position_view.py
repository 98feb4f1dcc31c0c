"""A policy's ranges, cfvs and strategies in the public state of a game's current state.

    watched = Watched(lambda: load_policy("resolving:exact", "leduc_poker"))
    insight = look(watched, state)

For a policy that searches, the numbers are its search's solution: its own range, the range that it
assumed for the opponent, and both players' action values. For other policies, they are of both
players following the policy to the end of the game, if the game is small enough; in larger games
with `Rules` the public state is reconstructed, with ranges and strategies but no values.

The numbers depend on the public state alone, unless `Insight.is_private` is true.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable

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
from spiel_dl.tree.pieces import ROOT
from spiel_dl.tree.public_texts import public_text

MAX_COMPILED = 200_000
"""Maximum number of histories of games that are compiled for a view."""
_MAX_SHOWN = 60
_MAX_SHOWN_COMPLETELY = 150
_MAX_HISTORIES_KEPT = 2_000_000
_HISTORIES_PER_SOLUTION = 1000
"""What a small solution takes as well: as much memory as so many histories."""

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


@dataclasses.dataclass(frozen=True)
class Insight:
    """A policy's numbers in a public state.

    Attributes:
      player: the acting player.
      how: origin of the numbers, or the reason why there are none: a whole sentence.
      is_private: whether they depend on what only this player knows.
      num_left_out: number of histories of the public state that are not shown.
      state: the public state; ranges of a search are scaled to sum 1. None: there are no numbers,
        or they must not be shown as they are private.
    """

    player: int
    how: str
    is_private: bool
    num_left_out: int
    state: PublicStateView | None


class Watched:
    """A policy, and the recorded solutions of its searches."""

    def __init__(self, make: Callable[[], openspiel_policy.Policy]):
        """Makes the policy.

        Args:
          make: makes the policy; called again when its searches have taken too much memory.
        """
        self._make = make
        self._restart()

    def _restart(self) -> None:
        self._policy = self._make()
        # By player and `Root.key`.
        self._solutions: dict[tuple[int, Hashable], Solution] = {}
        self._numbers: dict[int, PolicyNumbers] = {}  # By the searcher's id().
        for seat in (0, 1):
            searcher = self.searcher(seat)
            if isinstance(searcher, SearchPolicy):
                searcher.watch = self._remember

    def _remember(self, solution: Solution) -> None:
        # A turn or a river of hold'em has no tree of histories.
        if isinstance(getattr(solution.trunk, "tree", None), CompiledTree):
            self._solutions[solution.player, solution.root.key] = solution

    @property
    def policy(self) -> openspiel_policy.Policy:
        """The policy; made anew, with no solutions, once these take too much memory."""
        extents = [solution.trunk.extent for solution in self._solutions.values()]
        num_histories = sum(len(each.histories) + len(each.leaves) for each in extents)
        if num_histories + len(extents) * _HISTORIES_PER_SOLUTION > _MAX_HISTORIES_KEPT:
            self._restart()
        return self._policy

    def searcher(self, player: int) -> openspiel_policy.Policy:
        """The policy that plays a seat, without wrappers."""
        policy = self._policy
        while isinstance(policy, (RememberingPolicy, SeatsPolicy)):
            policy = policy.seats[player] if isinstance(policy, SeatsPolicy) else policy.policy
        return policy

    def solution_at(self, state: pyspiel.State, player: int) -> tuple[Solution, int] | None:
        """The solution of the search that decides in a state, and a history of its tree.

        The history is in the state's public state, and in the player's infoset if the tree has it.
        Runs the searches on the path to the state. None if there is none that decides in it.
        """
        policy, searcher = self.policy, self.searcher(player)
        if not isinstance(searcher, SearchPolicy) or player not in searcher.source.players:
            return None
        asking.action_probabilities(policy, state, player)
        path = searcher.source.path(state, player, searcher.spec)
        # Without a model, both players go on from one solution of the game's root.
        is_shared = _compiled_source(searcher) is not None and searcher.spec.shares_root
        for position in reversed(path.decisions):
            key = searcher.source.root_key(path, position)
            solution = self._solutions.get((player, key))
            if solution is None and is_shared and key == ROOT:
                solution = self._solutions.get((1 - player, key))
            if solution is not None:
                history = _history_in(solution.trunk.tree, state, player)
                if history is None or not solution.trunk.extent.holds(history):
                    return None
                return solution, history
        return None

    def numbers(self, player: int, compiled: Callable[[], GameTree | None]) -> PolicyNumbers | None:
        """The policy of a seat in the whole game; None if the game is too large.

        Args:
          player: the seat.
          compiled: returns the compiled game; called only if the policy does not have it.
        """
        searcher = self.searcher(player)
        if id(searcher) not in self._numbers:
            array = self._array_policy(player, compiled)
            if array is None:
                return None
            numbers = PolicyNumbers(array)
            if _compiled_source(searcher) is not None:
                return numbers  # Not kept: further searches change the policy.
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
    """A policy's numbers in the public state of a state.

    Args:
      watched: the policy.
      state: a state of the turn-based game in which a player acts.
      may_tell_private: whether to show numbers that depend on what only the acting player knows.
      own: a player; if it acts in the state, its infoset there is always shown. None: neither.

    Raises:
      ValueError: if no player acts in the state, or the policy is undefined there.
    """
    player = asking.acting_player(state)
    searcher = watched.searcher(player)
    is_private = _is_private(searcher)
    if is_private and not may_tell_private:
        return Insight(player, PRIVATE, True, 0, None)
    found = watched.solution_at(state, player)
    if found is not None:
        solution, history = found
        number = int(solution.trunk.tree.public_states.of_history[history])
        numbers: PublicStateNumbers = SolutionNumbers(solution, number)
        own_history = history if own == player else None
        return _insight(numbers, number, player, SEARCHED, own_history, is_private=is_private)
    is_search = _compiled_source(searcher) is not None
    whole = watched.numbers(player, lambda: compiled(str(state.get_game())))
    if whole is not None:
        assert isinstance(whole.tree, GameTree)
        history = int(whole.tree.first_history[player][whole.tree.find_infoset(state, player)])
        number = int(whole.tree.public_states.of_history[history])
        own_history = history if own == player else None
        how = NOT_SEARCHED if is_search else WHOLE_GAME
        return _insight(whole, number, player, how, own_history)
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
    """The most probable histories of a public state that is too large to show; None: show all.

    Args:
      numbers: of the reach probabilities.
      number: the public state.
      own_history: a history that is always included; None: none.
    """
    tree = numbers.tree
    histories = tree.public_states.histories(number)
    if len(histories) <= _MAX_SHOWN_COMPLETELY:
        return None
    order = np.argsort(-numbers.total_reach(histories), kind="stable")
    shown = histories[order[:_MAX_SHOWN]]
    return np.unique(shown if own_history is None else np.append(shown, own_history))


def _reconstructed(searcher: openspiel_policy.Policy, state: pyspiel.State, player: int) -> Insight:
    """The numbers of a search's blueprint or of a network, in a large game with `Rules`."""
    if not hasattr(state.get_game(), "rules"):
        return Insight(player, TOO_LARGE, False, 0, None)
    from spiel_dl.play import reconstructed_view  # It imports torch.

    act = reconstructed_view.acting_policy_within(searcher)
    if act is None:
        return Insight(player, SILENT, False, 0, None)
    solution = reconstructed_view.reconstruct(state, act)
    if solution is None:
        return Insight(player, TOO_MANY, False, 0, None)
    number = int(solution.trunk.tree.public_states.of_history[1])
    return _insight(SolutionNumbers(solution, number), number, player, RECONSTRUCTED)


class SolutionNumbers(PublicStateNumbers):
    """A search's solution in a public state; both players' ranges are scaled to sum 1."""

    def __init__(self, solution: Solution, number: int):
        """Takes the number of a public state in the solution's tree."""
        super().__init__(solution.trunk.tree)
        self._solution = solution
        self._scale = [1.0, 1.0]
        histories = self.tree.public_states.histories(number)
        for player in (0, 1):
            infosets = self.tree.public_states.augmented_infoset[player, histories]
            first = np.unique(infosets, return_index=True)[1]
            mass = self.reach(player, histories[first]).sum()
            self._scale[player] = 1.0 / mass if mass > 0 else 1.0

    def reach(self, player: int, histories: np.ndarray) -> np.ndarray:
        """See `PublicStateNumbers`."""
        sequences = self._solution.trunk.sequences_at(player, histories)
        reach: np.ndarray = self._solution.plans[player][sequences] * self._scale[player]
        return reach

    def cfvs(
        self, player: int, histories: np.ndarray, others_reach: np.ndarray, infoset: np.ndarray
    ) -> np.ndarray:
        """See `PublicStateNumbers`. The player who does not act has cfvs at the root only."""
        del others_reach
        cfvs = np.full(int(infoset.max()) + 1, np.nan)
        trunk = self._solution.trunk
        if self._solution.leaf_cfvs is None:
            return cfvs
        for number, row in enumerate(np.unique(infoset, return_index=True)[1]):
            history = int(histories[row])
            if self.tree.player[history] == player:
                strategy, action_cfvs = self.decisions(player, int(self.tree.infoset[history]))
                cfvs[number] = strategy @ action_cfvs
            elif trunk.extent.starts_at(history):
                root = int(trunk.extent.roots_at(player, histories[row : row + 1])[0])
                cfvs[number] = self._solution.cfvs[player][root] * self._scale[1 - player]
        return cfvs

    def decisions(self, player: int, infoset: int) -> tuple[np.ndarray, np.ndarray]:
        """See `PublicStateNumbers`."""
        trunk = self._solution.trunk
        sequences = trunk.sequence_form.treeplexes[player].sequences(
            int(np.searchsorted(trunk.infosets[player], infoset))
        )
        strategy = self._solution.strategies[player][sequences]
        if self._solution.leaf_cfvs is None:
            return strategy, np.full(len(strategy), np.nan)
        return strategy, self._solution.cfvs[player][sequences] * self._scale[1 - player]


def _is_private(searcher: openspiel_policy.Policy) -> bool:
    """Whether a search's root depends on more than the public state, as with drawn histories."""
    return isinstance(searcher, SearchPolicy) and searcher.source.is_private


def _compiled_source(searcher: openspiel_policy.Policy) -> CompiledSource | None:
    """The source of a policy that searches in a compiled game; None of other policies."""
    source = searcher.source if isinstance(searcher, SearchPolicy) else None
    return source if isinstance(source, CompiledSource) else None


def _history_in(tree: CompiledTree, state: pyspiel.State, player: int) -> int | None:
    """A history of a state's public state in the tree of a search; None: there is none.

    It is one of the player's infoset, if the tree has that.
    """
    if isinstance(tree, GameTree):
        return int(tree.first_history[player][tree.find_infoset(state, player)])
    assert tree.public_key is not None
    from spiel_dl.tree.from_rules import InfosetKeys  # It imports torch.

    infoset_keys, [public_key] = InfosetKeys(state.get_game().rules).of_level(state.batch)
    histories = np.flatnonzero((tree.public_key == public_key) & (tree.player >= 0))
    if not len(histories):
        return None
    is_own = tree.infoset_key[player, histories] == infoset_keys[player]
    return int(histories[np.argmax(is_own)])


@functools.lru_cache(maxsize=4)
def compiled(game: str) -> GameTree | None:
    """The compiled game; None if it has more than `MAX_COMPILED` histories."""
    return compile_if_small(game, MAX_COMPILED)
