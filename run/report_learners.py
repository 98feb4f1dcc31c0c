"""Puts runs of one learner with different seeds into a table and a picture.

Example:
  python run/train.py --game=kuhn_poker --num_steps=2000 --seed=0 --run_dir=runs/kuhn/0
  python run/train.py --game=kuhn_poker --num_steps=2000 --seed=1 --run_dir=runs/kuhn/1
  python run/report_learners.py --run=runs/kuhn/0 --run=runs/kuhn/1 --output=runs/kuhn/report
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where experiments/ lies

from experiments.learner_curves import write_curves
from spiel_dl.commands import script


def main(*, run: tuple[str, ...], output: str) -> None:
    """Writes the report, and says where it is.

    Args:
      run: a run directory; repeated for each.
      output: path of the report, without ending.
    """
    print(write_curves(run, output))


if __name__ == "__main__":
    script.run(main)
