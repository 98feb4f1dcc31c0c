"""`PlayedPolicy`: the continual engine along a game that is played and was not compiled.

Where a search starts anew, and what it is given, is settled by what the searching player has seen
on the way to the state at hand: its own infosets and the public observations (`PlayedPath`). What
is solved there is said by a `PlayedStep`, as a `Step` says it on compiled games.
"""

from __future__ import annotations

import abc
import collections
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.policies import asking
from spiel_dl.search.found import Watch
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.from_openspiel import check_game_of
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.particles import rules_of
from spiel_dl.tree.sparse_tree import depth_of_steps

SolutionT = TypeVar("SolutionT")
MAX_BYTES = 2**28
"""How much memory the solutions that are kept may take together."""


class PlayedPath(NamedTuple):
    """What a player has seen at the T histories from the root to a state.

    Attributes:
      player: the player.
      states: the rules' states, batch dimension T. Only public tensors and the player's private
        ones may be read.
      acting: int8 [T], who acts.
      depth: int64 [T], in the depth limit's unit.
      infoset_keys: int64 [T], the player's.
      public_keys: int64 [T].
    """

    player: int
    states: StateBatch
    acting: np.ndarray
    depth: np.ndarray
    infoset_keys: np.ndarray
    public_keys: np.ndarray

    @property
    def decisions(self) -> list[int]:
        """The positions on the path in which either player acts; `acting` says who."""
        return np.flatnonzero(self.acting >= 0).tolist()


class PlayedAnswer(NamedTuple):
    """What a player does in a state.

    Attributes:
      probabilities: of all legal actions.
      was_searched: whether a search found them; if not, they are a blueprint's.
    """

    probabilities: dict[int, float]
    was_searched: bool = True


class PlayedStep(abc.ABC, Generic[SolutionT]):
    """What a search solves at a position of the path where it starts anew.

    Attributes:
      game: the turn-based game.
      rules: its rules.
      keys: tells its infosets and public states apart.
      depth_limit: how deep each search looks.
      watch: is told of every search; None: nobody asks.
    """

    watch: Watch | None = None
    game: pyspiel.Game
    rules: Rules
    keys: InfosetKeys
    depth_limit: DepthLimit

    def __init__(self, game: AnyGame, depth_limit: DepthLimit):
        """Loads the game.

        Raises:
          ValueError: if the game has no rules, or the limit is no `DepthLimit`.
        """
        check_depth_limit(depth_limit)
        self.game = turn_based_game(game)
        self.rules = rules_of(self.game)
        self.keys = InfosetKeys(self.rules)
        self.depth_limit = depth_limit

    def name(self, path: PlayedPath, position: int) -> int:
        """What the solution of what begins at a position depends on, as a key."""
        # What the player has seen settles where searches started on the way.
        return int(path.infoset_keys[position])

    @abc.abstractmethod
    def first(self, path: PlayedPath) -> int:
        """The position of a path at which the search starts, if no position of it is solved.

        From any earlier position that is solved, `following` must lead to the same place in the
        end. To search at the decision at hand alone, return `path.decisions[-1]` here, and in
        `following` the same if it is after `start`, else None, as `MirrorDescentStep` does.
        """

    @abc.abstractmethod
    def following(self, path: PlayedPath, start: int, solution: SolutionT) -> int | None:
        """The next position at which it starts anew after `start`; None if there is none."""

    @abc.abstractmethod
    def solve(self, path: PlayedPath, start: int, before: SolutionT | None) -> SolutionT:
        """Solves what begins at a position of the path, after the solution before it if any."""

    @abc.abstractmethod
    def answer(self, path: PlayedPath, state: pyspiel.State, solution: SolutionT) -> PlayedAnswer:
        """What the player does at the end of the path, where it has a choice."""

    def num_bytes(self, solution: SolutionT) -> int:
        """How much memory a solution takes that is kept; 0 where that is little."""
        del solution
        return 0


