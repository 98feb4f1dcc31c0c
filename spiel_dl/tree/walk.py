"""A depth-first walk over the states of an OpenSpiel game, in C++ or Python."""

from __future__ import annotations

import array
import math
from collections.abc import Sequence

import numpy as np
import pyspiel

from spiel_dl.tree.histories import (
    CHANCE_PLAYER,
    CHANCE_TOLERANCE,
    TERMINAL_PLAYER,
    Histories,
    InvalidGameError,
    check_mover,
    refuse_state,
)
from spiel_dl.tree.information_states import information_string_function
from spiel_dl.tree.size_limit import SizeLimit

_ZERO_SUM_TOLERANCE = 1e-9
_MAX_ACTIONS = np.iinfo(np.int32).max + 1
# The exceptions of games without information states of players who are not to move, in C++ and in
# Python. Any other exception is an error of the game.
_REFUSALS = (pyspiel.SpielError, ValueError, NotImplementedError)
# The number of histories between checks of the size limit.
_CHECK_INTERVAL = 128


def zero_sum_utility(game: pyspiel.Game, state: pyspiel.State) -> float:
    """Player 0's utility in a terminal state of a two-player game.

    Raises:
      ValueError: if the state does not give two finite utilities that sum to 0, or if they are
        larger than the game says; critics rely on that.
    """
    utilities: list[float] = list(state.returns())
    if len(utilities) != 2 or not all(map(math.isfinite, utilities)):
        refuse_state(game, state.history(), f"returns {utilities}, which must be 2 finite numbers")
    # Large numbers are rounded more; in a game of small utilities, all are small.
    largest = max(abs(game.min_utility()), abs(game.max_utility()))
    size = max(min(1.0, largest), *map(abs, utilities))
    if abs(utilities[0] + utilities[1]) > _ZERO_SUM_TOLERANCE * size:
        raise InvalidGameError(
            f"{game}: not zero-sum. The returns of history {state.history()} are {utilities}. "
            "Only zero-sum games work here; where the sum is always the same, take half of it from "
            "each player's."
        )
    if abs(utilities[0]) > largest + _ZERO_SUM_TOLERANCE * size:
        bounds = f"min_utility={game.min_utility()} and max_utility={game.max_utility()}"
        refuse_state(game, state.history(), f"returns {utilities}, beyond {bounds} of the game")
    return utilities[0]


# A history to visit: its parent's state, which the last child may reuse; the parent's number, the
# depth, the action, chance's reach, whether it is the last child. A NamedTuple would be slower.
_Visit = tuple[pyspiel.State, int, int, int, float, bool]


