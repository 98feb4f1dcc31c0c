"""A match between two policies, with an interval, and beside it what is expected exactly.

python examples/match.py
"""

import spiel_dl as dl

GAME = "kuhn_poker"

first = dl.load_policy("cfr+:1000", GAME)  # names are those of the scripts and of the page
second = dl.load_policy("uniform", GAME)

# Half of the games in each seat, with the same cards: the interval is over pairs.
result = dl.play_match(first, second, num_games=4000, seed=0)
print(result)

as_first = dl.expected_value(GAME, first, second)
as_second = -dl.expected_value(GAME, second, first)
expected = (as_first + as_second) / 2
print(f"expected {expected:.4f}")
assert abs(result.mean_return - expected) < 3 * result.half_width

# Any policy is a bot for OpenSpiel's own tools.
bot = dl.policy_bot(first, player=0, seed=1)
