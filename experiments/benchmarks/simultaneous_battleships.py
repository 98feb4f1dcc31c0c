"""Battleships as kubicon/rlg plays it, with the OpenSpiel name `python_simultaneous_battleships`.

Both players place a ship at once, one after the other in the fleet's order, unseen and such that
their own ships do not touch, not even at a corner. Then both shoot at once, at a tile not shot at
before, and are told whether they hit. The game ends when a fleet is sunk: 1 for who still has
ships, 0 if nobody has. (`python_battleships` is OpenSpiel's game, in which players take turns.)

Actions are rlg's: 2 t + o places the next ship with its first tile at t, horizontally (o = 0) or
vertically (o = 1); t shoots at tile t. An information state is everything that a player has done
and been told, in order; rlg's networks are not shown the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyspiel

_TYPE = pyspiel.GameType(
    short_name="python_simultaneous_battleships",
    long_name="Battleships with simultaneous moves",
    dynamics=pyspiel.GameType.Dynamics.SIMULTANEOUS,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={"board_size": 2, "ship_sizes": "[2]"},
)


class SimultaneousBattleshipsGame(pyspiel.Game):
    """The game.

    Attributes:
      side: tiles in a row, and rows.
      ships: tiles of each ship, in order of placement.
    """

    def __init__(self, params: dict[str, Any] | None = None):
        """Reads the parameters `board_size` and `ship_sizes`, a list such as "[3;2]"."""
        params = {"board_size": 2, "ship_sizes": "[2]", **(params or {})}
        self.side = int(params["board_size"])
        self.ships = [int(size) for size in str(params["ship_sizes"]).strip("[]").split(";")]
        information = pyspiel.GameInfo(
            num_distinct_actions=2 * self.side**2,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=len(self.ships) + self.side**2,
        )
        super().__init__(_TYPE, information, params)

    def new_initial_state(self) -> SimultaneousBattleshipsState:
        """Empty boards."""
        return SimultaneousBattleshipsState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> _Observer:
        """What tells information states apart, as a string and as a tensor."""
        del iig_obs_type, params
        return _Observer(self)


class SimultaneousBattleshipsState(pyspiel.State):
    """A state.

    Attributes:
      placements: of each player, its placements so far, as actions.
      fleets: of each player, the tiles of each ship placed so far.
      shots: of each player, the tiles that it shot at, in order.
    """

    def __init__(self, game: SimultaneousBattleshipsGame):
        """The root."""
        super().__init__(game)
        self.side, self.ships = game.side, game.ships
        self.placements: list[list[int]] = [[], []]
        self.fleets: list[list[list[int]]] = [[], []]
        self.shots: list[list[int]] = [[], []]

    def current_player(self) -> int:
        """Both at once, or nobody."""
        over = any(self._is_sunk(player) for player in (0, 1))
        return pyspiel.PlayerId.TERMINAL if over else pyspiel.PlayerId.SIMULTANEOUS

    def _legal_actions(self, player: int) -> list[int]:
        if self._is_placing():
            return [a for a in range(2 * self.side**2) if self._is_free(player, a)]
        return [tile for tile in range(self.side**2) if tile not in self.shots[player]]

    def _apply_actions(self, actions: Sequence[int]) -> None:
        is_placing = self._is_placing()
        for player, action in enumerate(actions):
            if is_placing:
                self.fleets[player].append(self._tiles(player, action) or [])
                self.placements[player].append(action)
            else:
                self.shots[player].append(action)

    def is_terminal(self) -> bool:
        """Whether a fleet is sunk."""
        return bool(self.current_player() == pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        """1 for who has sunk the other's fleet alone."""
        lost = [self._is_sunk(player) for player in (0, 1)]
        return [float(lost[1]) - float(lost[0]), float(lost[0]) - float(lost[1])]

    def is_hit(self, player: int, tile: int) -> bool:
        """Whether a shot of a player at this tile is a hit."""
        return any(tile in ship for ship in self.fleets[1 - player])

    def _action_to_string(self, player: int, action: int) -> str:
        return f"player {player}: {action}"

    def __str__(self) -> str:
        return f"placements {self.placements}, shots {self.shots}"

    def _is_placing(self) -> bool:
        return len(self.placements[1]) < len(self.ships)

    def _is_sunk(self, player: int) -> bool:
        fleet, shots = self.fleets[player], self.shots[1 - player]
        return not self._is_placing() and all(tile in shots for ship in fleet for tile in ship)

    def _tiles(self, player: int, action: int) -> list[int] | None:
        """The tiles that a placement covers; None if it leaves the board."""
        size = self.ships[len(self.placements[player])]
        (row, column), is_vertical = divmod(action // 2, self.side), action % 2
        if (row if is_vertical else column) + size > self.side:
            return None
        return [action // 2 + i * (self.side if is_vertical else 1) for i in range(size)]

    def _is_free(self, player: int, action: int) -> bool:
        tiles = self._tiles(player, action)
        taken = [tile for ship in self.fleets[player] for tile in ship]
        return tiles is not None and not any(self._touch(a, b) for a in tiles for b in taken)

    def _touch(self, first: int, second: int) -> bool:
        (row, column), (other_row, other_column) = (
            divmod(first, self.side),
            divmod(second, self.side),
        )
        return max(abs(row - other_row), abs(column - other_column)) <= 1


class _Observer:
    """Placements, own shots with their hits, and the other's shots, in order of time."""

    def __init__(self, game: SimultaneousBattleshipsGame):
        tiles, ships = game.side**2, len(game.ships)
        self._shapes = {
            "player": (2,),
            "placements": (ships, 2 * tiles),
            "own_shots": (tiles, tiles),
            "hits": (tiles,),
            "their_shots": (tiles, tiles),
        }
        self.tensor = np.zeros(sum(int(np.prod(s)) for s in self._shapes.values()), np.float32)
        self.dict: dict[str, np.ndarray] = {}
        start = 0
        for name, shape in self._shapes.items():
            end = start + int(np.prod(shape))
            self.dict[name] = self.tensor[start:end].reshape(shape)
            start = end

    def set_from(self, state: SimultaneousBattleshipsState, player: int) -> None:
        """Writes the tensor."""
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        for number, action in enumerate(state.placements[player]):
            self.dict["placements"][number, action] = 1
        for number, tile in enumerate(state.shots[player]):
            self.dict["own_shots"][number, tile] = 1
            self.dict["hits"][number] = state.is_hit(player, tile)
        for number, tile in enumerate(state.shots[1 - player]):
            self.dict["their_shots"][number, tile] = 1

    def string_from(self, state: SimultaneousBattleshipsState, player: int) -> str:
        """The same in words."""
        own, others = state.shots[player], state.shots[1 - player]
        told = " ".join(f"{t}{'+' if state.is_hit(player, t) else '-'}" for t in own)
        return f"player {player} placed {state.placements[player]} shot {told} met {others}"


pyspiel.register_game(_TYPE, SimultaneousBattleshipsGame)
