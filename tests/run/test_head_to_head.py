"""`run/head_to_head.py` as users start it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.run.scripts import succeed


def test_a_match_is_played_and_reported(tmp_path: Path) -> None:
    arguments = ("--game=kuhn_poker", "--first=cfr+:20", "--second=uniform", "--num_games=200")
    more = ("--output=found/kuhn", "--pairs_at_once=20", "--run_dir=work")
    output, _ = succeed("head_to_head.py", *arguments, *more, directory=tmp_path)
    assert "| cfr+:20 | uniform | 200 |" in output
    for title in ("as player 1 |", "slowest move (s), first |", "± as player 1 |"):
        assert title in output
    found = json.loads((tmp_path / "found" / "kuhn.json").read_text())
    assert "--first=cfr+:20" in found["environment"]["command"]
    assert len(list((tmp_path / "work" / "parts").iterdir())) == 5
