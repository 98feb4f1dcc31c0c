"""Where and how SePoT searches: `SearchConfig`."""

from __future__ import annotations

import dataclasses
from typing import Any

from spiel_dl.solvers import refinement as refinements
from spiel_dl.solvers.effort import Effort, check_effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.pieces import SCHEMES

GIVEN_CFVS = ("transformations", "critic", "best_response")
OWN_RANGES = ("played", "blueprint")
LEAF_CHOICES = ("regret_matching", "best_response")
GADGETS = ("resolving", "max_margin", "unsafe")
SAFETY = ("none", "values", "allocated", "updated")
"""How knowledge-limited searches are kept from harm, see `search.knowledge_limited_step`."""
MAX_HISTORIES = 25_000
"""Where scripts stop searching if nothing else is said: the first bound of the paper's Table 1, on
the unique histories of a whole look-ahead."""
DEFAULT_EFFORT = Effort(iterations=1500, tolerance=1e-4, variant=PREDICTIVE_CFR_PLUS)
"""The tolerance is in utility units, see `Effort`."""
PAPERS_EFFORT = Effort(iterations=1500)
"""The paper's Table 2: CFR+."""


@dataclasses.dataclass(frozen=True)
class SearchConfig:
    """Where and how SePoT searches.

    The defaults search from any public state, also where none was searched before; see
    `algorithms.sepot` for why they are these.

    Attributes:
      scheme: "block" searches again where the last search ends, and keeps all that it found;
        "sliding" searches again at every level; see `tree.pieces`.
      given_cfvs: What the opponent may have instead of entering a subgame: "transformations", what
        the critic says of the one that is best there against the blueprint; "critic", what it
        says of the identity, by which both go on by the blueprint; or "best_response", what the
        opponent could get at most against the blueprint, by the rest of the game's tree.
      continual: Whether a search that follows another one gives the opponent, instead, what it
        could get at most against the strategy that the other one found. If not, and where there was
        no search before, the opponent has what `given_cfvs` says.
      own_range: "played", by what the player does on the way, be it searched or the blueprint; or
        "blueprint", as if nothing had been searched on the way.
      first_level: Above this level, in the unit of the depth limit, the blueprint is played.
      two_sided: Whether the searching player, too, chooses a transformation at the leaves.
      max_histories: A search of more unique histories, those of its whole look-ahead, is left to
        the blueprint; None: no bound.
      max_root_histories: A search that begins in a public state of more histories than this is left
        to the blueprint, too; None: no bound.
      leaf_choice: How the opponent chooses at the leaves: "regret_matching", as everywhere else
        ("stateful"), or "best_response", anew in every iteration ("stateless", equation 3).
      gadget: What is on top of a search that does not begin at the root: "resolving", as the paper
        has it, "max_margin", or "unsafe": nothing, and the opponent has come by its blueprint; see
        `solvers.gadgets`.
      refinement: What the opponent's root infosets count where it need not enter: "ones", "prior"
        (by the blueprint's reach) or "mixed", see `solvers.refinement`; None: the gadget is not
        refined.
      effort: How long to iterate in each search. With a tolerance, in utility units, it stops at
        the gap of the game above the leaves, and public states are searched one by one; without
        one, where it looks to the end of the game, or with leaf_choice="best_response", which has
        no gap, all iterations are done.
    """

    scheme: str = "block"
    given_cfvs: str = "transformations"
    continual: bool = False
    own_range: str = "played"
    first_level: int = 0
    two_sided: bool = False
    max_histories: int | None = None
    max_root_histories: int | None = None
    leaf_choice: str = "regret_matching"
    gadget: str = "resolving"
    refinement: str | None = None
    effort: Effort = DEFAULT_EFFORT

    @property
    def asks_prior(self) -> bool:
        """Whether a search needs to know the opponent's own reach of where it starts."""
        return self.refinement not in (None, "ones") or self.gadget == "unsafe"

    @staticmethod
    def as_printed(**settings: Any) -> SearchConfig:
        """As Kubíček et al. (2023) have it, with other settings if any.

        Given cfvs are those of the critic's identity (section 4.2), and subgames are solved
        separately, in pieces (section 5.3). Section 4.2 takes the network's range for a player
        that has played by the network until it searches; so does "played". Table 2 has CFR+, 1,500
        iterations.
        """
        return SearchConfig(**{"given_cfvs": "critic", "effort": PAPERS_EFFORT, **settings})

    def __post_init__(self) -> None:
        for name, allowed in (
            ("scheme", SCHEMES),
            ("given_cfvs", GIVEN_CFVS),
            ("own_range", OWN_RANGES),
            ("leaf_choice", LEAF_CHOICES),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} must be one of {allowed}")
        check_effort(self.effort)
        refinements.check_gadget(self.gadget, self.refinement, GADGETS)
        if self.gadget == "unsafe" and self.continual:
            raise ValueError(
                "gadget='unsafe' needs continual=False: without a gadget the opponent has no given "
                "cfvs"
            )
        if self.first_level < 0:
            raise ValueError(f"first_level={self.first_level} must be at least 0")
        for name in ("max_histories", "max_root_histories"):
            bound = getattr(self, name)
            if bound is not None and bound < 1:
                raise ValueError(f"{name}={bound} must be at least 1, or None")
        if self.two_sided and self.leaf_choice == "best_response":
            raise ValueError(
                "two_sided=True needs leaf_choice='regret_matching': if both players choose, best "
                "responses go round in circles"
            )
        if self.two_sided and self.continual:
            raise ValueError(
                "two_sided=True needs continual=False: where the player itself chooses how to go "
                "on at the leaves, a search keeps no strategy that the next one could start from"
            )
