"""The games of Kubíček et al. (2023) by name, and what its Table 1 says of them."""

from __future__ import annotations

_GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order={},returns_type=win_loss)"
_BATTLESHIPS = "python_battleships(board_width={0},board_height={0},ship_sizes={1})"

PRESETS = {
    "leduc": "python_leduc",
    "goofspiel_4_descending": _GOOFSPIEL.format(4, "descending"),
    **{
        f"goofspiel_{cards}_{order}": _GOOFSPIEL.format(cards, order)
        for cards in (5, 8, 13)
        for order in ("descending", "random")
    },
    "battleships_3x3": _BATTLESHIPS.format(3, "[2;2]"),
    "battleships_5x5": _BATTLESHIPS.format(5, "[3;2;2]"),
}
"""Game strings, by name.

The paper trains in all of them but Goofspiel with 4 cards with one set of parameters.
"""

TABLE_1 = {
    25_000: {
        "goofspiel_8_descending": (1.42, 0.01),
        "goofspiel_8_random": (3.71, 0.03),
        "goofspiel_13_descending": (6.31, 0.01),
        "goofspiel_13_random": (1.17, 0.01),
        "battleships_3x3": (0.44, 0.06),
        "battleships_5x5": (34.58, 0.16),
    },
    100_000: {
        "goofspiel_8_descending": (1.66, 0.02),
        "goofspiel_8_random": (4.47, 0.11),
        "goofspiel_13_descending": (6.28, 0.08),
        "goofspiel_13_random": (1.47, 0.16),
        "battleships_3x3": (2.83, 0.06),
        "battleships_5x5": (36.54, 0.2),
    },
}
"""SePoT's mean return against R-NaD, times 100, and half the width of its 95% interval.

By the largest number of histories of a public state in which it searches, and by game.
"""
