"""What the scripts in which policies play share: how those that search do so."""

from __future__ import annotations

from spiel_dl.commands import config_flags, script
from spiel_dl.play import registry
from spiel_dl.play.requests import SearchOptions
from spiel_dl.search.sepot_config import DEFAULT_EFFORT, LEAF_CHOICES, SAFETY
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.gadgets import GADGETS
from spiel_dl.tree.depth_limit import default_depth_limit
from spiel_dl.tree.load import turn_based_game


class SearchFlags:
    """The flags of policies that search."""

    def __init__(self) -> None:
        self._limit = script.depth_limit("Depth limit of searches")
        self._options = config_flags.define(
            SearchOptions,
            "Searches",
            only=[
                "max_histories",
                "budget",
                "gadget",
                "order",
                "safety",
                "num_expansions",
                "stepsize",
                "num_rollouts",
                "leaf_choice",
            ],
            choices={"leaf_choice": LEAF_CHOICES, "safety": SAFETY, "gadget": GADGETS},
            texts={
                "budget": "particles at the start of a search among particles, at most.",
                "gadget": "put on top.",
                "safety": "klss, what keeps it from harm.",
                "num_expansions": "klss, particle_sepot: how many histories their trees grow by.",
                "leaf_choice": "sepot, choices at leaves.",
            },
        )
        self._effort = config_flags.define(
            Effort,
            only=["iterations"],
            defaults={"iterations": DEFAULT_EFFORT.iterations},
        )

    def build(self, game: str, *names: str) -> SearchOptions:
        """How to search in a game: one round deep, or two moves, if no limit was given.

        Args:
          game: the game string.
          *names: those of the policies that play.

        Raises:
          ValueError: if there is no such game, the flags contradict each other, or one was given
            that none of the policies uses.
        """
        limit = self._limit.build if self._limit.given else None
        found = limit() if limit else default_depth_limit(turn_based_game(game))
        used = registry.options_of(*names)
        reason = f"not used by {' and '.join(names)}; leave them out"
        self._options.refuse(reason, but=used)
        if "depth_limit" not in used:
            self._limit.refuse(reason)
        if "effort" not in used:
            self._effort.refuse(reason)
        return self._options.build(depth_limit=found, effort=self._effort.build().iterations)
