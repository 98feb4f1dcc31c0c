"""Delays Ctrl-C until a step is finished, because the state inside a step cannot be saved."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType


class DelayedInterrupt:
    """Records whether Ctrl-C was pressed.

    Attributes:
      is_pending: whether it was.
    """

    is_pending = False

    def _record(self, number: int, frame: FrameType | None) -> None:
        if self.is_pending:
            signal.default_int_handler(number, frame)
        self.is_pending = True
        print("\nstopping after this step; Ctrl-C again stops at once", file=sys.stderr)


@contextlib.contextmanager
def delay_interrupts() -> Iterator[DelayedInterrupt]:
    """Records Ctrl-C instead of raising KeyboardInterrupt; a second Ctrl-C is raised at once.

    The caller checks `is_pending` after every step, and raises KeyboardInterrupt when its state is
    saved. Nothing changes outside the main thread, or if the program has its own SIGINT handler.
    """
    interrupt = DelayedInterrupt()
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt._record)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
