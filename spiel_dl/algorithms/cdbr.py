"""Continual depth-limited best response (CDBR).

Milec, Kubíček, Lisý (2024), "Continual Depth-limited Responses for Computing Counter-strategies in
Sequential Games", section 3. Each step maximises the player's value if the opponent follows the
model above the step's horizon and both are rational below it. With the optimal value function the
response earns at least the game's value against the model, since rational play remains possible in
each step. It may earn less than an equilibrium that happens to exploit the model behind the horizon
(the paper's appendix F).

```python
model = policy.UniformRandomPolicy(game)
response = cdbr.CDBRPolicy(game, 0, model, DepthLimit(plies=2))
print(exploitability.gain(game, response.to_array_policy(), model, player=0))
```

Steps:

  1. The first piece of the game (`tree.pieces`) is solved, with the opponent bound to the model
     down to the horizon.
  2. In each public state where a next piece begins, the player's range is that of its strategy so
     far, and the opponent's that of the model: no gadget is needed, since a bound opponent has no
     other range. The piece is solved with these ranges.
  3. And so on, until the game ends.

Where the opponent is bound everywhere, a step is a best response; else it is CFR or a linear
program, or, with a value function, CFR in the trunk, of which the iterate of highest value is kept.
"""

from __future__ import annotations

from open_spiel.python import policy as openspiel_policy

from spiel_dl.search.leaf_values import AnyValueFunction
from spiel_dl.search.respond_to import ResponsePolicy, source_spec_effort
from spiel_dl.search.spec import Spec
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame


class CDBRPolicy(ResponsePolicy):
    """The continual depth-limited best response of a player to a model of its opponent."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        model: openspiel_policy.Policy,
        depth_limit: DepthLimit,
        *,
        scheme: str = "sliding",
        value_function: AnyValueFunction | None = None,
        exact: bool = False,
        effort: Effort | None = None,
    ):
        """Compiles the game; solves nothing yet.

        Args:
          game: the game, its game string, or the compiled game.
          player: the player who responds.
          model: the opponent's policy as far as it is known; its part for `player` is not read.
          depth_limit: how many levels a step looks ahead. The paper's CDBR n looks n levels beyond
            the player's decision: n + 1 plies.
          scheme: "sliding": a step at every decision. "block": a step every so many levels, as the
            paper's definition has it.
          value_function: values what lies at the horizon: one for all steps, or one for each depth
            limit, counted from the root, at which a step ends. None: the optimal value function, by
            solving all the rest of the game in each step.
          exact: solve by linear programming; without a value function only.
          effort: how long to iterate, in each step; with a value function, without a tolerance,
            since no gap is known. None: `Effort(10_000, tolerance=1e-6)`, or with a value function
            `Effort(1000)`.

        Raises:
          ValueError: if the game cannot be compiled or cut, if an argument is not valid, or if
            there are a value function and a tolerance.
        """
        spec = Spec(p=1.0, exact=exact)
        arguments = (game, player, model, depth_limit, scheme, value_function, spec)
        super().__init__(*source_spec_effort(*arguments, effort))
