"""Makes the papers' figures and tables, with our numbers.

What is finished in the run directory is not done again. For a row of the manifest whose report
is old, what another commit made is: its folders are renamed, by ".old-1" at the end of their names.

Examples:
  python run/reproduce.py --list
  python run/reproduce.py --all
  python run/reproduce.py --all --only='dl_cfr/goofspiel/*' --num_workers=2
  python run/reproduce.py --scoreboard_only
  python run/reproduce.py --paper=dl_cfr --domain=goofspiel
  python run/reproduce.py --paper=particle --only=linear_targets
  python run/reproduce.py --paper=responses --only=table_1 --set=games=goofspiel_6 --set=players=0
  python run/reproduce.py --paper=sepot --only=curves,cfvs --set=games=leduc --num_workers=2

The same on a game of one's own, in seconds:
  python run/reproduce.py --paper=dl_cfr --only=checkpoints --run_dir=runs/tiny \\
      --output=runs/tiny --set="data.game=python_goofspiel_ii(num_cards=3)" \\
      --set="data.depth_limit=1 rounds" --set=num_shards=2 --set=training.num_epochs=5
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where experiments/ lies

from experiments import judging, scoreboard
from experiments import study as papers_study
from experiments.paper import PAPERS
from experiments.settings import as_json
from spiel_dl.commands import script

_WORKERS = script.workers()
_RESULTS, _SCOREBOARD = Path("results"), Path("docs/scoreboard.md")


def main(
    *,
    paper: str | None = None,
    only: tuple[str, ...] = (),
    domain: str | None = None,
    set: tuple[str, ...] = (),
    list: bool = False,
    all: bool = False,
    scoreboard_only: bool = False,
    run_dir: str | None = None,
    output: str | None = None,
    resume: bool = True,
) -> None:
    """Runs the experiments, and says where their reports are.

    Args:
      paper: whose experiments.
      only: which of them, by name; with --all patterns of names of the manifest, such as
        "dl_cfr/*". Default: all.
      domain: game and sizes of the paper, by name.
      set: name=value: another setting; may be repeated. --list says which there are.
      list: list experiments, domains and settings, and what of the manifest is missing or old;
        run nothing.
      all: run what the manifest has and no current report, and renew docs/scoreboard.md.
      scoreboard_only: renew docs/scoreboard.md; run nothing.
      run_dir: networks and finished parts. Default: runs/PAPER/DOMAIN.
      output: where reports go. Default: results/PAPER/DOMAIN.
      resume: go on in a directory that was used; --noresume refuses it.
    """
    if list:
        _show(paper, domain, set)
        return
    if all or scoreboard_only:
        if paper or domain or set or run_dir or output or not resume:
            raise ValueError("--all and --scoreboard_only take no other settings but --only")
        if only and not all:
            raise ValueError("--scoreboard_only runs nothing; leave --only out, or give --all")
        _run_manifest(only if all else None)
        return
    if paper is None:
        raise ValueError(f"give --all or --paper, one of {', '.join(PAPERS)}; --list says more")
    chosen = PAPERS[paper]
    papers_study.check_names(only, chosen.experiments)
    settings = chosen.settings(domain, set)
    if chosen.needs_domain and not (domain or (run_dir and output)):
        known = ", ".join(chosen.domains)
        raise ValueError(f"give --domain, one of {known}, or --run_dir and --output")
    place = f"{chosen.name}/{domain or ''}".rstrip("/")
    work, folder = run_dir or f"runs/{place}", output or f"results/{place}"
    if not resume and Path(work).exists():
        raise ValueError(f"{work} exists; choose another --run_dir, or leave --noresume out")
    study = chosen.study(settings, script.open_workspace(work, _WORKERS.build()))
    for report in papers_study.run(chosen.experiments, study, folder, only):
        print(report)


def _run_manifest(only: tuple[str, ...] | None) -> None:
    """Runs the open rows of the manifest, one after the other, and renews the scoreboard.

    Args:
      only: patterns of names; empty: all rows; None: none.

    Raises:
      ValueError: at the end, if rows could not be run; the others were.
    """
    rows, failed = [] if only is None else scoreboard.open_rows(_RESULTS, only), []
    for row in rows:
        print(row.command, flush=True)
        anew = scoreboard.needs_new_parts(scoreboard.state(row, _RESULTS))
        place = f"runs/{row.directory}"
        workspace = script.open_workspace(place, _WORKERS.build(), only_own=anew)
        try:
            study = row.of.study(row.settings(), workspace)
            path = row.report(_RESULTS)
            earlier = json.loads(path.read_text("utf-8")) if path.exists() else None
            papers_study.run(row.of.experiments, study, _RESULTS / row.directory, [row.experiment])
            judging.keep_what_was_seen(path, earlier)
        except ValueError as error:
            failed.append(f"{row.name}: {error}")
        scoreboard.write_page(_SCOREBOARD, _RESULTS)
    for path in scoreboard.judge_all(_RESULTS):
        print(f"judged anew: {path}")
    scoreboard.write_page(_SCOREBOARD, _RESULTS)
    print(_SCOREBOARD)
    if failed:
        raise ValueError("some rows could not be run:\n" + "\n".join(failed))


def _show(paper: str | None, domain: str | None, settings: tuple[str, ...]) -> None:
    """What there is, of the chosen paper or of all."""
    for each in [PAPERS[paper]] if paper else PAPERS.values():
        print(f"{each.name}: {each.title}")
        for experiment in each.experiments.values():
            print(f"  {experiment.name:15} {experiment.title}")
        if each.domains:
            print(f"  domains: {', '.join(each.domains)}")
        if paper:
            print(json.dumps(as_json(each.settings(domain, settings)), indent=2))
    for row in scoreboard.open_rows(_RESULTS):
        if paper in (None, row.paper):
            found = scoreboard.state(row, _RESULTS)
            print(f"{row.name}: {'; '.join(found.why) or found.word}")


if __name__ == "__main__":
    script.run(main, choices={"paper": PAPERS}, unsplit=["set"])
