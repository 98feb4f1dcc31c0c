"""Results of matches: returns of pairs of games, and times of decisions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from spiel_dl.play.control_variates import without_luck
from spiel_dl.play.tally import Tally


class DecisionTime(NamedTuple):
    """The time of a policy's decisions.

    Attributes:
      num_moves: number of decisions.
      seconds: of all decisions.
      slowest: seconds of the slowest decision; a batch's time is divided evenly.
      num_choices: number of decisions with several actions, if the policy reports its searches.
      num_searched: number of these that were searched.
    """

    num_moves: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    num_choices: int = 0
    num_searched: int = 0

    def add(self, other: DecisionTime) -> DecisionTime:
        """The times of both."""
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
        """The share of choices that were searched; None if the policy does not report it."""
        return self.num_searched / self.num_choices if self.num_choices else None


class PairResults(NamedTuple):
    """The results of some pairs of games.

    Attributes:
      returns: float64 [N, 2], the first policy's in each pair, as player 0 and as player 1.
      times: the first policy's and the second's.
      luck: float64 [N, 2], the luck in these returns by control variates; None: there are none.
    """

    returns: np.ndarray
    times: tuple[DecisionTime, DecisionTime]
    luck: np.ndarray | None = None

    def to_json(self) -> dict[str, Any]:
        """The results as JSON-serialisable objects."""
        content: dict[str, Any] = {"returns": self.returns.tolist(), "times": self.times}
        return content if self.luck is None else {**content, "luck": self.luck.tolist()}

    @staticmethod
    def from_json(content: dict[str, Any]) -> PairResults:
        """Restores the results from `to_json`."""
        first, second = (DecisionTime(*times) for times in content["times"])
        luck = content.get("luck")
        return PairResults(
            np.array(content["returns"]), (first, second), None if luck is None else np.array(luck)
        )


@dataclasses.dataclass(frozen=True)
class MatchResult:
    """The result of a match.

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
        """Combines the results of all pairs.

        Args:
          parts: in the order of the match. Control variates take each pair's factor from the half
            of even or of odd positions, so that another order gives another `without_luck`; all
            other results depend on the order in the last digits only.
        """
        part_list = list(parts)
        returns = np.concatenate([part.returns for part in part_list])
        first, second = DecisionTime(), DecisionTime()
        for part in part_list:
            first, second = first.add(part.times[0]), second.add(part.times[1])
        seats = (Tally.of(returns[:, 0]), Tally.of(returns[:, 1]))
        lucks = [part.luck for part in part_list if part.luck is not None]
        pairs, adjusted = returns.mean(axis=1), None
        if len(lucks) == len(part_list):
            adjusted = Tally.of(without_luck(pairs, np.concatenate(lucks).mean(axis=1)))
        return MatchResult(Tally.of(pairs), seats, (first, second), adjusted)

    def __str__(self) -> str:
        """Mean return, interval and number of games, in one line."""
        interval = f"{self.mean_return:.4g} ± {self.half_width:.2g} (95 %)"
        return f"mean return {interval} in {self.num_games:,} games"

    @property
    def num_games(self) -> int:
        """Games played."""
        return 2 * self.pairs.size

    @property
    def mean_return(self) -> float:
        """The first policy's mean return, in utility units."""
        return self.pairs.mean

    @property
    def half_width(self) -> float:
        """Half the 95% confidence interval of the mean return, over pairs; NaN of a single pair."""
        return self.pairs.half_width

    @property
    def variance_left(self) -> float | None:
        """The share of pairs' variance left by control variates; None without them or variance."""
        if self.without_luck is None or not self.pairs.standard_error > 0:
            return None
        return (self.without_luck.standard_error / self.pairs.standard_error) ** 2
