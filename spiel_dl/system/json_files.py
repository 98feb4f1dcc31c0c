"""JSON files of one object, and JSON-lines files of one object per line."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spiel_dl.system import tensor_files

REMEDY = "restore it from a copy, or choose another directory"
"""The remedy in messages about damaged files."""


def write_json(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Writes one JSON file, completely or not at all."""
    with tensor_files.atomic_path(path) as temporary:
        temporary.write_text(json.dumps(dict(content), indent=2) + "\n", encoding="utf-8")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a file that holds one JSON object.

    Raises:
      ValueError: if it holds something else; the message names the file.
    """
    return _json_object(Path(path).read_bytes(), str(path))


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """All complete lines of a file; none if it does not exist."""
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    complete = [line for line in lines if _is_complete(line)]
    return [_json_object(line, f"{path}, line {n}") for n, line in enumerate(complete, start=1)]


def _is_complete(line: bytes) -> bool:
    """Whether a line was written completely; the newline at its end may be missing."""
    if line.endswith(b"\n"):
        return True
    with contextlib.suppress(ValueError):
        json.loads(line)
        return True
    return False


def _json_object(text: bytes, where: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError as error:  # No UTF-8, or no JSON.
        raise ValueError(f"{where} is damaged ({error}); {REMEDY}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{where} is damaged (no JSON object); {REMEDY}")
    return content


def append_json_line(path: Path, content: Mapping[str, Any]) -> None:
    """Appends one JSON object as a line, to a file that need not exist.

    An incomplete last line, left by a killed run, is dropped. The line is flushed to the disk: a
    checkpoint that is written after it says that it is there.
    """
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":
                    file.seek(0)
                    *_, last = file
                    if _is_complete(last):
                        file.write(b"\n")
                    else:
                        file.truncate(file.tell() - len(last))
            file.write(f"{json.dumps(dict(content))}\n".encode())
            tensor_files.flush(file)
    except OSError as error:
        if error.errno is not None:
            error.filename = error.filename or str(path)
        raise
