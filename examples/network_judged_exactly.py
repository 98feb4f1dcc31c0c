"""A trained network, judged exactly in a game of ten thousand million histories.

python examples/network_judged_exactly.py
"""

import spiel_dl as dl

NETWORK = "mmd:phantom_ttt"  # of the zoo; spiel_dl.play.zoo.names() lists all of them

policy = dl.load_policy(NETWORK)  # it says itself of which game it is
game = policy.game
print(game)

# Phantom tic-tac-toe has a factored form: the network is asked in all of its 6 million infosets,
# and best responses are exact. This takes a minute, most of it for the network.
exact = dl.exploitability(game, policy)
of_uniform = dl.exploitability(game, dl.load_policy("uniform", game))
print(f"exploitability {exact:.4f}, of random play {of_uniform:.4f}")
assert exact < of_uniform
