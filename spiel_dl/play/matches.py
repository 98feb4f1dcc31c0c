"""Matches between two policies, in pairs of games with common random numbers.

The two games of a pair have changed seats and the same luck: in both, chance's n-th event is drawn
with the same random number, and so is the n-th decision of player 0, and that of player 1, whoever
sits there. A number u in [0, 1) draws the first outcome or action, by id, at which the cumulative
probability exceeds u. So the cards are dealt alike while the games go alike, and a policy draws
with itself in every pair.

Pairs are independent of each other and what the first policy wins in one, on average over its two
games, is one observation: 95% intervals of a match are over pairs. Pair k of a seed has the same
luck in every match, however many pairs there are and whoever plays; so the difference of two
matches of the same seed can be measured pair by pair.

With values of histories, what luck is left is taken out as well, see `play.control_variates`.
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
from spiel_dl.tree.counts import is_count
from spiel_dl.tree.from_openspiel import is_same_game
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.walk import zero_sum_utility

if TYPE_CHECKING:
    from spiel_dl.tree.beam import PolicyRows

Policies = tuple[openspiel_policy.Policy, openspiel_policy.Policy]
_PAIRS_AT_ONCE = 64
_PAIRS_IN_BATCH = 1024
_QUICK = (
    ArrayPolicy,
    HighestActionPolicy,
    UniformPolicy,
    openspiel_policy.UniformRandomPolicy,
    openspiel_policy.TabularPolicy,
)


def _is_quick(policy: openspiel_policy.Policy) -> bool:
    return type(policy) in _QUICK or isinstance(policy, asking.BatchPolicy)


def play_match(
    game: AnyGame,
    policy: openspiel_policy.Policy,
    opponent: openspiel_policy.Policy,
    num_games: int,
    seed: int = 0,
    values: HistoryValues | None = None,
) -> MatchResult:
    """Plays games, half of them in each seat.

    A game with simultaneous moves is played turn by turn. Its policies may be for the turn-based
    game or for the original: each is asked in states of its own game.

    Args:
      game: the game, its game string, or the compiled game.
      policy: the first policy.
      opponent: the second one.
      num_games: how many games, an even number.
      seed: of chance and of both players' choices.
      values: of histories, for control variates; None: there are none.

    Raises:
      ValueError: if the game is not one that can be played turn by turn by two players, `num_games`
        is not positive and even, or the seed is negative.
    """
    policies = (policy, opponent)
    in_batch = values is None and _rows_of(turn_based_game(game), policies) is not None
    parts = parts_of(num_games, _PAIRS_IN_BATCH if in_batch else _PAIRS_AT_ONCE)
    return MatchResult.of_pairs(play_pairs(game, policies, pairs, seed, values) for pairs in parts)


def parts_of(num_games: int, pairs_at_once: int = _PAIRS_AT_ONCE) -> list[range]:
    """The numbers of a match's pairs, in parts that are played at a time.

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

    Networks and tables play all of them at once: networks are asked for many decisions at a time.
    In games with Rules, networks and scripts play by batches of states, not by OpenSpiel's; the
    games are the same. Others play one game after the other, because those who search build on what
    they have found earlier in a game, and remember only so much of it. What a network answers
    depends on how many it is asked at a time by rounding errors alone, which may very rarely turn a
    choice.

    Args:
      game: the game, its game string, or the compiled game.
      policies: the first and the second policy.
      pairs: the numbers of the pairs.
      seed: of chance and of both players' choices.
      values: of histories, for control variates; None: there are none.

    Raises:
      ValueError: if the game cannot be played turn by turn by two players, or the seed is negative.
    """
    if not is_count(seed) or seed < 0:
        raise ValueError(f"seed={seed!r} must be a whole number that is not negative")
    turn_based = turn_based_game(game)
    rows = _rows_of(turn_based, policies) if values is None else None
    if rows is not None:
        from spiel_dl.play import batched_pairs  # It imports torch.

        return batched_pairs.play(turn_based.rules, rows, pairs, seed)
    games = [_Game(turn_based, seed, pair, seat) for pair in pairs for seat in (0, 1)]
    at_once = all(_is_quick(policy) for policy in policies)
    groups = [games] if at_once else [[each] for each in games]
    checks = [InfosetCheck() for _ in "01"]
    parts = [_play(group, policies, checks) for group in groups]
    for each in games:
        zero_sum_utility(turn_based, each.state)  # Refuses other games.
    returns = np.array([each.state.returns()[each.first_seat] for each in games]).reshape(-1, 2)
    times = [functools.reduce(DecisionTime.add, each) for each in zip(*parts, strict=True)]
    lucks = None
    if values is not None:
        lucks = np.array([each.luck_of_first(values) for each in games]).reshape(-1, 2)
    return PairResults(returns, (times[0], times[1]), lucks)


def _rows_of(game: pyspiel.Game, policies: Policies) -> tuple[PolicyRows, PolicyRows] | None:
    """Both policies in batches of states, if the game has Rules and both can answer these."""
    if not hasattr(game, "rules"):
        return None
    # Policies in C++ do not tell their game.
    own = [getattr(policy, "game", None) for policy in policies]
    if not all(each is not None and is_same_game(each, game) for each in own):
        return None
    from spiel_dl.search.policy_rows import find_rows  # It imports torch.

    first, second = (find_rows(game.rules, policy) for policy in policies)
    return None if first is None or second is None else (first, second)


def _play(
    running: list[_Game], policies: Policies, checks: Sequence[InfosetCheck]
) -> tuple[DecisionTime, DecisionTime]:
    """Plays games to their ends, all at once; what both policies' decisions took."""
    times = [DecisionTime(), DecisionTime()]
    while running := [each for each in running if each.plays_on()]:
        # Who moves is settled before anybody does.
        movers = [each.mover() for each in running]
        for which, policy in enumerate(policies):
            waiting = list(itertools.compress(running, [mover == which for mover in movers]))
            if not waiting:
                continue
            answers = asking.ask(policy, [each.state for each in waiting], checks[which])
            seconds = [each.seconds for each in answers]
            choices = [a.was_searched for a in answers if len(a.probabilities) > 1]
            told = [was_searched for was_searched in choices if was_searched is not None]
            took = DecisionTime(len(waiting), sum(seconds), max(seconds), len(told), sum(told))
            times[which] = times[which].add(took)
            for each, answer in zip(waiting, answers, strict=True):
                each.move(answer.probabilities)
    return times[0], times[1]


