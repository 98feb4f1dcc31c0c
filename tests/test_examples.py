"""Each example runs from top to bottom and says what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.docs


def run(name: str, folder: Path, *arguments: str) -> str:
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"[+-]?\d+\.\d+", text)]


def test_all_are_here() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in FOLDER.glob("*.py")} <= tested


def test_solve_and_judge(tmp_path: Path) -> None:
    *curve, theirs, value, own = numbers(run("solve_and_judge", tmp_path))
    assert curve == sorted(curve, reverse=True)
    assert theirs == curve[-1] < 0.01
    assert (value, own) == pytest.approx((-0.085606, -0.085606), abs=1e-3)


def test_own_value_function(tmp_path: Path) -> None:
    found = numbers(run("own_value_function", tmp_path))
    assert found[1] > found[3] > found[5]


def test_sepot_on_an_own_game(tmp_path: Path) -> None:
    value, before, after = numbers(run("sepot_on_an_own_game", tmp_path))
    assert value == pytest.approx(1 / 3, abs=1e-4)
    assert after < before / 2


def test_response_to_an_opponent(tmp_path: Path) -> None:
    text = run("response_to_an_opponent", tmp_path)
    gains = {line[:16].strip(): numbers(line[16:])[-2:] for line in text.splitlines()[1:]}
    assert gains["best response"][0] >= gains["CDBR"][0] >= gains["CDRNR, p = 0.5"][0] > 0
    assert gains["RNR, p = 0.5"][1] < gains["best response"][1]


def test_match(tmp_path: Path) -> None:
    assert "in 4,000 games" in run("match", tmp_path)


def test_own_search(tmp_path: Path) -> None:
    unsafe, resolving, margin = numbers(run("own_search", tmp_path))
    assert unsafe > 2 * max(resolving, margin)


def test_network_judged_exactly(tmp_path: Path) -> None:
    small = ("python_dark_hex(num_rows=2,num_cols=2)", "60")
    _, uniform, _, network = numbers(run("network_judged_exactly", tmp_path, *small))
    assert 0 <= network < uniform
