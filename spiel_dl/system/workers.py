"""Processes that work for this one: killable ones of this machine, or a Ray cluster's."""

from __future__ import annotations

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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for_futures
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from types import ModuleType
from typing import Any

import pebble

from spiel_dl.system.messages import how_to_install

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
DEATHS = (pebble.ProcessExpired, BrokenProcessPool)
"""What a future of a `KillablePool` raises if its process died."""


class WorkerDiedError(RuntimeError):
    """Workers died over one item more often than it may be retried."""


class _Process(multiprocessing.context.SpawnProcess):
    """A process that starts in the environment of workers."""

    def start(self) -> None:
        with worker_environment():
            super().start()


class SpawnContext(multiprocessing.context.SpawnContext):
    """Starts workers. A forked one would inherit locks of threads that it does not have."""

    Process = _Process


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
        if os.name == "posix":  # Windows has none.
            with worker_environment():
                resource_tracker.ensure_running()
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


def share_out(
    submit: Callable[[Any], Future[Any]],
    num_workers: int,
    items: Sequence[Any],
    max_retries: int,
    deaths: tuple[type[Exception], ...] = DEATHS,
) -> Generator[tuple[int, Any], None, None]:
    """What `Engine.results` does.

    Args:
      submit: gives an item to an idle worker.
      num_workers: how many items are under way at once.
      items: all of them.
      max_retries: how often an item is begun again.
      deaths: errors by which a future says that its worker died.
    """
    waiting = collections.deque(range(len(items)))
    under_way: dict[Future[Any], int] = {}
    num_deaths: collections.Counter[int] = collections.Counter()
    failure: BaseException | None = None
    while under_way or (waiting and failure is None):
        while waiting and failure is None and len(under_way) < num_workers:
            number = waiting.popleft()
            under_way[submit(items[number])] = number
        for future in wait_for_futures(under_way, return_when=FIRST_COMPLETED).done:
            number = under_way.pop(future)
            error = future.exception()
            if isinstance(error, deaths):
                error = getattr(error, "cause", error)  # Ray's has that of the function within.
            if error is None:
                yield number, future.result()
            elif isinstance(error, deaths):
                _LOG.warning("a worker died over item %d, counted from 0", number)
                num_deaths[number] += 1
                waiting.appendleft(number)
                if num_deaths[number] > max_retries:
                    failure = failure or _hopeless(number, num_deaths[number], error)
            else:
                name_item(error, number, items[number])
                failure = failure or error
    if failure is not None:
        raise failure


def name_item(error: BaseException, number: int, item: object) -> None:
    """Says in a note to an error which item it came from."""
    error.add_note(f"raised for item {number}, counted from 0: {reprlib.repr(item)}")


def _hopeless(number: int, num_deaths: int, death: BaseException) -> WorkerDiedError:
    error = WorkerDiedError(
        f"{num_deaths} worker(s) died over item {number}, counted from 0; if memory was wanting, "
        'use fewer workers; in a script, begin below `if __name__ == "__main__":`, because '
        "workers import it; and otherwise raise max_retries"
    )
    error.__cause__ = death
    return error


def _of_workers() -> dict[str, str]:
    """The environment of workers: one thread, modules where this process finds them, own games.

    What a script imports from its own folder, such as `experiments`, is not installed. The
    empty entry of an interactive session is its directory.
    """
    paths = [os.path.abspath(path) for path in sys.path if not path or os.path.isdir(path)]
    own = {name: text for name, text in os.environ.items() if name.startswith("SPIEL_DL_")}
    # A worker that is killed while it ends leaves semaphores, which Python's tracker takes away.
    quiet = "ignore::UserWarning:multiprocessing.resource_tracker"
    warned = os.environ.get("PYTHONWARNINGS")
    return {
        **_ONE_THREAD,
        **own,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONWARNINGS": f"{warned},{quiet}" if warned else quiet,
    }


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


@contextlib.contextmanager
def ray_tasks(
    function: Callable[[Any], Any], num_cpus: int, address: str | None
) -> Iterator[tuple[Callable[[Any], Future[Any]], type[Exception]]]:
    """What submits items to a Ray cluster, and the error of a worker's death.

    Arguments and errors are those of `_ray_connection`.
    """
    with _ray_connection(num_cpus, address) as ray:
        shared, started = ray.put(function), []
        # Ray's own retries know no limit where memory was wanting.
        task = ray.remote(_apply).options(
            max_retries=0, num_cpus=1, runtime_env={"env_vars": _of_workers()}
        )

        def submit(item: Any) -> Future[Any]:
            started.append(task.remote(shared, item))
            future: Future[Any] = started[-1].future()
            return future

        try:
            yield submit, ray.exceptions.RayError
        finally:
            for each in started:
                ray.cancel(each, force=True)


def _apply(function: Callable[[Any], Any], item: Any) -> Any:
    """Ray makes tasks of plain functions only, and this one is on all its machines."""
    return function(item)


@contextlib.contextmanager
def _ray_connection(num_cpus: int, address: str | None) -> Iterator[ModuleType]:
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
