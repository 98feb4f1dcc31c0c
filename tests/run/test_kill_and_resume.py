"""The procedure of `make nightly`, once."""

from __future__ import annotations

import json
from pathlib import Path

from tests.run import kill_and_resume


def test_a_kind_of_run_is_killed_and_resumed(tmp_path: Path) -> None:
    """Those of data are killed where they are made, and the other kinds every night."""
    output = str(tmp_path / "kills")
    kill_and_resume.main(kills=2, only=("solve",), output=output)
    (row,) = json.loads(Path(f"{output}.json").read_text())["tables"]["Kills"]
    assert (row["kind"], row["kills"], row["differences"]) == ("solve", 2, 0)
    assert row["ends"] >= 1
    assert row["arrays"] > 8
    assert "met: 2 kills" in Path(f"{output}.md").read_text()
