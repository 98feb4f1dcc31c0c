"""Worker processes: a pool of killable ones on this machine, or those of a Ray cluster."""

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
# Libraries read these when they are loaded, so a worker must be started with them.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
# One thread at a time changes os.environ, or another would restore the changed values.
_ENVIRONMENT_LOCK = threading.RLock()
DEATH_ERRORS = (pebble.ProcessExpired, BrokenProcessPool)
"""The exceptions of a `KillablePool`'s future whose process died."""


class WorkerDiedError(RuntimeError):
    """The workers of one item died more often than it may be retried."""


class _Process(multiprocessing.context.SpawnProcess):
    """A process that is started with the environment variables of workers."""

    def start(self) -> None:
        with worker_environment():
            super().start()


class SpawnContext(multiprocessing.context.SpawnContext):
    """Spawns workers: a forked one would inherit locks of threads that it does not have."""

    Process = _Process


class KillablePool:
    """A pool of processes that are started on demand, and replaced when they are killed."""

    def __init__(self, num_workers: int, initializer: Callable[..., None], *arguments: Any):
        """Starts no process yet.

        Args:
          num_workers: number of processes.
          initializer: called first in each process.
          *arguments: of the initializer.
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
        """The future of a function's result; cancelling it kills the process."""
        if not self._pool.active:  # A process died while it was idle.
            self.end(is_now=True)
            self._pool = self._start()
        future: Future[Any] = self._pool.schedule(function, arguments)
        return future

    def end(self, *, is_now: bool) -> None:
        """Ends all processes: at once by killing them, or when their calls are finished."""
        if is_now:
            self._pool.stop()
        else:
            self._pool.close()
        self._pool.join()


def run_items(
    submit: Callable[[Any], Future[Any]],
    num_workers: int,
    items: Sequence[Any],
    max_retries: int,
    death_errors: tuple[type[Exception], ...] = DEATH_ERRORS,
) -> Generator[tuple[int, Any], None, None]:
    """Runs items on workers and yields pairs (item number, result), see `Engine.results`.

    Args:
      submit: passes an item to an idle worker.
      num_workers: number of items under way at once.
      items: all items.
      max_retries: how often an item is begun again.
      death_errors: exceptions of a future whose worker died.
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
            if isinstance(error, death_errors):
                error = getattr(error, "cause", error)  # Ray wraps the function's own exception.
            if error is None:
                yield number, future.result()
            elif isinstance(error, death_errors):
                _LOG.warning("a worker died over item %d, counted from 0", number)
                num_deaths[number] += 1
                waiting.appendleft(number)
                if num_deaths[number] > max_retries:
                    failure = failure or _died_error(number, num_deaths[number], error)
            else:
                name_item(error, number, items[number])
                failure = failure or error
    if failure is not None:
        raise failure


def name_item(error: BaseException, number: int, item: object) -> None:
    """Adds a note to an error that names its item."""
    error.add_note(f"raised for item {number}, counted from 0: {reprlib.repr(item)}")


def _died_error(number: int, num_deaths: int, death: BaseException) -> WorkerDiedError:
    error = WorkerDiedError(
        f"{num_deaths} worker(s) died over item {number}, counted from 0; if memory was wanting, "
        'use fewer workers; in a script, begin below `if __name__ == "__main__":`, because '
        "workers import it; and otherwise raise max_retries"
    )
    error.__cause__ = death
    return error


def _worker_variables() -> dict[str, str]:
    """Environment variables of workers: one thread, this process's `sys.path` and SPIEL_DL_*.

    A script may import from its own folder, such as `experiments`, which is not installed. The
    empty entry of an interactive session's `sys.path` is the working directory.
    """
    paths = [os.path.abspath(path) for path in sys.path if not path or os.path.isdir(path)]
    own = {name: text for name, text in os.environ.items() if name.startswith("SPIEL_DL_")}
    # Python's tracker warns about semaphores of killed workers, although it removes them.
    ignored = "ignore::UserWarning:multiprocessing.resource_tracker"
    filters = os.environ.get("PYTHONWARNINGS")
    return {
        **_ONE_THREAD,
        **own,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONWARNINGS": f"{filters},{ignored}" if filters else ignored,
    }


def end_with_parent() -> None:
    """Makes a worker exit when its parent process has ended, even if that was killed.

    Ctrl-C ends the worker without a message.
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
    """A function that submits items to a Ray cluster, and the exception of a worker's death.

    Arguments and errors are those of `_ray_connection`.
    """
    with _ray_connection(num_cpus, address) as ray:
        shared, started = ray.put(function), []
        # Ray's own retries are unlimited when a worker runs out of memory.
        task = ray.remote(_apply).options(
            max_retries=0, num_cpus=1, runtime_env={"env_vars": _worker_variables()}
        )

        def submit(item: Any) -> Future[Any]:
            started.append(task.remote(shared, item))
            future: Future[Any] = started[-1].future()
            return future

        try:
            yield submit, ray.exceptions.RayError
        finally:
            for reference in started:
                ray.cancel(reference, force=True)


def _apply(function: Callable[[Any], Any], item: Any) -> Any:
    """Calls a function: Ray's tasks must be plain functions that are installed on its machines."""
    return function(item)


@contextlib.contextmanager
def _ray_connection(num_cpus: int, address: str | None) -> Iterator[ModuleType]:
    """The module `ray`, connected to a cluster; a connection made here is closed at the end.

    Args:
      num_cpus: of a cluster that is started here.
      address: of a running cluster; "local": a new one. None: the one that this program is
        connected to, or a new one.

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
    is_new = address in (None, "local")
    if is_new:
        options |= {"address": "local", "num_cpus": num_cpus, "include_dashboard": False}
    else:
        options |= {"address": address}
    # Without usage reports, a cluster also starts faster.
    with _environment({"RAY_USAGE_STATS_ENABLED": "0"}):
        try:
            _check_reachable(address)
            ray.init(**options)
        except (OSError, ValueError) as error:
            if is_new:
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
    """Raises an OSError if nothing listens at HOST:PORT; Ray itself would try for minutes."""
    host, _, port = (address or "").rpartition(":")
    if host and "/" not in host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def worker_environment() -> contextlib.AbstractContextManager[None]:
    """Sets the environment variables of workers while processes are started in the block."""
    return _environment(_worker_variables())


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables while processes are started in the block."""
    with _ENVIRONMENT_LOCK:
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
            # If numba compiled something in the block, it has read the changed variables.
            if "numba" in sys.modules:
                sys.modules["numba"].config.reload_config()
