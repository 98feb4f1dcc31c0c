"""Files of named arrays with a JSON header (safetensors), written completely or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import safetensors
import safetensors.numpy

_HEADER_KEY = "json"
TEMPORARY_SUFFIX = ".tmp"


def save(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]
) -> None:
    """Writes arrays and a JSON-serialisable header.

    The data are flushed to the disk before they replace an older file, so that one of the two
    survives a loss of power. Except for metrics, other files are not flushed: it takes some 8 ms.
    """
    metadata = {_HEADER_KEY: json.dumps(dict(header))}
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        # safetensors' own save_file gives the file to its owner alone, whatever the umask.
        file.write(safetensors.numpy.save(contiguous, metadata))
        flush(file)


def flush(file: IO[Any]) -> None:
    """Waits until what was written is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def load(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads a file of `save`: (arrays, header).

    Raises:
      ValueError: if there is no such file, or `save` did not write it.
    """
    with _read_errors(path), safetensors.safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return arrays, _header_of(file)


def header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads the header of a file of `save`, without its arrays; errors are those of `load`."""
    with _read_errors(path), safetensors.safe_open(path, framework="numpy") as file:
        return _header_of(file)


def _header_of(file: Any) -> dict[str, Any]:
    content = json.loads((file.metadata() or {})[_HEADER_KEY])
    if not isinstance(content, dict):
        raise KeyError(_HEADER_KEY)
    return content


@contextlib.contextmanager
def _read_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns errors of reading a file into a ValueError."""
    if Path(path).is_dir():
        raise ValueError(f"{path} is a directory; give a file in it, such as one of *.safetensors")
    try:
        yield
        return
    except OSError as error:
        raise ValueError(f"cannot read the file {path}: {error}") from None
    except safetensors.SafetensorError as error:
        reason = f"it is no safetensors file, or a damaged one ({error})"
    except (KeyError, json.JSONDecodeError):
        reason = "it has no header of ours"
    raise ValueError(
        f"{path} was not written by this package: {reason}; restore a damaged file from a copy; a "
        "network of another program is played as onnx:FILE"
    ) from None


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it if the block ends without an error.

    A symbolic link is followed, and stays one. A killed process leaves the old file or the new one;
    if the machine loses power, this holds only for data that the block has flushed, see `save`.

    Raises:
      ValueError: if the path is no regular file, but a directory or a device.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is there and is no regular file; write to another path")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}{TEMPORARY_SUFFIX}")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        # A system's error, which has a number, names the file that the user knows.
        if error.errno is not None and error.filename in (None, str(temporary)):
            error.filename = str(target)
        raise
    finally:
        temporary.unlink(missing_ok=True)
