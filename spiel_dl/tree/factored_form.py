"""`FactoredForm`: a sequence form without a list of payoffs."""

from __future__ import annotations

import abc
import concurrent.futures
import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex, added

Pair = tuple[np.ndarray, np.ndarray]


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
    def constants(self) -> Pair | None:
        """See `SequenceForm`; None: no sequence pays whatever the opponent does."""
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

    def with_constants(self, sequences: Pair, values: Pair) -> ChangedForm:
        """See `SequenceForm.with_constants`."""
        return self.paying(added(self.treeplexes, self.constants, sequences, values))

    def paying(self, constants: Pair) -> ChangedForm:
        """See `SequenceForm.paying`."""
        return dataclasses.replace(self._changed, paid=constants)

    def swapped(self) -> ChangedForm:
        """See `SequenceForm.swapped`."""
        form = self._changed
        paid = None if form.paid is None else form.paid[::-1]
        return dataclasses.replace(
            form,
            treeplexes=form.treeplexes[::-1],
            order=form.order[::-1],
            places=form.places[::-1],
            paid=paid,
        )

    def behind(
        self, player: int, treeplex: Treeplex, new_sequences: np.ndarray, constants: Pair
    ) -> ChangedForm:
        """See `SequenceForm.behind`."""
        form = self._changed
        treeplexes, places = list(form.treeplexes), list(form.places)
        old = places[player]
        treeplexes[player] = treeplex
        places[player] = new_sequences if old is None else new_sequences[old]
        return dataclasses.replace(
            form,
            treeplexes=(treeplexes[0], treeplexes[1]),
            places=(places[0], places[1]),
            paid=constants,
        )

    @property
    def _changed(self) -> ChangedForm:
        """The same, ready to be changed."""
        return ChangedForm(self.treeplexes, self.utility_range, self.num_threads, self)

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


@dataclasses.dataclass(frozen=True, eq=False)
class ChangedForm(FactoredForm):
    """A factored form behind a gadget, with constants, or with the players' names exchanged.

    Attributes:
      whole: whose payoffs it has.
      order: which player there each of the players here is.
      places: for each player here, int [S_p] of `whole`, which sequences here those there are;
        None: the same ones.
      paid: see `constants`.
    """

    whole: FactoredForm
    order: tuple[int, int] = (0, 1)
    places: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
    paid: Pair | None = None

    @property
    def constants(self) -> Pair | None:
        """See `FactoredForm.constants`."""
        return self.paid

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """See `FactoredForm.values_against`."""
        own, other = self.places[player], self.places[1 - player]
        plan = opponent_plan if other is None else opponent_plan[other]
        values = self.whole.values_against(self.order[player], plan)
        if own is not None:
            found = np.zeros(self.treeplexes[player].num_sequences)
            found[own] = values
            values = found
        if self.paid is not None:
            values += self.paid[player]
        return values

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        return self.whole.cost

    @property
    def _changed(self) -> ChangedForm:
        return self


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
