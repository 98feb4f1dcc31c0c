"""Puts runs of one learner with different seeds into a table and a picture.

Example:
  python run/train_rnad.py --game=kuhn_poker --num_steps=2000 --seed=0 --run_dir=runs/kuhn/0
  python run/train_rnad.py --game=kuhn_poker --num_steps=2000 --seed=1 --run_dir=runs/kuhn/1
  python run/report_learners.py --run=runs/kuhn/0 --run=runs/kuhn/1 --output=runs/kuhn/report
"""

import sys
from collections.abc import Sequence

from absl import app, flags
from papers.learner_curves import write_curves

_RUNS = flags.DEFINE_multi_string("run", None, "A run directory; repeated for each.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Path of the report, without ending.", required=True)


def main(argv: Sequence[str]) -> None:
    """Writes the report, and says where it is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        report = write_curves(_RUNS.value, _OUTPUT.value)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(report)


if __name__ == "__main__":
    app.run(main)
