"""Functions for the workers of `tests/system/test_distributed.py`, with few imports."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def draw(seed: int) -> tuple[int, np.ndarray]:
    """Something random; the first items take longest, so that they are finished last."""
    time.sleep(0.5 if seed < 2 else 0.0)
    return seed, np.random.default_rng(seed).random(3)


def fail_at_two(item: int, mark: Path) -> int:
    """Ten times the item, but an error for 2; items beyond 2 are finished only after that."""
    if item == 2:
        mark.touch()
        raise KeyError("no")
    while item > 2 and not mark.exists():
        time.sleep(0.05)
    time.sleep(2.0 if item > 2 else 0.0)  # The news of the error takes a moment.
    return 10 * item


def die(item: int, folder: Path, at: int, times: int) -> int:
    """Ten times the item, but kills its worker the first few times that it gets a certain one."""
    with (folder / str(item)).open("a") as file:
        file.write("x")
    if item == at and attempts(folder)[item] <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * item


def attempts(folder: Path) -> dict[int, int]:
    """The number of calls of `die` with each item."""
    return {int(path.name): len(path.read_text()) for path in folder.iterdir()}


def solve_or_die(config: Any, shard: int, folder: Path) -> dict[str, np.ndarray]:
    """`generation.solve_shard`, but the worker that gets shard 1 first is killed."""
    from spiel_dl.value_functions import generation

    die(shard, folder, at=1, times=1)
    return generation.solve_shard(config, shard)


def count_threads(_: int) -> tuple[int, int]:
    """The threads that torch and numba would use."""
    import numba
    import torch

    return torch.get_num_threads(), numba.get_num_threads()


def process_id(_: int) -> int:
    """The worker's."""
    return os.getpid()


def sleep_over(path: Path | None) -> None:
    """Writes a file and sleeps for longer than any test waits; does nothing for None."""
    if path is not None:
        path.touch()
        time.sleep(600)
