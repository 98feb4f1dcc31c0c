"""Where and how SePoT searches: `SearchConfig`."""

from __future__ import annotations

import dataclasses
from typing import Any

from spiel_dl.solvers import refinement as refinements
from spiel_dl.solvers.effort import Effort

GIVEN_CFVS = ("critic", "best_response")
OWN_RANGES = ("played", "blueprint")
LEAF_CHOICES = ("regret_matching", "best_response")
MAX_HISTORIES = 25_000
"""Where scripts stop searching if nothing else is said: the first bound of the paper's Table 1."""
DEFAULT_EFFORT = Effort(iterations=1500)


@dataclasses.dataclass(frozen=True)
class SearchConfig:
    """Where and how SePoT searches.

    Attributes:
      scheme: "sliding" searches again at every level, "block" when the last search ends; see
        `tree.pieces`.
      given_cfvs: What the opponent may have instead of entering a subgame, where there was no
        search before: "critic", what it gets if both go on by the blueprint, or "best_response",
        what it could get at most against the blueprint, by the rest of the game's tree.
      continual: Whether it may have, where there was a search before, what it could get at most
        against what that one found; if not, given cfvs are those above everywhere.
      own_range: "played" or "blueprint"; see `algorithms.sepot`.
      first_level: Above this level, in the unit of the depth limit, the blueprint is played.
      two_sided: Whether the searching player, too, chooses a transformation at the leaves.
      max_histories: Public states of more histories are left to the blueprint; None: search always.
      leaf_choice: How the opponent chooses at the leaves: "regret_matching", as everywhere else
        ("stateful"), or "best_response", anew in every iteration ("stateless", equation 3).
      refinement: What the opponent's root infosets count where it need not enter: "ones", "prior"
        (by the blueprint's reach) or "mixed", see `solvers.refinement`; None: the gadget is not
        refined.
      effort: How long to iterate in each search.
    """

    scheme: str = "sliding"
    given_cfvs: str = "critic"
    continual: bool = True
    own_range: str = "played"
    first_level: int = 0
    two_sided: bool = False
    max_histories: int | None = None
    leaf_choice: str = "regret_matching"
    refinement: str | None = None
    effort: Effort = DEFAULT_EFFORT

    @staticmethod
    def as_printed(**settings: Any) -> SearchConfig:
        """As Kubíček et al. (2023) have it, but for their section 5.3, with other settings if any.

        Given cfvs of the critic and ranges of the blueprint: nothing of earlier searches.
        """
        return SearchConfig(continual=False, own_range="blueprint", **settings)

    def __post_init__(self) -> None:
        for name, allowed in (
            ("given_cfvs", GIVEN_CFVS),
            ("own_range", OWN_RANGES),
            ("leaf_choice", LEAF_CHOICES),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} must be one of {allowed}")
        refinements.check_name(self.refinement)
        if self.first_level < 0:
            raise ValueError(f"first_level={self.first_level} must be at least 0")
        if self.max_histories is not None and self.max_histories < 1:
            raise ValueError(f"max_histories={self.max_histories} must be at least 1, or None")
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
