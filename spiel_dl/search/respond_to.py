"""`ResponsePolicy`: what policies that respond to a model of the opponent have in common."""

from __future__ import annotations

from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.search.compiled import CompiledPolicy, CompiledSource
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.pieces import Pieces

DEFAULT_EFFORT = Effort(iterations=10_000, tolerance=1e-6)


class ResponsePolicy(CompiledPolicy):
    """A player's response to a model of its opponent; the opponent plays the model.

    Where the player's own strategy or a model that is always followed never comes, any strategy is
    as good as another one, and there may be any.
    """

    @property
    def player(self) -> int:
        """Who responds."""
        return self.source.players[0]


def response_source(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    depth_limit: DepthLimit,
    scheme: str,
) -> CompiledSource:
    """Searches of a player whose opponent's model is known; it plays uniformly before them.

    Raises:
      ValueError: if the game cannot be compiled, or not be taken apart so, if there is no such
        player, or if the model is not a policy for the game.
    """
    check_player(player)
    pieces = Pieces(compile_game(game, model), depth_limit, scheme)
    others = read_strategy(pieces.tree, model, 1 - player)
    own = pieces.tree.treeplexes[player].uniform_strategy()
    known = ArrayPolicy(pieces.tree, (own, others) if player == 0 else (others, own))
    return CompiledSource(pieces, known, (player,))
