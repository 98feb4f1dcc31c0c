"""Who is asked in a state of a game, and in which game's states a policy answers.

All games are played turn by turn here. A game with simultaneous moves is converted: player 0 moves
first, and player 1 moves without knowing how. Policies may be for either form of such a game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.tree.from_openspiel import check_game_of
from spiel_dl.tree.histories import is_converted
from spiel_dl.tree.information_states import information_string_function

AnyPolicy: TypeAlias = openspiel_policy.Policy | pyspiel.Policy
"""A policy in Python or in C++."""
SUM_TOLERANCE = 1e-6
"""By how much the sum of a policy's probabilities may differ from 1."""


@runtime_checkable
class AnswersAtOnce(Protocol):
    """A policy that answers many states in hardly more time than one, as networks do."""

    def probabilities_of(self, states: Sequence[pyspiel.State]) -> Sequence[Mapping[int, float]]:
        """Action probabilities in states of one game, in each of which a player acts."""


def acting_player(state: pyspiel.State, player_id: int | None = None) -> int:
    """The player whose action probabilities are asked for.

    Args:
      state: a state, of a turn-based game or of one with simultaneous moves.
      player_id: who is meant; None: the player to move.

    Returns:
      0 or 1.

    Raises:
      ValueError: if this player does not act in the state, or if both act and none is named.
    """
    to_move = int(state.current_player())
    is_simultaneous = to_move == pyspiel.PlayerId.SIMULTANEOUS
    if not is_simultaneous and to_move not in (0, 1):
        raise ValueError(f"no player moves in a state whose current player is {to_move}")
    if is_simultaneous and player_id is None:
        raise ValueError("both players move in this state; pass player_id")
    player = to_move if player_id is None else player_id
    if player not in (0, 1) or not (is_simultaneous or player == to_move):
        raise ValueError(
            f"player {player_id} does not move in a state whose current player is {to_move}; ask "
            "for a player who does"
        )
    return player


def check_either_game_of(state: pyspiel.State, game: pyspiel.Game) -> None:
    """Raises a ValueError if a state is of another game than a policy's.

    States of the game with simultaneous moves that the policy's was converted from are no others.
    """
    check_game_of(state, form_for(state.get_game(), game))


def form_for(own: pyspiel.Game, game: pyspiel.Game) -> pyspiel.Game:
    """A policy's game, or where a state's own game is simultaneous, the one it came from."""
    if own is not game and is_converted(game) and _is_simultaneous(own):
        return _original_state(game.new_initial_state()).get_game()
    return game


def action_probabilities(
    policy: AnyPolicy, state: pyspiel.State, player: int
) -> Mapping[int, float]:
    """A policy's answer in a state.

    In a state of a game that was converted to turns, a policy of the game with simultaneous moves
    is asked in that game's state, which does not show player 1 what player 0 has chosen.

    Args:
      policy: a policy in Python or C++, of the turn-based game or of the one it was converted from.
      state: a state in which the player acts.
      player: who is asked.

    Returns:
      The probabilities by action, as the policy gives them.
    """
    has_original = isinstance(state, pyspiel.TurnBasedSimultaneousState)
    if isinstance(policy, pyspiel.Policy):
        if state.is_simultaneous_node():
            return policy.action_probabilities(state.information_state_string(player))
        # A C++ policy does not tell whether it is for the converted game or for the original.
        answer = policy.action_probabilities(state)
        if has_original and not answer:
            key = _original_state(state).information_state_string(player)
            answer = policy.action_probabilities(key)
        return answer
    if has_original and _is_simultaneous(policy.game):
        return policy.action_probabilities(_original_state(state), player)
    return policy.action_probabilities(state, player)


def checked_probabilities(policy: AnyPolicy, state: pyspiel.State, player: int) -> dict[int, float]:
    """A policy's probabilities of all legal actions in a state, not rescaled.

    Raises:
      ValueError: if it has no answer, or one that is not a distribution over the legal actions.
    """
    if not isinstance(policy, (openspiel_policy.Policy, pyspiel.Policy)):
        raise ValueError(
            f"{policy!r} is no policy but of type {type(policy).__name__}; give an OpenSpiel "
            "policy: of a name load_policy makes one, and a solver has average_policy()"
        )
    try:
        answer = action_probabilities(policy, state, player)
    except (KeyError, AttributeError, pyspiel.SpielError) as error:
        raise ValueError(
            f"{type(policy).__name__} has no answer for {state} of {state.get_game()}; is it a "
            f"policy of another game? {type(error).__name__}: {error}"
        ) from error
    return check_answer(policy, answer, state, player)


def check_answer(
    policy: AnyPolicy, answer: Mapping[int, float], state: pyspiel.State, player: int
) -> dict[int, float]:
    """What a policy has answered in a state, as the probabilities of all legal actions.

    Raises:
      ValueError: if it is not a distribution over them.
    """
    actions = state.legal_actions(player)
    row = {action: answer.get(action, 0.0) for action in actions}
    illegal = any(p != 0 for action, p in answer.items() if action not in row)
    if illegal or min(row.values()) < 0 or not abs(sum(row.values()) - 1.0) < SUM_TOLERANCE:
        infoset = information_string_function(state.get_game())(state, player)
        raise ValueError(
            f"{type(policy).__name__}: {answer} is not a distribution over the legal actions "
            f"{actions} of player {player}'s infoset {infoset!r}"
        )
    return row


def _original_state(state: pyspiel.TurnBasedSimultaneousState) -> pyspiel.State:
    # A copy, because OpenSpiel hands out a reference that is invalid once `state` is gone.
    return state.simultaneous_game_state().clone()


def _is_simultaneous(game: pyspiel.Game | None) -> bool:
    simultaneous = pyspiel.GameType.Dynamics.SIMULTANEOUS
    return game is not None and game.get_type().dynamics == simultaneous
