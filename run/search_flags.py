"""Flags of the scripts in which those who search may play: how they do so."""

import depth_limit_flags
import pyspiel
from absl import flags

from spiel_dl.play.requests import SearchOptions
from spiel_dl.search.sepot_config import LEAF_CHOICES
from spiel_dl.solvers.effort import Effort

_DEFAULT = SearchOptions()
_limit = depth_limit_flags.define("Searches: depth limit", has_default=True)
_HISTORIES = flags.DEFINE_integer(
    "max_histories", _DEFAULT.max_histories, "SePoT: larger public states are left to the network."
)
_ITERATIONS = flags.DEFINE_integer(
    "iterations", _DEFAULT.effort.iterations, "Searches: iterations of CFR+ in each."
)
_BUDGET = flags.DEFINE_integer(
    "budget", _DEFAULT.budget, "Search among particles: how many each search starts with, at most."
)
_LEAF_CHOICE = flags.DEFINE_enum(
    "leaf_choice", _DEFAULT.leaf_choice, list(LEAF_CHOICES),
    "SePoT: how the opponent chooses at the leaves.",
)  # fmt: skip


def search_options(game: pyspiel.Game | str) -> SearchOptions:
    """How to search in a game; a ValueError if the flags contradict each other."""
    return SearchOptions(
        _limit(game),
        _HISTORIES.value,
        Effort(_ITERATIONS.value),
        _BUDGET.value,
        _LEAF_CHOICE.value,
    )
