"""`FactoredForm`: a sequence form whose payoff matrix is never listed."""

from __future__ import annotations

import abc
import concurrent.futures
import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex, add_constants

Pair = tuple[np.ndarray, np.ndarray]


class Cost(NamedTuple):
    """An estimate of what computing a player's values against a plan costs.

    Attributes:
      seconds: on one core.
      num_bytes: of memory, without plans and values themselves.
    """

    seconds: float
    num_bytes: int


@dataclasses.dataclass(frozen=True, eq=False)
class FactoredForm(abc.ABC):
    """A sequence form whose payoff matrix is a product of others, none of which is ever listed.

    It has the interface of `SequenceForm` except `payoffs`, `payoffs_for` and `scaled`.

    Attributes:
      treeplexes: both players' strategy spaces.
      utility_range: largest minus smallest utility.
      num_threads: threads for the payoffs. Results do not depend on it.
    """

    treeplexes: tuple[Treeplex, Treeplex]
    utility_range: float
    num_threads: int

    @property
    def constants(self) -> Pair | None:
        """See `SequenceForm`; None: no sequence pays whatever the opponent does."""
        return None

    @abc.abstractmethod
    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """The payoff of each of a player's sequences itself: float64 [S_p], a new array.

        See `SequenceForm.values_against`.
        """

    @property
    @abc.abstractmethod
    def cost(self) -> Cost:
        """The cost of `values_against`, estimated from sizes by measured constants."""

    def with_constants(self, sequences: Pair, values: Pair) -> DerivedForm:
        """See `SequenceForm.with_constants`."""
        return self.replacing_constants(
            add_constants(self.treeplexes, self.constants, sequences, values)
        )

    def replacing_constants(self, constants: Pair) -> DerivedForm:
        """See `SequenceForm.replacing_constants`."""
        return dataclasses.replace(self._as_derived, own_constants=constants)

    def swapped(self) -> DerivedForm:
        """See `SequenceForm.swapped`."""
        form = self._as_derived
        constants = None if form.own_constants is None else form.own_constants[::-1]
        return dataclasses.replace(
            form,
            treeplexes=form.treeplexes[::-1],
            order=form.order[::-1],
            new_sequences=form.new_sequences[::-1],
            own_constants=constants,
        )

    def embedded(
        self, player: int, treeplex: Treeplex, new_sequences: np.ndarray, constants: Pair
    ) -> DerivedForm:
        """See `SequenceForm.embedded`."""
        form = self._as_derived
        treeplexes, all_sequences = list(form.treeplexes), list(form.new_sequences)
        old = all_sequences[player]
        treeplexes[player] = treeplex
        all_sequences[player] = new_sequences if old is None else new_sequences[old]
        return dataclasses.replace(
            form,
            treeplexes=(treeplexes[0], treeplexes[1]),
            new_sequences=(all_sequences[0], all_sequences[1]),
            own_constants=constants,
        )

    @property
    def _as_derived(self) -> DerivedForm:
        """This form as a `DerivedForm` without changes."""
        return DerivedForm(self.treeplexes, self.utility_range, self.num_threads, self)

    def in_threads(self, work: Callable[[int], None], num_parts: int) -> None:
        """Calls `work` with 0 to num_parts - 1, in threads; it must release the GIL.

        Shows a progress bar after two seconds, if standard error is a terminal.
        """
        if self.num_threads == 1:
            _finish(map(work, range(num_parts)), num_parts)
            return
        # Python threads, because numba's disturb those of other libraries.
        with concurrent.futures.ThreadPoolExecutor(self.num_threads) as threads:
            _finish(threads.map(work, range(num_parts)), num_parts)


@dataclasses.dataclass(frozen=True, eq=False)
class DerivedForm(FactoredForm):
    """A factored form with a gadget, with constants, or with the players' names exchanged.

    Attributes:
      base: the form whose payoffs it has.
      order: the base's player that each player here is.
      new_sequences: for each player here, int [S_p of `base`], the number here of each of the
        base's sequences; None: unchanged.
      own_constants: see `constants`.
    """

    base: FactoredForm
    order: tuple[int, int] = (0, 1)
    new_sequences: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
    own_constants: Pair | None = None

    @property
    def constants(self) -> Pair | None:
        """See `FactoredForm.constants`."""
        return self.own_constants

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """See `FactoredForm.values_against`."""
        own, other = self.new_sequences[player], self.new_sequences[1 - player]
        plan = opponent_plan if other is None else opponent_plan[other]
        values = self.base.values_against(self.order[player], plan)
        if own is not None:
            base_values = values
            values = np.zeros(self.treeplexes[player].num_sequences)
            values[own] = base_values
        if self.own_constants is not None:
            values += self.own_constants[player]
        return values

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        return self.base.cost

    @property
    def _as_derived(self) -> DerivedForm:
        return self


def _finish(parts: Iterator[None], num_parts: int) -> None:
    """Waits for all parts, and raises their errors."""
    import tqdm  # Small games do without.

    bar = tqdm.tqdm(parts, "payoffs", num_parts, leave=False, delay=2.0, disable=None)
    for _ in bar:
        pass


def default_threads() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def equal_parts(first_entry: np.ndarray, num_parts: int) -> np.ndarray:
    """Bounds of parts of rows with about equal numbers of entries: int64 [num_parts + 1].

    Args:
      first_entry: int [R + 1], the first entry of each row.
      num_parts: the number of parts.
    """
    shares = np.arange(1, num_parts) * int(first_entry[-1]) // num_parts
    inner = np.searchsorted(first_entry, shares)
    return np.concatenate([[0], inner, [len(first_entry) - 1]]).astype(np.int64)
