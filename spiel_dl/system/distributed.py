"""One `map`: in this process, in other processes of this machine, or on a Ray cluster.

  results = distributed.map(function, items, distributed.LocalProcesses(2))

The results are the same for every engine and number of workers, provided that the function's result
depends on its item alone. A random function takes its seed from its item.

  engine            workers
  InProcess         this process
  LocalProcesses    spawned processes of this machine, so that the function and the items must be
                    picklable and a script needs the usual `if __name__ == "__main__":`
  Ray               workers of a Ray cluster (pip install -c constraints.txt -e ".[ray]" in the
                    repository); the function's module must be installed there too, or, on this
                    machine, lie on this process's `sys.path`; no files need be shared, since
                    results are returned to this process

Each worker process computes with one thread and does one item at a time; `InProcess` uses the
threads of this process. If a worker dies (killed, out of memory, or with its machine), another
worker begins its item again, and all finished results are kept. An error in the function is not
retried; it ends the map once the items under way are finished.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

import tqdm

from spiel_dl.system.workers import KillablePool, end_with_parent, name_item, ray_tasks, run_items
from spiel_dl.system.workers import WorkerDiedError as WorkerDiedError

_PROCESSES_PER_CORE = 32
Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(abc.ABC):
    """Computes the items of `map` and `for_each`."""

    threads = "each worker process with one thread"
    """Description of processes and threads for reports."""

    @abc.abstractmethod
    def results(
        self, function: Callable[[Item], Result], items: Sequence[Item], max_retries: int
    ) -> Generator[tuple[int, Result], None, None]:
        """Yields pairs (item number, result) as they are finished; raises as `for_each` does."""


@dataclasses.dataclass(frozen=True)
class InProcess(Engine):
    """Computes in this process, with its own threads."""

    threads = "one process with the threads that its libraries start"

    def results(
        self, function: Callable[[Item], Result], items: Sequence[Item], max_retries: int
    ) -> Generator[tuple[int, Result], None, None]:
        """See `Engine`. There are no worker deaths to retry."""
        for number, item in enumerate(items):
            try:
                result = function(item)
            except Exception as error:
                name_item(error, number, item)
                raise
            yield number, result


@dataclasses.dataclass(frozen=True)
class LocalProcesses(Engine):
    """Computes in processes of this machine, which are started for one call of `map`.

    Attributes:
      num_workers: number of processes.

    Raises:
      ValueError: if `num_workers` is not positive, or more than the machine can hold.
    """

    num_workers: int

    def __post_init__(self) -> None:
        _check_workers(self.num_workers)
        max_workers = _PROCESSES_PER_CORE * (os.cpu_count() or 1)
        if self.num_workers > max_workers:
            raise ValueError(
                f"num_workers={self.num_workers} are too many processes for this machine; take at "
                f"most {max_workers}"
            )

    def results(
        self, function: Callable[[Item], Result], items: Sequence[Item], max_retries: int
    ) -> Generator[tuple[int, Result], None, None]:
        """See `Engine`."""
        num_workers = max(1, min(self.num_workers, len(items)))
        pool = KillablePool(num_workers, end_with_parent)
        is_interrupted = False
        try:
            submit = functools.partial(pool.schedule, function)
            yield from run_items(submit, num_workers, items, max_retries)
        except KeyboardInterrupt:
            is_interrupted = True  # The items under way are not wanted any more.
            raise
        finally:
            pool.end(is_now=is_interrupted)


@dataclasses.dataclass(frozen=True)
class Ray(Engine):
    """Computes on the workers of a Ray cluster.

    Attributes:
      num_workers: number of items under way at once, with one CPU each.
      address: of a running cluster, as `ray.init` takes it; "local": one of `num_workers` CPUs on
        this machine, for one call. None: the cluster that this program is connected to already, or
        else as "local".

    Raises:
      ValueError: if `num_workers` is not positive.
    """

    num_workers: int
    address: str | None = None

    def __post_init__(self) -> None:
        _check_workers(self.num_workers)

    def results(
        self, function: Callable[[Item], Result], items: Sequence[Item], max_retries: int
    ) -> Generator[tuple[int, Result], None, None]:
        """See `Engine`.

        Raises:
          ValueError: also if Ray is not installed, if no cluster answers at the address, or if this
            program is connected to another one.
        """
        with ray_tasks(function, self.num_workers, self.address) as (submit, death_error):
            yield from run_items(submit, self.num_workers, items, max_retries, (death_error,))


IN_PROCESS = InProcess()


def map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    engine: Engine = IN_PROCESS,
    *,
    description: str | None = None,
    max_retries: int = 2,
) -> list[Result]:
    """The function's results for all items, in the items' order.

    Arguments and errors are those of `for_each`, which suits results that do not fit in memory, or
    that must not be lost if a later item fails.
    """
    results: dict[int, Result] = {}
    for_each(
        function,
        items,
        results.__setitem__,
        engine,
        description=description,
        max_retries=max_retries,
    )
    return [results[number] for number in range(len(results))]


def for_each(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    on_result: Callable[[int, Result], object],
    engine: Engine = IN_PROCESS,
    *,
    description: str | None = None,
    max_retries: int = 2,
) -> None:
    """Computes the function's results for all items, and passes each one to a callback.

    Args:
      function: of one item.
      items: the function's arguments.
      on_result: called in this process with an item's number, counted from 0, and its result, as
        soon as it is finished: in any order, once per item, and also if another item has failed.
      engine: computes the items.
      description: label of the progress bar on standard error, shown on a terminal only; None: no
        bar.
      max_retries: how often an item is begun again after its worker died.

    Raises:
      Exception: as the function or `on_result` raised; the function's has a note that names the
        item.
      WorkerDiedError: if workers died over one item more than `max_retries` times.
      ValueError: if `max_retries` is negative, or as the engine says.
    """
    if max_retries < 0:
        raise ValueError(f"max_retries={max_retries} must not be negative")
    item_list = list(items)
    with (
        tqdm.tqdm(
            total=len(item_list),
            desc=description,
            unit="item",
            disable=True if description is None else None,  # None: in a log it would be lines.
        ) as progress,
        contextlib.closing(engine.results(function, item_list, max_retries)) as results,
    ):
        for number, result in results:
            on_result(number, result)
            progress.update()


def make_engine(num_workers: int = 1, ray_address: str | None = None) -> Engine:
    """The engine of so many workers.

    Args:
      num_workers: processes, or workers of the cluster; one without a cluster: this process.
      ray_address: of a running Ray cluster; "local" starts one on this machine. Default: no Ray.

    Raises:
      ValueError: if the number of workers is not positive, or more than this machine can hold.
    """
    if ray_address:
        return Ray(num_workers, ray_address)
    return IN_PROCESS if num_workers == 1 else LocalProcesses(num_workers)


def _check_workers(num_workers: int) -> None:
    if num_workers < 1:
        raise ValueError(f"num_workers={num_workers} must be positive")
