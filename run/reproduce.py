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
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags
from papers import study as papers_study
from papers.manifest import PAPERS
from papers.settings import as_json

from spiel_dl.runs import distributed
from spiel_dl.runs.workspace import Workspace

_PAPER = flags.DEFINE_enum("paper", None, list(PAPERS), "Whose experiments.")
_ONLY = flags.DEFINE_list("only", [], "Which of them, by name. Default: all.")
_DOMAIN = flags.DEFINE_string("domain", None, "Game and sizes of the paper, by name.")
_SET = flags.DEFINE_multi_string(
    "set", [], "name=value: another setting; may be repeated. --list says which there are."
)
_LIST = flags.DEFINE_bool("list", False, "List experiments, domains and settings; run nothing.")
_WORK_DIR = flags.DEFINE_string(
    "work_dir", None, "Networks and finished parts. Default: runs/PAPER/DOMAIN."
)
_OUTPUT_DIR = flags.DEFINE_string(
    "output_dir", None, "Where reports go. Default: results/PAPER/DOMAIN."
)
_RESUME = flags.DEFINE_bool(
    "resume", True, "Go on in a working directory that was used; --noresume refuses it."
)
_ENGINE = distributed.define_flags()


def main(argv: Sequence[str]) -> None:
    """Runs the experiments, and says where their reports are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        if _LIST.value:
            _show()
            return
        if _PAPER.value is None:
            raise ValueError(f"give --paper, one of {', '.join(PAPERS)}; --list says more")
        paper = PAPERS[_PAPER.value]
        papers_study.check_names(_ONLY.value, paper.experiments)
        settings = paper.settings(_DOMAIN.value, _SET.value)
        place = f"{paper.name}/{_DOMAIN.value or ''}".rstrip("/")
        if paper.needs_domain and not (_DOMAIN.value or (_WORK_DIR.value and _OUTPUT_DIR.value)):
            known = ", ".join(paper.domains)
            raise ValueError(f"give --domain, one of {known}, or --work_dir and --output_dir")
        work, output = _WORK_DIR.value or f"runs/{place}", _OUTPUT_DIR.value or f"results/{place}"
        if not _RESUME.value and Path(work).exists():
            raise ValueError(f"{work} exists; choose another --work_dir, or leave --noresume out")
        study = paper.study(settings, Workspace(work, _ENGINE(), show_progress=True))
        for report in papers_study.run(paper.experiments, study, output, _ONLY.value):
            print(report)
    except (ValueError, distributed.WorkerDiedError) as error:
        sys.exit(f"error: {error}")


def _show() -> None:
    """What there is, of the chosen paper or of all."""
    for paper in [PAPERS[_PAPER.value]] if _PAPER.value else PAPERS.values():
        print(f"{paper.name}: {paper.title}")
        for experiment in paper.experiments.values():
            print(f"  {experiment.name:15} {experiment.title}")
        if paper.domains:
            print(f"  domains: {', '.join(paper.domains)}")
        if _PAPER.value:
            print(json.dumps(as_json(paper.settings(_DOMAIN.value, _SET.value)), indent=2))


if __name__ == "__main__":
    app.run(main)
