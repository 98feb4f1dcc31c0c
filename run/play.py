"""Plays any two-player OpenSpiel game in the terminal, against a policy.

Examples:
  python run/play.py --game="python_leduc"
  python run/play.py --game=leduc_poker --opponent=cfr+:1000
  python run/play.py --game=leduc_poker \\
      --opponent=runs/demo/leduc_poker/average_policy.safetensors

Against search on top of a policy network that was just trained (minutes):
  python run/train.py --preset=leduc --transformations=pure --num_steps=2000 \\
      --run_dir=runs/sepot/leduc
  python run/play.py --game="python_leduc" --opponent=sepot:runs/sepot/leduc --reveal
"""

import sys
from typing import Literal

from spiel_dl.commands import players, script
from spiel_dl.play import terminal
from spiel_dl.play.kinds import policy_names
from spiel_dl.play.registry import load_policy
from spiel_dl.system.parameters import Positive, Seed
from spiel_dl.tree.load import turn_based_game

_OPTIONS = players.OptionFlags()


def main(
    *,
    game: str = "python_leduc",
    opponent: str = "uniform",
    seat: Literal["0", "1", "random"] = "0",
    num_games: Positive = 1,
    seed: Seed | None = None,
    reveal: bool = False,
) -> None:
    """Plays a match.

    Args:
      game: OpenSpiel game string, with parameters.
      opponent: the opponent.
      seat: your player.
      num_games: games to play.
      seed: of chance, opponent and seats. Default: none.
      reveal: show all hidden information once a game is over.
    """
    loaded = turn_based_game(game)
    match = terminal.Match(
        loaded,
        load_policy(opponent, loaded, **_OPTIONS.build(opponent)),
        sys.stdin,
        sys.stdout,
        seat=None if seat == "random" else int(seat),
        seed=seed,
        reveal=reveal,
    )
    match.play(num_games)


if __name__ == "__main__":
    script.run(main, texts={"opponent": f"the opponent: {policy_names()}."})
