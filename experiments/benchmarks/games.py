"""Our games through OpenSpiel's interface, and as trees, beside the peers, in one run.

Adapter: one step (apply_action, legal_actions, information_state_string of one player) and one
clone in random games, beside the C++ twin's. Trees: from the rules, beside walking the same game's
OpenSpiel states.

  python experiments/benchmarks/games.py --output=results/benchmarks
"""

import random
import time
from typing import Any

import common
import pyspiel

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree import GameTree, from_openspiel

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
    "battleships 5x5, ships 3, 2, 2": common.battleships(5, (3, 2, 2)),
    "battleships 10x10, five ships": common.battleships(10, (2, 3, 3, 4, 5)),
}
# The walk over the states of the larger two would take minutes.
TREES = {
    "python_leduc": True,
    "python_oshi_zumo_ii": True,
    common.PAPERS_GOOFSPIEL: True,
    common.PAPERS_GOOFSPIEL.replace("num_cards=5", "num_cards=6"): False,
    "python_goofspiel_ii(num_cards=5,points_order=random)": False,
}


def time_adapter(game_string: str, episodes: int) -> dict[str, float]:
    """Median microseconds of a step and of a clone in random games."""
    game, rng, found = pyspiel.load_game(game_string), random.Random(0), []
    for _ in range(episodes):
        state = game.new_initial_state()
        while not state.is_terminal():
            action = rng.choice(state.legal_actions())
            start = time.perf_counter()
            state.apply_action(action)
            state.legal_actions()
            state.information_state_string(0)
            middle = time.perf_counter()
            state.clone()
            end = time.perf_counter()
            found.append({"step": 1e6 * (middle - start), "clone": 1e6 * (end - middle)})
    return common.medians(found)


def time_tree(game_string: str, walks: bool) -> dict[str, Any]:
    """Seconds to compile a game from its rules and, where `walks`, by walking its states."""
    game = pyspiel.load_game(game_string)
    tree, rules = common.timed(lambda: GameTree.from_game(game))
    row = {"game": game_string, "histories": tree.num_histories, "from rules, s": rules["seconds"]}
    if walks:
        _, walk = common.timed(
            lambda: GameTree.from_histories(from_openspiel.enumerate_game(game, tree.num_histories))
        )
        ratio = walk["seconds"] / rules["seconds"]
        row |= {"walking states, s": walk["seconds"], "ratio": ratio}
    return row


def measure(*, episodes: int = 10) -> Report:
    """Measures both.

    Args:
      episodes: random games per figure.
    """
    time_tree("python_leduc", walks=True)  # Makes everything ready.
    adapter = []
    for name, pair in GAMES.items():
        ours, twin = (time_adapter(game, episodes) for game in pair)
        row = {"game": name}
        for what in ours:
            row |= {f"{what}, µs": ours[what], f"C++ twin's {what}, µs": twin[what]}
        adapter.append(row)
    return Report(
        "Games through OpenSpiel's interface, and as trees",
        [f"Medians over {episodes} random games; trees once each."],
        {
            "One step (apply, legal actions, information state string), one clone": Table.of(
                adapter
            ),
            "From rules to a `GameTree`": Table.of(
                [time_tree(name, walks) for name, walks in TREES.items()]
            ),
        },
    )


if __name__ == "__main__":
    common.run(measure)
