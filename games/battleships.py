"""Battleships, with the rules of OpenSpiel's `battleship` and returns that are always zero-sum.

Each player has a board of N = board_width * board_height tiles, numbered row by row, and S ships.
The players take turns, player 0 first: in S rounds each places its next ship on free tiles, unseen
by the other; then in T = num_shots rounds each shoots at a tile of the other's board. Boards on
which the ships before may leave no room for a ship are refused. It is public whether a shot missed,
hit or sank a ship: it sinks the ship whose last tile it hits, and a repeated shot is answered for
the ship's present state. The other tiles of a sunk ship are not revealed. The game ends when a
fleet is sunk, at once, or when all shots are fired.

    python_battleships(board_width=5,board_height=5,ship_sizes=[3;2;2])

`returns_type=win_loss`, as in Kubíček et al., "Look-ahead Search on Top of Policy Networks in
Imperfect Information Games" (2023): 1 for who sinks the other's fleet, 0 if nobody does.
`returns_type=ship_values`: the value of the ships sunk minus that of the ships lost, OpenSpiel's
returns with `loss_multiplier=1.0`.

Actions: t < N shoots at tile t; N + t places the next ship horizontally with its leftmost tile at
t; 2 N + t places it vertically with its topmost tile at t. A ship of one tile lies horizontally.

Pieces of the tensors; a *time* is a round and the player whose move it is:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | both | placements_made | S x 2 | thermometer, in order of time |
| public | yes | shot_tiles | T x 2 x N | tile of each shot, one-hot; zero-padded |
| public | yes | shot_outcomes | T x 2 x 3 | its outcome, one-hot of miss, hit, sunk; zero-padded |
| public | no | shots_fired | T x 2 | thermometer, in order of time |
| public | no | boards | 2 x N x 4 | for each player's board and tile the last announcement, \
one-hot of nothing, miss, hit, sunk |
| private | yes | placements | S x 2N | own placements, one-hot; zeros before |
| private | no | ships | S x N | the tiles of each own ship |
"""

from __future__ import annotations

import functools

import numpy as np
import torch

from spiel_dl.games import (
    battleships_features,
    battleships_fleets,
    battleships_public_states,
    openspiel,
    rules,
)
from spiel_dl.games.battleships_compiled import compiled_battleships
from spiel_dl.games.battleships_fleets import MISS, NOTHING
from spiel_dl.games.battleships_public_states import BattleshipsBoards, BattleshipsState
from spiel_dl.games.battleships_tables import battleships_tables
from spiel_dl.games.compiled import CompiledRules

_MAX_SIDE = 10  # as in OpenSpiel
_MAX_SHIPS = 10  # tables grow with the square
_OUTCOMES = ("miss", "hit", "sunk")


