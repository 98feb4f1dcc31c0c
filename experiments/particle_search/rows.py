"""The rows of the manifest for search below samples."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Search below samples: five blueprints."""
    goofspiel = ("games=goofspiel_4_descending",)
    variants = (*goofspiel, "methods=klss,klss_growing,klss_updated", "shares=0.3,1.0")
    growing = (*goofspiel, "methods=klss_growing_values", "shares=1.0")
    leduc = ("games=leduc", "shares=0.1,0.3,1.0")
    goofspiel_5 = ("games=goofspiel_5_descending",)
    # 236,450 infosets, where the other order has 2,124.
    goofspiel_5_random = (
        "games=goofspiel_5_random", "blueprints=cfr:20", "methods=particle_sepot", "shares=1.0"
    )  # fmt: skip
    battleships = ("games=battleships_2x2", "shares=1.0")
    # A stepsize that was chosen in abrupt phantom tic-tac-toe with a seed of its own.
    rollouts = ("methods=mmds", "budget=1000", "num_rollouts=4000", "stepsize=100.0")
    small_steps = (*rollouts[:-1], "stepsize=1.0")  # the default
    long_rollouts = ("methods=mmds", "budget=100", "num_rollouts=1000", "stepsize=100.0")
    longer_rollouts = ("methods=mmds", "budget=400", "num_rollouts=40000", "stepsize=100.0")
    large_games = ("goofspiel_13_descending", "goofspiel_13_random", "battleships_5x5")
    below = ("methods=particle_sepot,klss", "budget=100", "iterations=100")
    all_methods = "methods=particle_sepot,klss,mmds,klss_growing,klss_growing_values,klss_updated"
    return [
        Row("particle_search", "beliefs", "ours", None, goofspiel, 10,
            "particle_search/goofspiel_4_descending"),
        Row("particle_search", "curves", "ours", None, goofspiel, 10,
            "particle_search/goofspiel_4_descending"),
        Row("particle_search", "curves", "ours", None, variants, 5,
            "particle_search/goofspiel_4_descending_variants",
            "one game, and two budgets of four, of the variants"),
        Row("particle_search", "curves", "ours", None, growing, 3,
            "particle_search/goofspiel_4_descending_growing",
            "one game, and one budget of four, of this variant"),
        Row("particle_search", "curves", "ours", None, leduc, 10, "particle_search/leduc",
            short_of="the budget of 1 %, which is 2 histories, as that of 10 % is 3"),
        Row("particle_search", "curves", "ours", None, goofspiel_5, 25,
            "particle_search/goofspiel_5_descending"),
        Row("particle_search", "curves", "ours", None, goofspiel_5_random, 60,
            "particle_search/goofspiel_5_random",
            "one blueprint of five, one method of three, one budget of four"),
        Row("particle_search", "curves", "ours", None,
            (*goofspiel_5_random[:-1], "shares=0.1,0.3"), 60,
            "particle_search/goofspiel_5_random_budgets",
            "one blueprint of five, one method of three, two budgets of four"),
        Row("particle_search", "curves", "ours", None, battleships, 25,
            "particle_search/battleships_2x2", "one budget of four"),
        # 1 % of its largest public state, of 16 histories, are two histories, as 10 % are.
        Row("particle_search", "curves", "ours", None, (battleships[0], "shares=0.1,0.3"), 20,
            "particle_search/battleships_2x2_budgets", "two budgets of four"),
        *(
            Row("particle_search", "curves", "ours", None, (f"games={game}", all_methods), 5,
                f"particle_search/{game}")
            for game in ("abrupt_dark_hex_2x2", "dark_hex_2x2")
        ),
        *(
            Row("particle_search", "opponents", "ours", None,
                (f"large_games={game}", "network=rnad:{game}_0", *chosen, f"num_games={number}"),
                60, f"particle_search/{game}{ending}", f"{number} games of 2,000")
            for ending, chosen, numbers in (
                ("", ("methods=particle_sepot", "budget=40"), (200, 100, 40)),
                ("_klss", ("methods=klss", "budget=40"), (200, 100, 40)),
                ("_mmds", long_rollouts, (200, 100, 40)),
            )
            for game, number in zip(large_games, numbers, strict=True)
        ),
        # Ten times as many histories as in the first row of opponents.
        Row("particle_search", "against_network", "ours", None,
            ("large_games=goofspiel_13_descending", "network=rnad:{game}_0",
             "methods=particle_sepot", "budget=400", "num_games=200"),
            30, "particle_search/goofspiel_13_descending_400", "200 games of 2,000"),
        # At most a second for a move, and at most five.
        *(
            Row("particle_search", "against_network", "ours", None,
                (f"large_games={game}", "network=rnad:{game}_0", *long_rollouts, "num_games=2000"),
                35, f"particle_search/{game}_mmds")
            for game in large_games
        ),
        *(
            Row("particle_search", "against_network", "ours", None,
                (f"large_games={game}", "network=rnad:{game}_0", *longer_rollouts,
                 f"num_games={number}"),
                15, f"particle_search/{game}_mmds_longer", f"{number} games of 2,000")
            for game, number in zip(large_games, (100, 50, 20), strict=True)
        ),
        *(
            Row("particle_search", name, "ours", None, (*chosen, f"large_games={games}"), 30,
                f"particle_search/{to}")
            for name in ("matches", "first_moves")
            for to, games, chosen in (
                ("mirror_descent", "abrupt_phantom_ttt,abrupt_dark_hex_3x3", rollouts),
                ("mirror_descent_1", "abrupt_phantom_ttt,abrupt_dark_hex_3x3", small_steps),
                ("abrupt_phantom_ttt", "abrupt_phantom_ttt", below),
                ("abrupt_dark_hex_3x3", "abrupt_dark_hex_3x3", below),
                ("mirror_descent_classical", "phantom_ttt,dark_hex_3x3", rollouts),
                ("mirror_descent_1_classical", "phantom_ttt,dark_hex_3x3", small_steps),
                ("phantom_ttt", "phantom_ttt", below),
                ("dark_hex_3x3", "dark_hex_3x3", below),
            )
        ),
    ]  # fmt: skip
