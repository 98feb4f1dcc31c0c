"""Plays two policies against each other, in both seats, with common random numbers.

Examples:
  python run/head_to_head.py --game=leduc_poker --first=cfr+:1000 --second=uniform
  python run/head_to_head.py --preset=phantom_ttt --first=mmds:mmd:phantom_ttt --second=uniform
"""

import dataclasses

from spiel_dl.commands import config_flags, players, script
from spiel_dl.play.kinds import policy_names
from spiel_dl.play.presets import PRESETS
from spiel_dl.runs import head_to_head
from spiel_dl.system.environment import describe_environment

_MATCH = config_flags.define(head_to_head.Match)
_OPTIONS = players.OptionFlags()
_WORKERS = script.workers()


def main(
    *,
    first: str,
    second: str,
    game: str | None = None,
    preset: str | None = None,
    run_dir: str | None = None,
    output: str | None = None,
) -> None:
    """Plays the match, and prints its result.

    Args:
      first: the first policy.
      second: the second policy; the same names as for --first.
      game: OpenSpiel game string, with parameters.
      preset: a game by name.
      run_dir: keep finished parts here; a stopped match goes on there.
      output: write the result to OUTPUT.json and OUTPUT.md.
    """
    environment = describe_environment()
    # A preset may have the name of another game of OpenSpiel, which --game means.
    game_string = preset or (f"{game}()" if game in PRESETS else game or "")
    engine = _WORKERS.build()
    workspace = None if run_dir is None else script.open_workspace(run_dir, engine)
    row = head_to_head.measure(
        game_string,
        first,
        second,
        options=_OPTIONS.build(first, second),
        engine=engine,
        workspace=workspace,
        description="pairs of games, in parts",
        **dataclasses.asdict(_MATCH.build()),
    )
    print(f"game         {row['game']}")
    print(f"wall-clock   {row['wall_clock']:.1f} s\n")
    table = head_to_head.table([row])
    table.show()
    if table.rest:
        print()
        table.rest.show()
    if output:  # last: what was measured is printed even if it cannot be written
        head_to_head.write(output, [row], environment, workspace)


if __name__ == "__main__":
    script.run(
        main,
        one_of=["game", "preset"],
        choices={"preset": PRESETS},
        texts={"first": f"the first policy: {policy_names()}."},
    )
