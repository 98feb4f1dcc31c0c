"""Knowledge-limited subgame solving: search without common knowledge.

Zhang and Sandholm (2021), "Subgame solving without common knowledge", and (2025), "General search
techniques without common knowledge". Two histories are neighbours if a player cannot tell them
apart. The subgame of order k holds those at a distance of at most k from the own infoset: the
histories of the own infoset, those that the opponent may then hold possible, and so on. Then:

  1. The player's infosets within a distance of k - 1 are solved. In others, of which the subgame
     sees a part only, it is bound to the blueprint. What lies further away cannot be reached from
     the own infoset, and is left out.
  2. The opponent may leave for its given cfvs (`algorithms.sepot`), leaves are multi-valued. Both
     are the critic's, so that any depth limit may be used.
  3. Where there are more histories than the budget, they are drawn, infoset by infoset.

    policy = KnowledgeLimitedPolicy(game, blueprint, critic, DepthLimit(rounds=1),
                                    particles=ParticleConfig(order=1, budget=500))

Not safe, at any order below that of the public state: what is solved at one infoset assumes the
blueprint at its neighbours, where the same is done. Deviation: given cfvs are the critic's, where
the paper takes best responses in the whole game.
"""

from __future__ import annotations

from spiel_dl.algorithms.particle_sepot import ParticleSePoTPolicy
from spiel_dl.search.samples import OfKnowledge
from spiel_dl.search.sepot_config import ParticleConfig as ParticleConfig

UNLIMITED = 1 << 30
"""An order of knowledge beyond any public state."""


class KnowledgeLimitedPolicy(ParticleSePoTPolicy):
    """Both players' policies by knowledge-limited search; arguments as `ParticleSePoTPolicy`."""

    _make_sampler = OfKnowledge
