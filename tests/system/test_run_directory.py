"""Run directories: what they record, how they come back after a kill, one process at a time."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spiel_dl.system.json_files import append_json_line, write_json
from spiel_dl.system.run_directory import RunDirectory, numbered, read_run, slug
from tests.reference import Killed

CONFIG: dict[str, Any] = {"game": "kuhn_poker()", "alpha": 1.5, "layers": (64, 64), "seed": None}


def test_a_fresh_directory_tells_what_is_run_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["run/solve.py", "--game=goofspiel(num_cards=4)"])
    path = tmp_path / "runs" / "first"
    directory = RunDirectory(str(path), CONFIG)
    assert directory.path == path
    assert json.loads((path / "config.json").read_text()) == {**CONFIG, "layers": [64, 64]}
    [environment] = [json.loads(line) for line in (path / "environment.jsonl").open()]
    assert environment["command"] == "python run/solve.py '--game=goofspiel(num_cards=4)'"
    assert environment["versions"]["numpy"] == np.__version__
    assert environment["python"] == ".".join(map(str, sys.version_info[:3]))
    for name in ("started", "platform", "processor", "cores"):
        assert environment[name], name
    assert environment["started"].endswith("+00:00")
    assert "git_commit" in environment
    assert {file.name for file in path.iterdir()} == {"config.json", "environment.jsonl"}


def test_a_resumed_run_records_where_it_goes_on(tmp_path: Path) -> None:
    starts = tmp_path / "environment.jsonl"
    RunDirectory(tmp_path, CONFIG)
    assert len(starts.read_text().splitlines()) == 1
    resumed = RunDirectory(tmp_path, CONFIG, resume=True)
    assert len(starts.read_text().splitlines()) == 1, "it may still be refused"
    for step in (1, 2):
        resumed.truncate_metrics("step", step)
        assert len(starts.read_text().splitlines()) == 2


def test_a_directory_in_use_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("important")
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"is not empty.*choose another"):
            RunDirectory(tmp_path, CONFIG, resume=resume)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    run = tmp_path / "run"
    RunDirectory(run, CONFIG)
    before = contents(run)
    with pytest.raises(ValueError, match=r"run is not empty; resume its run \(--resume\)"):
        RunDirectory(run, CONFIG)
    assert contents(run) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "leduc_poker()"}, r"its game is 'kuhn_poker\(\)', not 'leduc_poker\(\)'"),
        ({"beta": 1}, r"its beta is None, not 1"),
        ({"layers": 2, "alpha": 1}, r"its alpha is 1\.5, not 1, its layers is \[64, 64\], not 2"),
    ],
)
def test_other_settings_do_not_resume(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    RunDirectory(tmp_path, CONFIG)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=rf"cannot resume .*{message}; use the same settings"):
        RunDirectory(tmp_path, {**CONFIG, **change}, resume=True)
    assert contents(tmp_path) == before


def test_nothing_is_written_for_a_config_that_json_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        RunDirectory(tmp_path / "run", {"game": object()})
    assert list(tmp_path.iterdir()) == []


def test_a_run_killed_while_it_began_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file is written beside its place and renamed; the kill comes in between."""
    whole = tmp_path / "whole"
    RunDirectory(whole, CONFIG)
    torn = tmp_path / "torn"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", _kill)
        patch.setattr(Path, "unlink", _kill)  # A killed process does not tidy up either.
        with pytest.raises(Killed):
            RunDirectory(torn, CONFIG)
    # The record of starts, which is locked and empty, and half a config.
    assert len(list(torn.iterdir())) == 2
    RunDirectory(torn, CONFIG, resume=True)
    assert {file.name for file in torn.iterdir()} == {file.name for file in whole.iterdir()}


def test_unfinished_files_of_a_killed_run_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = RunDirectory(tmp_path, CONFIG)
    directory.save_checkpoint({"a": np.ones(3)}, {"step": 1})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", _kill)
        patch.setattr(Path, "unlink", _kill)
        with pytest.raises(Killed):
            directory.save_checkpoint({"a": np.zeros(3)}, {"step": 2})
    assert len(list(tmp_path.iterdir())) == 4
    resumed = RunDirectory(tmp_path, CONFIG, resume=True)
    assert len(list(tmp_path.iterdir())) == 3
    checkpoint = resumed.load_checkpoint()
    assert checkpoint[1] == {"step": 1}
    np.testing.assert_array_equal(checkpoint[0]["a"], np.ones(3))


