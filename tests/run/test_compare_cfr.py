"""`run/compare_cfr.py` as users start it."""

from pathlib import Path

from tests.run.scripts import run_script


def test_a_small_comparison_is_reported(tmp_path: Path) -> None:
    arguments = ["--game=kuhn_poker", "--variants=cfr,cfr+,pcfr+", "--iterations=30"]
    places = ["--run_dir=work", "--output=out/report"]
    code, printed, _ = run_script("compare_cfr.py", *arguments, *places, directory=tmp_path)
    assert code == 0
    assert "out/report.md" in printed
    text = (tmp_path / "out" / "report.md").read_text()
    assert "**Verdict:** " in text.splitlines()[2]
    assert "| pcfr+ |" in text
    assert (tmp_path / "out" / "kuhn_poker.png").stat().st_size > 1000


def test_unknown_variants_are_refused(tmp_path: Path) -> None:
    code, _, errors = run_script("compare_cfr.py", "--variants=best", directory=tmp_path)
    assert code == 1
    assert "variants='best' must be one of cfr, cfr+" in errors
