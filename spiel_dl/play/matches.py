"""Matches between two policies, in pairs of games with common random numbers.

In the two games of a pair the policies change seats and the random numbers are the same: chance's
n-th event is drawn with the same random number, and so is the n-th decision of player 0, and that
of player 1, whichever policy plays it. A number u in [0, 1) draws the first outcome or action, by
id, at which the cumulative probability exceeds u. So the same cards are dealt as long as the games
are the same, and the returns of a policy against itself sum to 0 in every pair.

Pairs are independent of each other, and the first policy's mean return in the two games of one is
one observation: 95% intervals of a match are over pairs. Pair k of a seed has the same random
numbers in every match, whatever the number of pairs and the policies; so the difference of two
matches of the same seed can be measured pair by pair.

With values of histories, the remaining luck is subtracted, see `play.control_variates`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from spiel_dl.play.control_variates import HistoryValues, Step, luck
from spiel_dl.play.match_results import DecisionTime, MatchResult, PairResults
from spiel_dl.play.shared_luck import CHANCE, sources
from spiel_dl.policies import asking
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.asking import InfosetCheck
from spiel_dl.policies.small_policies import HighestActionPolicy, UniformPolicy
from spiel_dl.tree.counts import checked_count, is_count
from spiel_dl.tree.drawing import draw
from spiel_dl.tree.from_openspiel import is_same_game
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.walk import zero_sum_utility

if TYPE_CHECKING:
    from spiel_dl.tree.beam import PolicyRows

Policies = tuple[openspiel_policy.Policy, openspiel_policy.Policy]
_PAIRS_AT_ONCE = 64
_PAIRS_IN_BATCH = 1024
_TABLES_AND_SCRIPTS = (
    ArrayPolicy,
    HighestActionPolicy,
    UniformPolicy,
    openspiel_policy.UniformRandomPolicy,
    openspiel_policy.TabularPolicy,
)


def _plays_many_games(policy: openspiel_policy.Policy) -> bool:
    """Whether a policy may play many games at once: networks, tables and scripts."""
    return type(policy) in _TABLES_AND_SCRIPTS or isinstance(policy, asking.BatchPolicy)


def play_match(
    first: openspiel_policy.Policy,
    second: openspiel_policy.Policy,
    num_games: int = 2000,
    *,
    game: AnyGame | None = None,
    seed: int = 0,
    values: HistoryValues | None = None,
) -> MatchResult:
    """Plays games, half of them in each seat.

    A game with simultaneous moves is played turn by turn. Its policies may be for the turn-based
    game or for the original: each is evaluated in states of its own game.

    Args:
      first: the policy whose returns are measured.
      second: its opponent.
      num_games: number of games, even.
      game: the game, its game string, or the compiled game; None: that of the policies.
      seed: of chance and of both players' choices.
      values: of histories, for control variates; None: no control variates.

    Raises:
      ValueError: if the game cannot be played turn by turn by two players or is not known, the
        policies are of different games and `game` is None, `num_games` is not positive and even, or
        the seed is negative.
    """
    policies = (first, second)
    game = asking.common_game(policies) if game is None else game
    if game is None:
        raise ValueError(
            f"neither {type(first).__name__} nor {type(second).__name__} says of which game it is; "
            "give game="
        )
    in_batch = values is None and _batch_policies(turn_based_game(game), policies) is not None
    parts = parts_of(num_games, _PAIRS_IN_BATCH if in_batch else _PAIRS_AT_ONCE)
    return MatchResult.of_pairs(play_pairs(game, policies, pairs, seed, values) for pairs in parts)


def parts_of(num_games: int, pairs_at_once: int = _PAIRS_AT_ONCE) -> list[range]:
    """The numbers of a match's pairs, divided into parts.

    Raises:
      ValueError: if `num_games` is not positive and even, or `pairs_at_once` not positive.
    """
    if not is_count(num_games) or num_games < 2 or num_games % 2:
        raise ValueError(
            f"num_games={num_games!r} must be a whole number, at least 2 and even: games are "
            "played in pairs, one in each seat"
        )
    if pairs_at_once < 1:
        raise ValueError(f"pairs_at_once={pairs_at_once} must be at least 1")
    num_pairs = num_games // 2
    starts = range(0, num_pairs, pairs_at_once)
    return [range(start, min(start + pairs_at_once, num_pairs)) for start in starts]


def play_pairs(
    game: AnyGame,
    policies: Policies,
    pairs: range,
    seed: int,
    values: HistoryValues | None = None,
) -> PairResults:
    """Plays some pairs of games.

    Networks and tables play all games at once, so that networks evaluate batches of states. In
    games with Rules, networks and scripts play in batches of states instead of OpenSpiel's states;
    the games are the same. Other policies play one game after the other, because searches build on
    earlier results of the same game, and keep a limited number of them. A network's output depends
    on the batch size by rounding errors only, which may very rarely change a choice.

    Args:
      game: the game, its game string, or the compiled game.
      policies: the first and the second policy.
      pairs: the numbers of the pairs.
      seed: of chance and of both players' choices.
      values: of histories, for control variates; None: no control variates.

    Raises:
      ValueError: if the game cannot be played turn by turn by two players, or the seed is negative.
    """
    seed = checked_count("seed", seed, 0)
    turn_based = turn_based_game(game)
    batch_policies = _batch_policies(turn_based, policies) if values is None else None
    if batch_policies is not None:
        from spiel_dl.play import batched_pairs  # It imports torch.

        return batched_pairs.play(turn_based.rules, batch_policies, pairs, seed)
    games = [_Game(turn_based, seed, pair, seat) for pair in pairs for seat in (0, 1)]
    at_once = all(_plays_many_games(policy) for policy in policies)
    groups = [games] if at_once else [[each] for each in games]
    checks = [InfosetCheck() for _ in policies]
    times_of_groups = [_play(group, policies, checks) for group in groups]
    for each in games:
        zero_sum_utility(turn_based, each.state)  # Refuses games that are not zero-sum.
    returns = np.array([each.state.returns()[each.first_seat] for each in games]).reshape(-1, 2)
    first, second = (
        functools.reduce(DecisionTime.add, times) for times in zip(*times_of_groups, strict=True)
    )
    luck_of_pairs = None
    if values is not None:
        luck_of_pairs = np.array([each.first_policy_luck(values) for each in games]).reshape(-1, 2)
    return PairResults(returns, (first, second), luck_of_pairs)


def _batch_policies(game: pyspiel.Game, policies: Policies) -> tuple[PolicyRows, PolicyRows] | None:
    """Both policies in batches of states, if the game has Rules and both can evaluate batches."""
    if not hasattr(game, "rules"):
        return None
    # Policies in C++ have no attribute `game`.
    policy_games = [getattr(policy, "game", None) for policy in policies]
    if not all(each is not None and is_same_game(each, game) for each in policy_games):
        return None
    from spiel_dl.search.policy_rows import find_rows  # It imports torch.

    first, second = (find_rows(game.rules, policy) for policy in policies)
    return None if first is None or second is None else (first, second)


def _play(
    running: list[_Game], policies: Policies, checks: Sequence[InfosetCheck]
) -> tuple[DecisionTime, DecisionTime]:
    """Plays games to their ends, all at once; the times of both policies' decisions."""
    times = [DecisionTime(), DecisionTime()]
    while running := [each for each in running if each.advance_to_decision()]:
        # The movers before any of the moves below.
        movers = [each.moving_policy() for each in running]
        for number, policy in enumerate(policies):
            waiting = list(itertools.compress(running, [mover == number for mover in movers]))
            if not waiting:
                continue
            answers = asking.ask(policy, [each.state for each in waiting], checks[number])
            seconds = [answer.seconds for answer in answers]
            choices = [a.was_searched for a in answers if len(a.probabilities) > 1]
            known = [was_searched for was_searched in choices if was_searched is not None]
            decisions = DecisionTime(
                len(waiting), sum(seconds), max(seconds), len(known), sum(known)
            )
            times[number] = times[number].add(decisions)
            for each, answer in zip(waiting, answers, strict=True):
                each.move(answer.probabilities)
    return times[0], times[1]


