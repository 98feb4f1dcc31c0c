"""What the comparison asks of an algorithm, and of the two twins of a game.

*Environment steps* are the moves of players that an algorithm made to learn: a history reached by a
player's action counts each time it is reached, in a game that is played or in a traversal of the
tree. Chance events are not counted, nor are moves made when a policy is asked for: searches, and
what judges it.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.tree.depth_limit import DepthLimit, default_depth_limit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import compile_game

_GOOFSPIEL_4 = "num_cards=4,points_order=descending,returns_type=win_loss"
# From a name to game strings: with `Rules`, as ours know it, and in C++, as OpenSpiel's do.
_TWINS = {
    "leduc_poker": ("python_leduc", "leduc_poker"),
    "goofspiel_4": (
        f"python_goofspiel_ii({_GOOFSPIEL_4})",
        f"goofspiel(imp_info=True,players=2,{_GOOFSPIEL_4})",
    ),
}


class ComparedGame(NamedTuple):
    """A game, twice: infosets, legal actions, chance and returns are the same.

    Attributes:
      name: short, for people and files.
      ours: the compiled game that our algorithms play.
      theirs: the compiled game that OpenSpiel's play, made turn-based.
      depth_limit: of our depth-limited algorithms.
    """

    name: str
    ours: GameTree
    theirs: GameTree
    depth_limit: DepthLimit


class Algorithm(abc.ABC):
    """An algorithm that learns to play a game, in the smallest steps of work that it has.

    Attributes:
      environment_steps: so far; None if they cannot be counted.
    """

    environment_steps: int | None = 0

    def advance(self, seconds: float) -> None:
        """Learns for so many seconds of the processor: whole steps, at least one."""
        start = time.process_time()
        self.step()
        while time.process_time() - start < seconds:
            self.step()

    @abc.abstractmethod
    def step(self) -> None:
        """The smallest piece of work."""

    @abc.abstractmethod
    def policy(self) -> openspiel_policy.Policy | pyspiel.Policy:
        """Both players' policy that was learned so far; good until the next step.

        It takes all the work that the algorithm needs to have a policy: a search everywhere, or the
        training of an average.
        """


class AskedPolicy(openspiel_policy.Policy):
    """A policy from a function of states.

    Networks answer in float32, and OpenSpiel's Deep CFR leaves some probability to illegal actions,
    so answers are divided by their sum over the legal ones.
    """

    def __init__(self, game: pyspiel.Game, answer: Callable[[pyspiel.State], Any]):
        """Wraps a function.

        Args:
          game: the turn-based game.
          answer: from a state to probabilities by action: a mapping, or an array over all actions.
        """
        super().__init__(game, [0, 1])
        self._answer = answer

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """The function's answer, over legal actions; `player_id` must be who moves, or None."""
        legal = state.legal_actions()
        answer = self._answer(state)
        row = np.array([answer[action] for action in legal], np.float64)
        return dict(zip(legal, (row / row.sum()).tolist(), strict=True))


def compared_game(name: str) -> ComparedGame:
    """A game by name ("leduc_poker", "goofspiel_4") or by any game string.

    The depth limit is half of the game, rounded up: below it, DL-CFR solves to the end, so that one
    network, trained for one depth, is all it needs.

    Raises:
      ValueError: if the game cannot be compiled.
    """
    ours_string, theirs_string = _TWINS.get(name, (name, name))
    ours = compile_game(ours_string)
    theirs = ours if ours_string == theirs_string else compile_game(theirs_string)
    unit = default_depth_limit(ours.game)
    half = (int(unit.depths(ours).max()) + 1) // 2
    return ComparedGame(name, ours, theirs, unit.with_value(half))


def num_moves(tree: GameTree, below: np.ndarray | None = None) -> int:
    """Histories that a player's action leads to: environment steps of one traversal.

    Args:
      tree: the compiled game.
      below: bool [H], count only what follows these histories; None: all.
    """
    parent = tree.parent[1:]
    is_move = tree.player[parent] >= 0
    return int((is_move if below is None else is_move & below[parent]).sum())
