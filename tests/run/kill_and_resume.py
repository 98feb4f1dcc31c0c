"""Kills every kind of long run at random moments and resumes it: it must end with the same bits.

  python -m tests.run.kill_and_resume --kills=20 --output=results/robustness/kills

Takes half an hour, so it is no test of every commit; `make nightly` runs it. Each kind of run is
done once as a whole. Then it is killed by SIGKILL after a random part of the time that this took,
resumed, killed again, until it has been killed so many times. Whenever it comes to its end, all
arrays, metrics and results are compared with those of the whole run, and it begins anew. What the
clock says is not compared.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from spiel_dl.commands import script
from spiel_dl.runs import reports
from spiel_dl.system import tensor_files
from spiel_dl.system.environment import describe_environment
from spiel_dl.system.parameters import Positive
from tests.reference import timeless
from tests.run.scripts import run_script, started_script

_SECONDS = 3600
_DATA = "generate_data.py --game=kuhn_poker --moves=1 --shard_size=50"
_TRAIN = "train.py --game=kuhn_poker --steps_per_evaluation=20 --batch_size=8 --num_steps=200"
_NETWORK = "--hidden_size=8"
_CRITIC = "--transformations=pure --critic_hidden_size=8"
PREPARED = {"data": f"{_DATA} --shards=2", "blueprint": f"{_TRAIN} {_NETWORK} --num_steps=20"}
"""What some runs begin with, by the folder in which it is made."""
KINDS = {
    "solve": "solve.py --game=leduc_poker --iterations=6000",
    "solve, another variant": "solve.py --game=leduc_poker --iterations=3000 --solver=dcfr",
    "dl_cfr": "dl_cfr.py --game=leduc_poker --moves=2 --value_function=zero --iterations=1000",
    "generate_data": f"{_DATA} --shards=30",
    "train_value_network": "train_value_network.py --data=data --num_epochs=40 --num_units=8",
    "train_on_policy": "train_on_policy.py --data=data --num_rounds=3 --iterations=50"
    " --num_epochs=2,2,2 --num_units=8",
    "train rnad": f"{_TRAIN} {_NETWORK}",
    "train mmd": f"{_TRAIN} {_NETWORK} --algorithm=mmd",
    "train ppo": f"{_TRAIN} {_NETWORK} --algorithm=ppo",
    "train rnad, critic": f"{_TRAIN} {_NETWORK} {_CRITIC} --num_steps=200",
    "train critic": "train.py --algorithm=critic --blueprint=blueprint --batch_size=8"
    f" --steps_per_evaluation=20 --num_steps=200 {_CRITIC}",
    "train particle": "train.py --algorithm=particle --game=python_goofspiel_ii(num_cards=3)"
    " --budget=4 --iterations=3 --base=4 --regression_width=1 --batch_size=8"
    " --steps_per_evaluation=5 --num_steps=40",
    "head_to_head": "head_to_head.py --game=kuhn_poker --first=cfr+:20 --second=uniform"
    " --num_games=4000 --pairs_at_once=100",
}
"""Command lines of long runs; each gets a --run_dir."""


def main(*, kills: Positive = 20, seed: int = 0, only: tuple[str, ...] = (), output: str) -> None:
    """Kills and resumes, and says where the report is.

    Args:
      kills: of each kind of run.
      seed: of the moments.
      only: kinds of runs. Default: all.
      output: path of the report, without ending.
    """
    environment, start = describe_environment(), time.perf_counter()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = only or tuple(KINDS)
        for made, words in PREPARED.items():
            if any(f"={made}" in KINDS[kind] for kind in kinds):
                _finish(words, made, folder)
        for kind in kinds:
            rows.append(_try_out(kind, kills, random.Random(f"{seed} {kind}"), folder))
            seconds = time.perf_counter() - start
            path = reports.write(_report(rows), output, environment, seconds=seconds)
            print(f"{kind}: {rows[-1]['differences']} differences; {path}", flush=True)


def _try_out(kind: str, kills: int, generator: random.Random, folder: Path) -> dict[str, Any]:
    """Kills runs of one kind repeatedly and counts those that do not end like the whole run."""
    start = time.perf_counter()
    _finish(KINDS[kind], "whole", folder)
    seconds = time.perf_counter() - start
    whole = results(folder / "whole")
    row: dict[str, Any] = {"kind": kind, "seconds": seconds, "kills": 0, "midway": 0, "ends": 0}
    row |= {"arrays": len(whole), "differences": 0}
    while row["kills"] < kills:
        if _start(KINDS[kind], "killed", folder, generator.uniform(0.0, seconds)):
            row["kills"] += 1
            row["midway"] += _has_kept(folder / "killed")
        if row["kills"] == kills:
            _finish(KINDS[kind], "killed", folder)
        elif not _has_ended(folder):
            continue
        row["ends"] += 1
        row["differences"] += results(folder / "killed") != whole
        _remove(folder, "killed")
    _remove(folder, "whole")
    return row


def _words(words: str, run_dir: str) -> list[str]:
    """The command line; workspaces know no --resume, because they always go on."""
    resume = [] if words.startswith("head_to_head") else ["--resume"]
    return [*words.split(), f"--run_dir={run_dir}", *resume]


def _finish(words: str, run_dir: str, folder: Path) -> None:
    code, _, errors = run_script(*_words(words, run_dir), directory=folder, seconds=_SECONDS)
    if code != 0:
        raise RuntimeError(f"{words} ended with {code}: {errors}")
    (folder / f"{run_dir}-ended").touch()


def _start(words: str, run_dir: str, folder: Path, seconds: float) -> bool:
    """Starts or resumes a run; whether it was killed after so many seconds, before its end."""
    words_of_run = _words(words, run_dir)
    with started_script(*words_of_run, directory=folder, seconds=_SECONDS) as started:
        deadline = time.monotonic() + seconds
        while started.is_running() and time.monotonic() < deadline:
            time.sleep(0.001)
        if started.is_running():
            os.kill(started.pid, signal.SIGKILL)
        code, _, errors = started.wait()
    if code not in (0, -signal.SIGKILL):
        raise RuntimeError(f"{words} ended with {code}: {errors}")
    if code == 0:
        (folder / f"{run_dir}-ended").touch()
    return code != 0


def _has_ended(folder: Path) -> bool:
    return (folder / "killed-ended").exists()


def _has_kept(run: Path) -> bool:
    """Whether the run has a state to resume from."""
    return any(
        path.suffix == ".safetensors" or path.parent.name == "parts" for path in run.rglob("*")
    )


def _remove(folder: Path, run_dir: str) -> None:
    shutil.rmtree(folder / run_dir, ignore_errors=True)
    (folder / f"{run_dir}-ended").unlink(missing_ok=True)


def results(run: Path) -> dict[str, Any]:
    """All results of a run by name, in comparable form and without times."""
    found: dict[str, Any] = {}
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run).as_posix()
        if path.suffix == ".safetensors":
            arrays, header = tensor_files.load(path)
            found[f"{name} header"] = timeless(header)
            found |= {f"{name} {key}": _bits(array) for key, array in arrays.items()}
        elif path.name == "metrics.jsonl":
            found[name] = [timeless(json.loads(line)) for line in path.read_text().splitlines()]
        elif path.parent.name == "parts":
            found[name] = timeless(json.loads(path.read_text())["result"])
    return found


def _bits(array: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
    return str(array.dtype), array.shape, array.tobytes()


def _report(rows: list[dict[str, Any]]) -> reports.Report:
    kills, ends, differences = (
        sum(row[name] for row in rows) for name in ("kills", "ends", "differences")
    )
    titles = {
        "kind": "kind of run",
        "seconds": "the whole run, s",
        "kills": "kills, each followed by --resume",
        "midway": "of them with something kept to go on from",
        "ends": "times it came to its end and was compared",
        "arrays": "arrays, headers and files of results compared",
        "differences": "differences from the run that was not killed",
    }
    verdict = "met" if differences == 0 else "not met"
    return reports.Report(
        title="Long runs killed at random moments and resumed",
        verdict=(
            f"{verdict}: {kills} kills, {ends} ends, {differences} of them other than those of the "
            "runs that were not killed"
        ),
        notes=[
            "SIGKILL after a time drawn uniformly from the wall-clock of the whole run, so that "
            "some hit the start, too. What the clock says is not compared."
        ],
        tables={"Kills": reports.Table(rows, titles)},
    )


if __name__ == "__main__":
    script.run(main)
