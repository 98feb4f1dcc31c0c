"""Tasks for the workers in the pool's tests."""

from __future__ import annotations

import os
import time

seen: list[object] = []


def echo(value: object) -> object:
    seen.append(value)
    return value


def all_seen() -> list[object]:
    return list(seen)


def process() -> int:
    return os.getpid()


def sleep(seconds: float, path: str = "") -> int:
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.write("begun")
    time.sleep(seconds)
    return os.getpid()


def hold(path: str) -> None:
    """Ends once the file that it writes is removed."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("begun")
    while os.path.exists(path):
        time.sleep(0.005)


def refuse() -> None:
    raise ValueError("no such thing")


def break_down() -> None:
    raise KeyError("thing")


def die() -> None:
    os._exit(3)