class Walk:
    """A depth-first walk, which stores only the states on the path to the current history.

    It visits the histories of one depth in the order of a breadth-first walk.
    """

    def __init__(self, game: pyspiel.Game):
        self._game = game
        self._num_actions = min(game.num_distinct_actions(), _MAX_ACTIONS)
        self._parent = array.array("i")
        self._depth = array.array("i")
        self._action = array.array("i")
        self._player = array.array("b")
        self._chance_reach = array.array("d")
        self._utility = array.array("d")
        self._keys = (array.array("q"), array.array("q"))
        self._idle_keys_valid = True
        # Whether all idle players so far had the mover's label, see `_is_mover_label`.
        self._only_mover_labels = True
        self._information_string = information_string_function(game)
        self._stack: list[_Visit] = [(game.new_initial_state(), -1, 0, -1, 1.0, False)]

    def run(self, limit: SizeLimit, max_visits: float = math.inf) -> bool:
        """Visits histories, at most `max_visits` in total; returns whether all are visited."""
        stack = self._stack
        while stack and len(self._parent) < max_visits:
            state, parent, depth, action, reach, is_last = stack.pop()
            index = len(self._parent)
            if index >= limit.max_histories:
                limit.refuse(index, depth)
            if index % _CHECK_INTERVAL == 0:
                limit.check(index, depth)
            # Recorded before the game is called, so that its errors name this history.
            self._parent.append(parent)
            self._depth.append(depth)
            self._action.append(action)
            self._chance_reach.append(reach)
            if is_last:
                state.apply_action(action)
            elif parent >= 0:
                state = state.child(action)
            player = state.current_player()
            self._player.append(player)
            if player == TERMINAL_PLAYER:
                self._utility.append(zero_sum_utility(self._game, state))
                self._keys[0].append(0)
                self._keys[1].append(0)
                continue
            self._utility.append(0.0)
            # The last child goes first on the stack, so that the first is visited next.
            is_last, depth = True, depth + 1
            if player == CHANCE_PLAYER:
                self._keys[0].append(self._idle_key(state, 0))
                self._keys[1].append(self._idle_key(state, 1))
                for outcome, probability in reversed(self._chance_outcomes(state)):
                    stack.append((state, index, depth, outcome, reach * probability, is_last))
                    is_last = False
            else:
                for choice in reversed(self._decision(state, player)):
                    stack.append((state, index, depth, choice, reach, is_last))
                    is_last = False
        return not stack

    def actions(self) -> list[int]:
        """The actions to the history that was visited last."""
        actions, history = [], len(self._parent) - 1
        while history > 0:
            actions.append(self._action[history])
            history = self._parent[history]
        return actions[::-1]

    def histories(self) -> Histories:
        """The visited histories, breadth first."""
        depth = np.frombuffer(self._depth, np.int32)
        order = np.argsort(depth, kind="stable")
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        parent = np.frombuffer(self._parent, np.int32)[order]
        parent[1:] = position[parent[1:]]
        return Histories(
            game=self._game,
            parent=parent,
            depth=depth[order],
            action=np.frombuffer(self._action, np.int32)[order],
            player=np.frombuffer(self._player, np.int8)[order],
            chance_reach=np.frombuffer(self._chance_reach, np.float64)[order],
            utility=np.frombuffer(self._utility, np.float64)[order],
            infoset_key=np.stack([np.frombuffer(keys, np.int64)[order] for keys in self._keys]),
            idle_keys_valid=self._idle_keys_valid and not self._only_mover_labels,
            public_key=None,
            rounds_over=None,
        )

    def _decision(self, state: pyspiel.State, player: int) -> list[int]:
        """Records the keys of a history where a player acts; returns the legal actions.

        Raises:
          ValueError: if no player acts, or if the actions are invalid.
        """
        if player not in (0, 1):
            check_mover(self._game, player, self.actions())
        actions: list[int] = state.legal_actions()
        string = self._information_string(state, player)
        self._keys[player].append(hash(string))
        self._keys[1 - player].append(self._idle_key(state, 1 - player, string))
        if not actions:
            refuse_state(self._game, self.actions(), f"has no legal actions for player {player}")
        self._check_actions("legal actions", actions, self._num_actions)
        return actions

    def _chance_outcomes(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """Chance's outcomes and their probabilities.

        Raises:
          ValueError: if they are no distribution.
        """
        outcomes: list[tuple[int, float]] = state.chance_outcomes()
        probabilities = [probability for _, probability in outcomes]
        # Written so that NaN is refused as well.
        is_distribution = all(probability >= 0.0 for probability in probabilities) and (
            abs(sum(probabilities) - 1.0) <= CHANCE_TOLERANCE
        )
        if not is_distribution:
            refuse_state(
                self._game,
                self.actions(),
                f"has the chance outcomes {outcomes}, whose probabilities must be at least 0 and "
                "sum to 1",
            )
        self._check_actions("chance outcomes", [outcome for outcome, _ in outcomes], _MAX_ACTIONS)
        return outcomes

    def _check_actions(self, name: str, actions: Sequence[int], number: int) -> None:
        if len(set(actions)) != len(actions):
            refuse_state(self._game, self.actions(), f"has the {name} {actions}; none may be twice")
        if not 0 <= min(actions) <= max(actions) < number:
            refuse_state(
                self._game,
                self.actions(),
                f"has the {name} {actions}; they must be from 0 to {number - 1}",
            )

    def _idle_key(self, state: pyspiel.State, observer: int, label: str | None = None) -> int:
        """The key of a player who does not act; 0 once such keys have been found invalid.

        Args:
          state: a state where it does not act.
          observer: the player.
          label: the information string of the player who acts; None where chance acts.
        """
        if not self._idle_keys_valid:
            return 0
        try:
            string = self._information_string(state, observer)
        except _REFUSALS:
            self._idle_keys_valid = False
            return 0
        if self._only_mover_labels and label is not None:
            self._only_mover_labels = _is_mover_label(string, label, observer)
        return hash(string)


def _is_mover_label(idle_string: str, label: str, observer: int) -> bool:
    """Whether an idle player's string is the mover's, except for the observer's number.

    `efg_game` does that, also within other games: it labels the mover's infoset for both players.
    If all strings of a game are like this, they do not identify an idle player's infosets.
    """
    if len(idle_string) != len(label):
        return False
    differences = [pair for pair in zip(idle_string, label, strict=True) if pair[0] != pair[1]]
    return differences == [(str(observer), str(1 - observer))]
