"""The rows of the manifest for search below samples."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Search below samples: five blueprints."""
    return [
        Row("particle_search", "curves", "ours", None, (f"games={game}", *changes), minutes,
            f"particle_search/{game}", short_of)
        for game, changes, minutes, short_of in (
            ("goofspiel_4_descending", (), 10, ""),
            ("leduc", ("shares=0.1,0.3,1.0",), 10,
             "the budget of 1 %, which is 2 histories, as that of 10 % is 3"),
            ("goofspiel_5_descending", (), 25, ""),
            ("battleships_2x2", ("shares=1.0",), 25, "one budget of four"),
        )
    ]  # fmt: skip