class _Game:
    """A game in progress, and its random numbers.

    Attributes:
      state: the current state.
      first_seat: the first policy's player.
    """

    def __init__(self, game: pyspiel.Game, seed: int, pair: int, first_seat: int):
        self.state, self.first_seat = game.new_initial_state(), first_seat
        self._sources = sources(seed, pair)
        self._steps: list[Step] = []

    def advance_to_decision(self) -> bool:
        """Plays chance; whether a player is to move then.

        Raises:
          ValueError: if both players move at once; the game's type did not say that they may.
        """
        while self.state.is_chance_node():
            self._apply(dict(self.state.chance_outcomes()), CHANCE)
        if self.state.is_terminal():
            return False
        asking.acting_player(self.state)
        return True

    def moving_policy(self) -> int:
        """The policy to move: 0, the first, or 1, the second."""
        return int(self.state.current_player() != self.first_seat)

    def move(self, probabilities: Mapping[int, float]) -> None:
        """Makes the move of the player to move."""
        self._apply(probabilities, self.state.current_player())

    def first_policy_luck(self, values: HistoryValues) -> float:
        """The first policy's luck so far, in utility units, by values of histories."""
        player_0_luck = luck(self.state.get_game().new_initial_state(), self._steps, values)
        return player_0_luck if self.first_seat == 0 else -player_0_luck

    def _apply(self, probabilities: Mapping[int, float], source: int) -> None:
        drawn = draw(probabilities, self._sources[source].random())
        self._steps.append((probabilities, drawn))
        self.state.apply_action(drawn)
