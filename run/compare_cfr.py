"""Runs all variants of CFR in many games, and puts them side by side: tables and pictures.

What is finished in the run directory is not done again.

Examples:
  python run/compare_cfr.py --num_workers=2
  python run/compare_cfr.py --game=leduc_poker --game=kuhn_poker --variants=cfr+,pdcfr+,vad-cfr
"""

import time

from spiel_dl.commands import script
from spiel_dl.runs import reports, variant_comparison
from spiel_dl.system.environment import describe_environment
from spiel_dl.system.parameters import Positive

_WORKERS = script.workers()


def main(
    *,
    game: tuple[str, ...] = (),
    variants: tuple[str, ...] = (),
    iterations: Positive = 1000,
    run_dir: str = "runs/compare_cfr",
    output: str = "results/compare_cfr/variants",
) -> None:
    """Compares, and says where the report is.

    Args:
      game: OpenSpiel game string; repeated for each. Default: those of the papers.
      variants: names of variants. Default: all.
      iterations: of every variant in every game.
      run_dir: where finished parts go.
      output: path of the report, without ending.
    """
    environment, start = describe_environment(), time.perf_counter()
    workspace = script.open_workspace(run_dir, _WORKERS.build())
    judged = variant_comparison.judge_all(workspace, iterations, game, variants)
    report = variant_comparison.report(judged, iterations)
    seconds = time.perf_counter() - start
    print(reports.write(report, output, environment, seconds=seconds, workspace=workspace))


if __name__ == "__main__":
    script.run(main, unsplit=["game"])
