"""Makes the papers' figures and tables, with our numbers, and compares with OpenSpiel's algorithms.

What is finished in the working directory is not done again. `--set=NAME=VALUE`, which may be
repeated, changes a setting; `--list` with a paper says which there are.

Examples:
  python run/reproduce.py --list
  python run/reproduce.py --paper=dl_cfr --domain=goofspiel
  python run/reproduce.py --paper=particle --only=linear_targets
  python run/reproduce.py --paper=responses --only=table_1 --set=games=goofspiel_6 --set=players=0
  python run/reproduce.py --paper=sepot --only=curves,cfvs --set=games=leduc --num_workers=2
  python run/reproduce.py --paper=compare --domain=leduc_poker --set=seconds=60

The same on a game of one's own, in seconds:
  python run/reproduce.py --paper=dl_cfr --only=checkpoints --work_dir=runs/tiny \\
      --output_dir=runs/tiny --set="data.game=python_goofspiel_ii(num_cards=3)" \\
      --set="data.depth_limit=1 rounds" --set=num_shards=2 --set=training.num_epochs=5
"""

import json
from pathlib import Path

import script
from absl import flags
from papers import study as papers_study
from papers.manifest import PAPERS
from papers.settings import as_json

from spiel_dl.runs.workspace import Workspace

# Values have commas of their own, so that this flag is repeated instead.
_SET = flags.DEFINE_multi_string("set", [], "name=value: another setting; may be repeated.")
_WORKERS = script.workers()


def main(
    *,
    paper: str | None = None,
    only: tuple[str, ...] = (),
    domain: str | None = None,
    list_all: bool = False,
    work_dir: str | None = None,
    output_dir: str | None = None,
    resume: bool = True,
) -> None:
    """Runs the experiments of a paper, and says where their reports are.

    Args:
      paper: whose experiments.
      only: which of them, by name. Default: all.
      domain: game and sizes of the paper, by name.
      list_all: list experiments, domains and, of a paper, settings; run nothing.
      work_dir: networks and finished parts. Default: runs/PAPER/DOMAIN.
      output_dir: where reports go. Default: results/PAPER/DOMAIN.
      resume: go on in a working directory that was used.
    """
    if list_all:
        _show(paper, domain)
        return
    if paper is None:
        raise ValueError(f"give --paper, one of {', '.join(PAPERS)}; --list says more")
    chosen = PAPERS[paper]
    papers_study.check_names(only, chosen.experiments)
    settings = chosen.settings(domain, _SET.value)
    if chosen.needs_domain and not (domain or (work_dir and output_dir)):
        known = ", ".join(chosen.domains)
        raise ValueError(f"give --domain, one of {known}, or --work_dir and --output_dir")
    place = f"{paper}/{domain or ''}".rstrip("/")
    work = work_dir or f"runs/{place}"
    if not resume and Path(work).exists():
        raise ValueError(f"{work} exists; choose another --work_dir, or leave --noresume out")
    study = chosen.study(settings, Workspace(work, _WORKERS.build(), show_progress=True))
    output = output_dir or f"results/{place}"
    for report in papers_study.run(chosen.experiments, study, output, only):
        print(report)


def _show(name: str | None, domain: str | None) -> None:
    """What there is, of a paper or of all."""
    for paper in [PAPERS[name]] if name else PAPERS.values():
        print(f"{paper.name}: {paper.title}")
        for experiment in paper.experiments.values():
            print(f"  {experiment.name:15} {experiment.title}")
        if paper.domains:
            print(f"  domains: {', '.join(paper.domains)}")
        if name:
            print(json.dumps(as_json(paper.settings(domain, _SET.value)), indent=2))


if __name__ == "__main__":
    script.run(main, names={"list_all": "list"}, choices={"paper": PAPERS})
