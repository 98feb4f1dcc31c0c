"""`FactoredForm`: a sequence form without a list of payoffs."""

from __future__ import annotations

import abc
import concurrent.futures
import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex


class Cost(NamedTuple):
    """What a player's values against a plan take, roughly.

    Attributes:
      seconds: of one processor.
      num_bytes: besides plans and values themselves.
    """

    seconds: float
    num_bytes: int


@dataclasses.dataclass(frozen=True, eq=False)
class FactoredForm(abc.ABC):
    """A sequence form whose payoff matrix is a product of others, none of which is ever listed.

    For solvers it is what a `SequenceForm` is, but for `payoffs`.

    Attributes:
      treeplexes: both players' strategy spaces.
      utility_range: largest minus smallest utility.
      num_threads: threads for the payoffs. Results do not depend on it.
    """

    treeplexes: tuple[Treeplex, Treeplex]
    utility_range: float
    num_threads: int

    @property
    def constants(self) -> None:
        """None: no sequence pays whatever the opponent does."""
        return None

    @abc.abstractmethod
    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """What each of a player's sequences pays by itself: float64 [S_p], a new array.

        See `SequenceForm.values_against`.
        """

    @property
    @abc.abstractmethod
    def cost(self) -> Cost:
        """What `values_against` takes, from sizes and what was measured once."""

    def in_threads(self, work: Callable[[int], None], num_parts: int) -> None:
        """Does parts of a work, 0 to num_parts - 1, each by one thread; it must release the GIL.

        What takes long shows a progress bar, if standard error is a terminal.
        """
        if self.num_threads == 1:
            _finish(map(work, range(num_parts)), num_parts)
            return
        # Threads of Python's, because numba's disturb those of other libraries.
        with concurrent.futures.ThreadPoolExecutor(self.num_threads) as threads:
            _finish(threads.map(work, range(num_parts)), num_parts)


def _finish(parts: Iterator[None], num_parts: int) -> None:
    """Waits for all parts; raises their errors."""
    import tqdm  # Small games do without.

    bar = tqdm.tqdm(parts, "payoffs", num_parts, leave=False, delay=2.0, disable=None)
    for _ in bar:
        pass


def default_threads() -> int:
    """As many threads as this process may use cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def equal_parts(first_entry: np.ndarray, num_parts: int) -> np.ndarray:
    """Bounds that share out rows by their entries: int64 [num_parts + 1].

    Args:
      first_entry: int [R + 1], the first entry of each row.
      num_parts: how many parts.
    """
    shares = np.arange(1, num_parts) * int(first_entry[-1]) // num_parts
    inner = np.searchsorted(first_entry, shares)
    return np.concatenate([[0], inner, [len(first_entry) - 1]]).astype(np.int64)
