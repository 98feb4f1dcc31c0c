"""The inputs of networks in Battleships.

The player's own pieces come first, and boards are planes, without the times of shots. Pieces, with
S ships and N tiles:

| piece | shape | meaning |
|---|---|---|
| player | 2 | the seat, one-hot |
| own_ships | S x N | the tiles of each own ship; zeros before it is placed |
| own_board | 3 x N | tiles of the own board last announced as missed, hit, sunk |
| opponent_board | 3 x N | the same for the opponent's board |
| placements_left | 2 x N | for tiles of the opponent's board not shot at yet: the number of \
placements of its ships that cover them and no tile announced as missed or sunk, as a share of the \
most on an empty board; and the same, each placement weighted by the hits that it covers |
| next_ship | S | the own ship to place next, one-hot; zeros once all are placed |
| shots_left | 2 | remaining shots of the player and the opponent, as shares of all |
| ships_sunk | 2 x S | thermometers of the own ships and the opponent's that are sunk |
"""

from __future__ import annotations

import torch

from spiel_dl.games.battleships_fleets import HIT, MISS, NO_FIT, NOTHING, SUNK
from spiel_dl.games.battleships_public_states import BattleshipsBoards, BattleshipsState
from spiel_dl.games.rules import joined, seat


def feature_pieces(game: BattleshipsBoards) -> dict[str, tuple[int, ...]]:
    """See `Rules.feature_pieces`; the module's table explains them."""
    num_ships, num_tiles = len(game.ship_sizes), game.num_tiles
    return {
        "player": (2,),
        "own_ships": (num_ships, num_tiles),
        "own_board": (3, num_tiles),
        "opponent_board": (3, num_tiles),
        "placements_left": (2, num_tiles),
        "next_ship": (num_ships,),
        "shots_left": (2,),
        "ships_sunk": (2, num_ships),
    }


def features(
    game: BattleshipsBoards, state: BattleshipsState, player: int, lines: torch.Tensor
) -> torch.Tensor:
    """See `Rules.features`: float32 [B, F].

    Args:
      game: the rules.
      state: the states.
      player: the observing player.
      lines: float32 [P, N], the tiles of all placements of all ships.
    """
    num_ships, num_placements = len(game.ship_sizes), game.num_placements
    sides = [player, 1 - player]
    boards = state.boards.unflatten(1, (2, -1))
    planes = [boards[:, owner] == outcome for owner in sides for outcome in (MISS, HIT, SUNK)]
    happened = state.record >= 0
    numbers = torch.arange(num_ships, device=state.device)
    num_placed = happened[:, player:num_placements:2].sum(dim=1, keepdim=True)
    num_shots = (state.record.shape[1] - num_placements) // 4
    shots = happened[:, num_placements : num_placements + 2 * num_shots].unflatten(1, (-1, 2))
    shots_left = num_shots - shots.sum(dim=1)
    # The number of ships sunk is public: that of first shots at a tile announced as sunk.
    num_sunk = (state.tiles_left == 0).unflatten(1, (-1, 2)).sum(dim=1)
    columns = [
        game.private_tensor(state, player, perfect_recall=False),
        *planes,
        *_placements_left(planes[3:], boards[:, 1 - player] == NOTHING, lines),
        num_placed == numbers,
        *(shots_left[:, side : side + 1] * (1 / num_shots) for side in sides),
        *(num_sunk[:, side : side + 1] > numbers for side in sides),
    ]
    return joined([seat(state, player), *columns])


def _placements_left(
    announced: list[torch.Tensor], is_open: torch.Tensor, lines: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The planes of `placements_left`, float32 [B, N] each; unscaled numbers are integers."""
    missed, hit, sunk = announced
    hits = hit.float().add_((missed | sunk).float(), alpha=NO_FIT) @ lines.t()
    # Both numbers by one product: it costs most of the time.
    number, weight = (torch.cat([(hits >= 0).float(), hits.clamp(min=0)]) @ lines).chunk(2)
    scale = is_open / lines.sum(dim=0).amax()
    return number * scale, weight * scale
