"""Compares our solvers and learners with OpenSpiel's: exploitability against time and steps.

Examples:
  python run/compare.py --game=leduc_poker --seconds=120
  python run/compare.py --game=goofspiel_4 --seconds=120
  python run/compare.py --game=kuhn_poker --seconds=5 --contender=cfr_plus \\
      --contender=openspiel_cfr_plus --output_dir=runs/compare/kuhn

Whoever was measured by an earlier start in the same work directory is not measured again. Other
work on the machine slows contenders down; run nothing beside them.
"""

import sys
from collections.abc import Sequence

from absl import app, flags
from papers.compare import report as compare_report
from papers.compare.study import NAMES, CompareConfig, compare

from spiel_dl.runs.run_directory import describe_environment

_GAME = flags.DEFINE_string(
    "game", "leduc_poker", "leduc_poker, goofspiel_4 or an OpenSpiel game string."
)
_SECONDS = flags.DEFINE_float("seconds", 120.0, "Seconds of learning, for each contender.")
_CONTENDERS = flags.DEFINE_multi_enum(
    "contender", [], list(NAMES), "Whom to measure; may be repeated. Default: all."
)
_SEED = flags.DEFINE_integer("seed", 0, "Seed of every contender.")
_WORK_DIR = flags.DEFINE_string(
    "work_dir", "runs/compare", "Finished parts, by game; what is there is not done again."
)
_OUTPUT_DIR = flags.DEFINE_string("output_dir", "results/compare", "Where the report goes.")


def main(argv: Sequence[str]) -> None:
    """Measures, and says where the report is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    environment = describe_environment()
    try:
        config = CompareConfig(_GAME.value, _SECONDS.value, tuple(_CONTENDERS.value), _SEED.value)
        comparison = compare(config, _WORK_DIR.value)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(compare_report.table(comparison).to_markdown())
    for title, reason in comparison.refusals.items():
        print(f"{title} did not run: {reason}")
    print(f"report  {compare_report.write(comparison, _OUTPUT_DIR.value, environment)}")


if __name__ == "__main__":
    app.run(main)
