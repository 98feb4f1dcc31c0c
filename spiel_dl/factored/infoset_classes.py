"""A player's infosets in phantom games, by classes with the same continuations."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from spiel_dl.factored import class_kernels
from spiel_dl.factored.stones import StonePaths, StoneTensors, check_mover, tries
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.information_states import Observations
from spiel_dl.tree.sequence_form import Treeplex

if TYPE_CHECKING:  # With torch.
    from spiel_dl.games.batches import StateBatch


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class InfosetClasses:
    """A player's infosets and their classes.

    Attributes:
      num_cells: n.
      tried: int32 [C], the set of cells that the player has tried.
      first_choice: int32 [C + 1], a class's first choice; one follows for each cell not tried.
      fail, success: int32 [K], the class after a choice that fails or succeeds, -1: impossible.
      size: int32 [C], the number of infosets from one of a class on, itself included.
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
        """Numbers the infosets of classes depth first.

        An infoset is followed by those after its first choice, those after its second one, and so
        on: first those after the choice's failure, then those after its success.
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
        """The infoset after a try; None: the outcome is impossible, or the game ends."""
        following = infoset + 1
        choice = int(self.first_choice[self.class_of[infoset]])
        for other_cell in self.cells(infoset):
            for outcome, next_class in ((False, self.fail[choice]), (True, self.success[choice])):
                if (other_cell, outcome) == (cell, succeeds):
                    return following if next_class >= 0 else None
                following += int(self.size[next_class]) if next_class >= 0 else 0
            choice += 1
        return None

    @functools.cached_property
    def paths(self) -> StonePaths:
        """The player's earlier tries at each infoset; computed on first use."""
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
    """A phantom game, OpenSpiel's or this package's.

    Attributes:
      classes: both players' infosets.
      tensors: writes the game's information state tensors; None: the game has `Rules`.
    """

    classes: tuple[InfosetClasses, InfosetClasses]
    tensors: StoneTensors | None

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        return np.array(self.classes[player].cells(infoset), np.int32)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        return self.classes[player].find(state, player)

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """A player's observations in the infosets from `begin` to before `end`."""
        if self.tensors is None:
            return super().observations(player, begin, end)
        return self.tensors.write(player, self.classes[player].paths, begin, end)

    def states_of(self, player: int, begin: int, end: int) -> StateBatch | None:
        """See `FactoredGame.states_of`; the opponent has no stones, and has tried nothing."""
        if self.tensors is not None:
            return None
        import torch  # Games without `Rules` do without.

        rules, paths = self.game.rules, self.classes[player].paths
        n, failed = rules.board.num_cells, paths.failed[begin:end]
        cells = paths.cells[begin:end].astype(np.int64)
        bits = (cells >= 0) << cells.clip(min=0)
        is_stone = (bits & ~failed[:, None]) != 0
        # Tries of this turn are those after the last stone, all of which failed.
        num_turns, num_tried = is_stone.sum(axis=1), paths.num_tried[begin:end].astype(np.int64)
        tried_now = num_tried - (is_stone * np.arange(1, n + 1)).max(axis=1)
        if rules.is_abrupt:
            num_turns, tried_now = num_tried, np.zeros_like(num_tried)
        step = np.cumsum([0, *rules.turn_lengths])[2 * num_turns + player] + tried_now
        tries = np.zeros((end - begin, 2, n), np.int8)
        tries[:, player] = cells + 1
        sets = np.zeros((2, end - begin, 2), np.int32)
        sets[:, :, player] = bits.sum(axis=1) & ~failed, failed
        return dataclasses.replace(
            rules.initial_state(end - begin),
            step=torch.from_numpy(step.astype(np.int8)),
            tries=torch.from_numpy(tries).flatten(1),
            stones=torch.from_numpy(sets[0]),
            failed=torch.from_numpy(sets[1]),
        )
