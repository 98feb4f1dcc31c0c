"""Reads action probabilities from OpenSpiel policies, and checks them.

All games are played turn by turn here. A game with simultaneous moves is converted: player 0 moves
first, and player 1 moves without knowing how. Policies may be for either form of such a game.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.tree.from_openspiel import check_game_of, is_same_game, load_turn_based
from spiel_dl.tree.histories import is_converted
from spiel_dl.tree.information_states import information_string_function

AnyPolicy: TypeAlias = openspiel_policy.Policy | pyspiel.Policy
"""A policy in Python or in C++."""
SUM_TOLERANCE = 1e-6
"""The largest difference between the sum of a policy's probabilities and 1."""


class NoAnswerError(ValueError):
    """A policy has no valid answer in a state; the text says in which, with all that is hidden."""


@runtime_checkable
class BatchPolicy(Protocol):
    """A policy that evaluates many states in hardly more time than one, as networks do."""

    def probabilities_of(self, states: Sequence[pyspiel.State]) -> Sequence[Mapping[int, float]]:
        """Action probabilities in states of one game, in each of which a player acts."""


def common_game(policies: Sequence[AnyPolicy]) -> pyspiel.Game | None:
    """The turn-based game of policies; None if none says its game, as those in C++ do not.

    Raises:
      ValueError: if they are of several games.
    """
    said = [getattr(policy, "game", None) for policy in policies]
    games = [load_turn_based(game) for game in said if game is not None]
    for game in games[1:]:
        if not is_same_game(game, games[0]):
            raise ValueError(
                f"the policies are of {games[0]} and of {game}; give policies of the same game"
            )
    return games[0] if games else None


def acting_player(state: pyspiel.State, player_id: int | None = None) -> int:
    """The player whose action probabilities are requested: 0 or 1.

    Args:
      state: a state, of a turn-based game or of one with simultaneous moves.
      player_id: the player; None: the player to move.

    Raises:
      ValueError: if this player does not act in the state, or if both act and none is given.
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

    If that was converted from a game with simultaneous moves, states of the original are accepted.
    """
    check_game_of(state, form_for(state.get_game(), game))


def form_for(state_game: pyspiel.Game, game: pyspiel.Game) -> pyspiel.Game:
    """The form of a policy's game that a state's game must equal: converted to turns, or original.

    Args:
      state_game: the state's game.
      game: the policy's. If it was converted from a game with simultaneous moves, and the state's
        game has simultaneous moves, the original is returned.
    """
    if state_game is not game and is_converted(game) and _is_simultaneous(state_game):
        return _original_state(game.new_initial_state()).get_game()
    return game


def action_probabilities(
    policy: AnyPolicy, state: pyspiel.State, player: int
) -> Mapping[int, float]:
    """A policy's probabilities by action in a state, as the policy returns them.

    In a state of a game that was converted to turns, a policy of the game with simultaneous moves
    gets that game's state, which does not show player 1 what player 0 has chosen.

    Args:
      policy: a policy in Python or C++, of the turn-based game or of the one it was converted from.
      state: a state in which the player acts.
      player: the player.
    """
    has_original = isinstance(state, pyspiel.TurnBasedSimultaneousState)
    if isinstance(policy, pyspiel.Policy):
        if state.is_simultaneous_node():
            return policy.action_probabilities(state.information_state_string(player))
        # A C++ policy may be for the converted game or for the original; it does not say which.
        probabilities = policy.action_probabilities(state)
        if has_original and not probabilities:
            key = _original_state(state).information_state_string(player)
            probabilities = policy.action_probabilities(key)
        return probabilities
    if has_original and _is_simultaneous(policy.game):
        return policy.action_probabilities(_original_state(state), player)
    return policy.action_probabilities(state, player)


def checked_probabilities(policy: AnyPolicy, state: pyspiel.State, player: int) -> dict[int, float]:
    """A policy's probabilities of all legal actions in a state, not rescaled.

    Raises:
      ValueError: if it is no policy.
      NoAnswerError: if it returns none, or no distribution over the legal actions.
    """
    if not isinstance(policy, AnyPolicy):
        raise ValueError(
            f"{policy!r} is no policy but of type {type(policy).__name__}; give an OpenSpiel "
            "policy: of a name load_policy makes one, and a solver has average_policy()"
        )
    try:
        answer = action_probabilities(policy, state, player)
    except (KeyError, AttributeError, pyspiel.SpielError) as error:
        raise NoAnswerError(
            f"{type(policy).__name__} has no answer for {state} of {state.get_game()}; is it a "
            f"policy of another game? {type(error).__name__}: {error}"
        ) from error
    return check_answer(policy, answer, state, player)