class BattleshipsRules(BattleshipsBoards):
    """Rules of Battleships.

    Args:
      board_width: tiles in a row, 1 to 10.
      board_height: rows, 1 to 10.
      ship_sizes: tiles of each ship, in order of placement; a list written like "[3;2;2]".
      allow_repeated_shots: whether a player may shoot at the same tile again.
      returns_type: "win_loss" or "ship_values".
      ship_values: with "ship_values", the worth of each ship, as "[3.0;2.0;2.0]"; "[]" is 1 each.
      num_shots: shots per player; -1 for one per tile, enough to sink everything.

    Raises:
      ValueError: if a parameter is out of its range, or the fleet does not fit, or may not.
    """

    num_chance_outcomes = 0
    max_chance_nodes = 0
    searches_by_moves = True

    def __init__(
        self,
        board_width: int = 10,
        board_height: int = 10,
        ship_sizes: str = "[2;3;3;4;5]",
        allow_repeated_shots: bool = False,
        returns_type: str = "win_loss",
        ship_values: str = "[]",
        num_shots: int = -1,
    ) -> None:
        self.board_width, self.board_height = board_width, board_height
        self.ship_sizes = openspiel.parse_list(ship_sizes, "ship_sizes", int)
        self.allow_repeated_shots, self.returns_type = allow_repeated_shots, returns_type
        given_values = openspiel.parse_list(ship_values, "ship_values", float)
        self.ship_values = given_values or (1.0,) * len(self.ship_sizes)
        self.num_tiles = board_width * board_height
        self.num_shots = self.num_tiles if num_shots == -1 else num_shots
        self.num_ships = len(self.ship_sizes)
        self._check_parameters(custom_values=bool(given_values))
        self.fleets = battleships_fleets.fleet_tables(board_width, board_height, self.ship_sizes)
        self.num_actions = 3 * self.num_tiles
        self.num_placements = 2 * self.num_ships
        self._end = self.num_placements + 2 * self.num_shots
        # Once player 0 has shot at every tile the game is over.
        covers_board = self.num_shots == self.num_tiles and not allow_repeated_shots
        self.max_game_length = self._end - 1 if covers_board else self._end
        self.max_utility = self._largest_gain()
        if self.max_utility == 0:
            raise ValueError(
                f"num_shots={self.num_shots} can sink no fleet of ship_sizes="
                f"{list(self.ship_sizes)}, or with returns_type=ship_values no ship of any worth, "
                "so nobody could win; raise num_shots or ship_values"
            )
        self.min_utility = -self.max_utility
        self._public_size = self.public_size(perfect_recall=True)
        self._tables = battleships_tables(
            self.fleets, self.ship_sizes, self.ship_values, self.num_shots
        )

    def _check_parameters(self, custom_values: bool) -> None:
        for name, side in (("board_width", self.board_width), ("board_height", self.board_height)):
            if not 1 <= side <= _MAX_SIDE:
                raise ValueError(f"{name}={side} is out of range; use 1 to {_MAX_SIDE}")
        if not self.ship_sizes or min(self.ship_sizes) < 1:
            raise ValueError(
                f"ship_sizes={list(self.ship_sizes)} must name at least one ship, each of 1 or "
                "more tiles, as in [3;2;2]"
            )
        if self.num_ships > _MAX_SHIPS:
            raise ValueError(f"ship_sizes has {self.num_ships} ships; use at most {_MAX_SHIPS}")
        if not 1 <= self.num_shots <= self.num_tiles:
            raise ValueError(
                f"num_shots={self.num_shots} is out of range; use 1 to {self.num_tiles}, one "
                "shot per tile, or -1 for that"
            )
        if self.returns_type not in ("win_loss", "ship_values"):
            raise ValueError(
                f"returns_type={self.returns_type!r} is unknown; use 'win_loss' or 'ship_values'"
            )
        if custom_values and self.returns_type == "win_loss":
            raise ValueError(
                f"ship_values={list(self.ship_values)} have no use with returns_type=win_loss; "
                "leave them out or use returns_type=ship_values"
            )
        if len(self.ship_values) != self.num_ships or min(self.ship_values) < 0:
            raise ValueError(
                f"ship_values={list(self.ship_values)} must be one number of 0 or more for each of "
                f"the {self.num_ships} ships"
            )

    def _largest_gain(self) -> float:
        """The largest utility that `num_shots` shots can win."""
        if self.returns_type == "win_loss":
            return float(self.num_shots >= sum(self.ship_sizes))
        best = [0.0] * (self.num_shots + 1)  # by the number of shots
        for size, value in zip(self.ship_sizes, self.ship_values, strict=True):
            for shots in range(self.num_shots, size - 1, -1):
                best[shots] = max(best[shots], best[shots - size] + value)
        return best[-1]

    def initial_state(
        self, batch_size: int = 1, device: torch.device | str = "cpu"
    ) -> BattleshipsState:
        """A batch of B copies of the root, with empty boards."""

        def filled(shape: tuple[int, ...], value: int, dtype: torch.dtype) -> torch.Tensor:
            return torch.full((batch_size, *shape), value, dtype=dtype, device=device)

        next_move = filled((), 0, torch.int32)
        return BattleshipsState(
            next_move=next_move,
            record=filled((self.num_placements + 4 * self.num_shots,), -1, torch.int16),
            tiles_left=self._tables(next_move.device).sizes.repeat(batch_size, 1),
            boards=filled((2 * self.num_tiles,), NOTHING, torch.int8),
        )

    def current_player(self, state: BattleshipsState) -> torch.Tensor:
        """The player to act: int8 [B]."""
        return self._tables(state.next_move.device).player.index_select(0, state.next_move)

    def legal_actions(self, state: BattleshipsState) -> torch.Tensor:
        """Legal actions of the player to move: bool [B, A], A = 3 N."""
        tables = self._tables(state.next_move.device)
        open_tile = tables.open_tile.index_select(0, state.next_move)[:, None]
        if self.allow_repeated_shots:
            shots = (open_tile == NOTHING).expand(-1, self.num_tiles)
        else:
            target = tables.target_board.index_select(0, state.next_move)
            shots = state.boards.gather(1, target) == open_tile
        return torch.cat([shots, self._free_placements(state)], dim=1)

    def apply(self, state: BattleshipsState, action: torch.Tensor) -> BattleshipsState:
        """The successors under `action` (int64 [B])."""
        tables = self._tables(state.next_move.device)
        action = action[:, None]
        target = tables.target.index_select(0, state.next_move)[:, None]
        # The aim is a tile of a board. That of a placement or a move after the end is no tile.
        aim = torch.add(action, target, alpha=self.num_actions)
        placements = state.record[:, : self.num_placements]
        is_struck = tables.covers.take(
            torch.add(tables.cover_rows, placements, alpha=3 * self.num_actions) + aim
        )
        shot_at = tables.aims == aim
        hits = strikes = is_struck.to(torch.int8)
        if self.allow_repeated_shots:
            is_new = (shot_at & (state.boards == NOTHING)).any(dim=1, keepdim=True)
            hits = strikes * is_new
        tiles_left = state.tiles_left - hits
        # A miss is 0, a hit 1; the ship's last tile makes it 2.
        outcome = (strikes + (is_struck & (tiles_left == 0))).amax(dim=1, keepdim=True)

        is_written = tables.recorded_at == state.next_move[:, None]
        event = torch.where(tables.is_outcome, outcome, action.to(torch.int16))
        afloat = tiles_left.view(-1, self.num_ships, 2).any(dim=1).all(dim=1)
        following = tables.following.index_select(0, state.next_move)
        return BattleshipsState(
            next_move=following.where(afloat, self._end),
            record=torch.where(is_written, event, state.record),
            tiles_left=tiles_left,
            boards=torch.where(shot_at, outcome, state.boards),
        )

    def returns(self, state: BattleshipsState) -> torch.Tensor:
        """Player 0's utility: float64 [B]."""
        if self.returns_type == "win_loss":
            afloat = state.tiles_left.view(-1, self.num_ships, 2).any(dim=1).double()
            return afloat[:, 0] - afloat[:, 1]
        gain = ((state.tiles_left == 0) * self._tables(state.next_move.device).values).sum(dim=1)
        return gain * (state.next_move == self._end)

    def round_index(self, state: BattleshipsState) -> torch.Tensor:
        """The number of completed rounds, of a placement or shot of each player: int16 [B]."""
        # Moves to come are -1 in the record; much faster than counting in booleans.
        made = state.record[:, : self._end].clamp(max=0).sum(dim=1, dtype=torch.int16) + self._end
        return made // 2

    def public_pieces(self, perfect_recall: bool) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the public pieces; the module's table explains them."""
        placements_made = {"placements_made": (self.num_ships, 2)}
        if perfect_recall:
            return placements_made | {
                "shot_tiles": (self.num_shots, 2, self.num_tiles),
                "shot_outcomes": (self.num_shots, 2, len(_OUTCOMES)),
            }
        boards = (2, self.num_tiles, 1 + len(_OUTCOMES))
        return placements_made | {"shots_fired": (self.num_shots, 2), "boards": boards}

    def private_pieces(self, perfect_recall: bool) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the private pieces; the module's table explains them."""
        if perfect_recall:
            return {"placements": (self.num_ships, 2 * self.num_tiles)}
        return {"ships": (self.num_ships, self.num_tiles)}

    def public_tensor(self, state: BattleshipsState, perfect_recall: bool = True) -> torch.Tensor:
        """The public tensor: float32 [B, Dpub]."""
        if not perfect_recall:
            happened = (state.record[:, : self._end] >= 0).float()
            boards = rules.one_hot(state.boards - NOTHING, 1 + len(_OUTCOMES)).flatten(1)
            return torch.cat([happened, boards], dim=1)
        shape = (len(state.record), self._public_size)
        tensor = torch.zeros(shape, device=state.next_move.device)
        return self._write_public(tensor, state, start=0)

    def private_tensor(
        self, state: BattleshipsState, player: int, perfect_recall: bool = True
    ) -> torch.Tensor:
        """The player's placements: float32 [B, Dpriv]."""
        placements = state.record[:, player : self.num_placements : 2]
        tables = self._tables(state.next_move.device)
        if perfect_recall:
            rows = (1 + placements).reshape(-1).int()
            return tables.placement_bits.index_select(0, rows).view(len(placements), -1)
        return tables.ships[tables.ship_rows + placements].flatten(1)

    def public_code(self, state: BattleshipsState) -> torch.Tensor:
        """The record, but of placements only whether they were made: int8 [B, 2 S + 4 T]."""
        placed, seen = state.record.tensor_split([self.num_placements], dim=1)
        return torch.cat([placed.clamp(max=0), seen], dim=1).to(torch.int8)

    def private_code(self, state: BattleshipsState, player: int) -> torch.Tensor:
        """The player's placements minus 2 N, to fit: int8 [B, S]; below -N for none."""
        placements = state.record[:, player : self.num_placements : 2]
        return (placements - 2 * self.num_tiles).clamp(min=-128).to(torch.int8)

    def information_state_tensor(self, state: BattleshipsState, player: int) -> torch.Tensor:
        """See `Rules`; written in place, as most of it is the long public part."""
        private = self.private_tensor(state, player)
        size = 2 + self._public_size
        tensor = private.new_zeros((len(private), size + private.shape[1]))
        tensor[:, player] = 1.0
        tensor[:, size:] = private
        return self._write_public(tensor, state, start=2)

    def feature_pieces(self) -> dict[str, tuple[int, ...]]:
        """See `Rules.feature_pieces`; the table of `battleships_features` explains them."""
        return battleships_features.feature_pieces(self)

    def features(self, state: BattleshipsState, player: int) -> torch.Tensor:
        """A network's inputs: float32 [B, F]."""
        lines = self._tables(state.device).lines
        return battleships_features.features(self, state, player, lines)

    def compiled(self) -> CompiledRules:
        """See `Rules.compiled`."""
        return compiled_battleships(
            self.fleets,
            self.ship_values,
            self.num_shots,
            self.allow_repeated_shots,
            self.returns_type == "win_loss",
        )

    def action_to_string(self, player: int, action: int) -> str:
        """The name of an action; rows and columns are counted from 0."""
        verbs = ("shoot at", "place horizontally from", "place vertically from")
        kind, tile = divmod(action, self.num_tiles)
        row, column = divmod(tile, self.board_width)
        return f"{verbs[kind]} ({row}, {column})"

    def describe(self, state: BattleshipsState, row: int = 0) -> str:
        """Both boards of one row side by side, all ships shown."""
        boards = [self._board_lines(state, row, player) for player in (0, 1)]
        width = max(len("Player 0"), 2 * self.board_width + 2)
        lines = [f"{'Player 0':{width}}   Player 1"]
        lines += [f"{left:{width}}   {right}" for left, right in zip(*boards, strict=True)]
        lines.append("ships a, b, ...; A, B, ... where hit; * missed shot; . water")
        return "\n".join(lines)

    def consistent_histories(
        self, public_tensor: torch.Tensor, limit: int = 1_000_000
    ) -> rules.ConsistentHistories:
        """All histories of a public state; see `battleships_public_states`."""
        return battleships_public_states.consistent_histories(self, public_tensor, limit)

    def draw_histories(
        self,
        public_tensor: torch.Tensor,
        count: int,
        generator: np.random.Generator,
        player: int | None = None,
        private_tensor: torch.Tensor | None = None,
    ) -> tuple[rules.ConsistentHistories, np.ndarray]:
        """Pairs of fleets drawn uniformly; see `Rules.draw_histories`."""
        own = None if player is None or private_tensor is None else (player, private_tensor)
        return battleships_public_states.draw_histories(self, public_tensor, count, generator, own)

    def _write_public(
        self, tensor: torch.Tensor, state: BattleshipsState, start: int
    ) -> torch.Tensor:
        """Writes the perfect-recall public tensor into zeros, from column `start` on."""
        tables = self._tables(state.next_move.device)
        # One entry per event, in the event's columns; for a future event, a zero in its first one.
        entry = torch.where(tables.is_public, state.record, 0).clamp(min=0)
        columns = tables.public_columns + start + entry
        return tensor.scatter_(1, columns, (state.record >= 0).float())

    def _free_placements(self, state: BattleshipsState) -> torch.Tensor:
        """The legal placements of the mover's next ship: bool [B, 2 N]."""
        tables = self._tables(state.next_move.device)
        own_placements = state.record.gather(1, tables.own_ships.index_select(0, state.next_move))
        rows = tables.free_rows.index_select(0, state.next_move) + own_placements
        free = tables.free.index_select(0, rows.view(-1))
        by_ship = free.view(-1, self.num_ships, 2 * self.num_tiles).unbind(dim=1)
        return functools.reduce(torch.Tensor.logical_and, by_ship)  # much faster than `all`

    def _board_lines(self, state: BattleshipsState, row: int, player: int) -> list[str]:
        marks = ["."] * self.num_tiles
        placements = state.record[row, player : self.num_placements : 2].tolist()
        for ship, action in enumerate(placements):
            if action >= 0:
                for tile in self.fleets.covers[ship, action - self.num_tiles].nonzero()[0]:
                    marks[tile] = chr(ord("a") + ship)
        announced = state.boards[row].view(2, -1)[player].tolist()
        for tile, code in enumerate(announced):
            if code != NOTHING:
                marks[tile] = "*" if code == MISS else marks[tile].upper()
        width = self.board_width
        rows = [marks[start : start + width] for start in range(0, self.num_tiles, width)]
        header = " ".join(map(str, range(width)))
        return [f"  {header}", *(f"{number} {' '.join(line)}" for number, line in enumerate(rows))]
