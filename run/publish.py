"""Adds the networks of a finished run to the model zoo, small and measured.

Examples:
  python run/train.py --preset=goofspiel_5_descending --run_dir=runs/goofspiel_5
  python run/publish.py --run_dir=runs/goofspiel_5 --name=rnad:goofspiel_5_descending
  python run/play.py --game="python_goofspiel_ii(num_cards=5,points_order=descending)" \\
      --opponent=rnad:goofspiel_5_descending
"""

from pathlib import Path

from spiel_dl.commands import config_flags, script
from spiel_dl.play import zoo
from spiel_dl.runs import publishing

_PUBLISH = config_flags.define(publishing.publish, only=["num_games", "seed"])


def main(*, run_dir: str, name: str | None = None, models: str | None = None) -> None:
    """Publishes, and says what was measured.

    Args:
      run_dir: run directory of run/train.py.
      name: ALGORITHM:NAME, or NAME alone. Default: the preset with the run's game.
      models: folder of the zoo. Default: that of this checkout.
    """
    folder = Path(models) if models else zoo.folder()
    whole_name, model = _PUBLISH.build(Path(run_dir), folder, name)
    file = folder / model.file
    print(f"{'name':<28}{whole_name}")
    print(f"{'game':<28}{model.game}")
    print(f"{'stored as':<28}{model.dtype}, {file.stat().st_size:,} bytes")
    for title, value in model.measured.items():
        print(f"{title:<28}{value}")
    print(f"{'file':<28}{file}")


if __name__ == "__main__":
    script.run(main)
