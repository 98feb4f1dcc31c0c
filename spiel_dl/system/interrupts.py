"""Ctrl-C between two steps, not in the middle of one: what is half done could not be kept."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType


class Held:
    """Whether Ctrl-C was pressed.

    Attributes:
      is_asked: whether it was.
    """

    is_asked = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.is_asked:
            signal.default_int_handler(number, frame)
        self.is_asked = True
        print("\nstopping after this step; Ctrl-C again stops at once", file=sys.stderr)


@contextlib.contextmanager
def held_back() -> Iterator[Held]:
    """Notes Ctrl-C instead of raising it; a second one is raised, as all are in other threads.

    Who uses it looks at `is_asked` after every step, and raises a KeyboardInterrupt when all is
    kept. A program that handles SIGINT in a way of its own goes on to do so.
    """
    held = Held()
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield held
        return
    signal.signal(signal.SIGINT, held._note)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
