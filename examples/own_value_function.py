"""A value function of one's own in DL-CFR: the game is cut, and leaves are valued by a function.

    python examples/own_value_function.py

The function here believes the exact values by a share only, and takes the rest for 0. How much that
costs is the trunk's exploitability: what an opponent gains against the trunk's strategy.
"""

import spiel_dl as dl
from spiel_dl.value_functions.base import LeafValues

GAME, LIMIT = "python_leduc", dl.DepthLimit(rounds=1)  # the second betting round is cut off


class Doubtful(dl.ValueFunction):
    """The exact values, times a share."""

    def __init__(self, share):
        self.share = share

    def bind(self, leaves):
        return DoubtfulLeaves(leaves, self.share)


class DoubtfulLeaves(LeafValues):
    """The same at the leaves of one trunk."""

    def __init__(self, leaves, share):
        super().__init__(leaves)
        self._exact, self._share = dl.ExactValue().bind(leaves), share

    def evaluate(self, range_0, range_1):
        """Ranges in, cfvs out: float64 [..., L_p] for each player's leaf infosets."""
        cfv_0, cfv_1 = self._exact.evaluate(range_0, range_1)
        return self._share * cfv_0, self._share * cfv_1


for share in (0.0, 0.5, 1.0):
    solver = dl.DLCFR(GAME, Doubtful(share), LIMIT)
    solver.run(50)
    trunk = dl.trunk_exploitability(GAME, solver.average_policy(), LIMIT)
    print(f"share {share:.1f}: exploitability of the trunk {trunk:.4f}")
