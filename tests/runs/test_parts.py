"""Parts of a computation: made once, told apart by their settings."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from spiel_dl.runs import parts
from spiel_dl.runs.parts import Parts


def test_a_part_is_made_once(tmp_path: Path) -> None:
    calls = []

    def compute() -> list[float]:
        calls.append(1)
        return [0.1, 2.0]

    for _ in range(2):
        made = Parts(tmp_path / "parts")
        assert made.get("one", {"limits": (1, 2)}, compute) == [0.1, 2.0]
    assert calls == [1]
    assert made.reused == {"one"}
    with pytest.raises(ValueError, match=r"\{'limits': \[1, 2\]\}, not of \{'limits': \[1\]\}"):
        made.get("one", {"limits": (1,)}, compute)


def test_parts_say_whose_code_made_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for commit, name in (("a", "one"), ("b", "two")):
        monkeypatch.setattr(parts, "_git_commit", lambda commit=commit: commit)
        made = Parts(tmp_path)
        made.get(name, {}, lambda: 0)
        assert made.commits == {commit}
    content = json.loads((tmp_path / "two.json").read_text())
    assert content["git_commit"] == "b"
    finished = datetime.datetime.fromisoformat(content["finished"])
    assert abs(datetime.datetime.now(datetime.UTC) - finished) < datetime.timedelta(minutes=5)
    # As parts were before they said it.
    (tmp_path / "old.json").write_text('{"settings": {}, "result": 3}')
    found = Parts(tmp_path)
    assert [found.get(name, {}, lambda: 0) for name in ("one", "two", "old")] == [0, 0, 3]
    assert found.commits == {"a", "b", "unknown"}
    found.start_anew()
    assert not found.commits
    assert not found.reused


def test_a_part_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        Parts(tmp_path / "parts").get("one", {}, fail)
    assert not (tmp_path / "parts").exists()
