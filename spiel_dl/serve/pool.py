"""Worker processes that answer within a time limit, or are killed.

    pool = Pool(num_workers=2, seconds=30)
    answer = await pool.run(function, argument, key="leduc_poker")

A worker computes one thing at a time and remembers what its functions keep in their modules. What
waits longer than the limit, or runs longer, ends with an error; so does what nobody wants any more.
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
_START = 120.0
"""Seconds for a worker to start; they are not its answer's."""
_REMEMBERED_KEYS = 4
"""Of each worker: as many as it keeps policies, see `serve.thinking`."""
_GRACE = 2.0
"""Seconds for which an answer that nobody wants any more may go on: to kill a worker costs the next
visitor the time in which its policies are loaded again."""


class BusyError(Exception):
    """Too many are waiting, or one has waited too long."""


class TooLongError(Exception):
    """An answer took longer than the limit."""


class WorkerGoneError(Exception):
    """A worker died over its task."""


class Pool:
    """Worker processes, each started when it is needed first.

    Attributes:
      seconds: how long an answer may take, with the time that it waits for a worker.
    """

    def __init__(
        self,
        num_workers: int,
        seconds: float,
        *,
        max_waiting: int = 100,
        modules: tuple[str, ...] = (),
    ):
        """Starts nothing yet.

        Args:
          num_workers: how many answers are computed at a time.
          seconds: how long an answer may take.
          max_waiting: how many may wait for a worker.
          modules: what each worker imports before its first answer.

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
        # A worker that becomes free is given to who waits first, so nobody waits while one is idle.
        self._waiting: collections.deque[asyncio.Future[_Worker]] = collections.deque()
        self._endings: set[asyncio.Task[None]] = set()

    async def run(self, function: Callable[..., Any], *arguments: Any, key: Hashable = None) -> Any:
        """What a function answers, computed by a worker.

        Args:
          function: of a module.
          arguments: its arguments; they are pickled, and so is what it returns.
          key: who computed something of the same key is asked before others; None: of none, which
            any worker may compute.

        Raises:
          BusyError: if there are too many others.
          TooLongError: if it takes longer than the limit.
          WorkerGoneError: if the worker died.
          Exception: what the function raised.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self.seconds
        worker = await self._acquire(key, end)
        call, limit, before = worker.started(), _START, loop.time()
        try:
            await _answer_by(before + limit, call)
            end += loop.time() - before  # What it takes to start is not the answer's fault.
            call, limit = worker.begin(function, *arguments), self.seconds
            return await _answer_by(end, call)
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
        """Starts the workers, so that the first ones who ask need not wait for that."""
        for worker in self._workers:
            worker.started()

    async def _acquire(self, key: Hashable, end: float) -> _Worker:
        if self._idle:
            # One that has computed something of this key; else one that remembers the fewest.
            found = min(self._idle, key=lambda each: (key not in each.keys, len(each.keys)))
            self._idle.remove(found)
        else:
            found = await self._wait(end)
        found.remember(key)
        return found

    async def _wait(self, end: float) -> _Worker:
        """The next worker that becomes free for who waits now."""
        if len(self._waiting) >= self._max_waiting:
            raise BusyError("too many others are waiting; try again in a moment")
        turn: asyncio.Future[_Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout_at(end):
                return await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._release(turn.result())  # It was given, and is handed on.
            elif turn in self._waiting:
                self._waiting.remove(turn)
            if isinstance(error, TimeoutError):
                raise BusyError(
                    f"no worker was free for {self.seconds:g} seconds; try again in a moment"
                ) from error
            raise

    def _release(self, worker: _Worker) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(worker)
                return
        self._idle.append(worker)

    async def _end(self, worker: _Worker, call: Future[Any]) -> None:
        """Ends what nobody waits for any more."""
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
    """A process that computes what it is sent; another takes its place if it is killed.

    Attributes:
      keys: of what it computed last, the newest last.
    """

    def __init__(self, modules: tuple[str, ...]):
        self.keys: collections.deque[Hashable] = collections.deque(maxlen=_REMEMBERED_KEYS)
        self._process = KillablePool(1, _begin, modules)
        self._started: Future[Any] | None = None

    def remember(self, key: Hashable) -> None:
        """Notes a key, unless it is None."""
        if key is None:
            return
        if key in self.keys:
            self.keys.remove(key)
        self.keys.append(key)

    def started(self) -> Future[Any]:
        """Is done once the process computes."""
        if self._started is None:
            self._started = self.begin(_nothing)
        return self._started

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """What the function will answer."""
        return self._process.schedule(_answer, function, arguments)

    def kill(self, call: Future[Any]) -> None:
        """Ends the process if it still computes an answer."""
        if call.cancel():
            self.forget()

    def forget(self) -> None:
        """Notes that its process has ended."""
        self.keys.clear()
        self._started = None

    def end(self) -> None:
        """Ends the process, whatever it does."""
        self._process.end(is_now=True)


async def _answer_by(end: float, call: Future[Any]) -> Any:
    """What a call answers; a TimeoutError if it has not by a time of the loop."""
    left = end - asyncio.get_running_loop().time()
    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(call)), left)


def _begin(modules: tuple[str, ...]) -> None:
    """What a worker process does first."""
    end_with_parent()
    # Ctrl-C is for the server, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in modules:
        importlib.import_module(module)


def _nothing() -> None:
    """Is asked of a worker that is to start."""


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a function answers, with an error that can be sent."""
    try:
        return function(*arguments)
    except Exception as error:
        if not isinstance(error, ValueError):
            _LOG.exception("a task failed")
        raise error if type(error) is ValueError else _plain(error) from None


def _plain(error: Exception) -> Exception:
    if isinstance(error, MemoryError):
        how_much = f": {error}" if str(error) else ""
        return ValueError(f"this needs more memory than there is; try a smaller game{how_much}")
    if isinstance(error, ValueError):
        return ValueError(str(error) or f"this was refused, by a {type(error).__name__}")
    return RuntimeError(f"{type(error).__name__}: {error}")
