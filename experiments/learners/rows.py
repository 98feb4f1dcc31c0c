"""The rows of the manifest for learners with their defaults."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Three learners, five seeds each, a game for each row; seeds 1 to 5 were run before."""
    peer = "peer=results/benchmarks/rlg_strength.json"
    return [
        Row("learners", "strength", "ours", None,
            (f"presets={preset}", "seeds=6,7,8,9,10", peer), 60, f"learners/{preset}")
        for preset in ("leduc", "goofspiel_5_descending", "battleships_2x2")
    ]  # fmt: skip
