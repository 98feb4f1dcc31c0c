"""Each example runs from top to bottom and says what it promises."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs an example, as if it were started with some arguments, and says what it prints."""

    def run(name: str, *arguments: str) -> str:
        path = str(FOLDER / f"{name}.py")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [path, *arguments])
        runpy.run_path(path, run_name="__main__")
        return capsys.readouterr().out

    return run


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"[+-]?\d+\.\d+", text)]


def test_all_are_here() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in FOLDER.glob("*.py")} <= tested


def test_solve_and_judge(run: Run) -> None:
    *curve, theirs, value, own = numbers(run("solve_and_judge"))
    assert curve == sorted(curve, reverse=True)
    assert theirs == curve[-1] < 0.01
    assert (value, own) == pytest.approx((-0.085606, -0.085606), abs=1e-3)


def test_own_value_function(run: Run) -> None:
    found = numbers(run("own_value_function"))
    assert found[1] > found[3] > found[5]


def test_sepot_on_an_own_game(run: Run) -> None:
    value, before, after = numbers(run("sepot_on_an_own_game"))
    assert value == pytest.approx(1 / 3, abs=1e-4)
    assert after < before / 2


def test_response_to_an_opponent(run: Run) -> None:
    text = run("response_to_an_opponent")
    gains = {line[:16].strip(): numbers(line[16:])[-2:] for line in text.splitlines()[1:]}
    assert gains["best response"][0] >= gains["CDBR"][0] >= gains["CDRNR, p = 0.5"][0] > 0
    assert gains["RNR, p = 0.5"][1] < gains["best response"][1]


def test_match(run: Run) -> None:
    assert "in 4,000 games" in run("match")


def test_own_search(run: Run) -> None:
    unsafe, resolving, margin = numbers(run("own_search"))
    assert unsafe > 2 * max(resolving, margin)


def test_network_judged_exactly(run: Run) -> None:
    small = ("python_dark_hex(num_rows=2,num_cols=2)", "60")
    _, uniform, _, network = numbers(run("network_judged_exactly", *small))
    assert 0 <= network < uniform
