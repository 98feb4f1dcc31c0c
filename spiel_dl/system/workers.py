"""Crews of workers, behind `spiel_dl.system.distributed`: processes, or tasks of a Ray cluster."""

from __future__ import annotations

import abc
import collections
import contextlib
import functools
import logging
import multiprocessing
import os
import reprlib
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for_futures
from concurrent.futures.process import BrokenProcessPool
from types import ModuleType
from typing import Any, Generic, Self, TypeVar

import pebble

from spiel_dl.system.messages import how_to_install

Ticket = TypeVar("Ticket")

_LOG = logging.getLogger(__name__)
# Libraries read these once, when they are loaded, so a worker must be born with them.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
# Of two threads, the later one would take what the earlier one sets for what was there before.
_CHANGING_ENVIRONMENT = threading.RLock()


class WorkerDiedError(RuntimeError):
    """Workers died over one item more often than it may be retried."""


class DeathError(Exception):
    """A worker died over its item."""


class Crew(abc.ABC, Generic[Ticket]):
    """Workers of one function. Each item they are given gets a ticket, good for its result."""

    def __enter__(self) -> Self:
        return self

    @abc.abstractmethod
    def __exit__(self, *_: object) -> None:
        """Sends the workers home."""

    @abc.abstractmethod
    def submit(self, item: Any) -> Ticket:
        """Gives an item to an idle worker."""

    @abc.abstractmethod
    def wait(self, tickets: Collection[Ticket]) -> Collection[Ticket]:
        """Those whose items are finished, as soon as there is one."""

    @abc.abstractmethod
    def result(self, ticket: Ticket) -> Any:
        """The result of a finished item.

        Raises:
          DeathError: if its worker died.
          Exception: what the function raised.
        """


def share_out(
    crew: Crew[Ticket], num_workers: int, items: Sequence[Any], max_retries: int
) -> Generator[tuple[int, Any], None, None]:
    """What `Engine.results` does, with a crew."""
    waiting = collections.deque(range(len(items)))
    under_way: dict[Ticket, int] = {}
    deaths: collections.Counter[int] = collections.Counter()
    failure: Exception | None = None
    while under_way or (waiting and failure is None):
        while waiting and failure is None and len(under_way) < num_workers:
            number = waiting.popleft()
            under_way[crew.submit(items[number])] = number
        for ticket in crew.wait(under_way.keys()):
            number = under_way.pop(ticket)
            try:
                result = crew.result(ticket)
            except DeathError as death:
                _LOG.warning("a worker died over item %d, counted from 0", number)
                deaths[number] += 1
                waiting.appendleft(number)
                if deaths[number] > max_retries:
                    failure = failure or _hopeless(number, deaths[number], death)
            except Exception as error:
                name_item(error, number, items[number])
                failure = failure or error
            else:
                yield number, result
    if failure is not None:
        raise failure


def name_item(error: Exception, number: int, item: object) -> None:
    """Says in a note to an error which item it came from."""
    error.add_note(f"raised for item {number}, counted from 0: {reprlib.repr(item)}")


def _hopeless(number: int, num_deaths: int, death: DeathError) -> WorkerDiedError:
    error = WorkerDiedError(
        f"{num_deaths} worker(s) died over item {number}, counted from 0; if memory was wanting, "
        'use fewer workers; in a script, begin below `if __name__ == "__main__":`, because '
        "workers import it; and otherwise raise max_retries"
    )
    error.__cause__ = death.__cause__
    return error


class _Process(multiprocessing.context.SpawnProcess):
    """A process that starts in the environment of workers."""

    def start(self) -> None:
        with worker_environment():
            super().start()


class SpawnContext(multiprocessing.context.SpawnContext):
    """Starts workers. A forked one would inherit locks of threads that it does not have."""

    Process = _Process


DEATHS = (pebble.ProcessExpired, BrokenProcessPool)
"""What a future of a `KillablePool` raises if its process died."""


