"""Which reports are current: `results/current.json`.

For each row that was run, the ledger has the hash of what was declared then (`Row.inputs`), commit
and day. A report is current if this hash is that of today's row, so moving code makes no report
old; whoever changes what an experiment comes to raises its version. The ledger also keeps what a
report came with where its criterion was set after an earlier report had been seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from experiments.experiment import Row
from spiel_dl.system import tensor_files
from spiel_dl.system.json_files import read_json

FILE = "current.json"
CURRENT, OLD, MISSING = "current", "old", "missing"
OTHER_INPUTS, OTHER_CLAIM = "other inputs than declared", "judged by another claim"
_COMMIT = re.compile(r"[0-9a-f]{40}")


class State(NamedTuple):
    """Whether a row's report stands.

    Attributes:
      word: CURRENT, OLD or MISSING.
      why: the reasons for which it is old, in words.
      report: what its JSON file says; empty if there is none.
      entry: what the ledger says; empty if nothing.
    """

    word: str
    why: tuple[str, ...]
    report: Mapping[str, Any]
    entry: Mapping[str, Any]


def read(results: Path) -> dict[str, Any]:
    """The ledger of a folder of reports: by the names of rows; empty if there is none."""
    path = results / FILE
    return read_json(path) if path.exists() else {}


def state(row: Row, results: Path) -> State:
    """Whether a row's report stands.

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
    if row.experiment.judge is None and report.get("claim") != row.experiment.claim:
        why.append(OTHER_CLAIM)
    return State(OLD if why else CURRENT, tuple(why), report, entry)


def record(row: Row, results: Path, earlier: Mapping[str, Any]) -> None:
    """Enters a report that was just written.

    Args:
      row: of the report.
      results: the folder of reports and ledger.
      earlier: what the report in its place said; empty: there was none. If the same seeds had been
        seen by another criterion, the ledger says so, and what the verdict was.
    """
    ledger, report = read(results), read_json(row.report(results))
    environment = report["environment"]
    entry = {
        "inputs": row.inputs,
        "commit": environment.get("git_commit"),
        "date": environment["started"][:10],
    }
    came_with = ledger.get(row.name, {}).get("came_with")
    if came_with is None and earlier.get("claim") not in (None, report["claim"]):
        came_with = {name: earlier.get(name) for name in ("verdict", "headline", "claim")}
    now, seen = (set(each.get("settings", {}).get("seeds") or ()) for each in (report, earlier))
    if came_with is not None and (now & seen or not (now and seen)):
        entry["came_with"] = came_with
    ledger[row.name] = entry
    with tensor_files.atomic_path(results / FILE) as temporary:
        text = json.dumps(ledger, indent=1, ensure_ascii=False, sort_keys=True)
        temporary.write_text(f"{text}\n", encoding="utf-8")