class PlayedPolicy(openspiel_policy.Policy, Generic[SolutionT]):
    """Both players' policies by search along the game, each as if only that player searched.

    The same infoset gets the same answer whatever was asked before. The latest solutions are kept
    for the next questions, as many as `MAX_BYTES` of memory hold. Where there is one legal action,
    nothing is searched.

    Attributes:
      step: what is solved where the search starts anew.
      num_moves: how many questions with more than one answer there were.
      num_moves_searched: how many of them were answered by search, not by a blueprint.
      answer_was_searched: whether the last answer was found by a search.
    """

    def __init__(self, step: PlayedStep[SolutionT], max_kept: int):
        """Solves nothing yet.

        Args:
          step: what is solved where the search starts anew.
          max_kept: how many solutions to keep at most, at least 1.

        Raises:
          ValueError: if none may be kept.
        """
        if max_kept < 1:
            raise ValueError(f"max_kept={max_kept} must be at least 1")
        super().__init__(step.game, [0, 1])
        self.step = step
        self.num_moves = 0
        self.num_moves_searched = 0
        self.answer_was_searched = False
        self._max_kept = max_kept
        self._num_bytes = 0
        self._kept: collections.OrderedDict[tuple[int, int], SolutionT] = collections.OrderedDict()

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; solves what is on the way to the state.

        Args:
          state: a state of the turn-based game in which a player acts.
          player_id: that player; None: the player to move.

        Raises:
          ValueError: if the player does not act in this state, or the state is of another game.
        """
        check_game_of(state, self.game)
        player = asking.acting_player(state, player_id)
        actions = state.legal_actions(player)
        if len(actions) == 1:
            self.answer_was_searched = False
            return {actions[0]: 1.0}
        answer = self._answer(state, player)
        self.num_moves += 1
        self.num_moves_searched += answer.was_searched
        self.answer_was_searched = answer.was_searched
        return answer.probabilities

    def _answer(self, state: pyspiel.State, player: int) -> PlayedAnswer:
        """What the player who acts in a state does, where it has a choice."""
        path, solution = self._solved(state, player)
        return self.step.answer(path, state, solution)

    def solution(self, state: pyspiel.State) -> SolutionT:
        """What the answer at a state is read from, which other infosets may share.

        Args:
          state: a state of the turn-based game in which a player acts.

        Raises:
          ValueError: if no player acts in this state, or the state is of another game.
        """
        check_game_of(state, self.game)
        return self._solved(state, asking.acting_player(state))[1]

    def _solved(self, state: pyspiel.State, player: int) -> tuple[PlayedPath, SolutionT]:
        """What a player has seen on the way to a state, and the solution there."""
        path = self._path(state, player)
        solved = [i for i in path.decisions if self._name(path, i) in self._kept]
        start = solved[-1] if solved else self.step.first(path)
        solution = self._solve(path, start, None)
        while (following := self.step.following(path, start, solution)) is not None:
            start = following
            solution = self._solve(path, start, solution)
        return path, solution

    def _solve(self, path: PlayedPath, start: int, before: SolutionT | None) -> SolutionT:
        """The solution of what begins at a position, kept or new."""
        name = self._name(path, start)
        if name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name]
        solution = self.step.solve(path, start, before)
        self._kept[name] = solution
        self._num_bytes += self.step.num_bytes(solution)
        while len(self._kept) > self._max_kept or (
            self._num_bytes > MAX_BYTES and len(self._kept) > 1
        ):
            _, oldest = self._kept.popitem(last=False)
            self._num_bytes -= self.step.num_bytes(oldest)
        return solution

    def _path(self, state: pyspiel.State, player: int) -> PlayedPath:
        """What a player has seen on the way to a state."""
        rules = self.step.rules
        batches = [rules.initial_state()]
        for action in state.history():
            batches.append(rules.apply(batches[-1], torch.tensor([action])))
        states = type(batches[0]).concatenate(batches)
        acting = rules.current_player(states).numpy()
        steps = depth_of_steps(
            rules,
            self.step.depth_limit,
            type(states).concatenate(batches[:-1] or batches),
            type(states).concatenate(batches[1:] or batches),
        )
        steps[np.maximum.accumulate(acting[: len(steps)]) < 0] = 0  # what chance does at the start
        infoset_keys, public_keys = self.step.keys.of_level(states)
        depth = np.concatenate([[0], np.cumsum(steps)])[: len(batches)]
        return PlayedPath(player, states, acting, depth, infoset_keys[player], public_keys)

    def _name(self, path: PlayedPath, position: int) -> tuple[int, int]:
        """Under what a solution is kept."""
        return path.player, self.step.name(path, position)
