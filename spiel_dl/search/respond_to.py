"""`ResponsePolicy`, the base of policies that respond to an opponent model, and its sources."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from open_spiel.python import policy as openspiel_policy

from spiel_dl.factored.families import compile_any
from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.search.compiled import CompiledSource
from spiel_dl.search.leaf_values import AnyValueFunction, ByValueFunction, function_at
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.spec import Spec
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.pieces import Pieces, check_scheme
from spiel_dl.value_functions.base import check_arguments

if TYPE_CHECKING:
    from spiel_dl.factored.holdem import HoldemGame
    from spiel_dl.search.turn_responses import TurnResponses

DEFAULT_EFFORT = Effort(iterations=10_000, tolerance=1e-6)
_EFFORT_WITH_VALUES = Effort(iterations=1000)
"""Default with a value function, since no gap is known then."""


class ResponsePolicy(SearchPolicy):
    """A player's response to a model of its opponent; the opponent plays the model.

    The strategy is arbitrary where the player's own reach is 0, or that of a model followed with
    p = 1.
    """

    source: CompiledSource | TurnResponses

    @property
    def tree(self) -> GameTree | FactoredGame:
        """The compiled game."""
        return self.source.tree

    @property
    def player(self) -> int:
        """The player who responds."""
        return self.source.players[0]


def source_spec_effort(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    scheme: str,
    value_function: AnyValueFunction | None,
    spec: Spec,
    effort: Effort | None,
) -> tuple[CompiledSource | TurnResponses, Spec, Effort]:
    """The source of a response's searches, the spec with a value function's values, the effort.

    Hold'em that is too large to list is solved by `TurnResponses`, as with gadget "joint".

    Raises:
      ValueError: as `response_source`, or if such a game is to be solved with another gadget, by
        linear programs or at another depth limit; or if there are a value function and a tolerance.
    """
    check_player(player)
    check_depth_limit(depth_limit)
    check_arguments(value_function, depth_limit, by_limit=True)
    if effort is None:
        effort = DEFAULT_EFFORT if value_function is None else _EFFORT_WITH_VALUES
    if value_function is not None:
        check_no_tolerance(effort)
    compiled = compile_any(game, model)
    if isinstance(compiled, FactoredGame):
        from spiel_dl.factored.holdem import HoldemGame  # With torch, as its rules.

        if isinstance(compiled, HoldemGame):
            check_scheme(scheme)  # Both schemes have the same steps there.
            turn = _turn_responses(compiled, player, model, depth_limit, value_function, spec)
            return *turn, effort
    source = response_source(compiled, player, model, depth_limit, scheme)
    values = None if value_function is None else ByValueFunction(source.pieces, value_function)
    return source, dataclasses.replace(spec, values=values), effort


def _turn_responses(
    game: HoldemGame,
    player: int,
    model: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    value_function: AnyValueFunction | None,
    spec: Spec,
) -> tuple[TurnResponses, Spec]:
    from spiel_dl.search.turn_responses import TurnResponses

    if spec.exact or spec.gadget not in ("joint", "unsafe"):
        raise ValueError(
            f"{game.game} is too large to list, so there are no linear programs of it, and no "
            f"gadget={spec.gadget!r}; take exact=False and gadget='joint'"
        )
    source = TurnResponses(game, player, _model_and_uniform(game, player, model), depth_limit)
    values = None
    if value_function is not None:
        values = source.values(function_at(value_function, depth_limit))
    return source, dataclasses.replace(spec, values=values)


def response_source(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    scheme: str,
) -> CompiledSource:
    """The source of a player's searches against a model; without a search, the player is uniform.

    Raises:
      ValueError: if the game cannot be compiled or cut into pieces, if there is no such player, or
        if the model is not a policy for the game.
    """
    check_player(player)
    pieces = Pieces(compile_game(game, model), depth_limit, scheme)
    return CompiledSource(pieces, _model_and_uniform(pieces.tree, player, model), (player,))


def _model_and_uniform(
    tree: GameTree | FactoredGame, player: int, model: openspiel_policy.Policy
) -> ArrayPolicy:
    """The policy of the opponent's model and a uniform player."""
    others = read_strategy(tree, model, 1 - player)
    own = tree.treeplexes[player].uniform_strategy()
    return ArrayPolicy(tree, (own, others) if player == 0 else (others, own))
