"""What Kubíček et al. (2023) found in their Table 1."""

from __future__ import annotations

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
"""SePoT's mean return against R-NaD in the paper's Table 1, times 100, and half the width of its
95% interval.

By the largest number of unique histories of a search, and by game.
"""


def paper_result(game: str, max_histories: int) -> str | None:
    """SePoT's mean return against R-NaD and half its interval, in utility units.

    Args:
      game: name of a preset.
      max_histories: the largest number of unique histories of a search.

    Returns:
      None, if the table has no such game or searches.
    """
    found = TABLE_1.get(max_histories, {}).get(game)
    return None if found is None else f"{found[0] / 100:.4f} ± {found[1] / 100:.4f}"
