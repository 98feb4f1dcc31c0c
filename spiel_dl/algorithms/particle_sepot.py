"""SePoT where public states are too large to list: search below a bounded belief of both players.

To decide in an infoset (`search.particle_sepot_step`, `search.beliefs`):

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

from spiel_dl.algorithms.sepot import MAX_KEPT
from spiel_dl.learning.critics import Critic
from spiel_dl.search.particle_sepot_step import ParticleSePoTStep
from spiel_dl.search.policy_rows import AnyBlueprint
from spiel_dl.search.sepot_config import ParticleConfig as ParticleConfig
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.search.sepot_played import SePoTPlayedPolicy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame


class ParticleSePoTPolicy(SePoTPlayedPolicy):
    """Both players' policies by search below particles, each as if only that player searched.

    An answer depends on nothing that was asked before.
    """

    step: ParticleSePoTStep
    _make_step: type[ParticleSePoTStep] = ParticleSePoTStep

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
          game: a game with `Rules`, its game string, or the compiled game.
          blueprint: a policy network or the uniform policy; or a function from information state
            tensors, float32 [N, D], and legal actions, bool [N, A], both on the CPU, to action
            probabilities, float32 [N, A], on any device, which are 0 where an action is illegal and
            sum to 1 in each row. Other policies are refused.
          critic: of this blueprint.
          depth_limit: how deep each search looks.
          config: how to search; None: the defaults of `SearchConfig`, which set no bound.
          particles: from which histories; None: the defaults.
          max_kept: how many searches are remembered at most; the latest ones.

        Raises:
          ValueError: if the game has no rules, if the blueprint is none of these, or if the config
            needs the whole game's tree.
        """
        config, particles = config or SearchConfig(), particles or ParticleConfig()
        step = self._make_step(game, blueprint, critic, depth_limit, config, particles)
        super().__init__(step, max_kept)
