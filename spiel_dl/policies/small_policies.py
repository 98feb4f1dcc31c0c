"""Small policies: uniform, highest action, one policy per seat, and a cache of a slow policy."""

from __future__ import annotations

import functools

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies import asking
from spiel_dl.tree.information_states import InformationString, turn_based_string_function

_MAX_KEPT = 100_000
"""A `RememberingPolicy` with so many infosets is cleared."""


class UniformPolicy(openspiel_policy.Policy):
    """Plays all legal actions with the same probability.

    Where both players move and none is named, OpenSpiel's `UniformRandomPolicy` plays joint
    actions, and this one raises an error.
    """

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """The same probability for every legal action.

        Raises:
          ValueError: if the player does not act in this state, or both do and none is named.
        """
        actions = state.legal_actions(asking.acting_player(state, player_id))
        return dict.fromkeys(actions, 1.0 / len(actions))


class HighestActionPolicy(openspiel_policy.Policy):
    """Always plays the legal action with the highest id: in Goofspiel, the highest card."""

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """1 for the highest legal action, 0 for the others.

        Raises:
          ValueError: if the player does not act in this state, or both do and none is named.
        """
        player = asking.acting_player(state, player_id)
        actions = state.legal_actions(player)
        return {action: float(action == max(actions)) for action in actions}


class SeatsPolicy(openspiel_policy.Policy):
    """Plays each seat by a policy of its own.

    Attributes:
      game: the turn-based game of both policies; None if neither has one.
      seats: the policies of player 0 and player 1.
    """

    def __init__(self, seats: tuple[asking.AnyPolicy, asking.AnyPolicy]):
        """Takes two policies of one game, of its turn-based form or of the original.

        Raises:
          ValueError: if they are of different games.
        """
        super().__init__(asking.common_game(seats), [0, 1])
        self.seats = seats

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """The probabilities of the player's policy; errors are its own or of `acting_player`."""
        player = asking.acting_player(state, player_id)
        return dict(asking.action_probabilities(self.seats[player], state, player))


class RememberingPolicy(openspiel_policy.Policy):
    """Another policy, evaluated only once in every infoset.

    For slow policies that are the same in all histories of an infoset.

    Attributes:
      policy: the wrapped policy.
      answer_was_searched: whether a search computed the last probabilities; None: the policy does
        not tell.
    """

    def __init__(self, policy: openspiel_policy.Policy):
        """Wraps a policy.

        Raises:
          ValueError: if the policy does not say its game, by which infosets are told apart.
        """
        if policy.game is None:
            raise ValueError(f"{type(policy).__name__} has no game; give it the one that it plays")
        super().__init__(policy.game, policy.player_ids)
        self.policy = policy
        self.answer_was_searched: bool | None = None
        self._answers: dict[tuple[int, str], tuple[dict[int, float], bool | None]] = {}

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """The wrapped policy's probabilities; errors are its own or of `acting_player`.

        Raises:
          ValueError: if the state is of another game than the wrapped policy's.
        """
        # Infoset strings of different games may be equal.
        asking.check_either_game_of(state, self.game)
        player = asking.acting_player(state, player_id)
        key = (player, self._information_string(state, player))
        if key not in self._answers:
            if len(self._answers) >= _MAX_KEPT:
                self._answers.clear()
            answer = self.policy.action_probabilities(state, player)
            self._answers[key] = answer, getattr(self.policy, "answer_was_searched", None)
        answer, self.answer_was_searched = self._answers[key]
        return dict(answer)

    @functools.cached_property
    def _information_string(self) -> InformationString:
        return turn_based_string_function(self.game)

    def __getstate__(self) -> dict[str, object]:
        """Pickles all but the function of infoset strings, which is made again when needed."""
        return {name: v for name, v in self.__dict__.items() if name != "_information_string"}
