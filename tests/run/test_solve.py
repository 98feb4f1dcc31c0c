"""`run/solve.py` as users start it: results and messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from spiel_dl import ArrayPolicy, exploitability
from spiel_dl.algorithms import cfr
from spiel_dl.system.run_directory import read_run
from tests.pages import ROOT
from tests.reference import assert_same_policy
from tests.run.scripts import succeed

POLICY = "average_policy.safetensors"
KUHN = ("solve.py", "--game=kuhn_poker")


def test_a_run_says_what_it_found_and_where(tmp_path: Path) -> None:
    output, _ = succeed(*KUHN, "--iterations=100", "--last_iterate", directory=tmp_path)
    run = tmp_path / "runs" / "solve" / "kuhn_poker-cfr_plus"
    config, [start], metrics = read_run(run)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert (run / "exploitability.png").exists()
    assert config == {"game": "kuhn_poker()", "solver": "cfr+", "alternating_updates": True}
    command = "solve.py --game=kuhn_poker --iterations=100 --last_iterate"
    assert start["command"].endswith(command)
    last = metrics[-1]
    assert last["iteration"] == 100
    assert f"{last['exploitability']:.3e}" in output
    for word in ("kuhn_poker()", "58", "100", "exploitability", POLICY, "exploitability.png"):
        assert word in output, word
    solver = cfr.CFRPlusSolver("kuhn_poker")
    solver.run(100)
    assert_same_policy(ArrayPolicy.load(run / POLICY), solver.average_policy())
    kept = ArrayPolicy.load(run / "current_policy.safetensors")
    assert_same_policy(kept, solver.current_policy())
    assert f"{exploitability(solver.tree, kept):.3e}" in output


def test_default_directories_are_numbered_and_the_newest_is_resumed(tmp_path: Path) -> None:
    def iterations() -> list[tuple[str, int]]:
        return sorted(
            (path.parent.name, read_run(path.parent).metrics[-1]["iteration"])
            for path in tmp_path.rglob("metrics.jsonl")
        )

    first, second, third = (f"kuhn_poker-cfr_plus{number}" for number in ("", "-2", "-3"))
    for arguments, name, expected in (
        ("--iterations=1", first, [(first, 1)]),
        ("--iterations=2", second, [(first, 1), (second, 2)]),
        ("--iterations=3 --noalternating_updates", third, [(first, 1), (second, 2), (third, 3)]),
        ("--iterations=4 --resume", second, [(first, 1), (second, 4), (third, 3)]),
    ):
        output, errors = succeed(*KUHN, *arguments.split(), directory=tmp_path)
        assert f"results go to runs/solve/{name}\n" in errors
        assert f"runs/solve/{name}/{POLICY}" in output
        assert iterations() == expected


def test_a_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    words = ["--game=kuhn_poker", "--iterations=10", f"--run_dir={tmp_path / 'run'}"]
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "run/solve.py", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "run" / "average_policy.safetensors").exists()