def check_answer(
    policy: AnyPolicy, answer: Mapping[int, float], state: pyspiel.State, player: int
) -> dict[int, float]:
    """The probabilities of all legal actions in a state, as a policy returned them.

    Raises:
      NoAnswerError: if they are no distribution.
    """
    if not isinstance(answer, Mapping):
        raise NoAnswerError(
            f"{type(policy).__name__} answered {answer!r}, of the type {type(answer).__name__}; "
            "action_probabilities must return a dict from actions to probabilities"
        )
    actions = state.legal_actions(player)
    row = {action: answer.get(action, 0.0) for action in actions}
    illegal = any(p != 0 for action, p in answer.items() if action not in row)
    if illegal or min(row.values()) < 0 or not abs(sum(row.values()) - 1.0) < SUM_TOLERANCE:
        infoset = information_string_function(state.get_game())(state, player)
        raise NoAnswerError(
            f"{type(policy).__name__}: {answer} is not a distribution over the legal actions "
            f"{actions} of player {player}'s infoset {infoset!r}"
        )
    return row


class InfosetCheck:
    """Checks that a user's policy is a function of the infoset.

    The first probabilities in each infoset are kept. Policies of this package are not checked:
    searches may draw anew, and build on earlier ones.
    """

    def __init__(self) -> None:
        self._first_answers: dict[tuple[int, str], tuple[list[int], dict[int, float]]] = {}

    def check(self, policy: AnyPolicy, answer: dict[int, float], state: pyspiel.State) -> None:
        """Raises a ValueError if probabilities differ from the first ones in the same infoset."""
        if type(policy).__module__.startswith("spiel_dl.") or isinstance(policy, pyspiel.Policy):
            return
        player, game = state.current_player(), state.get_game()
        key = (player, information_string_function(game)(state, player))
        history, before = self._first_answers.setdefault(key, (state.history(), answer))
        if any(abs(answer[action] - before[action]) > SUM_TOLERANCE for action in answer):
            raise ValueError(
                f"{type(policy).__name__} plays {before} after the actions {history} and {answer} "
                f"after {state.history()}, which player {player} cannot tell apart in {game}; give "
                "a policy that depends on nothing but the infoset"
            )


class Answer(NamedTuple):
    """A policy's action probabilities in a state.

    Attributes:
      probabilities: of all legal actions.
      seconds: the time that the policy took.
      was_searched: whether a search computed them; None: the policy does not tell.
    """

    probabilities: Mapping[int, float]
    seconds: float
    was_searched: bool | None = None


def ask(
    policy: AnyPolicy,
    states: Sequence[pyspiel.State],
    infoset_check: InfosetCheck | None = None,
) -> list[Answer]:
    """A policy's answers in states of one turn-based game, in each of which a player acts.

    Args:
      policy: the policy.
      states: the states.
      infoset_check: checks the answers, unless the policy is a `BatchPolicy`; None: no check.

    Raises:
      ValueError: if an answer is no distribution over the legal actions, the number of answers is
        another one, or the check fails.
    """
    if isinstance(policy, BatchPolicy):
        start = time.perf_counter()
        rows = policy.probabilities_of(states)
        seconds = (time.perf_counter() - start) / len(states)
        if len(rows) != len(states):
            raise ValueError(
                f"{type(policy).__name__} gave {len(rows)} answers in {len(states)} states; let "
                "its probabilities_of give one for each"
            )
        for probabilities, state in zip(rows, states, strict=True):
            check_answer(policy, probabilities, state, state.current_player())
        return [Answer(probabilities, seconds) for probabilities in rows]
    answers = []
    for state in states:
        start = time.perf_counter()
        probabilities = checked_probabilities(policy, state, state.current_player())
        if infoset_check is not None:
            infoset_check.check(policy, probabilities, state)
        seconds = time.perf_counter() - start
        was_searched = getattr(policy, "answer_was_searched", None)
        answers.append(Answer(probabilities, seconds, was_searched))
    return answers


def _original_state(state: pyspiel.TurnBasedSimultaneousState) -> pyspiel.State:
    # A copy, because OpenSpiel hands out a reference that is invalid once `state` is gone.
    return state.simultaneous_game_state().clone()


def _is_simultaneous(game: pyspiel.Game | None) -> bool:
    simultaneous = pyspiel.GameType.Dynamics.SIMULTANEOUS
    return game is not None and game.get_type().dynamics == simultaneous
