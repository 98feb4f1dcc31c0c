"""`CompiledTree`: a whole game or a part of one as arrays, for trunks, leaves and critics."""

from __future__ import annotations

import abc
import dataclasses
import functools
from typing import TypeVar

from spiel_dl.tree import public_states as public_states_lib
from spiel_dl.tree.numbering import NumberedHistories


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledTree(NumberedHistories, abc.ABC):
    """A game as arrays, with its public states: a `GameTree`, or a `SparseTree` of a part of it.

    Trunks, leaf sets and critics take either; policies and solvers of whole games take a
    `GameTree`.
    """

    @property
    def num_public_states(self) -> int:
        """Number of public states; terminal histories belong to none."""
        return self.public_states.num_public_states

    @functools.cached_property
    def public_states(self) -> public_states_lib.PublicStates:
        """The partition of the histories into public states; computed on first use."""
        return public_states_lib.of_tree(self)

    @abc.abstractmethod
    def infoset_string(self, player: int, infoset: int) -> str:
        """`information_state_string` of a decision infoset; ValueError if there is none."""


Tree = TypeVar("Tree", bound=CompiledTree)
"""The type of tree of a trunk and its leaves."""
