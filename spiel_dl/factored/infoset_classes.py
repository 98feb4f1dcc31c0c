"""A player's infosets in phantom games, by classes that differ in what may follow."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pyspiel

from spiel_dl.factored import class_kernels
from spiel_dl.factored.stones import (
    PathTensors,
    StonePaths,
    check_mover,
    features_of_tensors,
    tries,
)
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.information_states import Observations
from spiel_dl.tree.sequence_form import Treeplex


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class InfosetClasses:
    """A player's infosets and their classes.

    Attributes:
      num_cells: n.
      tried: int32 [C], the set of cells that the player has tried.
      first_choice: int32 [C + 1], a class's first choice; one follows for each cell not tried.
      fail, success: int32 [K], the class after a choice that fails or succeeds, -1: none is.
      size: int32 [C], how many infosets there are from one of a class on.
      class_of: int32 [I], the class of an infoset.
      treeplex: the player's strategy space.
    """

    num_cells: int
    tried: np.ndarray
    first_choice: np.ndarray
    fail: np.ndarray
    success: np.ndarray
    size: np.ndarray
    class_of: np.ndarray
    treeplex: Treeplex

    @staticmethod
    def number(
        num_cells: int,
        tried: np.ndarray,
        first_choice: np.ndarray,
        fail: np.ndarray,
        success: np.ndarray,
    ) -> InfosetClasses:
        """Numbers the infosets of classes, each of which has a larger number than those before it.

        The infosets that follow one have the numbers after it, those behind an earlier choice
        first, and those behind its failure before those behind its success.
        """
        size, parent_sequence, class_of = class_kernels.number_infosets(first_choice, fail, success)
        num_actions = np.diff(first_choice)[class_of]
        first_sequence = (1 + np.cumsum(num_actions) - num_actions).astype(np.int32)
        return InfosetClasses(
            num_cells=num_cells,
            tried=tried,
            first_choice=first_choice,
            fail=fail,
            success=success,
            size=size,
            class_of=class_of,
            treeplex=Treeplex(parent_sequence, first_sequence, num_actions, 1),
        )

    def fields(self) -> dict[str, Any]:
        """The attributes, by name."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(InfosetClasses)}

    def cells(self, infoset: int) -> list[int]:
        """The cells that the player has not tried, in ascending order: its legal actions."""
        tried = int(self.tried[self.class_of[infoset]])
        return [cell for cell in range(self.num_cells) if not tried >> cell & 1]

    def next_infoset(self, infoset: int, cell: int, succeeds: bool) -> int | None:
        """The infoset after a try; None: there is none."""
        following = infoset + 1
        choice = int(self.first_choice[self.class_of[infoset]])
        for other in self.cells(infoset):
            for outcome, after in ((False, self.fail[choice]), (True, self.success[choice])):
                if (other, outcome) == (cell, succeeds):
                    return following if after >= 0 else None
                following += int(self.size[after]) if after >= 0 else 0
            choice += 1
        return None

    @functools.cached_property
    def paths(self) -> StonePaths:
        """What the player has tried before each infoset; computed on first use."""
        cells, num_tried, failed = class_kernels.paths_of_infosets(
            self.num_cells,
            self.treeplex.parent_sequence,
            self.treeplex.infoset_of_sequence,
            self.treeplex.first_sequence,
            self.tried,
            self.first_choice,
            self.fail,
            self.class_of,
        )
        return StonePaths(cells, num_tried, failed)

    def find(self, state: pyspiel.State, player: int) -> int:
        """The player's infoset in a state; ValueError if it has none there."""
        infoset: int | None = 0
        for mover, cell, succeeds in tries(state, self.num_cells):
            if mover == player and infoset is not None:
                infoset = self.next_infoset(infoset, cell, succeeds)
        if infoset is None:
            raise ValueError(f"player {player} has no infoset in {state} of {state.get_game()}")
        return infoset


@dataclasses.dataclass(frozen=True, eq=False)
class StoneGame(FactoredGame):
    """A phantom game, OpenSpiel's or ours.

    Attributes:
      classes: both players' infosets.
      tensors: how the game writes what a player has tried.
    """

    classes: tuple[InfosetClasses, InfosetClasses]
    tensors: PathTensors

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        return np.array(self.classes[player].cells(infoset), np.int32)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        return self.classes[player].find(state, player)

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """What a player sees in the infosets from `begin` to before `end`."""
        return self.tensors.write(player, self.classes[player].paths, begin, end)

    def features(self, player: int, begin: int, end: int) -> np.ndarray:
        """See `FactoredGame.features`; in our games no state is made for them."""
        if not hasattr(self.game, "rules"):
            return super().features(player, begin, end)
        tensors = self.observations(player, begin, end).tensors
        return features_of_tensors(tensors, self.game.rules.board.num_cells)
