"""`run/reproduce_sepot.py` as users start it, at a small size."""

from __future__ import annotations

import json
from pathlib import Path

from tests.run.scripts import run_script

KUHN = (
    "reproduce_sepot.py",
    "--game=kuhn_poker",
    "--seed=3",
    "--steps=4",
    "--every=2",
    "--moves=1",
    "--iterations=10",
    "--batch_size=4",
    "--hidden_size=4",
)


def test_curves_go_on_where_they_were_stopped(tmp_path: Path) -> None:
    for start in range(2):
        code, output, errors = run_script(*KUHN, "--experiment=curves", directory=tmp_path)
        assert code == 0, errors
        assert "results/sepot/curves.md" in output
        results = json.loads((tmp_path / "results/sepot/curves.json").read_text())
        assert len(results["reused"]) == 4 * start
        assert [row["step"] for row in results["tables"]["All points"]] == [2, 4] * 2


def test_wrong_input_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    for arguments, message in (
        (("--experiment=position",), "use --game=battleships_5x5"),
        (("--experiment=curves", "--steps=0"), "num_steps=0 must be positive"),
        (("--experiment=curves", "--rounds=1"), "has no rounds"),
    ):
        code, _, errors = run_script(*KUHN, *arguments, directory=tmp_path)
        assert code == 1
        assert message in errors
        assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
