"""Makes the papers' figures and tables, with our numbers, and compares with OpenSpiel's algorithms.

What is finished in the working directory is not done again.

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
from papers import study as papers_study
from papers.manifest import PAPERS
from papers.settings import as_json

from spiel_dl.runs.workspace import Workspace

_WORKERS = script.workers()


def main(
    *,
    paper: str | None = None,
    only: tuple[str, ...] = (),
    domain: str | None = None,
    set: tuple[str, ...] = (),
    list: bool = False,
    work_dir: str | None = None,
    output_dir: str | None = None,
    resume: bool = True,
) -> None:
    """Runs the experiments, and says where their reports are.

    Args:
      paper: whose experiments.
      only: which of them, by name. Default: all.
      domain: game and sizes of the paper, by name.
      set: name=value: another setting; may be repeated. --list says which there are.
      list: list experiments, domains and settings; run nothing.
      work_dir: networks and finished parts. Default: runs/PAPER/DOMAIN.
      output_dir: where reports go. Default: results/PAPER/DOMAIN.
      resume: go on in a working directory that was used; --noresume refuses it.
    """
    if list:
        _show(paper, domain, set)
        return
    if paper is None:
        raise ValueError(f"give --paper, one of {', '.join(PAPERS)}; --list says more")
    chosen = PAPERS[paper]
    papers_study.check_names(only, chosen.experiments)
    settings = chosen.settings(domain, set)
    if chosen.needs_domain and not (domain or (work_dir and output_dir)):
        known = ", ".join(chosen.domains)
        raise ValueError(f"give --domain, one of {known}, or --work_dir and --output_dir")
    place = f"{chosen.name}/{domain or ''}".rstrip("/")
    work, output = work_dir or f"runs/{place}", output_dir or f"results/{place}"
    if not resume and Path(work).exists():
        raise ValueError(f"{work} exists; choose another --work_dir, or leave --noresume out")
    study = chosen.study(settings, Workspace(work, _WORKERS.build(), show_progress=True))
    for report in papers_study.run(chosen.experiments, study, output, only):
        print(report)


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


if __name__ == "__main__":
    script.run(main, choices={"paper": PAPERS}, unsplit=["set"])
