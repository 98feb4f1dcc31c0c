"""The uniform policy in the whole games, beside numbers of other programs."""

import numpy as np
import pytest

from spiel_dl.factored.families import factored_game
from tests.factored_checks import check_playouts, uniform_numbers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "exploitability", "sizes"),
    [
        # Infosets as counted by enumerating own tries outside this house.
        ("phantom_ttt", 0.2968253968, 0.788732, (3_683_314, 2_307_355)),
        ("dark_hex", 1 / 3, 0.916402, (3_720_850, 2_352_067)),
        # The number of infosets that is published, 15.7 million.
        ("liars_dice(numdice=2,dice_sides=5)", -0.014, 0.890598, [15 * 2**19] * 2),
        ("phantom_ttt(gameversion=abrupt)", 0.316275, 0.619334, None),
        ("dark_hex(gameversion=adh)", 0.266926, 0.762605, None),
    ],
)
def test_the_uniform_policy(
    name: str, value: float, exploitability: float, sizes: tuple[int, int] | None
) -> None:
    game = factored_game(name)
    if sizes is not None:
        assert [game.num_infosets(player) for player in (0, 1)] == list(sizes)
    found, best_0, best_1 = uniform_numbers(game)
    np.testing.assert_allclose([found, (best_0 + best_1) / 2], [value, exploitability], atol=1e-6)
    check_playouts(game, 30)
