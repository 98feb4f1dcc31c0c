"""Plays two policies against each other, with both seats, common luck and 95% intervals.

Examples:
  python run/head_to_head.py --game=leduc_poker --first=cfr+:1000 --second=uniform
  python run/head_to_head.py --preset=goofspiel_8_descending --num_workers=2 \\
      --first=sepot:runs/sepot/goofspiel_8 --second=runs/rnad/goofspiel_8 --num_games=10000
"""

import sys
from collections.abc import Sequence

import search_flags
from absl import app, flags

from spiel_dl.jobs import head_to_head
from spiel_dl.play.presets import PRESETS
from spiel_dl.play.registry import POLICY_NAMES
from spiel_dl.runs import distributed
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.runs.workspace import Workspace

_GAME = flags.DEFINE_string("game", None, "OpenSpiel game string, with parameters.")
_PRESET = flags.DEFINE_enum("preset", None, list(PRESETS), "A game of the SePoT paper, by name.")
_FIRST = flags.DEFINE_string("first", None, f"Who plays: {POLICY_NAMES}.", required=True)
_SECOND = flags.DEFINE_string(
    "second", None, "Against whom; the same names as for --first.", required=True
)
_GAMES = flags.DEFINE_integer("num_games", 1000, "Games, half of them in each seat.")
_SEED = flags.DEFINE_integer("seed", 0, "Seed of chance and of both players' choices.")
_PAIRS = flags.DEFINE_integer("pairs_at_once", 64, "Pairs of games in one part of the match.")
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device of the networks.")
_WORK = flags.DEFINE_string(
    "work_dir", None, "Keep finished parts here; a match that was stopped goes on there."
)
_OUTPUT = flags.DEFINE_string("output", None, "Write the result to OUTPUT.json and OUTPUT.md.")
_engine = distributed.define_flags()
flags.adopt_module_key_flags(search_flags)
flags.mark_flags_as_mutual_exclusive(["game", "preset"], required=True)


def main(argv: Sequence[str]) -> None:
    """Plays the match, and says how it went."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    environment = describe_environment()
    try:
        config = head_to_head.HeadToHeadConfig(
            _GAME.value or _PRESET.value,
            _FIRST.value,
            _SECOND.value,
            num_games=_GAMES.value,
            seed=_SEED.value,
            search=search_flags.search_options(_GAME.value or PRESETS[_PRESET.value]),
            pairs_at_once=_PAIRS.value,
            device=_DEVICE.value,
        )
        engine, what = _engine(), "pairs of games, in parts"
        workspace = Workspace(_WORK.value, engine, show_progress=True) if _WORK.value else None
        row = head_to_head.measure(config, engine, workspace=workspace, description=what)
        if _OUTPUT.value:
            head_to_head.write(_OUTPUT.value, [row], environment, workspace)
    except (ValueError, distributed.WorkerDiedError) as error:
        sys.exit(f"error: {error}")
    print(f"game         {config.game_string}")
    print(f"wall-clock   {row['wall_clock']:.1f} s\n")
    print(head_to_head.table([row]).to_markdown(), end="")


if __name__ == "__main__":
    app.run(main)
