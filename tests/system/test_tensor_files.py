"""Files of arrays: exact round trips, and nothing half-written whatever happens."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from spiel_dl.system import tensor_files

ARRAYS: dict[str, np.ndarray] = {
    "float64": np.array([0.1, -0.0, np.inf, 5e-324, np.nan]),
    "int64": np.arange(6, dtype=np.int64).reshape(2, 3),
    "int32": np.zeros((0, 4), np.int32),
    "bool": np.array([True, False]),
    "float32": np.array([[1.5]], np.float32),
    "scalar": np.array(7.25),
}
HEADER = {"kind": "test", "nested": {"numbers": [1, 2.5, None]}, "text": "Kovařík"}


def test_arrays_and_header_come_back_exactly(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "file.safetensors"
    tensor_files.save(path, ARRAYS, HEADER)
    arrays, header = tensor_files.load(str(path))
    assert header == HEADER
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()


def test_arrays_are_on_the_disk_before_the_old_file_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = tmp_path / "file.safetensors", []
    tensor_files.save(path, {"a": np.zeros(3)}, {})
    old = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(path.read_bytes()))
    tensor_files.save(path, {"a": np.ones(3)}, {})
    assert seen == [old]
    assert path.read_bytes() != old


@pytest.mark.parametrize("content", [b"", b"\x10" + 30 * b"\x00"])
def test_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "foreign.bin"
    path.write_bytes(content)
    message = (
        r"foreign\.bin was not written by this package: it is no safetensors file.*as onnx:FILE"
    )
    with pytest.raises(ValueError, match=message):
        tensor_files.load(path)


def test_headers_that_are_no_objects_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(safetensors.numpy.save(ARRAYS, {"json": "[1]"}))
    for read in (tensor_files.load, tensor_files.header):
        with pytest.raises(ValueError, match="it has no header of ours"):
            read(path)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{tmp_path} is a directory; give a file in it"):
        tensor_files.load(tmp_path)


@pytest.mark.parametrize("kept", [7, 100, -1])
def test_truncated_files_are_refused(kept: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    tensor_files.save(path, ARRAYS, HEADER)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=str(path)):
        tensor_files.load(path)


def test_a_file_changes_only_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with tensor_files.atomic_path(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == path.parent, "a rename is atomic within one directory only"
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    # Nothing was written, so there is nothing to rename.
    with pytest.raises(FileNotFoundError) as raised, tensor_files.atomic_path(path):
        pass
    assert raised.value.filename == str(path)


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with tensor_files.atomic_path(path) as one, tensor_files.atomic_path(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one", "the last to end wins"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with tensor_files.atomic_path(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_what_is_no_file_stays_as_it_is(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(pipe)
    for path in (pipe, folder, link):
        with (
            pytest.raises(ValueError, match=f"{path} is there and is no regular file"),
            tensor_files.atomic_path(path),
        ):
            pass
    assert pipe.is_fifo()
    assert link.is_symlink()
