"""What a person asks for by the name of a policy: the name, the game, and how to search."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.sepot_config import DEFAULT_EFFORT, LEAF_CHOICES, MAX_HISTORIES
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit, default_depth_limit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import TooManyHistoriesError, check_player
from spiel_dl.tree.load import AnyGame, compile_game, turn_based_game


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """How policies that search do so. Each kind of policy uses some of it, see `play.kinds`.

    Attributes:
      depth_limit: how deep each search looks.
      max_histories: SePoT leaves searches of more histories to the network.
      effort: how to solve. A whole number: at most so many iterations, and all else as the kind of
        policy does by default; None: that default.
      budget: how many histories a search among samples starts from, at most.
      gadget: "resolving", "particle": what is put on top of each search but the first, one of the
        gadgets of `solvers.gadgets`; None: "resolving" of continual resolving, and "unsafe", which
        is none, of search among particles.
      order: of knowledge-limited searches, the order of knowledge.
      stepsize: of mirror-descent searches.
      num_rollouts: mmds, abd: how many games a search plays out, at least.
      leaf_choice: how SePoT's opponent chooses at the leaves, as in its `SearchConfig`.
      player: who responds in "cdbr", "cdrnr", "abd" and "rnr", while the other one plays the
        model; None: each player responds to the other one's part of the model.
    """

    depth_limit: DepthLimit = dataclasses.field(default_factory=lambda: DepthLimit(rounds=1))
    max_histories: int = MAX_HISTORIES
    effort: Effort | int | None = None
    budget: int = 1000
    gadget: str | None = None
    order: int = 1
    stepsize: float = 1.0
    num_rollouts: int = 2000
    leaf_choice: str = "regret_matching"
    player: int | None = None

    def __post_init__(self) -> None:
        if self.leaf_choice not in LEAF_CHOICES:
            raise ValueError(f"leaf_choice={self.leaf_choice!r} must be one of {LEAF_CHOICES}")
        if not isinstance(self.effort, (Effort, int, NoneType)):
            raise ValueError(f"effort={self.effort!r} must be an Effort, a whole number, or None")
        if self.player is not None:
            check_player(self.player)

    @property
    def iterations(self) -> int:
        """How many iterations a search does at most."""
        return self.effort_or(DEFAULT_EFFORT).iterations

    def effort_or(self, default: Effort) -> Effort:
        """How to solve, where a kind of policy has a default of its own."""
        if isinstance(self.effort, int):
            return dataclasses.replace(default, iterations=self.effort)
        return self.effort or default


@dataclasses.dataclass(frozen=True)
class Request:
    """What is asked of a kind of policy.

    Attributes:
      name: the whole name.
      source: what stands behind the first colon of the name.
      given_game: the game; None: as the source says, if it says one.
      settings: fields of `SearchOptions` that were given, all of which the policy, or one within
        it, uses.
      device: where networks live.
      load_model: loads another policy by its name, in all infosets of a compiled game.
    """

    name: str
    source: str
    given_game: AnyGame | None
    settings: Mapping[str, Any]
    device: str
    load_model: Callable[[str, GameTree], ArrayPolicy]

    @property
    def game(self) -> AnyGame:
        """The game; a ValueError if none was given."""
        if self.given_game is None:
            raise ValueError(f"{self.name} does not say of which game it is; pass game=")
        return self.given_game

    def compiled(self) -> GameTree:
        """The compiled game."""
        try:
            return compile_game(self.game)
        except TooManyHistoriesError as error:
            raise TooManyHistoriesError(
                f"{self.name} needs a compiled game, and this one is too large to compile: {error}"
            ) from error

    def search(self) -> SearchOptions:
        """How to search: as deep as `default_depth_limit` says, if nothing else is said."""
        settings = dict(self.settings)
        if self.given_game is not None and "depth_limit" not in settings:
            settings["depth_limit"] = default_depth_limit(turn_based_game(self.given_game))
        return SearchOptions(**settings)

    def number(self) -> int:
        """The source as a whole number."""
        if not self.source.isdecimal():
            raise ValueError(
                f"no policy {self.name!r}: {self.source!r} is not a whole number; give one, as "
                "in cfr:100"
            )
        return int(self.source)
