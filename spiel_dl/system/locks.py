"""A run directory belongs to one process at a time.

The lock is on the open file that records starts, so it goes with its process, however that ends;
no file of its own is left behind, and none has to be deleted after a kill. Readers need no lock.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path
from typing import BinaryIO

_held: weakref.WeakValueDictionary[str, DirectoryLock] = weakref.WeakValueDictionary()
"""The locks of this process, by what they lock."""


class DirectoryLock:
    """Holds a file for this process, until nobody in it keeps this object any more."""

    def __init__(self, file: BinaryIO):
        """Takes the lock; `acquire` is what callers want.

        Raises:
          BlockingIOError: if another process has it.
        """
        self._file = file
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        weakref.finalize(self, file.close)


def acquire(path: Path) -> DirectoryLock:
    """Locks a file, which is made if it is not there; a process may do so several times.

    Raises:
      ValueError: if another process has locked it.
      OSError: if it cannot be opened for writing, or its file system knows no locks.
    """
    name = os.path.realpath(path)
    lock = _held.get(name)
    if lock is None:
        file = path.open("ab")
        try:
            lock = DirectoryLock(file)
        except BlockingIOError:
            file.close()
            raise ValueError(
                f"another process runs in {path.parent}; wait until it has ended, or choose "
                "another directory"
            ) from None
        except BaseException:
            file.close()
            raise
        _held[name] = lock
    return lock
