"""Restricted Nash response (RNR).

Johanson, Zinkevich, Bowling (2008), "Computing Robust Counter-Strategies". The opponent follows the
model with probability p and else minimises the player's value; the player does not see which. No
strategy of the same exploitability as an equilibrium of that game earns more against the model.
It is CDRNR in one step over the whole game (`algorithms.cdrnr`), so p * gain >= (1 - p) *
exploitability.

```python
model = policy.UniformRandomPolicy(game)
response = rnr.RNRPolicy(game, 0, model, p=0.5)
print(exploitability.gain(game, response.to_array_policy(), model, player=0))
```
"""

from __future__ import annotations

from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.search.respond_to import DEFAULT_EFFORT
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME
from spiel_dl.tree.load import AnyGame


class RNRPolicy(CDRNRPolicy):
    """The restricted Nash response of a player to a model of its opponent."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        model: openspiel_policy.Policy,
        *,
        p: float,
        exact: bool = False,
        effort: Effort = DEFAULT_EFFORT,
    ):
        """Compiles the game; solves nothing yet.

        Args:
          game: the game, its game string, or the compiled game.
          player: the player who responds.
          model: the opponent's policy as far as it is known; its part for `player` is not read.
          p: the probability that the opponent follows the model, 0 to 1.
          exact: solve by linear programming, not by CFR.
          effort: how long to iterate.

        Raises:
          ValueError: if the game cannot be compiled, or if an argument is not valid.
        """
        super().__init__(
            game,
            player,
            model,
            BEYOND_THE_GAME,
            p=p,
            scheme="block",
            exact=exact,
            effort=effort,
        )
