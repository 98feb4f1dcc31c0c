"""`BoardEnvironment`: a batch of phantom games, by tables of what wins on the board.

Nothing loops over rows, so that a step of a batch takes a small fraction of what it takes with
OpenSpiel's states. These are OpenSpiel's games; the classical ones of `spiel_dl.games`, by `Rules`,
have steps in which a player waits.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from spiel_dl.factored.families import PhantomRules
from spiel_dl.factored.stones import StonePaths
from spiel_dl.games.environments import EpisodeEnds
from spiel_dl.tree.histories import TERMINAL_PLAYER


@dataclasses.dataclass
class _Seat:
    """What one player has done in each row.

    Attributes:
      stones: int64 [B], the cells where its stones lie.
      paths: what it has tried.
    """

    stones: np.ndarray
    paths: StonePaths

    @staticmethod
    def empty(batch_size: int, num_cells: int) -> _Seat:
        """Before the first try."""
        cells = np.full((batch_size, num_cells), -1, np.int8)
        counts = np.zeros(batch_size, np.int8)
        return _Seat(
            np.zeros(batch_size, np.int64),
            StonePaths(cells, counts, np.zeros(batch_size, np.int32)),
        )

    def tries(self, rows: np.ndarray, cells: np.ndarray, fails: np.ndarray) -> None:
        """Notes a try in some rows (int64 [N]), and whether it fails (bool [N])."""
        paths, bits = self.paths, 1 << cells
        paths.cells[rows, paths.num_tried[rows]] = cells
        paths.num_tried[rows] += 1
        paths.failed[rows] |= np.where(fails, bits, 0).astype(np.int32)
        self.stones[rows] |= np.where(fails, 0, bits)


class BoardEnvironment:
    """B phantom games, as `StateEnvironment` plays them.

    A row whose game is over waits at its end, with nothing legal, until `restart`.

    Attributes:
      rules: the game.
      generator: not used; there is no chance.
    """

    def __init__(
        self,
        rules: PhantomRules,
        batch_size: int,
        device: torch.device | str = "cpu",
        seed: int = 0,
    ):
        """Starts all games; a ValueError if `batch_size` is not positive."""
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size} plays nothing; use 1 or more")
        self.rules = rules
        self.generator = torch.Generator(device).manual_seed(seed)
        self._batch_size = batch_size
        self.restart()

    def restart(self) -> None:
        """Starts a new game in every row."""
        num_cells = self.rules.board.num_cells
        self._seats = [_Seat.empty(self._batch_size, num_cells) for _ in (0, 1)]
        self._player = np.zeros(self._batch_size, np.int8)

    def current_player(self) -> torch.Tensor:
        """Who moves: int8 [B]; -4 where the game is over."""
        return self._tensor(self._player.copy())

    def legal_actions(self) -> torch.Tensor:
        """Legal actions of whoever moves: bool [B, A]."""
        tried = [seat.stones | seat.paths.failed for seat in self._seats]
        own = np.where(self._player == 1, tried[1], tried[0])
        is_free = (~own[:, None] >> np.arange(self.rules.board.num_cells) & 1).astype(np.bool_)
        return self._tensor(is_free & (self._player >= 0)[:, None])

    def information_state_tensor(
        self, player: int | None = None, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """What a player knows: float32 [B, D]; zeros where the game is over.

        Args:
          player: 0 or 1; None: in every row whoever moves.
          out: where to write; None: a new tensor.
        """
        if player is None:
            own = np.where((self._player == 1)[:, None], self._observe(1), self._observe(0))
        else:
            own = self._observe(player)
        return self._tensor(own) if out is None else out.copy_(torch.from_numpy(own))

    def history_tensor(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """What both players know: float32 [B, 2 D]; zeros at an end.

        Args:
          out: where to write; None: a new tensor.
        """
        both = np.concatenate([self._observe(0), self._observe(1)], axis=1)
        return self._tensor(both) if out is None else out.copy_(torch.from_numpy(both))

    def step(self, action: torch.Tensor) -> EpisodeEnds:
        """Makes one move in every game.

        Args:
          action: int64 [B], legal where a player moves; without effect where the game is over.
        """
        finished, returns = np.zeros(self._batch_size, np.bool_), np.zeros(self._batch_size)
        cells, full = action.cpu().numpy(), (1 << self.rules.board.num_cells) - 1
        moved = [np.flatnonzero(self._player == player) for player in (0, 1)]
        for player, rows in enumerate(moved):
            own, other = self._seats[player], self._seats[1 - player]
            fails = (other.stones[rows] >> cells[rows] & 1).astype(np.bool_)
            own.tries(rows, cells[rows], fails)
            wins = self.rules.board.wins[player, own.stones[rows]] & ~fails
            finished[rows] = wins | (own.stones[rows] | other.stones[rows] == full)
            returns[rows] = np.where(wins, 1.0 - 2.0 * player, 0.0)
            passes = ~fails | self.rules.is_abrupt
            self._player[rows] = np.where(passes, 1 - player, player)
        self._player[finished] = TERMINAL_PLAYER
        return EpisodeEnds(self._tensor(finished), self._tensor(returns))

    def _observe(self, player: int) -> np.ndarray:
        paths = self._seats[player].paths
        tensors = self.rules.tensors.write(player, paths, 0, self._batch_size).tensors
        tensors[self._player < 0] = 0.0
        return tensors

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.generator.device)
