"""A scripted baseline player of Battleships.

It places its ships uniformly at random. It shoots as people do: around hits of ships that are still
afloat, else where most ships may lie. It uses the announced outcomes of its shots only. A ship that
was sunk lies on the tile of that shot and on tiles hit earlier; where only ships of one size can,
that size is counted off, and tiles on which it must lie are done. All other hits are *open*. A ship
that is afloat may lie on open hits and on tiles that were not shot at, with at least one of these.

Near open hits, the weight of a tile is the number of placements that cover it and the largest
possible number of open hits; elsewhere, of all placements that cover it. It shoots at a tile of the
largest weight, ties being broken uniformly. A placement counts once for each ship of its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.games.battleships import BattleshipsRules
from spiel_dl.games.battleships_fleets import HIT, NOTHING, SUNK
from spiel_dl.games.battleships_public_states import BattleshipsState
from spiel_dl.games.compiled import kernel
from spiel_dl.games.rules import StateBatch
from spiel_dl.policies import asking
from spiel_dl.tree.from_openspiel import check_game_of


class _Board(NamedTuple):
    """A board of N tiles and the placements of one ship of each size on it.

    Attributes:
      tiles: int64 [P, L], the tiles of each placement; the longest ship has L.
      length: int64 [P], the number of these.
      kind: int64 [P], the index of its size.
      counts: int64 [K], the number of ships of each size.
      near: bool [N, N], whether two tiles are next to each other.
    """

    tiles: np.ndarray
    length: np.ndarray
    kind: np.ndarray
    counts: np.ndarray
    near: np.ndarray


class HunterPolicy(openspiel_policy.Policy):
    """Places ships at random, shoots next to hits, and else where most ships may lie."""

    def __init__(self, game: pyspiel.Game):
        """Plays both seats of a game.

        Raises:
          ValueError: if the game is not `python_battleships`.
        """
        game_rules = getattr(game, "rules", None)
        if not isinstance(game_rules, BattleshipsRules):
            raise ValueError(
                f"{game} is not Battleships, where alone the hunter plays; use python_battleships"
            )
        super().__init__(game, [0, 1])
        self._board = _board_of(game_rules)

    @property
    def _rules(self) -> BattleshipsRules:
        rules: BattleshipsRules = self.game.rules
        return rules

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Its probabilities of all legal actions.

        Raises:
          ValueError: if the state is of another game, or the player does not act in it.
        """
        check_game_of(state, self.game)
        asking.acting_player(state, player_id)
        return self.probabilities_of([state])[0]

    def probabilities_of(self, states: Sequence[pyspiel.State]) -> list[dict[int, float]]:
        """The probabilities in many states, in each of which a player acts."""
        batch = BattleshipsState.concatenate([state.batch for state in states])
        players = np.array([state.current_player() for state in states])
        rows = np.zeros((len(states), self._rules.num_actions))
        for player in (0, 1):
            mine = np.flatnonzero(players == player)
            rows[mine] = self.rows(batch.take(torch.from_numpy(mine)), player)
        return [
            {action: float(row[action]) for action in state.legal_actions()}
            for state, row in zip(states, rows, strict=True)
        ]

    def rows(self, states: StateBatch, player: int) -> np.ndarray:
        """The probabilities in a batch of states in which one player acts: float64 [B, A]."""
        assert isinstance(states, BattleshipsState)
        game_rules = self._rules
        legal = game_rules.legal_actions(states).numpy()
        rows: np.ndarray = legal / legal.sum(axis=1, keepdims=True).clip(min=1)
        shoots = np.flatnonzero(states.next_move.numpy() >= game_rules.num_placements)
        if len(shoots):
            first = game_rules.num_placements + player
            shots = states.record.numpy()[shoots, first:]
            half = 2 * game_rules.num_shots
            weights = np.zeros((len(shoots), game_rules.num_tiles), np.int64)
            tiles = np.ascontiguousarray(shots[:, :half:2])
            outcomes = np.ascontiguousarray(shots[:, half::2])
            _weigh(self._board, tiles, outcomes, weights)
            best = weights == weights.max(axis=1, keepdims=True)
            rows[shoots] = 0.0
            rows[shoots, : game_rules.num_tiles] = best / best.sum(axis=1, keepdims=True)
        return rows