class KillablePool:
    """Processes, each started when it is needed; another takes the place of one that is killed."""

    def __init__(self, num_workers: int, initializer: Callable[..., None], *arguments: Any):
        """Starts nothing yet.

        Args:
          num_workers: how many.
          initializer: what each process does first.
          *arguments: of that.
        """
        self._start = functools.partial(
            pebble.ProcessPool,
            num_workers,
            initializer=initializer,
            initargs=arguments,
            context=SpawnContext(),
        )
        self._pool = self._start()

    def schedule(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """What a function will answer; to cancel it kills its process."""
        if not self._pool.active:  # A process died while it was idle.
            self.end(is_now=True)
            self._pool = self._start()
        future: Future[Any] = self._pool.schedule(function, arguments)
        return future

    def end(self, *, is_now: bool) -> None:
        """Ends all processes, if need be by killing them, or waits for what they do."""
        if is_now:
            self._pool.stop()
        else:
            self._pool.close()
        self._pool.join()


class Processes(Crew[Future[Any]]):
    """Processes of this machine; if one dies, another takes its place."""

    def __init__(self, function: Callable[[Any], Any], num_workers: int):
        """Starts them when there is work."""
        self._function = function
        self._pool = KillablePool(num_workers, end_with_parent)

    def __exit__(self, *exception: object) -> None:
        # After Ctrl-C, nobody waits for what is under way.
        self._pool.end(is_now=KeyboardInterrupt in exception)

    def submit(self, item: Any) -> Future[Any]:
        """See `Crew`."""
        return self._pool.schedule(self._function, item)

    def wait(self, tickets: Collection[Future[Any]]) -> Collection[Future[Any]]:
        """See `Crew`."""
        return wait_for_futures(tickets, return_when=FIRST_COMPLETED).done

    def result(self, ticket: Future[Any]) -> Any:
        """See `Crew`."""
        try:
            return ticket.result()
        except DEATHS as error:
            raise DeathError from error


def _of_workers() -> dict[str, str]:
    """The environment of workers: one thread, modules where this process finds them, own games.

    What a script imports from its own folder, such as `experiments`, is not installed. The
    empty entry of an interactive session is its directory.
    """
    paths = [os.path.abspath(path) for path in sys.path if not path or os.path.isdir(path)]
    own = {name: text for name, text in os.environ.items() if name.startswith("SPIEL_DL_")}
    return {**_ONE_THREAD, **own, "PYTHONPATH": os.pathsep.join(paths)}


def end_with_parent() -> None:
    """Makes a worker end when the process that started it is gone, even if that was killed.

    Ctrl-C goes to both; it ends the worker without a word.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class RayTasks(Crew[Any]):
    """Each item is a task of a Ray cluster."""

    def __init__(self, function: Callable[[Any], Any], ray: ModuleType):
        self._ray = ray
        self._function = ray.put(function)
        # Ray's own retries know no limit where memory was wanting.
        self._task = ray.remote(_apply).options(
            max_retries=0, num_cpus=1, runtime_env={"env_vars": _of_workers()}
        )
        self._busy: set[Any] = set()

    def __exit__(self, *_: object) -> None:
        for ticket in self._busy:
            self._ray.cancel(ticket, force=True)

    def submit(self, item: Any) -> Any:
        """See `Crew`."""
        ticket = self._task.remote(self._function, item)
        self._busy.add(ticket)
        return ticket

    def wait(self, tickets: Collection[Any]) -> Collection[Any]:
        """See `Crew`."""
        return self._ray.wait(list(tickets))[0]

    def result(self, ticket: Any) -> Any:
        """See `Crew`."""
        self._busy.remove(ticket)
        try:
            return self._ray.get(ticket)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            raise DeathError from error


def _apply(function: Callable[[Any], Any], item: Any) -> Any:
    """Ray makes tasks of plain functions only, and this one is on all its machines."""
    return function(item)


@contextlib.contextmanager
def ray_connection(num_cpus: int, address: str | None) -> Iterator[ModuleType]:
    """The module `ray`, connected to a cluster; a connection that is made here ends here.

    Args:
      num_cpus: of a cluster that is started here.
      address: of a running cluster. None: the one that this program is connected to, or a new one.

    Raises:
      ValueError: if Ray is not installed, if no cluster answers at the address, or if this program
        is connected to another one.
    """
    try:
        import ray
    except ImportError:
        raise ValueError(f"Ray is not installed: {how_to_install('ray')}") from None
    if ray.is_initialized():
        connected = ray.get_runtime_context().gcs_address
        if address not in (None, connected):
            raise ValueError(
                f"this program is connected to the Ray cluster {connected} already; pass that "
                f"address, not {address}, or call ray.shutdown() first"
            )
        yield ray
        return
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        options |= {"address": "local", "num_cpus": num_cpus, "include_dashboard": False}
    else:
        options |= {"address": address}
    # Without reports of its usage to its makers, a cluster is also up sooner.
    with _environment({"RAY_USAGE_STATS_ENABLED": "0"}):
        try:
            _check_reachable(address)
            ray.init(**options)
        except (OSError, ValueError) as error:
            if address is None:
                raise
            raise ValueError(
                f"no Ray cluster at address={address} ({error}); `ray start --head` starts one and "
                "says its address"
            ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str | None) -> None:
    """Raises an OSError if nobody listens at HOST:PORT; Ray would go on trying for minutes."""
    host, _, port = (address or "").rpartition(":")
    if host and "/" not in host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def worker_environment() -> contextlib.AbstractContextManager[None]:
    """The environment of workers, for processes that are started meanwhile."""
    return _environment(_of_workers())


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for processes that are started meanwhile, by one thread at a time."""
    with _CHANGING_ENVIRONMENT:
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
            # Whatever it compiled meanwhile, numba has read them then.
            if "numba" in sys.modules:
                sys.modules["numba"].config.reload_config()
