"""Our games through OpenSpiel's interface, and as trees, beside the peers, in one run.

Adapter: one step (apply_action, legal_actions, information_state_string of one player) and one
clone in random games, beside the C++ twin's. Trees: from the rules, beside walking the same game's
OpenSpiel states. Writes games.json and games.md to --output.

  python benchmarks/games.py --output=results/benchmarks
"""

import random
import statistics
import time
from collections.abc import Sequence
from typing import Any

import common
import pyspiel
import torch
from absl import app, flags

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.tree import GameTree, from_openspiel

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_EPISODES = flags.DEFINE_integer("episodes", 10, "Random games per figure.", lower_bound=1)

# Ours and its C++ twin.
GAMES = {
    "goofspiel 13, random order": (
        "python_goofspiel_ii(num_cards=13)",
        "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=13))",
    ),
    "oshi-zumo, 8 coins": (
        "python_oshi_zumo_ii",
        "turn_based_simultaneous_game(game=oshi_zumo(coins=8,min_bid=1,size=3))",
    ),
    "python_leduc": ("python_leduc", "leduc_poker"),
    "battleships 5x5, ships 3, 2, 2": (
        "python_battleships(board_width=5,board_height=5,ship_sizes=[3;2;2])",
        "battleship(board_width=5,board_height=5,ship_sizes=[3;2;2],ship_values=[1;1;1],"
        "num_shots=25,allow_repeated_shots=False,loss_multiplier=1.0)",
    ),
    "battleships 10x10, five ships": (
        "python_battleships(board_width=10,board_height=10,ship_sizes=[2;3;3;4;5])",
        "battleship(board_width=10,board_height=10,ship_sizes=[2;3;3;4;5],"
        "ship_values=[1;1;1;1;1],num_shots=100,allow_repeated_shots=False,loss_multiplier=1.0)",
    ),
}
# The walk over the states of the larger two would take minutes.
TREES = {
    "python_leduc": True,
    "python_oshi_zumo_ii": True,
    "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=True)": True,
    "python_goofspiel_ii(num_cards=6,points_order=descending,forced_last_round=True)": False,
    "python_goofspiel_ii(num_cards=5,points_order=random)": False,
}


def time_adapter(game_string: str) -> dict[str, float]:
    """Median microseconds of a step and of a clone in random games."""
    game, rng = pyspiel.load_game(game_string), random.Random(0)
    steps, clones = [], []
    for _ in range(_EPISODES.value):
        state = game.new_initial_state()
        while not state.is_terminal():
            action = rng.choice(state.legal_actions())
            start = time.perf_counter()
            state.apply_action(action)
            state.legal_actions()
            state.information_state_string(0)
            middle = time.perf_counter()
            state.clone()
            clones.append(time.perf_counter() - middle)
            steps.append(middle - start)
    return {"step": 1e6 * statistics.median(steps), "clone": 1e6 * statistics.median(clones)}


def time_tree(game_string: str, walks: bool) -> dict[str, Any]:
    """Seconds to compile a game from its rules and, where `walks`, by walking its states."""
    game = pyspiel.load_game(game_string)
    start = time.perf_counter()
    tree = GameTree.from_game(game)
    middle = time.perf_counter()
    result = {"histories": tree.num_histories, "rules": middle - start, "walk": None}
    if walks:
        GameTree.from_histories(from_openspiel.enumerate_game(game, tree.num_histories))
        result["walk"] = time.perf_counter() - middle
    return result


def report(results: dict[str, Any]) -> str:
    """The whole report in Markdown."""
    adapter = [
        f"| {name} | {ours['step']:.0f} | {twin['step']:.1f} | {ours['clone']:.1f} "
        f"| {twin['clone']:.1f} |"
        for name, (ours, twin) in results["adapter"].items()
    ]
    trees = [
        f"| `{name}` | {row['histories']:,} | {row['rules']:.3f} | "
        + (f"{row['walk']:.2f} | {row['walk'] / row['rules']:.0f} |" if row["walk"] else "- | - |")
        for name, row in results["trees"].items()
    ]
    return "\n".join(
        [
            "# Games through OpenSpiel's interface, and as trees\n",
            reports.describe_run(results["environment"]),
            f"{reports.describe_machine(results['environment'], 'one thread used')}. Medians over "
            f"{results['episodes']} random games; trees once each.\n",
            "## One step (apply, legal actions, information state string), one clone\n",
            "| game | step, µs | C++ twin's, µs | clone, µs | C++ twin's, µs |",
            "|---|---:|---:|---:|---:|",
            *adapter,
            "\n## From rules to a `GameTree`\n",
            "| game | histories | from rules, s | walking states, s | ratio |",
            "|---|---:|---:|---:|---:|",
            *trees,
            "",
        ]
    )


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    time_tree("python_leduc", walks=True)  # Makes everything ready.
    results: dict[str, Any] = {
        "environment": describe_environment(),
        "episodes": _EPISODES.value,
        "adapter": {n: [time_adapter(g) for g in pair] for n, pair in GAMES.items()},
        "trees": {name: time_tree(name, walks) for name, walks in TREES.items()},
    }
    common.publish(f"{_OUTPUT.value}/games", results, report)


if __name__ == "__main__":
    app.run(main)