def _board_of(game_rules: BattleshipsRules) -> _Board:
    sizes, first, counts = np.unique(game_rules.ship_sizes, return_index=True, return_counts=True)
    lists: list[np.ndarray] = []
    kinds: list[int] = []
    for kind, ship in enumerate(first):
        lines = [line.nonzero()[0] for line in game_rules.fleets.covers[ship] if line.any()]
        lists += lines
        kinds += [kind] * len(lines)
    tiles = np.zeros((len(lists), sizes.max()), np.int64)
    for place, line in enumerate(lists):
        tiles[place, : len(line)] = line
    row, column = np.divmod(np.arange(game_rules.num_tiles), game_rules.board_width)
    near = abs(row[:, None] - row) + abs(column[:, None] - column) == 1
    length = np.array([len(line) for line in lists])
    return _Board(tiles, length, np.array(kinds), counts, near)


@kernel
def _weigh(board: _Board, shots: np.ndarray, outcomes: np.ndarray, weights: np.ndarray) -> None:
    """Computes the weight of each tile.

    Args:
      board: the opponent's.
      shots: int16 [B, T], the player's shots in order, -1 for those to come.
      outcomes: int16 [B, T], as announced.
      weights: int64 [B, N], zeros; is written.
    """
    num_tiles = len(board.near)
    for row in range(len(shots)):
        announced = np.full(num_tiles, NOTHING)
        time = np.zeros(num_tiles, np.int64)
        for shot in range(shots.shape[1]):
            tile = shots[row, shot]
            # The first shot at a tile counts.
            if tile >= 0 and announced[tile] == NOTHING:
                announced[tile], time[tile] = outcomes[row, shot], shot
        done = np.zeros(num_tiles, np.bool_)
        left = board.counts.copy()
        for tile in range(num_tiles):
            if announced[tile] == SUNK:
                _count_off(board, announced, time, tile, done, left)
        _weigh_placements(board, announced, done, left, weights[row])


@kernel
def _count_off(
    board: _Board,
    announced: np.ndarray,
    time: np.ndarray,
    sunk: int,
    done: np.ndarray,
    left: np.ndarray,
) -> None:
    """Marks the tiles, and counts off the size, of the ship sunk at `sunk`, if certain."""
    num_fitting, first_kind, is_one_kind = 0, -1, True
    covering = np.zeros(len(announced), np.int64)
    for place in range(len(board.length)):
        covers, fits = False, True
        for index in range(board.length[place]):
            tile = board.tiles[place, index]
            if tile == sunk:
                covers = True
            elif announced[tile] != HIT or time[tile] > time[sunk]:
                fits = False
        if not (covers and fits):
            continue
        num_fitting += 1
        is_one_kind &= first_kind in (-1, board.kind[place])
        first_kind = board.kind[place]
        for index in range(board.length[place]):
            covering[board.tiles[place, index]] += 1
    for tile in range(len(announced)):
        done[tile] |= covering[tile] == num_fitting
    if is_one_kind:
        left[first_kind] -= 1


@kernel
def _weigh_placements(
    board: _Board, announced: np.ndarray, done: np.ndarray, left: np.ndarray, weights: np.ndarray
) -> None:
    """Counts the placements that cover each tile; near open hits, only those with most of these."""
    near_hits = np.zeros(len(announced), np.bool_)
    for tile in range(len(announced)):
        for other in range(len(announced)):
            is_open = announced[other] == HIT and not done[other]
            near_hits[tile] |= board.near[tile, other] and is_open
    most = 0
    for place in range(len(board.length)):
        num_open, num_new = 0, 0
        is_possible = left[board.kind[place]] > 0
        for index in range(board.length[place]):
            tile = board.tiles[place, index]
            outcome = announced[tile]
            is_possible &= outcome == NOTHING or (outcome == HIT and not done[tile])
            num_open += outcome == HIT
            num_new += outcome == NOTHING
        if not is_possible or num_new == 0 or num_open < most:
            continue
        if num_open > most:
            most = num_open
            weights[:] = 0
        for index in range(board.length[place]):
            tile = board.tiles[place, index]
            if announced[tile] == NOTHING and (most == 0 or near_hits[tile]):
                weights[tile] += left[board.kind[place]]
