"""Parts of a computation: made once, told apart by their settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from spiel_dl.io.parts import Parts


def test_a_part_is_made_once(tmp_path: Path) -> None:
    calls = []

    def compute() -> list[float]:
        calls.append(1)
        return [0.1, 2.0]

    for _ in range(2):
        parts = Parts(tmp_path / "parts")
        assert parts.get("one", {"limits": (1, 2)}, compute) == [0.1, 2.0]
    assert calls == [1]
    assert parts.reused == {"one"}
    with pytest.raises(ValueError, match=r"\{'limits': \[1, 2\]\}, not of \{'limits': \[1\]\}"):
        parts.get("one", {"limits": (1,)}, compute)


def test_a_part_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    parts = Parts(tmp_path / "parts")
    with pytest.raises(RuntimeError, match="no"):
        parts.get("one", {}, fail)
    assert not (tmp_path / "parts").exists()
