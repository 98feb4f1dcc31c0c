"""Safe resolving of rivers below a blueprint, in hold'em from the turn on.

Burch, Johanson, Bowling (2014) and later work, see `solvers.gadgets`. The blueprint is a policy of
the whole game, for example by CFR that was stopped early. When a river is reached, it is solved
anew, at the player's range by the blueprint and the opponent's cfvs of a best response to it. So
with a safe gadget and exact solutions, the player is no more exploitable than its blueprint.

```python
policy = resolve_rivers(game, solver.average_policy(), gadget="max_margin")
policy.action_probabilities(state)  # solves the river of the state
print(exploitability(game, policy.to_array_policy()))  # solves all rivers at once
```
"""

from __future__ import annotations

from open_spiel.python import policy as openspiel_policy

from spiel_dl.factored.families import cut_any
from spiel_dl.factored.holdem_trunk import HoldemTrunk
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.spec import Spec
from spiel_dl.search.turns import TurnSource
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.solvers.gadgets import check_gadget
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame

DEFAULT_EFFORT = Effort(iterations=500)


def resolve_rivers(
    game: AnyGame,
    blueprint: openspiel_policy.Policy,
    *,
    gadget: str = "resolving",
    refinement: str = "none",
    effort: Effort = DEFAULT_EFFORT,
) -> SearchPolicy:
    """A policy that plays the blueprint on the turn and solves each river when it is reached.

    Args:
      game: hold'em from the turn on, too large to list; or `factored_game` of a smaller one.
      blueprint: both players' policy.
      gadget, refinement: as for `ContinualResolvingPolicy`.
      effort: how long to iterate on each river.

    Raises:
      ValueError: if the game is another one, the blueprint is no policy for it, the gadget is
        unknown or cannot be refined, or if there is a tolerance.
    """
    check_gadget(gadget, refinement)
    check_no_tolerance(effort)
    turn = cut_any(game, DepthLimit(rounds=1), blueprint)
    if not isinstance(turn, HoldemTrunk):
        raise ValueError(
            f"{turn.tree.game} is small enough to list; use ContinualResolvingPolicy, or give its "
            "factored_game"
        )
    source = TurnSource(turn, ArrayPolicy.from_policy(turn.tree, blueprint))
    return SearchPolicy(source, Spec(None, gadget, refinement), effort)
