"""What the compiled forms of phantom games share: one try, and which cells are left."""

from __future__ import annotations

from spiel_dl.games.compiled import inlined, show, show_both

OWN_BIT = 2  # information state tensors begin with a one-hot of the player


@inlined
def try_cell(  # type: ignore[no-untyped-def]
    constants, over, tries, stones, failed, games, game, player, slot, cell, end_bit
):
    """A player tries a cell; says whether a stone was laid.

    Args:
      constants: with `num_cells` and `wins`, as in `boards.Board`.
      over, tries, stones, failed: as in `phantom.PhantomState`; are written.
      games: the games; are written.
      game: which one.
      player: who tries.
      slot: how many cells it has tried before.
      cell: where.
      end_bit: the column that says that the game is over. The tries follow it.
    """
    n = constants.num_cells
    tries[game, player * n + slot] = cell + 1
    show(games, game, player, end_bit + 1 + slot * n + cell)
    is_laid = not stones[game, 1 - player] >> cell & 1
    if is_laid:
        stones[game, player] |= 1 << cell
        wins = constants.wins[player, stones[game, player]]
        full = stones[game, 0] + stones[game, 1] == (1 << n) - 1
        if wins or full:
            over[game] = True
            show_both(games, game, end_bit)
            games.returns[game] = (1.0 - 2.0 * player) if wins else 0.0
    else:
        failed[game, player] |= 1 << cell
        show(games, game, player, end_bit + 1 + n * n + cell)
    return is_laid


@inlined
def list_cells(  # type: ignore[no-untyped-def]
    constants, stones, failed, games, game, player
):
    """Makes the cells legal that a player has not tried; others are left as they are."""
    for cell in range(constants.num_cells):
        tried = (stones[game, player] | failed[game, player]) >> cell & 1
        games.legal[game, cell] = not tried
