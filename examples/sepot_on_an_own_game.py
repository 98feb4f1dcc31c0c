"""SePoT on a game of one's own: a weak policy, a critic of it, and search on top.

    python examples/sepot_on_an_own_game.py

The game is written in Gambit's format here; one in Python or C++ does as well, and one written as
Rules also has networks and any size (docs/how_to/own_game.md).
"""

import pyspiel

import spiel_dl as dl
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import pure_transformations

# Player 0 sees a card and bets or checks; player 1 calls or folds.
GAME = pyspiel.load_efg_game("""EFG 2 R "One card" { "P0" "P1" }
c "" 1 "" { "high" 0.5 "low" 0.5 } 0
p "" 1 1 "" { "bet" "check" } 0
p "" 2 1 "" { "call" "fold" } 0
t "" 1 "" { 2 -2 }
t "" 2 "" { 1 -1 }
t "" 3 "" { 1 -1 }
p "" 1 2 "" { "bet" "check" } 0
p "" 2 1 "" { "call" "fold" } 0
t "" 4 "" { -2 2 }
t "" 2 "" { 1 -1 }
t "" 5 "" { -1 1 }
""")

tree = dl.compile_game(GAME)
blueprint = dl.ArrayPolicy.uniform(tree)  # mostly a network, of R-NaD or the like

# What each history is worth if the opponent goes on in one of a few ways; mostly a network, too.
ways = pure_transformations(tree.game.num_distinct_actions())
critic = ExactCritic(tree, blueprint.strategies, ways)
config = SearchConfig(effort=dl.Effort(iterations=1000))
search = SePoTPolicy(tree, blueprint, critic, dl.DepthLimit(moves=1), config=config)

before = dl.nash_conv(tree, blueprint)
after = dl.nash_conv(tree, search.to_array_policy())
print(f"value of the game {dl.game_value(tree, 0):.4f}")
print(f"NashConv of the blueprint {before:.4f}, with search {after:.4f}")
assert after < before
