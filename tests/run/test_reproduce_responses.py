"""`run/reproduce_responses.py` as users start it, at small sizes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.run.scripts import run_script

SCRIPT = "reproduce_responses.py"


def test_an_experiment_writes_its_report(tmp_path: Path) -> None:
    code, output, errors = run_script(
        SCRIPT,
        "--experiment=frontier",
        "--game=kuhn",
        "--model=uniform",
        "--player=1",
        "--gadget=joint",
        "--p=0.2",
        "--p=0.8",
        directory=tmp_path,
    )
    assert code == 0, errors
    assert output == "results/responses/frontier.md\n"
    folder = tmp_path / "results" / "responses"
    content = json.loads((folder / "frontier.json").read_text())
    joint = [row for row in content["tables"]["All points"] if row["method"] == "CDRNR, joint"]
    assert [row["parameter"] for row in joint] == [0.2, 0.8]
    assert {row["player"] for row in joint} == {1}
    assert (folder / "frontier-kuhn-uniform-1.png").stat().st_size > 10_000
    assert list((tmp_path / "runs" / "responses" / "parts").glob("*.json"))


def test_wrong_input_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    for flag, message in (("--p=2", "between 0 and 1"), ("--player=3", "must be 0, 1 or both")):
        code, _, errors = run_script(SCRIPT, flag, directory=tmp_path)
        assert code == 1
        assert message in errors
        assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
