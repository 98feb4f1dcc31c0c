"""The rows of the manifest for Rudolph et al. (2025)."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Rudolph et al. (2025): 10 million environment steps of each learner in each game."""
    few = ("games=phantom_ttt", "algorithms=mmd", "seeds=0", "environment_steps=3000000")
    return [
        Row("policy_gradients", "large_games", "Figures, by eye", None, ("seeds=0",), 180,
            short_of="one seed of three; all learners, games and steps"),
        Row("policy_gradients", "large_games", "Figures, by eye", None, few, 15,
            "policy_gradients/phantom_ttt",
            "one learner of three, one game of five, one seed of three, 3 of 10 million steps"),
    ]  # fmt: skip
