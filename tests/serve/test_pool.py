"""Worker processes with a time limit: kills, queues and error messages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from spiel_dl.serve import pool as pools
from spiel_dl.serve.pool import BusyError, Pool, TooLongError, WorkerGoneError
from tests.serve import tasks


def run(use: Callable[[Pool], Coroutine[Any, Any, None]], **settings: Any) -> None:
    """Uses a pool in an event loop of its own."""

    async def main() -> None:
        pool = Pool(**{"num_workers": 1, "seconds": 60.0, **settings})
        try:
            await use(pool)
        finally:
            await pool.close()

    asyncio.run(main())


def is_alive(process: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def test_answers_and_errors() -> None:
    async def use(pool: Pool) -> None:
        assert await pool.run(tasks.echo, {"a": (1, 2)}) == {"a": (1, 2)}
        with pytest.raises(ValueError, match="no such thing"):
            await pool.run(tasks.refuse)
        with pytest.raises(RuntimeError, match="KeyError: 'thing'"):
            await pool.run(tasks.break_down)
        assert await pool.run(tasks.all_seen) == [{"a": (1, 2)}]  # the same process all the time

    run(use)


def test_a_worker_that_dies_is_replaced() -> None:
    async def use(pool: Pool) -> None:
        with pytest.raises(WorkerGoneError):
            await pool.run(tasks.die)
        assert await pool.run(tasks.echo, 1) == 1

    run(use)


def test_what_takes_too_long_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit stays the same: what a process takes to start is no part of it."""
    monkeypatch.setattr(pools, "_GRACE", 0.01)

    async def use(pool: Pool) -> None:
        for _ in range(3):
            first = await pool.run(tasks.process)
            pool.seconds, begun = 0.2, time.monotonic()
            with pytest.raises(TooLongError, match=r"longer than 0\.2 seconds"):
                await pool.run(tasks.sleep, 600)
            assert time.monotonic() - begun < 60.0
            pool.seconds = 60.0
            assert await pool.run(tasks.process) != first
            assert not is_alive(first)

    run(use)


def test_what_nobody_wants_any_more_is_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pools, "_GRACE", 0.01)
    begun = tmp_path / "begun"

    async def use(pool: Pool) -> None:
        first = await pool.run(tasks.process)
        task = asyncio.create_task(pool.run(tasks.sleep, 600, str(begun)))
        while not begun.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await pool.run(tasks.process) != first
        assert not is_alive(first)

    run(use)


def test_a_short_answer_is_let_finish(tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    async def use(pool: Pool) -> None:
        first = await pool.run(tasks.process)
        task = asyncio.create_task(pool.run(tasks.sleep, 0.05, str(begun)))
        while not begun.exists():
            await asyncio.sleep(0.005)
        task.cancel()
        assert await pool.run(tasks.process) == first

    run(use)


def test_who_waits_too_long_or_behind_too_many_is_told_so(tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    async def use(pool: Pool) -> None:
        await pool.run(tasks.echo, 0)
        task = asyncio.create_task(pool.run(tasks.hold, str(begun)))
        while not begun.exists():
            await asyncio.sleep(0.005)
        pool.seconds = 0.1
        waiting = asyncio.create_task(pool.run(tasks.echo, 1))
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="too many others"):
            await pool.run(tasks.echo, 2)
        with pytest.raises(BusyError, match=r"no worker was free for 0\.1 seconds"):
            await waiting
        pool.seconds = 60.0
        begun.unlink()
        await task
        assert await pool.run(tasks.echo, 3) == 3

    run(use, max_waiting=1)


def test_who_knows_the_key_is_asked() -> None:
    async def use(pool: Pool) -> None:
        processes = {key: await pool.run(tasks.process, key=key) for key in "a"}
        both = [pool.run(tasks.sleep, 0.1, key="a"), pool.run(tasks.sleep, 0.1, key="b")]
        processes["a"], processes["b"] = await asyncio.gather(*both)
        assert processes["a"] != processes["b"]
        for key in "babba":
            assert await pool.run(tasks.process, key=key) == processes[key]

    run(use, num_workers=2)


def test_who_waits_gets_the_worker_before_who_comes_later(tmp_path: Path) -> None:
    """One who asks twice in a row asks again before who waits can notice that a worker is free."""
    begun = tmp_path / "begun"

    async def use(pool: Pool) -> None:
        async def twice() -> None:
            await pool.run(tasks.hold, str(begun))
            await pool.run(tasks.echo, "later")

        task = asyncio.create_task(twice())
        while not begun.exists():
            await asyncio.sleep(0.005)
        waiting = [asyncio.create_task(pool.run(tasks.echo, number)) for number in range(3)]
        await asyncio.sleep(0)
        begun.unlink()
        assert await asyncio.gather(*waiting) == [0, 1, 2]
        await task
        assert await pool.run(tasks.all_seen) == [0, 1, 2, "later"]

    run(use)
