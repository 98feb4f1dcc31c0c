"""`ParticlePolicy`: plays any game with `Rules` by depth-limited search below bounded particles.

Šustr et al. (2021), section 5.1, which leaves the complete algorithm for future work. In blocks:

  1. The sparse trunk below the first decision is solved, down to the depth limit.
  2. When the limit is passed, the particles of the public state reached are taken from the leaves
     there, with the reaches of the solution before: half of the budget among those of the
     player's own infoset, by chance's and the opponent's reach, and half among the others, by
     total reach. The trunk below them is solved, and so on. Both players come with these reaches;
     or a gadget is put on top, and the opponent comes as it likes, within what it could get by the
     solution before, as in continual resolving (`algorithms.continual_resolving`).
  3. If the player's own infoset is not among the leaves, or chance and the opponent never come
     there by the solution before, the particles are *regenerated*: random histories of the public
     state, half of them in the own infoset, with the reaches of uniform play. Nothing is known of
     what the opponent could get, so there is no gadget then. Behind a gadget, only an own infoset
     that is not among the leaves makes it necessary.

Nothing but public observations and the player's own observations is used.
"""

from __future__ import annotations

from spiel_dl.search.particles import ParticleSource, particle_spec
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.solvers.effort import Effort, check_effort, check_no_tolerance
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame
from spiel_dl.value_functions.base import ValueFunction, check_arguments

DEFAULT_EFFORT = Effort(iterations=100)


class ParticlePolicy(SearchPolicy):
    """Both players' policies, each as if only that player used it.

    The same infoset gets the same answer whatever was asked before. Solutions are kept for the
    next questions, the latest ones.
    """

    source: ParticleSource

    def __init__(
        self,
        game: AnyGame,
        value_function: ValueFunction | None,
        depth_limit: DepthLimit,
        *,
        budget: int = 1000,
        gadget: str = "unsafe",
        effort: Effort = DEFAULT_EFFORT,
        seed: int = 0,
        max_kept: int = 16,
    ):
        """Loads the game; solves nothing yet.

        Args:
          game: a game with `Rules`, its game string, or the compiled game.
          value_function: values the leaves; None if the game ends above every limit.
          depth_limit: how deep each block is.
          budget: how many particles a block starts with, at most.
          gadget: what is put on top of each block but the first: "unsafe" (nothing), "resolving"
            or "max_margin", see `solvers.gadgets`.
          effort: how long to iterate, in each block; without a tolerance, as averages are kept.
          seed: of the particles.
          max_kept: how many solutions to keep.

        Raises:
          ValueError: if the game has no rules, a number is too small, there is no such gadget, or
            there is a tolerance.
        """
        check_arguments(value_function, depth_limit)
        check_effort(effort)
        check_no_tolerance(effort)
        source = ParticleSource(game, depth_limit, budget=budget, seed=seed)
        spec = particle_spec(value_function, gadget)
        super().__init__(source, spec, effort, max_kept=max_kept)

    @property
    def num_regenerations(self) -> int:
        """How often particles had to be regenerated (step 3)."""
        return self.source.num_regenerations
