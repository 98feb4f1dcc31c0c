"""How much memory this process may still take."""

from __future__ import annotations

import os
import pathlib

_MEMINFO = pathlib.Path("/proc/meminfo")
_PROCESS = pathlib.Path("/proc/self/statm")
_CGROUP = pathlib.Path("/sys/fs/cgroup")
_FALLBACK = 8 * 2**30


def available_bytes() -> int:
    """The memory that this process may still take, in bytes.

    That is the smallest of what the machine has available, what the process's own limit on its
    address space leaves (`ulimit -v`), and what its control group leaves (containers). Each is left
    out where the system does not tell it. Where Linux's /proc/meminfo is missing, half of the
    machine's memory counts as available; where even that is unknown, 8 GiB.
    """
    found = (_of_machine(), _of_process(), _of_control_group())
    return max(0, min(number for number in found if number is not None))


def _of_machine() -> int:
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # Not Linux.
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return _FALLBACK  # Not Unix.


def _of_process() -> int | None:
    try:
        import resource  # Unix alone has it.

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(_PROCESS.read_text(encoding="ascii").split()[0])
        return limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):
        return None


def _of_control_group() -> int | None:
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        if limit == "max":
            return None
        current = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        words = (_CGROUP / "memory.stat").read_text(encoding="ascii").split()
        # Files that were read and are kept in memory are given up when it is needed.
        cached = int(words[words.index("inactive_file") + 1])
        return int(limit) - current + cached
    except (OSError, ValueError):
        return None
