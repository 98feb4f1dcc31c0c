"""Configurations of searches in games with `Rules`; this module imports no torch."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from spiel_dl.solvers.continuations import check_leaf_choice
from spiel_dl.solvers.effort import Effort, check_effort
from spiel_dl.solvers.gadgets import WITHOUT_GIFTS, check_gadget
from spiel_dl.solvers.refinement import check_name
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.system.parameters import check_types
from spiel_dl.tree.counts import check_counts

GIVEN_CFVS = ("best_response", "transformations", "critic")
MAX_HISTORIES = 25_000
"""The default bound of scripts on the unique histories of a search with its whole look-ahead: the
first one of the paper's Table 1."""
DEFAULT_EFFORT = Effort(iterations=1500, tolerance=1e-4, variant=PREDICTIVE_CFR_PLUS)
PAPERS_EFFORT = Effort(iterations=1500)
"""The paper's Table 2: CFR+."""


@dataclasses.dataclass(frozen=True)
class SearchConfig:
    """Where and how SePoT searches.

    The defaults search from any public state, also where none was searched before; see
    `algorithms.sepot` for why they are these.

    Attributes:
      given_cfvs: The cfvs that the opponent may take instead of entering a subgame, by the critic:
        "best_response", those of its best response to the blueprint within the look-ahead, with the
        transformation that is best behind it, which can always be kept: by the blueprint;
        "transformations", those of the best transformation from there on; or "critic", those of the
        identity, by which both players continue by the blueprint. Not used without a gadget.
      first_level: Above this level, in the unit of the depth limit, the blueprint is played.
      max_histories: The most unique histories of a search with its whole look-ahead; where there
        are more, the blueprint is played. None: no bound in compiled games, 1,000,000 in others.
      leaf_choice: How the opponent chooses at the leaves: "regret_matching", as everywhere else
        ("stateful"), or "best_response", anew in every iteration ("stateless", equation 3).
      gadget: The gadget on top of a search that does not start at the root: "resolving", as in the
        paper, "max_margin", or "unsafe": none, with the opponent's range by its blueprint; see
        `solvers.gadgets`.
      refinement: The weights of the opponent's root infosets in the gadget: "ones", "prior" (by the
        blueprint's reach) or "mixed", see `solvers.refinement`; "none": the gadget is not refined.
        Not used without a gadget.
      effort: How long to iterate in each search. With a tolerance it stops at the gap of the game
        above the leaves, and public states are searched one by one; without one, where it looks to
        the end of the game, or with leaf_choice="best_response", which has no gap, all iterations
        are done.
    """

    given_cfvs: str = "best_response"
    first_level: int = 0
    max_histories: int | None = None
    leaf_choice: str = "regret_matching"
    gadget: str = "resolving"
    refinement: str = "prior"
    effort: Effort = DEFAULT_EFFORT

    @staticmethod
    def as_printed(**settings: Any) -> SearchConfig:
        """The configuration of Kubíček et al. (2023), with other settings if any.

        Given cfvs are those of the critic's identity (section 4.2), gadgets are not refined, and
        subgames are solved separately, in pieces (section 5.3). Section 4.2 takes the network's
        range for a player that has played by the network until it searches, as here. Table 2 has
        CFR+, 1,500 iterations.
        """
        printed = {"given_cfvs": "critic", "refinement": "none", "effort": PAPERS_EFFORT}
        return SearchConfig(**{**printed, **settings})

    def __post_init__(self) -> None:
        if self.given_cfvs not in GIVEN_CFVS:
            raise ValueError(f"given_cfvs={self.given_cfvs!r} must be one of {GIVEN_CFVS}")
        check_leaf_choice(self.leaf_choice)
        check_effort(self.effort)
        check_gadget(self.gadget, allowed=WITHOUT_GIFTS)
        check_name(self.refinement)
        check_counts(self, 0, "first_level")
        if self.max_histories is not None:
            check_counts(self, 1, "max_histories")


@dataclasses.dataclass(frozen=True)
class ParticleConfig:
    """The sample of histories from which a search starts.

    Attributes:
      budget: The largest number of histories that a search starts from, at least 2.
      max_listed: Public states of at most this many histories are listed in full, as are those of
        at most `budget`. From larger ones, histories are drawn.
      seed: The seed of all draws. Searches in the same infoset always draw the same histories.
      order: The order of knowledge of a knowledge-limited search. With order 1, it starts from the
        searching player's infoset and from all histories that the opponent cannot tell from these.
        Each further order adds what a player, the searching one and the opponent by turns, cannot
        tell from them; in public states that are too large to list, what it adds has too much
        weight. None: a search starts from a sample of the whole public state.
    """

    budget: int = 1000
    max_listed: int = 20_000
    seed: int = 0
    order: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        check_counts(self, 2, "budget")
        if self.order is not None:
            check_counts(self, 1, "order")
        check_counts(self, 0, "max_listed", "seed")


@dataclasses.dataclass(frozen=True)
class MirrorDescentConfig:
    """Settings of mirror-descent search.

    Attributes:
      stepsize: The size eta of one step, with action values in utility ranges; positive.
      temperature: The strength alpha with which each step draws the policy to the uniform one; 0 is
        mirror descent.
      depth: After this many moves of players, the searched one included, a rollout stops where the
        player acts next, and takes the network's value; None: games are played to the end.
      num_rollouts: The least number of rollouts in each search. Every history has equally many
        after each action.
      budget: The largest number of histories of the infoset from which rollouts start.
      max_listed: Public states of at most this many histories are listed in full. From larger ones,
        histories are drawn.
      seed: The seed of all draws. Searches in the same infoset always draw the same.
    """

    stepsize: float = 1.0
    temperature: float = 0.0
    depth: int | None = None
    num_rollouts: int = 2000
    budget: int = 200
    max_listed: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_types(self)
        if not (0 < self.stepsize < math.inf and 0 <= self.temperature < math.inf):
            raise ValueError(
                f"stepsize={self.stepsize} must be positive and temperature={self.temperature} at "
                "least 0, and both finite"
            )
        if self.depth is not None:
            check_counts(self, 1, "depth")
        check_counts(self, 1, "num_rollouts", "budget")
        check_counts(self, 0, "max_listed", "seed")
