"""Workspaces: parts are made once, told apart by their settings, by whoever works."""

from __future__ import annotations

import datetime
import functools
import json
import os
from pathlib import Path

import pytest

from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.distributed import IN_PROCESS, Engine, LocalProcesses
from spiel_dl.system.environment import describe_environment
from tests.distributed_functions import fail_at_two, process_id


def test_a_part_is_made_once(tmp_path: Path) -> None:
    calls = []

    def compute() -> list[float]:
        calls.append(1)
        return [0.1, 2.0]

    for _ in range(2):
        made = Workspace(tmp_path)
        assert made.part("one", {"limits": (1, 2)}, compute) == [0.1, 2.0]
    assert calls == [1]
    assert made.reused == {"one"}
    with pytest.raises(ValueError, match=r"its limits is \[1, 2\], not \[1\]; use"):
        made.part("one", {"limits": (1,)}, compute)


def test_parts_say_whose_code_made_them(tmp_path: Path) -> None:
    for commit, name in (("a", "one"), ("b", "two")):
        made = Workspace(tmp_path, commit=commit)
        made.part(name, {}, lambda: 0)
        assert made.commits == {commit}
    content = json.loads((tmp_path / "parts" / "two.json").read_text())
    assert content["git_commit"] == "b"
    finished = datetime.datetime.fromisoformat(content["finished"])
    assert abs(datetime.datetime.now(datetime.UTC) - finished) < datetime.timedelta(minutes=5)
    # As parts were before they said it.
    (tmp_path / "parts" / "old.json").write_text('{"settings": {}, "result": 3}')
    found = Workspace(tmp_path)
    assert [found.part(name, {}, lambda: 0) for name in ("one", "two", "old")] == [0, 0, 3]
    assert found.commits == {"a", "b", "unknown"}
    found.start_anew()
    assert not found.commits
    assert not found.reused


@pytest.mark.parametrize("content", ["", '{"settings": {'])
def test_a_damaged_part_is_named_with_the_remedy(content: str, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.json").write_text(content)
    with pytest.raises(ValueError, match=r"one\.json is no finished part; delete it"):
        Workspace(tmp_path).part("one", {}, lambda: 0)


def test_a_part_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        Workspace(tmp_path).part("one", {}, fail)
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize("engine", [IN_PROCESS, LocalProcesses(2)], ids=str)
def test_parts_are_made_by_the_engine_and_once(engine: Engine, tmp_path: Path) -> None:
    named = [(f"item-{number}", {"number": number}) for number in range(3)]
    first = Workspace(tmp_path, engine)
    found = first.parts(named, process_id, range(3))
    assert (os.getpid() in found) == (engine == IN_PROCESS)
    assert not first.reused
    (tmp_path / "parts" / "item-1.json").unlink()
    again = Workspace(tmp_path)
    assert again.parts(named, process_id, range(3)) == [found[0], os.getpid(), found[2]]
    assert again.reused == {"item-0", "item-2"}


def test_what_was_finished_before_an_error_is_kept(tmp_path: Path) -> None:
    fail = functools.partial(fail_at_two, mark=tmp_path / "mark")
    named = [(str(number), {}) for number in range(4)]
    with pytest.raises(KeyError):
        Workspace(tmp_path).parts(named, fail, range(4))
    assert sorted(path.stem for path in (tmp_path / "parts").iterdir()) == ["0", "1"]


def test_a_workspace_within_keeps_one_account(tmp_path: Path) -> None:
    for _ in range(2):
        outer = Workspace(tmp_path, commit="c")
        assert outer.within("inner").part("one", {}, lambda: 1) == 1
        assert outer.commits == {"c"}
    assert outer.reused == {"inner/one"}
    assert (tmp_path / "inner" / "parts" / "one.json").exists()
    assert outer.within("inner").run_directory("run", {}).path == tmp_path / "inner" / "run"


def test_what_another_commit_made_is_made_again_if_asked(tmp_path: Path) -> None:
    before = Workspace(tmp_path, commit="before")
    assert before.part("slow", {"size": 1}, lambda: "old") == "old"
    run = before.run_directory("run", {"seed": 0})
    assert before.commits == {"before", describe_environment()["git_commit"]}
    (run.path / "network").write_text("trained")
    after = Workspace(tmp_path, commit="after", only_own=True)
    inner = after.within("inner")
    for workspace, settings in ((after, {"size": 1}), (after, {"size": 1}), (inner, {"size": 2})):
        assert workspace.part("slow", settings, lambda: "new") == "new"
    assert after.commits == {"after"}
    assert after.reused == {"slow"}
    anew = after.run_directory("run", {"seed": 1})
    assert not (anew.path / "network").exists()
    assert (tmp_path / "run.old-1" / "network").read_text() == "trained"
