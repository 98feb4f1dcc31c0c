"""Bad inputs, given to scripts as people give them: one line, no traceback, nothing spoiled."""

from __future__ import annotations

import contextlib
import fcntl
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from spiel_dl.adapters.onnx import write_onnx
from spiel_dl.play.registry import load_policy
from tests.run import bad_inputs
from tests.run.bad_inputs import Bad
from tests.run.scripts import run_script

CASES = [
    pytest.param(bad, id=f"{kind} {number}")
    for kind, cases in bad_inputs.ALL.items()
    for number, bad in enumerate(cases)
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with finished runs, and with some that are damaged in one way each."""
    place = tmp_path_factory.mktemp("place")
    for words in (
        "solve.py --game=kuhn_poker --iterations=100 --run_dir=run",
        "generate_data.py --game=kuhn_poker --moves=1 --shards=1 --shard_size=8 --run_dir=data",
    ):
        code, _, errors = run_script(*words.split(), directory=place)
        assert code == 0, errors
    (place / "file").touch()
    (place / "folder").mkdir()
    (place / "folder" / "thesis.tex").write_text("important")
    policy = (place / "run" / "average_policy.safetensors").read_bytes()
    (place / "torn_policy.safetensors").write_bytes(policy[: len(policy) // 2])
    for name in ("torn_data", "torn_shard"):
        shutil.copytree(place / "data", place / name)
    tear(place / "torn_data" / "config.json")
    tear(place / "torn_shard" / "random-00000.safetensors")
    write_onnx(load_policy("rnad:leduc"), place / "other_game.onnx")
    damage_runs(place)
    with locked(place / "in_use"):
        yield place


def damage_runs(place: Path) -> None:
    """Copies of the run, each with one file that is not as it should be."""
    for name in (
        "torn_config", "no_config", "torn_metrics", "torn_checkpoint", "other_checkpoint",
        "no_checkpoint", "empty_metrics", "in_use",
    ):  # fmt: skip
        shutil.copytree(place / "run", place / name)
    tear(place / "torn_config" / "config.json")
    (place / "no_config" / "config.json").unlink()
    (place / "empty_metrics" / "metrics.jsonl").write_text("")
    metrics = place / "torn_metrics" / "metrics.jsonl"
    lines = metrics.read_text().splitlines(keepends=True)
    metrics.write_text("".join([lines[0], lines[1][:9] + "\n", *lines[2:]]))
    tear(place / "torn_checkpoint" / "checkpoint.safetensors")
    policy = (place / "run" / "average_policy.safetensors").read_bytes()
    (place / "other_checkpoint" / "checkpoint.safetensors").write_bytes(policy)
    (place / "no_checkpoint" / "checkpoint.safetensors").unlink()


@contextlib.contextmanager
def locked(run: Path) -> Iterator[None]:
    """Meanwhile the run is that of another process."""
    with (run / "environment.jsonl").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tear(path: Path) -> None:
    """Leaves the first half of a file."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def contents(place: Path) -> dict[str, bytes]:
    """All files."""
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_there_are_enough() -> None:
    assert sum(map(len, bad_inputs.ALL.values())) >= 70


@pytest.mark.parametrize("bad", CASES)
def test_bad_input_is_told_in_one_line(bad: Bad, place: Path) -> None:
    before = contents(place)
    try:
        code, _, errors = run_script(*shlex.split(bad.words), directory=place)
        assert "Traceback" not in errors
        # OpenSpiel's C++ and progress bars may have written lines before.
        assert errors.splitlines()[-1:], bad.words
        assert errors.splitlines()[-1].startswith("error: ")
        assert bad.told in errors.splitlines()[-1]
        assert code == 1
        assert errors.count("error: ") == 1
        assert contents(place) == before
        assert not (place / "new").exists()
    finally:
        shutil.rmtree(place / "new", ignore_errors=True)
