"""Computes values and exploitability of a policy in games with too many histories to list.

Finished results in the run directory are reused.

Examples:
  python run/large_games.py --policy=uniform --games="phantom_ttt;dark_hex"
  python run/large_games.py --policy=onnx:network.onnx --games=phantom_ttt --run_dir=runs/mine
"""

import re
import time

from spiel_dl.commands import script
from spiel_dl.play.kinds import policy_names
from spiel_dl.runs import large_games
from spiel_dl.system.distributed import IN_PROCESS


def main(
    *,
    policy: str = "uniform",
    games: str | None = None,
    run_dir: str = "runs/large_games",
    device: str = "cpu",
) -> None:
    """Evaluates a policy, prints memory and time before each game, and a table at the end.

    Args:
      policy: the policy to evaluate, in every game.
      games: OpenSpiel game strings, with semicolons between them. Default: phantom tic-tac-toe and
        dark hex on 3x3 boards, classical and abrupt, and liar's dice with two dice of five sides.
      run_dir: directory of finished rows.
      device: torch device of networks.
    """
    start = time.perf_counter()

    def print_with_time(text: str) -> None:
        print(f"[{time.perf_counter() - start:6.1f} s] {text}", flush=True)

    rows = large_games.judge_all(
        script.open_workspace(run_dir, IN_PROCESS),
        policy,
        large_games.GAMES
        if games is None
        else [each for each in re.split(r";(?![^(]*\))", games) if each.strip()] or [games],
        device=device,
        on_message=print_with_time,
    )
    print(f"\n{policy}\n")
    large_games.table(rows).show()


if __name__ == "__main__":
    script.run(main, texts={"policy": f"the policy: {policy_names()}."})
