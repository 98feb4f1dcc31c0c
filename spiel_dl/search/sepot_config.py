"""Where and how searches along a game are made: their configurations, which import no torch."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from spiel_dl.solvers.checks import check_at_least
from spiel_dl.solvers.effort import Effort, check_effort
from spiel_dl.solvers.gadgets import WITHOUT_GIFTS, check_gadget
from spiel_dl.solvers.restricted_game import check_probability
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.pieces import SCHEMES

GIVEN_CFVS = ("transformations", "critic", "best_response")
OWN_RANGES = ("played", "blueprint")
LEAF_CHOICES = ("regret_matching", "best_response")
SAFETY = ("none", "values", "allocated", "updated")
"""How knowledge-limited searches are kept from harm, see `search.knowledge_limited_step`."""
MAX_HISTORIES = 25_000
"""Where scripts stop searching if nothing else is said: the first bound of the paper's Table 1, on
the unique histories of a whole look-ahead."""
DEFAULT_EFFORT = Effort(iterations=1500, tolerance=1e-4, variant=PREDICTIVE_CFR_PLUS)
_PORTFOLIO_EFFORT = Effort(iterations=200)
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
      effort: How long to iterate in each search. With a tolerance it stops at
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
        check_gadget(self.gadget, self.refinement, WITHOUT_GIFTS)
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


@dataclasses.dataclass(frozen=True)
class ParticleConfig:
    """From which histories a search starts.

    Attributes:
      budget: The largest number of histories that a search starts from, at least 2.
      max_listed: Public states of at most so many histories are listed in full, as are those of at
        most `budget`. From larger ones, histories are drawn.
      seed: The seed of all draws. Searches in the same infoset always draw the same histories.
      order: The order of knowledge of a knowledge-limited search. With order 1, it starts from the
        searching player's infoset and from all that the opponent holds possible there. Each further
        order adds what a player, the searching one and the opponent by turns, cannot tell from
        these.
      frozen: Whether the searching player is bound to its blueprint in those of its infosets that
        may lie in part beyond the order of a knowledge-limited search. If not, it is free there.
      safety: How a knowledge-limited search is kept from doing harm, one of `SAFETY`; see
        `search.knowledge_limited_step`. All but "none" need order=1 and frozen=True.
      num_expansions: The largest number of histories at the depth limit or beyond it that get
        successors, where players are likely to come (`search.growth`). With 0, a search ends at the
        depth limit.
    """

    budget: int = 1000
    max_listed: int = 20_000
    seed: int = 0
    order: int = 1
    frozen: bool = True
    safety: str = "none"
    num_expansions: int = 0

    def __post_init__(self) -> None:
        if self.safety not in SAFETY:
            raise ValueError(f"safety={self.safety!r} must be one of {SAFETY}")
        if self.safety != "none" and not (self.order == 1 and self.frozen):
            raise ValueError(
                f"safety={self.safety!r} needs order=1 and frozen=True, not order={self.order} and "
                f"frozen={self.frozen}: what is solved beyond the own infoset is not played"
            )
        check_at_least(2, budget=self.budget)
        check_at_least(1, order=self.order)
        check_at_least(
            0, max_listed=self.max_listed, seed=self.seed, num_expansions=self.num_expansions
        )

    @property
    def is_of_public_states(self) -> bool:
        """Whether what knowledge-limited searches alone can do is left as it is."""
        return (self.order, self.frozen, self.safety) == (1, True, "none")


@dataclasses.dataclass(frozen=True)
class MirrorDescentConfig:
    """How a search by mirror descent is made.

    Attributes:
      stepsize: The size eta of one step, with action values in utility ranges; positive.
      magnet: The strength alpha with which each step draws the policy to the uniform one; 0 is
        mirror descent.
      num_steps: The number of steps, all of which are made by the same action values.
      num_rollouts: The least number of games that are played out in each search. Every history is
        played out equally often after each action.
      budget: The largest number of histories of the infoset from which games are played out.
      max_listed: Public states of at most so many histories are listed in full. From larger ones,
        histories are drawn.
      seed: The seed of all draws. Searches in the same infoset always draw the same.
    """

    stepsize: float = 1.0
    magnet: float = 0.0
    num_steps: int = 1
    num_rollouts: int = 2000
    budget: int = 200
    max_listed: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not (0 < self.stepsize < math.inf and 0 <= self.magnet < math.inf):
            raise ValueError(
                f"stepsize={self.stepsize} must be positive and magnet={self.magnet} at least 0, "
                "and both finite"
            )
        check_at_least(
            1, num_steps=self.num_steps, num_rollouts=self.num_rollouts, budget=self.budget
        )
        check_at_least(0, max_listed=self.max_listed, seed=self.seed)


@dataclasses.dataclass(frozen=True)
class PortfolioConfig:
    """How a search by portfolios is made.

    Attributes:
      p: The probability that the opponent follows the model, 0 to 1.
      num_rollouts: The least number of games that are played out in each search. Every leaf is
        played out equally often by each pair of strategies.
      budget: The largest number of histories of the infoset that a search starts from, at least 2.
      first_round: The first round in which the player searches, counted from 0. Before it, the
        player plays the first strategy of its portfolio.
      end_round: The first round in which the player no longer searches, and plays the first
        strategy of its portfolio again; None: it searches to the end of the game.
      seed: The seed of all draws. Searches in the same infoset always draw the same.
      effort: How long to iterate in each search.
    """

    p: float = 0.5
    num_rollouts: int = 1000
    budget: int = 16
    first_round: int = 0
    end_round: int | None = None
    seed: int = 0
    effort: Effort = _PORTFOLIO_EFFORT

    def __post_init__(self) -> None:
        check_probability(self.p)
        check_effort(self.effort)
        check_at_least(1, num_rollouts=self.num_rollouts)
        check_at_least(2, budget=self.budget)
        check_at_least(0, first_round=self.first_round, seed=self.seed)
        if self.end_round is not None and self.end_round < self.first_round:
            raise ValueError(
                f"end_round={self.end_round} must be at least first_round={self.first_round}"
            )
