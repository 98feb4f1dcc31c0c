"""Which reports are current: `results/current.json`.

For each row that was run, the ledger has the hash of its declared inputs (`Row.inputs`), the commit
and the day. A report is current if the hash equals that of today's row, so moving code makes no
report old; a change of results is declared by the experiment's version. If a criterion was set
after an earlier report had been seen, the ledger also keeps that report's verdict and headline.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import filelock

from experiments.experiment import Row
from spiel_dl.system import tensor_files
from spiel_dl.system.json_files import read_json

FILE = "current.json"
CURRENT, OLD, MISSING = "current", "old", "missing"
OTHER_INPUTS = "other inputs than declared"
_COMMIT = re.compile(r"[0-9a-f]{40}")


class State(NamedTuple):
    """Whether a row's report is current.

    Attributes:
      word: CURRENT, OLD or MISSING.
      why: why the report is old, in words.
      report: the report's JSON; empty if there is none.
      entry: the row's entry in the ledger; empty if there is none.
    """

    word: str
    why: tuple[str, ...]
    report: Mapping[str, Any]
    entry: Mapping[str, Any]


def read(results: Path) -> dict[str, Any]:
    """The ledger of a folder of reports, by row name; empty if there is none."""
    path = results / FILE
    return read_json(path) if path.exists() else {}


def state(row: Row, results: Path) -> State:
    """Whether a row's report is current.

    Raises:
      ValueError: if the report cannot be read.
    """
    path, entry = row.report(results), read(results).get(row.name, {})
    if not path.exists():
        return State(MISSING, (), {}, {})
    report = read_json(path)
    why = [OTHER_INPUTS] if entry.get("inputs") != row.inputs else []
    commits = [report["environment"].get("git_commit"), *report.get("commits_of_parts", [])]
    if not all(_COMMIT.fullmatch(str(commit)) for commit in commits):
        why.append("not made by a clean commit")
    elif len(set(commits[1:])) > 1:
        why.append("parts of several commits")
    return State(OLD if why else CURRENT, tuple(why), report, entry)


def record(row: Row, results: Path, earlier: Mapping[str, Any]) -> None:
    """Enters a report that was just written.

    Args:
      row: the report's row.
      results: the folder of reports and ledger.
      earlier: the JSON of the report that it replaces; empty if there was none. If that one judged
        the same seeds by another claim, the ledger keeps its verdict, headline and claim.
    """
    report = read_json(row.report(results))
    environment = report["environment"]
    entry = {
        "inputs": row.inputs,
        "commit": environment.get("git_commit"),
        "date": environment["started"][:10],
    }
    now, before = (set(each.get("settings", {}).get("seeds") or ()) for each in (report, earlier))
    # Rows that run at the same time share the ledger.
    with filelock.FileLock(results / f".{FILE}.lock"):
        ledger = read(results)
        came_with = ledger.get(row.name, {}).get("came_with")
        if came_with is None and earlier.get("claim") not in (None, report["claim"]):
            came_with = {name: earlier.get(name) for name in ("verdict", "headline", "claim")}
        if came_with is not None and (now & before or not (now and before)):
            entry["came_with"] = came_with
        ledger[row.name] = entry
        with tensor_files.atomic_path(results / FILE) as temporary:
            text = json.dumps(ledger, indent=1, ensure_ascii=False, sort_keys=True)
            temporary.write_text(f"{text}\n", encoding="utf-8")
