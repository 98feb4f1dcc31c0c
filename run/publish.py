"""Adds the networks of a finished run to the model zoo, small and measured.

Examples:
  python run/train.py --preset=goofspiel_5_descending --run_dir=runs/goofspiel_5
  python run/publish.py --run_dir=runs/goofspiel_5 --name=rnad:goofspiel_5_descending
  python run/play.py --game="python_goofspiel_ii(num_cards=5,points_order=descending)" \\
      --opponent=rnad:goofspiel_5_descending
"""

from pathlib import Path

from spiel_dl.commands import script
from spiel_dl.play import zoo
from spiel_dl.system.parameters import Seed


def main(
    *,
    run_dir: str,
    name: str | None = None,
    models: str | None = None,
    num_games: int = 1000,
    seed: Seed = 0,
) -> None:
    """Publishes the networks, and prints the measurements.

    Args:
      run_dir: run directory of run/train.py.
      name: ALGORITHM:NAME, or NAME alone. Default: the preset with the run's game.
      models: folder of the zoo. Default: that of this checkout.
      num_games: games of each match, an even number; 0: no matches.
      seed: of all games.
    """
    from spiel_dl.runs import publishing  # Imports torch, which --help does not need.

    folder = Path(models) if models else zoo.folder()
    before = zoo.models(folder)
    whole_name, model = publishing.publish(
        Path(run_dir), folder, name, num_games=num_games, seed=seed
    )
    file = folder / model.file
    print(f"{'name':<28}{whole_name}")
    if whole_name in before:
        print(f"{'replaced':<28}a network of {before[whole_name].num_steps:,} steps")
    print(f"{'game':<28}{model.game}")
    print(f"{'stored as':<28}{model.dtype}, {file.stat().st_size:,} bytes")
    for title, value in model.measured.items():
        print(f"{title:<28}{value}")
    print(f"{'file':<28}{file}")


if __name__ == "__main__":
    script.run(main)
