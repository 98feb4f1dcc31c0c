"""Continual depth-limited restricted Nash response (CDRNR).

Milec, Kubíček, Lisý (2024), "Continual Depth-limited Responses for Computing Counter-strategies in
Sequential Games", section 4. As in CDBR, each step looks down to a horizon. But the opponent
follows the model only with probability p, and else minimises the player's value; the player does
not see which. So its realization plan above the horizon is p * model + (1 - p) * free, also in the
ranges that the value function gets (`solvers.restricted_game`). p = 0 is continual resolving, and
one step over the whole game is the restricted Nash response (`algorithms.rnr`). p = 1 is CDBR, up
to the choice among a step's optimal solutions.

The opponent's range at a step may differ from that in the solution of the step before; hence the
gadget. *Gain* is the expected utility against the model less the game's value v; *safety*
is p * gain >= (1 - p) * exploitability, which gives gain >= 0 too, if p > 0. With an optimal value
function and exact solutions:

| gadget | what a step solves | guaranteed |
|---|---|---|
| `joint` | a level: the whole game, the player bound in all levels above | safety |
| `full` | a public state: the whole game, the player bound on the path to it only | p = 1 |
| `full_trunk` | a public state: the whole game, the player bound in all it has solved | safety |
| `resolving` | a public state, which the opponent may leave for its values before | safety |
| `max_margin` | a public state, which the opponent enters where it gains most | p = 0 or 1 |
| `reach_max_margin` | the same, plus its gifts on the way there | p = 0 or 1 |

p = 0 or 1: exploitability 0 if p = 0, gain >= 0 if p = 1, and no bound in between.

*Proof for `joint`.* From one step to the next, the player's solution remains possible and the
opponent is bound in more places, so the optimum never falls; the first one is at least v, which an
equilibrium earns against anybody. The last one, p (v + gain) + (1 - p) (v - exploitability), is
thus at least v. The same proves it for `full_trunk`, public state by public state, in any order.

*Proof for `resolving`.* The solution before remains possible, so what a step takes from p * gain
in its public state is at least (1 - p) times the sum of the rises of the opponent's values there,
and no opponent gains more by it in the whole game than all rises in all public states.

`resolving` counts rises that no single opponent can collect, so it exploits less than it might;
`max_margin` counts the largest rise only, so it may exploit more than is safe. The paper's full
gadget can be read in two ways. `full` keeps what was solved on the path (its section 5) and lets
the player change its mind off the path, in public states for which it may already have decided
otherwise. Each public state by itself is then safe, but siblings can spend the same slack twice:
with as little as two of them, exploitability can be three times the gain at p = 0.5. `full_trunk`
is the definition (its section 4): every solved subgame joins the trunk, so the safety theorem
holds. In play, it solves all public states that come before the one at hand.
"""

from __future__ import annotations

from open_spiel.python import policy as openspiel_policy

from spiel_dl.search.leaf_values import AnyValueFunction, function_at
from spiel_dl.search.respond_to import ResponsePolicy, source_spec_effort
from spiel_dl.search.spec import WHOLE_GAME, Spec
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.gadgets import SAFE_GADGETS, check_gadget
from spiel_dl.solvers.restricted_game import check_probability
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame

GADGETS = (*WHOLE_GAME, *SAFE_GADGETS)


class CDRNRPolicy(ResponsePolicy):
    """The continual depth-limited restricted Nash response to a model of the opponent."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        model: openspiel_policy.Policy,
        depth_limit: DepthLimit,
        *,
        p: float,
        scheme: str = "sliding",
        gadget: str = "joint",
        value_function: AnyValueFunction | None = None,
        exact: bool = False,
        effort: Effort | None = None,
    ):
        """Compiles the game; solves nothing yet.

        Args:
          game: the game, its game string, or the compiled game.
          player: the player who responds.
          model: the opponent's policy as far as it is known; its part for `player` is not read.
          depth_limit: how many levels a step looks ahead.
          p: the probability that the opponent follows the model, 0 to 1.
          scheme: "sliding": a step at every level. "block": a step every so many levels, as the
            papers define it.
          gadget: "joint", "full", "full_trunk", "resolving", "max_margin" or "reach_max_margin";
            see above. With a value function, the last three know the opponent's cfvs only where a
            step ends, so they cannot slide. The full ones have several horizons in a step, so they
            take one value function for all leaves.
          value_function: values what lies at the horizon: one for all steps, or one for each depth
            limit, counted from the root, at which a step ends. None: the optimal value function, by
            solving all the rest of the game in each step.
          exact: solve by linear programming; without a value function only.
          effort: how long to iterate, in each step; with a value function, without a tolerance,
            since no gap is known. None: `Effort(10_000, tolerance=1e-6)`, or with a value function
            `Effort(1000)`.

        Raises:
          ValueError: if the game cannot be compiled or cut, if an argument is not valid, or if the
            gadget cannot be used with this scheme and this value function, or the tolerance not
            with a value function.
        """
        check_gadget(gadget, allowed=GADGETS)
        check_probability(p)
        if gadget in SAFE_GADGETS and scheme == "sliding" and value_function is not None:
            raise ValueError(
                f"gadget={gadget!r} with scheme='sliding' needs the opponent's values inside of "
                "what a step looks at, where a value function does not tell them; use "
                "scheme='block', gadget='joint' or no value_function"
            )
        if gadget in ("full", "full_trunk") and value_function is not None:
            function_at(value_function, None)  # Raises an error if that cannot be.
        spec = Spec(None, gadget, p=p, exact=exact)
        arguments = (game, player, model, depth_limit, scheme, value_function, spec)
        super().__init__(*source_spec_effort(*arguments, effort))
