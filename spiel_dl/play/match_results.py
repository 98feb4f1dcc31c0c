"""What matches come to: returns of pairs of games, and what decisions took."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from spiel_dl.play.control_variates import without_luck
from spiel_dl.play.tally import Tally


class DecisionTime(NamedTuple):
    """What a policy's decisions took.

    Attributes:
      num_moves: decisions.
      seconds: for all of them.
      slowest: seconds for the slowest one; a batch's are shared out evenly.
      num_choices: how many of them were of several actions, if the policy says which it searches.
      num_searched: how many of these were searched.
    """

    num_moves: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    num_choices: int = 0
    num_searched: int = 0

    def add(self, other: DecisionTime) -> DecisionTime:
        """Both together."""
        return DecisionTime(
            self.num_moves + other.num_moves,
            self.seconds + other.seconds,
            max(self.slowest, other.slowest),
            self.num_choices + other.num_choices,
            self.num_searched + other.num_searched,
        )

    @property
    def seconds_per_move(self) -> float:
        """The mean; 0 without moves."""
        return self.seconds / max(self.num_moves, 1)

    @property
    def share_searched(self) -> float | None:
        """Of the choices, how many were searched; None if the policy does not say it."""
        return self.num_searched / self.num_choices if self.num_choices else None


class PairResults(NamedTuple):
    """How some pairs of games went.

    Attributes:
      returns: float64 [N, 2], the first policy's in each pair, as player 0 and as player 1.
      times: the first policy's and the second's.
      luck: float64 [N, 2], how much of these returns control variates say was luck; None: there
        are none.
    """

    returns: np.ndarray
    times: tuple[DecisionTime, DecisionTime]
    luck: np.ndarray | None = None

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        found: dict[str, Any] = {"returns": self.returns.tolist(), "times": self.times}
        return found if self.luck is None else {**found, "luck": self.luck.tolist()}

    @staticmethod
    def from_json(kept: dict[str, Any]) -> PairResults:
        """What `to_json` made of some pairs."""
        first, second = (DecisionTime(*times) for times in kept["times"])
        lucks = kept.get("luck")
        return PairResults(
            np.array(kept["returns"]), (first, second), None if lucks is None else np.array(lucks)
        )


@dataclasses.dataclass(frozen=True)
class MatchResult:
    """How a match went.

    Attributes:
      pairs: the first policy's returns, in utility units: of pairs, each the mean of its two games.
      seats: of its games as player 0, and of those as player 1.
      times: the first policy's and the second's.
      without_luck: of pairs, with control variates; None: there were none.
    """

    pairs: Tally
    seats: tuple[Tally, Tally]
    times: tuple[DecisionTime, DecisionTime]
    without_luck: Tally | None = None

    @staticmethod
    def of_pairs(parts: Iterable[PairResults]) -> MatchResult:
        """All pairs together.

        Args:
          parts: in the order of the match. Control variates take each pair's factor from the half
            of even or of odd positions, so that another order gives another `without_luck`; on
            everything else, the order has an influence in the last digits only.
        """
        everything = list(parts)
        returns = np.concatenate([part.returns for part in everything])
        first, second = DecisionTime(), DecisionTime()
        for part in everything:
            first, second = first.add(part.times[0]), second.add(part.times[1])
        seats = (Tally().add(returns[:, 0]), Tally().add(returns[:, 1]))
        lucks = [part.luck for part in everything if part.luck is not None]
        pairs, reduced = returns.mean(axis=1), None
        if len(lucks) == len(everything):
            reduced = Tally().add(without_luck(pairs, np.concatenate(lucks).mean(axis=1)))
        return MatchResult(Tally().add(pairs), seats, (first, second), reduced)

    def __str__(self) -> str:
        """Mean return, interval and number of games, in one line."""
        told = f"mean return {self.mean_return:.4g} ± {self.half_width:.2g} (95 %)"
        return f"{told} in {self.num_games:,} games"

    @property
    def num_games(self) -> int:
        """Games played."""
        return 2 * self.pairs.size

    @property
    def mean_return(self) -> float:
        """The first policy's, in utility units."""
        return self.pairs.mean

    @property
    def half_width(self) -> float:
        """Of the 95% confidence interval of the mean return, over pairs; NaN of a single pair."""
        return self.pairs.half_width

    @property
    def variance_left(self) -> float | None:
        """The share of pairs' variance that control variates leave; None without any, or of 0."""
        if self.without_luck is None or not self.pairs.standard_error > 0:
            return None
        return (self.without_luck.standard_error / self.pairs.standard_error) ** 2
