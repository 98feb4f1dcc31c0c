"""Puts reports of learners into one table, with their goals and a peer's strength beside them.

Example:
  python run/compare_learners.py --report=results/learners/rnad_leduc.json \\
      --report=results/learners/mmd_leduc.json --peer=results/benchmarks/rlg_strength.json \\
      --output=results/learners
"""

from papers.learner_table import write_table
from spiel_dl.commands import script


def main(*, report: tuple[str, ...], output: str, peer: str | None = None) -> None:
    """Writes the table, and says where it is.

    Args:
      report: JSON file of run/report_learners.py; repeated for each.
      output: path of the table, without ending.
      peer: JSON file of benchmarks/rlg_strength.py.
    """
    print(write_table(report, output, peer=peer))


if __name__ == "__main__":
    script.run(main)
