"""SePoT where public states are too large to list: search below a bounded belief of both players.

To decide in an infoset (`search.samples`, `search.beliefs`):

  1. Histories of the public state are drawn, at most as many as the budget says: half in the own
     infoset, half elsewhere. Each has the reach of both players' blueprint. Those of a public state
     that is too large to be listed come of replaying the blueprint along what was seen, or of the
     game's own sampler.
  2. As in SePoT (`algorithms.sepot`), the game below them is solved down to the depth limit, with
     multi-valued leaves and given cfvs by the critic; each history counts for those it stands for.

    policy = ParticleSePoTPolicy(game, blueprint, critic, DepthLimit(rounds=1),
                                 particles=ParticleConfig(budget=500))

If the budget holds the whole public state, this is SePoT to the last digits. Below, the opponent's
given cfvs and its choices are those of a sample, and nothing is guaranteed.
"""

from __future__ import annotations

from collections.abc import Callable

from spiel_dl.algorithms.sepot import MAX_KEPT, SePoTPlayPolicy
from spiel_dl.learning.critics import Critic
from spiel_dl.search.policy_rows import AnyBlueprint
from spiel_dl.search.samples import Sampler, SomeOfPublicState
from spiel_dl.search.sepot_config import ParticleConfig as ParticleConfig
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame


class ParticleSePoTPolicy(SePoTPlayPolicy):
    """Both players' policies by search below particles, each as if only that player searched.

    An answer depends on nothing that was asked before.
    """

    _make_sampler: Callable[[ParticleConfig], Sampler] = SomeOfPublicState

    def __init__(
        self,
        game: AnyGame,
        blueprint: AnyBlueprint,
        critic: Critic,
        depth_limit: DepthLimit,
        *,
        config: SearchConfig | None = None,
        particles: ParticleConfig | None = None,
        max_kept: int = MAX_KEPT,
    ):
        """Loads the game.

        Args:
          game, blueprint, critic, depth_limit, max_kept: as `SePoTPlayPolicy` has them.
          config: how to search; None: the defaults of `SearchConfig`, which set no bound.
          particles: from which histories; None: the defaults.

        Raises:
          ValueError: as `SePoTPlayPolicy`.
        """
        super().__init__(
            game,
            blueprint,
            critic,
            depth_limit,
            config=config or SearchConfig(),
            sampler=type(self)._make_sampler(particles or ParticleConfig()),
            max_kept=max_kept,
        )
