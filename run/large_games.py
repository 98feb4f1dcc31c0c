"""Values and exploitability of one policy in games whose histories are too many to list.

Example:
  python run/large_games.py --policy=uniform --games=phantom_ttt --games=dark_hex
"""

import time

import script

from spiel_dl.algorithms.exploitability import expected_value, nash_conv
from spiel_dl.play.registry import POLICY_NAMES, load_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree.factored.families import factored_game


def main(
    *,
    policy: str = "uniform",
    games: str = "phantom_ttt;dark_hex;liars_dice(numdice=2,dice_sides=5)",
) -> None:
    """Evaluates a policy, and prints a line for each game as soon as it is known.

    Args:
      policy: what to evaluate, in every game.
      games: OpenSpiel game strings, with semicolons between them.
    """
    print(
        f"{'value':>10} {'gain 0':>10} {'gain 1':>10} {'exploitability':>14} {'seconds':>8}  game"
    )
    for name in games.split(";"):
        game = factored_game(name)
        array_policy = ArrayPolicy.from_policy(game, load_policy(policy, str(game.game)))
        start = time.perf_counter()
        found = nash_conv(game, array_policy, return_only_nash_conv=False)
        value = expected_value(game, array_policy)
        seconds = time.perf_counter() - start
        gains = " ".join(f"{gain:10.6f}" for gain in found.player_improvements)
        print(f"{value:10.6f} {gains} {found.nash_conv / 2:14.6f} {seconds:8.1f}  {game.game}")


if __name__ == "__main__":
    script.run(main, texts={"policy": f"the policy: {POLICY_NAMES}."})
