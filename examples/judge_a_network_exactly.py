"""A network in phantom tic-tac-toe, judged exactly: the game has 9.8 billion ends, none is listed.

    python examples/judge_a_network_exactly.py

It takes about a minute of a core and 2 GB: most of it is asking the network in all its infosets.
"""

import pyspiel

import spiel_dl as dl
from spiel_dl.factored.families import factored_game

GAME = pyspiel.load_game("python_phantom_ttt")

network = dl.load_policy("mmd:phantom_ttt", GAME)  # of the model zoo; a run directory does as well
game = factored_game(
    GAME
)  # payoffs as sums over placed stones, in the place of a list of histories
policy = dl.ArrayPolicy.from_policy(game, network)

print(f"value of player 0, both by the network: {dl.expected_value(game, policy, policy):+.4f}")
for player in (0, 1):
    best = dl.best_response_value(game, policy, player)
    print(f"a best response earns player {player} {best:+.4f}")
print(f"exploitability {dl.exploitability(game, policy):.4f}")
