"""Plays any two-player OpenSpiel game in the terminal, against a policy or another person.

Examples:
  python run/play.py --game="python_leduc"
  python run/play.py --game="python_goofspiel_ii(num_cards=5)" --opponent=human
  python run/play.py --game=leduc_poker --opponent=cfr+:1000
  python run/play.py --game=leduc_poker \\
      --opponent=runs/demo/leduc_poker/average_policy.safetensors

Against search on top of a policy network that was just trained (minutes):
  python run/train_sepot.py --preset=leduc --num_steps=2000 --run_dir=runs/sepot/leduc
  python run/play.py --game="python_leduc" --opponent=sepot:runs/sepot/leduc --reveal
"""

import sys
from collections.abc import Sequence

import search_flags
from absl import app, flags

from spiel_dl.play import terminal as play
from spiel_dl.play.registry import POLICY_NAMES
from spiel_dl.tree.load import turn_based_game

_GAME = flags.DEFINE_string("game", "python_leduc", "OpenSpiel game string, with parameters.")
_OPPONENT = flags.DEFINE_string(
    "opponent", "uniform", f"human (at the same keyboard), or one of: {POLICY_NAMES}."
)
_SEAT = flags.DEFINE_enum(
    "seat", "0", ["0", "1", "random"], "Which player you are; not used with --opponent=human."
)
_GAMES = flags.DEFINE_integer("games", 1, "Games to play.", lower_bound=1)
_SEED = flags.DEFINE_integer("seed", None, "Seed of chance, opponent and seats. Default: none.")
_REVEAL = flags.DEFINE_bool("reveal", False, "Show what was hidden once a game is over.")
flags.adopt_module_key_flags(search_flags)


def main(argv: Sequence[str]) -> None:
    """Plays a match."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        game = turn_based_game(_GAME.value)
        match = play.Match(
            game,
            play.load_opponent(_OPPONENT.value, game, search_flags.search_options(game)),
            sys.stdin,
            sys.stdout,
            seat=None if _SEAT.value == "random" else int(_SEAT.value),
            seed=_SEED.value,
            reveal=_REVEAL.value,
        )
    except ValueError as error:
        sys.exit(f"error: {error}")
    match.play(_GAMES.value)


if __name__ == "__main__":
    app.run(main)
