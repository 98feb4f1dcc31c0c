"""Continual resolving: a policy that solves each piece of the game when it is reached.

Moravčík et al. (2017), "DeepStack", section "Continual Re-solving", with the gadgets of
`solvers.gadgets` and any value function, in blocks:

  1. The trunk is solved by DL-CFR.
  2. In each of its leaf public states, the player solves the subgame that starts there, down to the
     end of the next block, with a gadget on top. Its own range is that of its strategy so far, and
     the opponent's given cfvs are those of the solution before.
  3. And so on, until the game ends above the limit.

The given cfvs are averages over the iterations of the solution before, weighted as its average
strategy is. That is the safe choice (Burch, Johanson, Bowling 2014, CFR-D). The strategies behind
the value function's values in all iterations, averaged in the same way, are one strategy of the
player that keeps the opponent at or below the averaged cfvs; so the gadget can be solved. And these
averages are what the opponent's regrets are made of; so with them the player's average strategy is
as good as the regrets are small. Values at the average ranges have neither property: optimal values
jump with the ranges, and are arbitrary where the opponent's range is 0. In kuhn_poker, cut after
one move, they leave an exploitability of 0.08, averages 0.002.

```python
policy = ContinualResolvingPolicy("leduc_poker", ExactValue(), DepthLimit(plies=3))
print(exploitability.exploitability(policy.tree, policy.to_array_policy()))
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spiel_dl.factored.families import cut_any
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.compiled import CompiledSource
from spiel_dl.search.leaf_values import AnyValueFunction, ByValueFunction, function_at
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.spec import Spec, ValuesAt
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.solvers.gadgets import check_gadget
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.pieces import Pieces
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.base import bind_checked, check_arguments, check_value_function

if TYPE_CHECKING:
    from spiel_dl.factored.holdem_trunk import HoldemTrunk
    from spiel_dl.search.turns import TurnSource

DEFAULT_EFFORT = Effort(iterations=1000)


class ContinualResolvingPolicy(SearchPolicy):
    """Both players' policies by continual resolving, each as if only that player used it.

    Of games too large to list, hold'em from the turn on can be resolved on rivers.

    Attributes:
      tree: the compiled game.

    A piece is solved when it is first needed, and kept. A player's strategy is uniform where its
    own reach is 0; without a gadget, also where the opponent's solved reach is.
    """

    def __init__(
        self,
        game: AnyGame,
        value_function: AnyValueFunction | None,
        depth_limit: DepthLimit,
        *,
        gadget: str = "resolving",
        refinement: str = "none",
        effort: Effort = DEFAULT_EFFORT,
    ):
        """Compiles the game.

        Args:
          game: the game, its game string, or the compiled game.
          value_function: values the leaves of every piece: one for all, or one for each depth
            limit, counted from the root, at which a piece ends, as networks that are made for one
            depth limit need it. It may be None if the game ends above the limit.
          depth_limit: how deep each piece is.
          gadget: "resolving", "max_margin", "reach_max_margin" or "unsafe".
          refinement: the weights of the opponent's root infosets in the gadget: "ones", "prior" or
            "mixed", see `solvers.refinement`; "none": the gadget is not refined.
          effort: how long to iterate, in each piece; without a tolerance, as averages are kept.
            With `ExactValue` and limits of one round, CFR+ had half the exploitability of linear
            CFR in Leduc, and less in Goofspiel with 4 cards too.

        Raises:
          ValueError: if the game cannot be compiled or cut, if the gadget is unknown or cannot be
            refined, if the game goes on at the limit and there is no value function, if one does
            not fit the leaves of a piece, or if there is a tolerance.
        """
        check_gadget(gadget, refinement)
        check_arguments(value_function, depth_limit, by_limit=True)
        trunk = cut_any(game, depth_limit)
        check_value_function(trunk, value_function)
        check_no_tolerance(effort)
        self.tree: GameTree | FactoredGame = trunk.tree
        source, values = (
            _of_listed(trunk.tree, value_function, depth_limit)
            if isinstance(trunk, Trunk)
            else _of_turn(trunk, value_function, depth_limit)
        )
        super().__init__(source, Spec(values, gadget, refinement), effort)


def _of_listed(
    tree: GameTree, value_function: AnyValueFunction | None, depth_limit: DepthLimit
) -> tuple[CompiledSource, ValuesAt | None]:
    source = CompiledSource(Pieces(tree, depth_limit, "block"), ArrayPolicy.uniform(tree))
    if value_function is None:
        return source, None
    values = ByValueFunction(source.pieces, value_function)
    values.check()
    return source, values


def _of_turn(
    turn: HoldemTrunk, value_function: AnyValueFunction | None, depth_limit: DepthLimit
) -> tuple[TurnSource, ValuesAt]:
    from spiel_dl.search.turns import TurnSource  # With torch, as hold'em's rules.

    assert value_function is not None
    source = TurnSource(turn, None)
    values = bind_checked(function_at(value_function, depth_limit), source.starts)
    return source, lambda root: values
