"""Games that a network plays to the end: in compiled loops, beside tensor operations, in one run.

Mirror-descent search plays out as many as it can in a move's time. From the root, after every
action, by untrained networks of two layers of 128 units; microseconds of a game, and the ratio.

  python experiments/benchmarks/rollouts.py --output=results/benchmarks
"""

from typing import Any

import common
import numpy as np
import pyspiel

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.runs.reports import Report, Table
from spiel_dl.search.policy_rows import play_on_by

GAMES = {
    "python_leduc": "python_leduc",
    "goofspiel 8": common.GOOFSPIEL.format(8),
    "goofspiel 13, random order": "python_goofspiel_ii(num_cards=13)",
    "battleships 5x5": common.battleships(5, (3, 2, 2))[0],
    "phantom tic-tac-toe": "python_phantom_ttt",
}


def compare(game_string: str, num_games: int, rounds: int, seconds: float) -> dict[str, Any]:
    """Microseconds of a game, by both ways."""
    game = pyspiel.load_game(game_string)
    network = PolicyNetwork(
        game.information_state_tensor_size(), game.num_distinct_actions(), (128, 128)
    )
    policy = NetworkPolicy(game, network, network.initial_parameters(seed=0))
    rules, generator = game.rules, np.random.default_rng(0)
    states = rules.initial_state()
    legal = rules.legal_actions(states)[0].nonzero()[:, 0].numpy()
    if not len(legal):  # Chance begins.
        legal = rules.chance_probabilities(states)[0].nonzero()[:, 0].numpy()
    rows, actions = np.zeros(num_games, np.int64), np.resize(legal, num_games)
    compiled = play_on_by(rules, ActingNetwork(network, policy.parameters))
    tensors = play_on_by(rules, policy.act)
    found, ratios = common.compare(
        {
            common.OURS: common.repeat(lambda: compiled(states, rows, actions, generator)),
            "tensors": common.repeat(lambda: tensors(states, rows, actions, generator)),
        },
        rounds,
        seconds,
    )
    return {f"{name}, µs": figure / num_games for name, figure in found.items()} | ratios


def measure(*, num_games: int = 1000, rounds: int = 5, seconds: float = 1.0) -> Report:
    """Measures all games.

    Args:
      num_games: played out at once.
      rounds: in which both ways take turns.
      seconds: how long each runs in a round at least.
    """
    rows = [
        {"game": name, **compare(game, num_games, rounds, seconds)} for name, game in GAMES.items()
    ]
    return Report(
        "Games played to the end by a network",
        [f"Medians over {rounds} rounds, {num_games:,} games at once."],
        {"A game": Table.of(rows)},
    )


if __name__ == "__main__":
    common.run(measure)
