"""Searches for a better schedule of predictive CFR+ in some games, and judges it once in others.

What is finished in the run directory is not done again.

Example:
  python run/search_schedule.py --candidates=150
"""

import time

from spiel_dl.commands import script
from spiel_dl.runs import reports, schedule_search
from spiel_dl.system.environment import describe_environment
from spiel_dl.system.parameters import Positive

_WORKERS = script.workers()


def main(
    *,
    candidates: Positive = 150,
    iterations: Positive = 1000,
    seed: int = 0,
    run_dir: str = "runs/search_schedule",
    output: str = "results/compare_cfr/schedule",
) -> None:
    """Searches, and says where the report is.

    Args:
      candidates: how many schedules are drawn.
      iterations: of every schedule in every game.
      seed: of the schedules.
      run_dir: where finished parts go.
      output: path of the report, without ending.
    """
    environment, start = describe_environment(), time.perf_counter()
    workspace = script.open_workspace(run_dir, _WORKERS.build())
    found = schedule_search.search(workspace, candidates, iterations, seed)
    seconds = time.perf_counter() - start
    report = schedule_search.report(found)
    print(reports.write(report, output, environment, seconds=seconds, workspace=workspace))


if __name__ == "__main__":
    script.run(main)
