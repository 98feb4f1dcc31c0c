"""The rows of the manifest for our algorithms and OpenSpiel's."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Our algorithms and OpenSpiel's: the same seconds of learning for all."""
    return [
        Row("compare", "compare", "ours", domain, ("seconds=60", "seeds=0,1,2"), 45,
            f"compare/{domain}", "a minute of learning")
        for domain in ("leduc_poker", "goofspiel_4", "liars_dice")
    ]  # fmt: skip
