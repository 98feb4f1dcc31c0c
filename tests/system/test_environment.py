"""The recorded environment of a run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from spiel_dl.system import environment
from spiel_dl.system.environment import describe_environment


def test_the_environment_is_json() -> None:
    described = describe_environment()
    assert json.loads(json.dumps(described)) == described


def test_a_commit_is_clean_though_reports_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    files = [tmp_path / name for name in ("runs/code.py", "results/a.md", "docs/results.md")]
    git("init")
    for path in files:
        path.parent.mkdir()
        path.write_text("first", encoding="utf-8")
    monkeypatch.setattr(environment, "__file__", str(files[0]))
    git("add", ".")
    git("commit", "-m", "all")
    commit = git("rev-parse", "HEAD")
    for path in files[1:]:
        path.write_text("second", encoding="utf-8")
    assert describe_environment()["git_commit"] == commit
    files[0].write_text("second", encoding="utf-8")
    assert describe_environment()["git_commit"] == f"{commit}-dirty"
    git("rm", "--cached", "--force", "runs/code.py")
    assert describe_environment()["git_commit"] is None
