"""`run/show.py` as users start it."""

from __future__ import annotations

from pathlib import Path

from tests.run.scripts import succeed


def test_a_page_of_a_solved_game(tmp_path: Path) -> None:
    arguments = ("--game=kuhn_poker", "--policy=cfr+:1000", "--moves=3", "--output=out/kuhn.html")
    output, _ = succeed("show.py", *arguments, directory=tmp_path)
    assert "depth limit     3 moves, 6 public states" in output
    page = (tmp_path / "out" / "kuhn.html").read_text(encoding="utf-8")
    assert "<h1>kuhn_poker()</h1>" in page


def test_a_page_of_a_search(tmp_path: Path) -> None:
    arguments = ("--game=kuhn_poker", "--policy=cdbr:uniform", "--plies=3", "--output=kuhn.html")
    output, _ = succeed("show.py", *arguments, directory=tmp_path)
    assert "policy          cdbr:uniform, 1 plies ahead" in output
    assert (tmp_path / "kuhn.html").exists()
