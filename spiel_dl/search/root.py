"""`Root`: where a search starts, and what is known there."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from spiel_dl.solvers.best_response import FixedStrategy
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.trunk import Trunk


@dataclasses.dataclass(frozen=True, eq=False)
class Root:
    """Where a search starts, and what is known there. A `Source` makes it.

    Attributes:
      trunk: what the search looks at, from the public states where it starts down to its leaves.
      player: who searches.
      ranges: for each player, float64 [R_p], its own reach of its root infosets. The opponent's is
        the one with which it comes where nothing lets it choose.
      is_first: whether the opponent cannot have come otherwise than expected, so that no gadget is
        needed.
      given_cfvs: float64 [R_-p], what the opponent may have instead of entering, in its utility and
        of the scale of the player's range; None: the spec says it.
      gifts: float64 [R_-p], by how much these may rise without harm; None: by nothing.
      prior: float64 [R_-p], the opponent's own reach as far as it is known, of any scale; gadgets
        are refined by it. None: all root infosets count alike.
      public_states: int [R_-p], in which of the search's public states each of the opponent's root
        infosets is, from 0 on; None: there is one.
      model_plan: float64 [S_-p], the weights of the opponent's model of the trunk's sequences;
        None: there is no model.
      modelled: bool [I_-p], in which of its infosets in the trunk the model binds it.
      bound: in which of its infosets in the trunk the player is bound, and to what; None: nowhere.
      kept: bool [I_p], for which of its infosets the player keeps the solution; None: for all.
      unit: how large a unit of utility of the whole game is here.
      limit: where the trunk ends, counted from the game's root; None: nobody asks.
      key: tells this search from others of its player; what is drawn for it goes by this.
      seconds: what it took to make this root, by what was made.
    """

    trunk: Trunk[Any]
    player: int
    ranges: Pair
    is_first: bool = False
    given_cfvs: np.ndarray | None = None
    gifts: np.ndarray | None = None
    prior: np.ndarray | None = None
    public_states: np.ndarray | None = None
    model_plan: np.ndarray | None = None
    modelled: np.ndarray | None = None
    bound: FixedStrategy | None = None
    kept: np.ndarray | None = None
    unit: float = 1.0
    limit: DepthLimit | None = None
    key: int = 0
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def opponent(self) -> int:
        """Who does not search."""
        return 1 - self.player

    @property
    def num_public_states(self) -> int:
        """In how many public states the search starts, side by side."""
        return 1 if self.public_states is None else int(self.public_states.max()) + 1

    @property
    def order(self) -> tuple[int, int]:
        """The players of the game as players 0 and 1 of the one that is solved.

        Who responds to a model, or is bound, comes first there, and is updated first.
        """
        comes_first = self.model_plan is not None or self.bound is not None
        return (self.player, self.opponent) if comes_first else (0, 1)

    @property
    def histories(self) -> np.ndarray:
        """The histories that the search starts at: int [n]."""
        return self.trunk.extent.starts

    def at_histories(self, player: int) -> np.ndarray:
        """A player's range at the `histories`: float64 [n]."""
        return self.ranges[player][self.trunk.extent.roots_at(player, self.histories)]