class _Game:
    """A game that is being played, and its luck.

    Attributes:
      state: how far it is.
      first_seat: which player the first policy is.
    """

    def __init__(self, game: pyspiel.Game, seed: int, pair: int, first_seat: int):
        self.state, self.first_seat = game.new_initial_state(), first_seat
        self._sources = sources(seed, pair)
        self._steps: list[Step] = []

    def plays_on(self) -> bool:
        """Plays chance, and says whether a player is to move then.

        Raises:
          ValueError: if both players move at once; the game's type did not say that they may.
        """
        while self.state.is_chance_node():
            self._apply(dict(self.state.chance_outcomes()), CHANCE)
        if self.state.is_terminal():
            return False
        asking.acting_player(self.state)
        return True

    def mover(self) -> int:
        """Which policy is to move: 0, the first, or 1."""
        return int(self.state.current_player() != self.first_seat)

    def move(self, probabilities: Mapping[int, float]) -> None:
        """Makes the move of the player to move."""
        self._apply(probabilities, self.state.current_player())

    def luck_of_first(self, values: HistoryValues) -> float:
        """The first policy's luck so far, in utility units, by values of histories."""
        found = luck(self.state.get_game().new_initial_state(), self._steps, values)
        return found if self.first_seat == 0 else -found

    def _apply(self, probabilities: Mapping[int, float], source: int) -> None:
        drawn = draw(probabilities, self._sources[source].random())
        self._steps.append((probabilities, drawn))
        self.state.apply_action(drawn)


def draw(probabilities: Mapping[int, float], number: float) -> int:
    """The first key, in order, at which the cumulative probability exceeds a number in [0, 1).

    Keys of probability 0 are never drawn; probabilities need not sum to 1 to the last digit.
    """
    keys = sorted(key for key, probability in probabilities.items() if probability > 0)
    cumulative = np.cumsum([probabilities[key] for key in keys])
    position = int(np.searchsorted(cumulative, number * cumulative[-1], side="right"))
    return keys[min(position, len(keys) - 1)]
