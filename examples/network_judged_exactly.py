"""A policy network in a game too large to list, and how much it gives away, exactly.

    python examples/network_judged_exactly.py
    python examples/network_judged_exactly.py "python_dark_hex(num_rows=2,num_cols=3)" 300

Phantom tic-tac-toe has ten billion ends, but its payoffs are sums of products, one factor for each
player (docs/algorithms/large_games.md). So exploitability is a number here, and no estimate. A
minute of learning; then the network is asked in all of the game's six million infosets.
"""

import sys

import spiel_dl as dl
from spiel_dl.factored.families import factored_game

GAME = sys.argv[1] if len(sys.argv) > 1 else "python_phantom_ttt"
NUM_STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000

game = factored_game(GAME)
num_infosets = [treeplex.num_infosets for treeplex in game.treeplexes]
print(f"infosets: {num_infosets[0]:,} of player 0, {num_infosets[1]:,} of player 1")

learner = dl.MMD(GAME)
for _ in range(NUM_STEPS):
    learner.step()
network = dl.ArrayPolicy.from_policy(game, learner.policy())

for name, policy in (("uniform play", dl.ArrayPolicy.uniform(game)), ("the network", network)):
    value = dl.expected_value(game, policy, policy)
    print(f"{name}: value {value:+.4f}, exploitability {dl.exploitability(game, policy):.4f}")
