"""Lists or draws the histories of a Battleships public state.

The two boards are independent: a shot's outcome depends only on the fleet on its board, and shots
are public. So the histories of a public state are all pairs of a fleet of player 0 and one of
player 1 that are consistent with the announcements on their boards.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.battleships_fleets import HIT, MISS, FleetTables, consistent_fleets

_MOST_FLEETS = 1_000_000
"""The most fleets of one board that are listed to draw pairs of them."""


@dataclasses.dataclass(frozen=True)
class BattleshipsState(rules.StateBatch):
    """A batch of Battleships states. Moves are numbered in order of time, even ones player 0's.

    Attributes:
      next_move: int32 [B], the number of the move to make; 2 S + 2 T if the game is over.
      record: int16 [B, 2 S + 4 T], the placements (as actions), then the tiles of all shots, then
        their outcomes, MISS, HIT or SUNK; each in order of time, -1 for future events.
      tiles_left: int8 [B, 2 S], by move of placement: tiles of the ship that were not hit.
      boards: int8 [B, 2 N], player 0's board, then player 1's: the last announced outcome of each
        tile, or NOTHING.
    """

    next_move: torch.Tensor
    record: torch.Tensor
    tiles_left: torch.Tensor
    boards: torch.Tensor


class BattleshipsBoards(rules.Rules[BattleshipsState]):
    """The attributes of `BattleshipsRules` that this module uses.

    Attributes:
      ship_sizes: tiles of each ship, in order of placement.
      num_tiles: N, tiles of a board.
      num_placements: 2 S, placements of both players.
      fleets: the tiles of each placement, and the placements that exclude each other.
    """

    ship_sizes: tuple[int, ...]
    num_tiles: int
    num_placements: int
    fleets: FleetTables


class _PublicState(NamedTuple):
    num_placed: list[int]  # ships placed, by player
    shots: list[int]  # tiles, in order of time
    outcomes: list[int]  # MISS, HIT, SUNK, in order of time


def consistent_histories(
    game: BattleshipsBoards, public_tensor: torch.Tensor, limit: int
) -> rules.ConsistentHistories:
    """All histories of a public state; see `Rules.consistent_histories`.

    Args:
      game: the rules.
      public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
      limit: the most beginnings of fleets on one board, and the most pairs of fleets. Above it, the
        result is incomplete. It is checked before larger arrays are made.

    Raises:
      ValueError: if no history has this public tensor.
    """
    public = _read(game, public_tensor)
    fleets: list[np.ndarray] = []
    for owner in (0, 1):
        _, rows = _fleets_of(game, public, owner, limit)
        if rows is None:
            return _too_many(game, public, public_tensor.device)
        fleets.append(rows)
    count = len(fleets[0]) * len(fleets[1])
    if count > limit:
        return _too_many(game, public, public_tensor.device)
    return _of_pairs(game, public_tensor, public, fleets, np.arange(count))


def draw_histories(
    game: BattleshipsBoards,
    public_tensor: torch.Tensor,
    count: int,
    generator: np.random.Generator,
    own: tuple[int, torch.Tensor] | None,
) -> tuple[rules.ConsistentHistories, np.ndarray]:
    """Random histories of a public state; see `Rules.draw_histories`.

    Args:
      game: the rules.
      public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
      count: the most histories.
      generator: the random generator.
      own: a player, and its private tensor, float32 [Dpriv]; None: any private tensors.

    Raises:
      ValueError: if no history has these tensors, or one board has too many fleets to list.
    """
    public = _read(game, public_tensor)
    fleets: list[np.ndarray] = []
    for owner in (0, 1):
        num_seen, rows = _fleets_of(game, public, owner, _MOST_FLEETS)
        if rows is None:
            raise ValueError(
                f"{num_seen:,} fleets on one board explain what was announced, more than "
                f"{_MOST_FLEETS:,}; search on a smaller board or with fewer ships"
            )
        if own is not None and own[0] == owner:
            placed = own[1].view(len(game.ship_sizes), -1)[: public.num_placed[owner]]
            rows = rows[(rows == placed.argmax(dim=1).cpu().numpy()).all(axis=1)]
        fleets.append(rows)
    total = len(fleets[0]) * len(fleets[1])
    if total <= count:
        pairs = np.arange(total)
    else:
        pairs = np.sort(generator.choice(total, count, replace=False, shuffle=False))
    histories = _of_pairs(game, public_tensor, public, fleets, pairs)
    return histories, np.full(len(pairs), total / max(len(pairs), 1))


def _fleets_of(
    game: BattleshipsBoards, public: _PublicState, owner: int, limit: int
) -> tuple[int, np.ndarray | None]:
    """The fleets of a player, as `consistent_fleets` returns them."""
    # Player 0's shots, the first and every other one, are at the board of player 1.
    at_board = slice(1 - owner, None, 2)
    shots, outcomes = public.shots[at_board], public.outcomes[at_board]
    return consistent_fleets(game.fleets, shots, outcomes, public.num_placed[owner], limit)


def _of_pairs(
    game: BattleshipsBoards,
    public_tensor: torch.Tensor,
    public: _PublicState,
    fleets: list[np.ndarray],
    pairs: np.ndarray,
) -> rules.ConsistentHistories:
    """The histories of pairs of fleets (int64 [n]: number of player 0's * F_1 + player 1's)."""
    if not len(pairs):
        raise _impossible()
    actions = _pair_up(game, fleets, public, pairs)
    # All histories share everything but the ships, so one of them is replayed.
    example = _replay(game, actions[0])
    if not torch.equal(game.public_tensor(example)[0], public_tensor.cpu()):
        raise _impossible()
    states = _states(game, example, actions).to(public_tensor.device)
    count = len(pairs)
    reach = torch.ones(count, dtype=torch.float64, device=public_tensor.device)
    return rules.ConsistentHistories(
        True, states, torch.from_numpy(actions).to(public_tensor.device), reach
    )


def _read(game: BattleshipsBoards, public_tensor: torch.Tensor) -> _PublicState:
    # Wrong bits are found by the caller, which compares the tensor of a history.
    made, tiles, outcomes = game.split_public(public_tensor.cpu())
    tiles, outcomes = tiles.view(-1, game.num_tiles), outcomes.view(-1, 3)
    num_made, num_shots = int(made.sum()), int(tiles.any(dim=1).sum())
    if num_shots and num_made < game.num_placements:
        raise _impossible()
    return _PublicState(
        num_placed=[(num_made + 1) // 2, num_made // 2],
        shots=tiles[:num_shots].argmax(dim=1).tolist(),
        outcomes=(MISS + outcomes[:num_shots].argmax(dim=1)).tolist(),
    )


def _pair_up(
    game: BattleshipsBoards, fleets: list[np.ndarray], public: _PublicState, pairs: np.ndarray
) -> np.ndarray:
    """The actions of pairs of fleets: int16 [N, L]."""
    fleet_numbers = np.divmod(pairs, len(fleets[1]))
    num_placements = sum(public.num_placed)
    actions = np.empty((len(pairs), num_placements + len(public.shots)), dtype=np.int16)
    actions[:, num_placements:] = public.shots
    for player in (0, 1):
        placements = game.num_tiles + fleets[player][fleet_numbers[player]]
        actions[:, player:num_placements:2] = placements
    return actions


def _replay(game: BattleshipsBoards, actions: np.ndarray) -> BattleshipsState:
    """The state after `actions`, a batch of one; ValueError if one of them is not legal."""
    action = torch.from_numpy(actions.astype(np.int64))
    states = [game.initial_state()]
    for move in range(len(action)):
        states.append(game.apply(states[-1], action[move : move + 1]))
    visited = type(states[0]).concatenate(states)
    if not bool(game.legal_actions(visited)[torch.arange(len(action)), action].all()):
        raise _impossible()
    return states[-1]


def _states(
    game: BattleshipsBoards, example: BattleshipsState, actions: np.ndarray
) -> BattleshipsState:
    """The states after `actions`, given the one after the first row."""
    count, length = actions.shape
    states = example.take(torch.zeros(count, dtype=torch.int64))
    num_placed = min(length, game.num_placements)
    states.record[:, :num_placed] = torch.from_numpy(actions[:, :num_placed])
    was_hit = (example.boards >= HIT).view(2, game.num_tiles).numpy()
    for move in range(num_placed):
        ship, player = divmod(move, 2)
        num_hits = (game.fleets.covers[ship] & was_hit[player]).sum(axis=1)
        left = game.ship_sizes[ship] - num_hits[actions[:, move] - game.num_tiles]
        states.tiles_left[:, move] = torch.from_numpy(left)
    return states


def _too_many(
    game: BattleshipsBoards, public: _PublicState, device: torch.device
) -> rules.ConsistentHistories:
    states = game.initial_state(0, device)
    length = sum(public.num_placed) + len(public.shots)
    actions = torch.zeros((0, length), dtype=torch.int16, device=device)
    reach = torch.zeros(0, dtype=torch.float64, device=device)
    return rules.ConsistentHistories(False, states, actions, reach)


def _impossible() -> ValueError:
    return ValueError(
        "no history has this public tensor: no two fleets explain its outcomes, or its moves are "
        "not legal; take it from public_tensor(state, perfect_recall=True)"
    )
