"""Mirror-descent search: decides by one update of the blueprint, without a subgame.

Sokota et al. (2023), "The Update-Equivalence Framework for Decision-Time Planning";
`search.mirror_descent` says how.

    policy = MirrorDescentPolicy(game, blueprint, MirrorDescentConfig(stepsize=1.0))

If all players did so in all infosets, by exact action values, the whole policy would make one step
of (magnetic) mirror descent from the blueprint. Of one player's deviation in one infoset this says
nothing: too large a stepsize is a best response to the blueprint, and as exploitable as that.
"""

from __future__ import annotations

from spiel_dl.search.mirror_descent import MirrorDescentSource
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.policy_rows import AnyBlueprint
from spiel_dl.search.sepot_config import MirrorDescentConfig as MirrorDescentConfig
from spiel_dl.search.spec import Spec
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.load import AnyGame

_MAX_KEPT = 16
"""How many searches are remembered."""


class MirrorDescentPolicy(SearchPolicy):
    """Both players' policies by mirror-descent search, each as if only that player searched.

    An answer depends on nothing that was asked before.
    """

    source: MirrorDescentSource

    def __init__(
        self,
        game: AnyGame,
        blueprint: AnyBlueprint,
        config: MirrorDescentConfig | None = None,
    ):
        """Loads the game.

        Args:
          game: a game with `Rules`, its game string, or the compiled game.
          blueprint: as `algorithms.sepot.SePoTPlayPolicy` has it.
          config: how to search; None: the defaults.

        Raises:
          ValueError: if the game has no rules, or the blueprint is none of these.
        """
        source = MirrorDescentSource(game, blueprint, config or MirrorDescentConfig())
        super().__init__(source, Spec(), Effort(), max_kept=_MAX_KEPT)
