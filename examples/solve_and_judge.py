"""Solve a game, judge the policy with OpenSpiel's own exploitability, and keep it.

python examples/solve_and_judge.py
"""

from open_spiel.python.algorithms import exploitability

import spiel_dl as dl

GAME = "leduc_poker"  # any two-player zero-sum game with perfect recall

solver = dl.CFRPlus(GAME)
for iterations in (10, 90, 900):
    solver.run(iterations)
    policy = solver.average_policy()
    print(f"{solver.iteration:5} iterations: NashConv {dl.nash_conv(GAME, policy):.6f}")

# The same number by OpenSpiel, which asks the policy state by state.
theirs = exploitability.nash_conv(policy.game, policy)
print(f"by OpenSpiel: {theirs:.6f}")
assert abs(theirs - dl.nash_conv(GAME, policy)) < 1e-9

# The exact value of the game, by a linear program, and how far the policy is from it.
value = dl.solve_lp(GAME)[0]
print(f"value {value:.6f}, of the policy {dl.expected_value(GAME, policy, policy):.6f}")

policy.save("leduc.safetensors")
again = dl.ArrayPolicy.load("leduc.safetensors")
assert dl.nash_conv(GAME, again) == dl.nash_conv(GAME, policy)
