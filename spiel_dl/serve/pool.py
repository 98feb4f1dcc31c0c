"""Worker processes that compute results within a time limit, or are killed.

    pool = Pool(num_workers=2, seconds=30)
    result = await pool.run(function, argument, key="leduc_poker")

A worker runs one call at a time, and keeps caches in its modules between calls. A call that waits
or runs longer than the limit ends with an error; a call that is cancelled is stopped.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import importlib
import logging
import math
import signal
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any

from spiel_dl.system.workers import DEATH_ERRORS, KillablePool, end_with_parent

_LOG = logging.getLogger(__name__)
_START_SECONDS = 120.0
"""Time limit of a worker's start, which does not count for a call."""
_MAX_KEYS = 4
"""Keys remembered for each worker: as many as policies that it keeps, see `serve.thinking`."""
_GRACE = 2.0
"""Seconds for which a cancelled call may go on: killing a worker costs the next visitor the time of
loading its policies again."""


class BusyError(Exception):
    """Too many calls are waiting, or one has waited too long."""


class TooLongError(Exception):
    """A call took longer than the limit."""


class WorkerGoneError(Exception):
    """A worker died during its call."""


class Pool:
    """Worker processes, started on demand.

    Attributes:
      seconds: time limit of a call, including the time that it waits for a worker.
    """

    def __init__(
        self,
        num_workers: int,
        seconds: float,
        *,
        max_waiting: int = 100,
        modules: tuple[str, ...] = (),
    ):
        """Starts no worker yet.

        Args:
          num_workers: number of calls that run at a time.
          seconds: time limit of a call.
          max_waiting: maximum number of calls that wait for a worker.
          modules: imported by each worker before its first call.

        Raises:
          ValueError: if a number is not positive, or not finite.
        """
        if not 0 < seconds < math.inf:
            raise ValueError(f"seconds={seconds} must be positive and finite")
        if num_workers < 1 or max_waiting < 1:
            raise ValueError(
                f"num_workers={num_workers} and max_waiting={max_waiting} must be positive"
            )
        self.seconds = seconds
        self._max_waiting = max_waiting
        self._workers = [_Worker(modules) for _ in range(num_workers)]
        self._idle = list(self._workers)
        self._num_idle = asyncio.Semaphore(num_workers)  # The first to wait is the first served.
        self._num_waiting = 0
        self._endings: set[asyncio.Task[None]] = set()

    async def run(self, function: Callable[..., Any], *arguments: Any, key: Hashable = None) -> Any:
        """A function's result, computed by a worker.

        Args:
          function: of a module.
          arguments: its arguments; they and the result are pickled.
          key: workers that ran a call of the same key are preferred; None: no preference.

        Raises:
          BusyError: if too many calls are waiting.
          TooLongError: if it takes longer than the limit.
          WorkerGoneError: if the worker died.
          Exception: as the function raised.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self.seconds
        worker = await self._acquire(key, end)
        call, limit, before = worker.started(), _START_SECONDS, loop.time()
        try:
            await _result_by(before + limit, call)
            end += loop.time() - before  # The start of the worker does not count.
            call, limit = worker.begin(function, *arguments), self.seconds
            return await _result_by(end, call)
        except TimeoutError as error:
            worker.kill(call)
            raise TooLongError(
                f"this took longer than {limit:g} seconds and was stopped; try fewer iterations, "
                "or a smaller game"
            ) from error
        except DEATH_ERRORS as error:
            worker.forget()
            raise WorkerGoneError(
                "the process that computed this has ended; the game may be too large for this "
                "machine's memory"
            ) from error
        finally:
            if call.done() or call is worker.started():
                self._release(worker)
            else:
                ending = asyncio.create_task(self._end(worker, call))
                self._endings.add(ending)
                ending.add_done_callback(self._endings.discard)

    def start(self) -> None:
        """Starts the workers, so that the first calls need not wait for that."""
        for worker in self._workers:
            worker.started()

    async def _acquire(self, key: Hashable, end: float) -> _Worker:
        """Waits for a worker, behind all earlier calls."""
        if self._num_idle.locked() and self._num_waiting >= self._max_waiting:
            raise BusyError("too many others are waiting; try again in a moment")
        self._num_waiting += 1
        try:
            async with asyncio.timeout_at(end):
                await self._num_idle.acquire()
        except TimeoutError as error:
            raise BusyError(
                f"no worker was free for {self.seconds:g} seconds; try again in a moment"
            ) from error
        finally:
            self._num_waiting -= 1
        # Prefers a worker that ran a call of this key, else the one with the fewest keys.
        worker = min(self._idle, key=lambda idle: (key not in idle.keys, len(idle.keys)))
        self._idle.remove(worker)
        worker.remember(key)
        return worker

    def _release(self, worker: _Worker) -> None:
        self._idle.append(worker)
        self._num_idle.release()

    async def _end(self, worker: _Worker, call: Future[Any]) -> None:
        """Ends a cancelled call: waits for a moment, then kills the worker's process."""
        with contextlib.suppress(Exception, asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(call)), _GRACE)
        worker.kill(call)
        self._release(worker)

    async def close(self) -> None:
        """Ends all workers."""
        for worker in self._workers:
            worker.end()
        for ending in list(self._endings):
            await ending


