"""What `make nightly` does, once, and that it sees a difference where there is one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spiel_dl.system import tensor_files
from tests.run import kill_and_resume


def a_run(path: Path, *, last: float = 1.0, loss: float = 0.5, won: int = 3) -> Path:
    """A run directory with one of each kind of result, made at some time."""
    arrays = {"weights": np.array([0.0, last])}
    tensor_files.save(path / "checkpoint.safetensors", arrays, {"step": 2, "seconds": path.name})
    lines = [{"step": 2, "loss": loss, "steps_per_second": len(path.name)}]
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (path / "parts").mkdir()
    part = {"settings": {}, "result": {"won": won, "times": [path.name]}, "finished": path.name}
    (path / "parts" / "one.json").write_text(json.dumps(part))
    return path


def test_all_results_are_compared_but_not_the_clock(tmp_path: Path) -> None:
    whole = kill_and_resume.results(a_run(tmp_path / "whole"))
    assert kill_and_resume.results(a_run(tmp_path / "resumed")) == whole
    others = [{"last": np.nextafter(1.0, 2.0)}, {"last": -0.0}, {"loss": 0.6}, {"won": 2}]
    for number, other in enumerate(others):
        assert kill_and_resume.results(a_run(tmp_path / f"other {number}", **other)) != whole


@pytest.mark.parametrize(("kind", "kills", "arrays"), [("solve", 2, 8), ("generate_data", 1, 30)])
def test_a_kind_of_run_is_killed_and_resumed(
    kind: str, kills: int, arrays: int, tmp_path: Path
) -> None:
    output = str(tmp_path / "kills")
    kill_and_resume.main(kills=kills, only=(kind,), output=output)
    (row,) = json.loads(Path(f"{output}.json").read_text())["tables"]["Kills"]
    assert (row["kind"], row["kills"], row["differences"]) == (kind, kills, 0)
    assert row["ends"] >= 1
    assert row["arrays"] > arrays
    assert f"met: {kills} kills" in Path(f"{output}.md").read_text()
