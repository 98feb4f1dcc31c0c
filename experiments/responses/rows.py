"""The rows of the manifest for Milec et al. (2024, 2025)."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Milec et al. (2024, 2025); SlumBot (Table 2) is out of reach: it plays no-limit hold'em."""
    return [
        Row("responses", "table_1", "Table 1", None, (), 15),
        Row("responses", "table_1", "Table 1", None,
            ("games=goofspiel_6", "models=uniform", "players=0"), 10, "responses/goofspiel_6"),
        Row("responses", "table_1", "Table 1, ABR", None,
            ("games=leduc,goofspiel_4,goofspiel_5,goofspiel_6", "models=uniform", "players=0",
             "abr_episodes=100000"), 60, "responses/abr"),
        Row("responses", "local", "Figures 6, 7", minutes=15),
        Row("responses", "gadgets", "Figures 4, 8", minutes=2),
        Row("responses", "frontier", "Figures 5, 11 to 14", minutes=10),
        Row("responses", "frontier", "Figures 5, 11 to 14", None,
            ("games=goofspiel_5", "models=uniform", "players=0"), 10, "responses/goofspiel_5"),
        *(
            Row("responses", "frontier", "Figures 11 to 14", None,
                ("games=leduc", f"depth_limit={plies} plies", "scheme=sliding"), 15,
                f"responses/sliding_{plies}")
            for plies in (2, 4, 6)
        ),
        Row("responses", "biased_rps", "Figure 15", minutes=2),
        Row("responses", "late_mistakes", "2025, abstract", None, (), 10,
            short_of="portfolios of its figures are not known here"),
    ]  # fmt: skip