def test_half_a_line_is_not_read_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path, CONFIG)
    directory.append_metrics({"step": 1})
    with directory.metrics_path.open("a") as file:
        file.write('{"step": 2, "lo')
    assert directory.read_metrics() == [{"step": 1}]
    directory.truncate_metrics("step", 1)
    directory.append_metrics({"step": 2})
    assert directory.read_metrics() == [{"step": 1}, {"step": 2}]
    with (tmp_path / "environment.jsonl").open("a") as file:
        file.write('{"command": "py')
    RunDirectory(tmp_path, CONFIG, resume=True).record_start()
    assert len(read_run(tmp_path).starts) == 2


def test_a_whole_line_may_lack_its_end(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path, CONFIG)
    for step in (1, 2):
        directory.append_metrics({"step": step, "rates": {"a": 1}})
    directory.metrics_path.write_text(directory.metrics_path.read_text().rstrip("\n"))
    directory.truncate_metrics("step", 2)
    directory.append_metrics({"step": 3})
    assert [line["step"] for line in directory.read_metrics()] == [1, 2, 3]


def test_later_steps_are_dropped(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path, CONFIG)
    for step in (1, 2, 5, 9):
        directory.append_metrics({"step": step, "loss": 1 / 3})
    directory.truncate_metrics("step", 5)
    assert directory.read_metrics() == [{"step": step, "loss": 1 / 3} for step in (1, 2, 5)]
    directory.truncate_metrics("step", 0)
    assert directory.read_metrics() == []


def test_metrics_are_on_the_disk_before_the_checkpoint_that_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []

    def name_of(file: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{file}").resolve().name)

    monkeypatch.setattr(os, "fsync", name_of)
    directory = RunDirectory(tmp_path, CONFIG)
    flushed.clear()
    directory.append_metrics({"step": 1})
    directory.save_checkpoint({}, {})
    directory.truncate_metrics("step", 1)
    metrics, checkpoint, rewritten = flushed
    assert metrics == "metrics.jsonl"
    assert "checkpoint" in checkpoint
    assert "metrics.jsonl" in rewritten


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as found:
        append_json_line(path, {"step": 1})
    assert found.value.filename == str(path)


def test_json_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["file.json"]


def _kill(*_args: object, **_keywords: object) -> None:
    raise Killed


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_another_process_is_refused_until_it_ends(tmp_path: Path) -> None:
    """Locks belong to open files, so another open file stands for another process."""
    RunDirectory(tmp_path, {"a": 1})
    before = (tmp_path / "environment.jsonl").read_bytes()
    with (tmp_path / "environment.jsonl").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match=r"another process runs in .*; wait until it has"):
            RunDirectory(tmp_path, {"a": 1}, resume=True)
        assert (tmp_path / "environment.jsonl").read_bytes() == before
    RunDirectory(tmp_path, {"a": 1}, resume=True)


def test_a_run_directory_is_locked_as_long_as_it_is_kept(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path, {"a": 1})
    again = RunDirectory(tmp_path, {"a": 1}, resume=True)
    for each in (directory, again):
        assert is_locked(each.path / "environment.jsonl")
    del directory, each
    assert is_locked(tmp_path / "environment.jsonl")
    del again
    gc.collect()
    assert not is_locked(tmp_path / "environment.jsonl")


def test_a_directory_that_takes_the_place_of_a_renamed_one_has_a_lock_of_its_own(
    tmp_path: Path,
) -> None:
    first = RunDirectory(tmp_path / "run", {"a": 1})
    first.path.rename(tmp_path / "elsewhere")
    second = RunDirectory(tmp_path / "run", {"a": 1})
    assert is_locked(second.path / "environment.jsonl")
    assert is_locked(tmp_path / "elsewhere" / "environment.jsonl")


def is_locked(path: Path) -> bool:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_game_string_of_any_length_makes_a_path_of_its_own(tmp_path: Path) -> None:
    game = f"python_holdem(range_0={';'.join(['AA:0.5'] * 60)},range_1={{}})"
    names = [slug(game.format(hand)) for hand in ("KK", "QQ")]
    assert names[0] != names[1]
    for name in names:
        RunDirectory(numbered(tmp_path / f"{name}-cfr_plus"), {})
        write_json(tmp_path / f"{name}.json", {})
