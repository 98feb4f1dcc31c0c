"""Flags of the scripts in which those who search may play: how they do so."""

from absl import flags

from spiel_dl.algorithms.contestants import SearchOptions
from spiel_dl.algorithms.sepot_search import LEAF_CHOICES, SearchEffort
from spiel_dl.tree import DepthLimit

_DEFAULT = SearchOptions()
_ROUNDS = flags.DEFINE_integer(
    "rounds", None, "Searches: look so many rounds ahead. Default: 1, unless another unit is given."
)
_MOVES = flags.DEFINE_integer("moves", None, "Searches: look so many moves ahead.")
_PLIES = flags.DEFINE_integer(
    "plies", None, "Searches: look so many moves and chance events ahead."
)
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
    "leaf_choice", _DEFAULT.effort.leaf_choice, list(LEAF_CHOICES),
    "SePoT: how the opponent chooses at the leaves.",
)  # fmt: skip


def search_options() -> SearchOptions:
    """How to search; a ValueError if the flags contradict each other."""
    units = (_MOVES.value, _PLIES.value, _ROUNDS.value)
    rounds = 1 if units == (None, None, None) else _ROUNDS.value
    return SearchOptions(
        DepthLimit(moves=_MOVES.value, plies=_PLIES.value, rounds=rounds),
        _HISTORIES.value,
        SearchEffort(_ITERATIONS.value, leaf_choice=_LEAF_CHOICE.value),
        _BUDGET.value,
    )
