"""`ParticlePolicy`: plays any game with `Rules` by depth-limited search below bounded particles.

Šustr et al. (2021), section 5.1, which leaves the complete algorithm for future work. In blocks:

  1. The sparse trunk below the first decision is solved, down to the depth limit.
  2. When the limit is passed, the particles of the public state reached are taken from the leaves
     there, with the reaches of the solution before: half of the budget among those of the
     player's own infoset, by chance's and the opponent's reach, and half among the others, by
     total reach. The trunk below them is solved, and so on. Both players' ranges are these
     reaches; or a gadget is put on top, with the opponent's cfvs by the solution before, as in
     continual resolving (`algorithms.continual_resolving`).
  3. If the player's own infoset is not among the leaves, or its counterfactual reach by the
     solution before is 0, the particles are *regenerated*: random histories of the public state,
     half of them in the own infoset, with the reaches of uniform play. The opponent's cfvs are
     unknown then, so there is no gadget. Behind a gadget, the counterfactual reach may be 0.

Only public observations and the player's own observations are used.
"""

from __future__ import annotations

from spiel_dl.search.particles import ParticleSource, particle_spec
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame
from spiel_dl.value_functions.base import ValueFunction, check_arguments

DEFAULT_EFFORT = Effort(iterations=100)
_MAX_KEPT = 16


class ParticlePolicy(SearchPolicy):
    """Both players' policies, each as if only that player used it.

    The policy in an infoset does not depend on earlier calls. The latest solutions are kept.
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
    ):
        """Loads the game; solves nothing yet.

        Args:
          game: a game with `Rules`, its game string, or the compiled game.
          value_function: values the leaves; None if the game ends above every limit.
          depth_limit: how deep each block is.
          budget: how many particles a block starts with, at most.
          gadget: the gadget on top of each block but the first: "unsafe" (none), "resolving" or
            "max_margin", see `solvers.gadgets`.
          effort: how long to iterate, in each block; without a tolerance, as averages are kept.
          seed: of the particles.

        Raises:
          ValueError: if the game has no rules, a number is too small, there is no such gadget, or
            there is a tolerance.
        """
        check_arguments(value_function, depth_limit)
        check_no_tolerance(effort)
        source = ParticleSource(game, depth_limit, budget=budget, seed=seed)
        spec = particle_spec(value_function, gadget)
        super().__init__(source, spec, effort, max_kept=_MAX_KEPT)
