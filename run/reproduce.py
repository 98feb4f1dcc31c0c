"""Makes the papers' figures and tables, with our numbers.

Finished results in the run directory are reused. For a row whose report is old, results of other
commits are computed again, and their folders renamed by ".old-1" at the end of their names.

Examples:
  python run/reproduce.py --list
  python run/reproduce.py --all
  python run/reproduce.py --only='dl_cfr/goofspiel/*' --num_workers=2
  python run/reproduce.py --scoreboard_only

With other settings, which --list prints for a row, and a report elsewhere:
  python run/reproduce.py --only=responses/table_1 --set=games=leduc --set=models=random:0 \\
      --set=players=0 --output=runs/cdbr
  python run/reproduce.py --only=dl_cfr/goofspiel/checkpoints --output=runs/tiny \\
      --set="data.game=python_goofspiel_ii(num_cards=3)" --set="data.depth_limit=1 rounds" \\
      --set=num_shards=2 --set=training.num_epochs=5
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where experiments/ lies

from spiel_dl.commands import script

# Functions import the experiments, because these import torch, which --help does not need.
if TYPE_CHECKING:
    from experiments.experiment import Row

_WORKERS = script.workers()
_RESULTS, _SCOREBOARD = Path("results"), Path("docs/scoreboard.md")
_ALL_ROWS = Path("docs/results.md")


def main(
    *,
    only: tuple[str, ...] = (),
    set: tuple[str, ...] = (),
    list: bool = False,
    all: bool = False,
    scoreboard_only: bool = False,
    run_dir: str | None = None,
    output: str | None = None,
    resume: bool = True,
) -> None:
    """Runs the experiments that have no current report, and prints the paths of their reports.

    Args:
      only: names of rows, or patterns of them, such as "dl_cfr/*".
      set: name=value: another setting of the one row that --only names; may be repeated.
      list: print the rows and whether their reports are current, of one row its settings as well;
        run nothing.
      all: all rows, unless --only names some.
      scoreboard_only: renew docs/scoreboard.md and the table of docs/results.md; run nothing.
      run_dir: networks and finished parts. Default: runs/ROW, or --output.
      output: path of the report of one row, with the settings of --set. Default: results/.
      resume: go on in a directory that was used; --noresume refuses it.
    """
    from experiments import experiment, scoreboard
    from experiments.settings import changed

    if scoreboard_only:
        scoreboard.write_pages(_SCOREBOARD, _ALL_ROWS, _RESULTS)
        print(_SCOREBOARD)
        return
    rows = scoreboard.chosen_rows(only)
    if list:
        _show(rows, set)
        return
    if not (all or only):
        raise ValueError("give --all or --only; --list says which rows there are")
    if output is None:
        if set or run_dir or not resume:
            raise ValueError("--set, --run_dir and --noresume take --output: results/ is the rows'")
        _run_open(scoreboard.open_rows(_RESULTS, only))
        return
    if len(rows) > 1:
        raise ValueError(f"--output is for one row, and {', '.join(only) or '--all'} names several")
    work = Path(run_dir or output)
    if not resume and work.exists():
        raise ValueError(f"{work} exists; choose another --run_dir, or leave --noresume out")
    [row] = rows
    settings = row.settings
    for change in set:
        settings = changed(settings, change)
    workspace = script.open_workspace(str(work), _WORKERS.build())
    study = row.experiment.study(settings, workspace)
    print(experiment.run(row.experiment, study, output, qualify=row.verdict))


def _run_open(rows: list[Row]) -> None:
    """Runs rows, one after the other, and renews the scoreboard.

    Raises:
      ValueError: at the end, if rows could not be run; the others were.
    """
    from experiments import experiment, ledger, scoreboard

    failed = []
    for row in rows:
        print(row.name, flush=True)
        state = ledger.state(row, _RESULTS)
        path, is_old = f"runs/{row.folder}", state.word == ledger.OLD
        workspace = script.open_workspace(path, _WORKERS.build(), only_own=is_old)
        try:
            study = row.experiment.study(row.settings, workspace)
            folder = _RESULTS / row.folder
            print(experiment.run(row.experiment, study, folder, qualify=row.verdict))
            ledger.record(row, _RESULTS, state.report)
        except script.EXPECTED as error:
            failed.append(f"{row.name}: {error}")
        scoreboard.write_pages(_SCOREBOARD, _ALL_ROWS, _RESULTS)
    if not rows:
        print("All of these reports are current.")
    if failed:
        raise ValueError("some rows could not be run:\n" + "\n".join(failed))


def _show(rows: list[Row], changes: tuple[str, ...]) -> None:
    """Prints rows, and whether their reports are current; of one row its settings as well."""
    from experiments import ledger
    from experiments.settings import as_json, changed

    for row in rows:
        state = ledger.state(row, _RESULTS)
        text = f"{state.word}: {'; '.join(state.why)}" if state.why else state.word
        print(f"{row.name:45} {text:10} {row.experiment.title}")
    if len(rows) == 1:
        settings = rows[0].settings
        for change in changes:
            settings = changed(settings, change)
        print(json.dumps(as_json(settings), indent=2))


if __name__ == "__main__":
    script.run(main, unsplit=["set"])
