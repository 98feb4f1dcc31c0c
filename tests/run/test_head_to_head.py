"""`run/head_to_head.py` as users start it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.run.scripts import run_script


def test_a_match_is_played_and_reported(tmp_path: Path) -> None:
    arguments = ("--game=kuhn_poker", "--first=cfr+:20", "--second=uniform", "--num_games=200")
    code, output, errors = run_script(
        "head_to_head.py", *arguments, "--output=found/kuhn", directory=tmp_path
    )
    assert code == 0, errors
    assert "| cfr+:20 | uniform | 200 |" in output
    for title in ("as player 1 |", "slowest move (s), first |", "± as player 1 |"):
        assert title in output
    found = json.loads((tmp_path / "found" / "kuhn.json").read_text())
    assert "--first=cfr+:20" in found["environment"]["command"]
    again = run_script(
        "head_to_head.py",
        *arguments,
        "--engine=in_process",
        "--pairs_at_once=20",
        "--run_dir=work",
        directory=tmp_path,
    )
    assert again[0] == 0, again[2]

    assert len(list((tmp_path / "work" / "parts").iterdir())) == 5

    def numbers(table: str) -> list[str]:
        # All but the times.
        [row] = [line for line in table.splitlines() if line.startswith("| cfr+:20 ")]
        return row.split(" | ")[:7]

    assert numbers(again[1]) == numbers(output)
