"""Ways to search that differ from SePoT's defaults in how cautious they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyspiel

from spiel_dl.learning.transformations import (
    IDENTITY,
    PolicyTransformations,
    transformations_by_name,
)


class Reading(NamedTuple):
    """One way to search.

    Attributes:
      what: in words, without a full stop.
      config: settings of `SearchConfig`.
      may_choose: whether the opponent chooses a transformation at the leaves, and is given what
        the best one earns; if not, it goes on by its blueprint.
    """

    what: str
    config: dict[str, Any]
    may_choose: bool = True


def transformations_of(name: str, game: pyspiel.Game, *, may_choose: bool) -> PolicyTransformations:
    """Those that the critic values: of the set of this name, or the identity alone."""
    if may_choose:
        return transformations_by_name(name, game)
    return PolicyTransformations([IDENTITY])


DEFAULTS = "defaults"
READINGS = {
    DEFAULTS: Reading("SePoT as it is", {}),
    "cfvs of the identity": Reading(
        "at the root, the opponent is given what its blueprint earns, as the paper has it",
        {"given_cfvs": "critic"},
    ),
    "no gadget": Reading(
        "the opponent has come by its blueprint, and cannot stay out", {"gadget": "unsafe"}
    ),
    "no choice": Reading(
        "behind the leaves, the opponent goes on by its blueprint, and is given what that earns",
        {},
        may_choose=False,
    ),
    "neither": Reading("both of these", {"gadget": "unsafe"}, may_choose=False),
}
"""SePoT's caution, given up one thing at a time."""