class _Worker:
    """A process that runs calls; it is replaced if it is killed.

    Attributes:
      keys: of its latest calls, the newest last.
    """

    def __init__(self, modules: tuple[str, ...]):
        self.keys: collections.deque[Hashable] = collections.deque(maxlen=_MAX_KEYS)
        self._process = KillablePool(1, _initialize, modules)
        self._started: Future[Any] | None = None

    def remember(self, key: Hashable) -> None:
        """Records a key, unless it is None."""
        if key is None:
            return
        if key in self.keys:
            self.keys.remove(key)
        self.keys.append(key)

    def started(self) -> Future[Any]:
        """Starts the process if need be; the future is done once it is ready."""
        if self._started is None:
            self._started = self.begin(_do_nothing)
        return self._started

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begins a call; the future of its result."""
        return self._process.schedule(_call, function, arguments)

    def kill(self, call: Future[Any]) -> None:
        """Kills the process if the call is not finished."""
        if call.cancel():
            self.forget()

    def forget(self) -> None:
        """Records that the process has ended."""
        self.keys.clear()
        self._started = None

    def end(self) -> None:
        """Kills the process."""
        self._process.end(is_now=True)


async def _result_by(end: float, call: Future[Any]) -> Any:
    """The result of a call; a TimeoutError if it is not finished by `end`, a time of the loop."""
    left = end - asyncio.get_running_loop().time()
    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(call)), left)


def _initialize(modules: tuple[str, ...]) -> None:
    """Initialises a worker process."""
    end_with_parent()
    # Ctrl-C stops the server, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in modules:
        importlib.import_module(module)


def _do_nothing() -> None:
    """The first call of a worker, which starts its process."""


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Calls a function in a worker; raises exceptions that can be pickled."""
    try:
        return function(*arguments)
    except Exception as error:
        if not isinstance(error, ValueError):
            _LOG.exception("a task failed")
        raise error if type(error) is ValueError else _picklable(error) from None


def _picklable(error: Exception) -> Exception:
    if isinstance(error, MemoryError):
        details = f": {error}" if str(error) else ""
        return ValueError(f"this needs more memory than there is; try a smaller game{details}")
    if isinstance(error, UnicodeError):  # from a state's text that OpenSpiel cuts short
        return ValueError(f"a text of this game cannot be shown: {error}; try a smaller game")
    if isinstance(error, ValueError):
        return ValueError(str(error) or f"this was refused, by a {type(error).__name__}")
    return RuntimeError(f"{type(error).__name__}: {error}")
