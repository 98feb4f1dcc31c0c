"""The rows of the manifest for Šustr et al. (2021)."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Šustr et al. (2021); `fractions` searches two rounds on in Goofspiel."""
    self_play, seeds, five = "particle/goofspiel_13", "seeds=0,1,2", "seeds=0,1,2,3,4"
    found, fewer = [], "three seeds of ten; 40 % of the paper's epochs"
    for domain, epochs in (("leduc", 62), ("goofspiel", 373)):
        trained = f"training.num_epochs={epochs}"
        found += [
            Row("particle", "architectures", "Figure 3", domain,
                (seeds, trained, "iterations=100"), 45, short_of=fewer),
            Row("particle", "on_policy", "ours", domain, (seeds, "on_policy.num_rounds=10"), 45,
                short_of="three seeds of ten; ten rounds of twenty"),
        ]  # fmt: skip
    # The look-ahead begins after two rounds in Goofspiel, where the networks of Figure 3 value.
    deeper = (
        "game=python_goofspiel_ii(num_cards=5,points_order=descending)", "depth_limit=3 rounds",
        "num_samples=27000", five, "training.num_epochs=40",
    )  # fmt: skip
    for name, of, chosen, short in (
        ("leduc", "leduc", (seeds, "training.num_epochs=62"), fewer),
        ("goofspiel_5", None, deeper, "five seeds of ten; 40 epochs"),
    ):
        found += [
            Row("particle", "fractions", "Figure 4", of, (*chosen, *changes), 40,
                f"particle/{name}_fractions{ending}", short)
            for ending, changes in (("", ()), ("_conditional", ("conditional=true",)))
        ]  # fmt: skip
    return [
        *found,
        Row("particle", "linear_targets", "Figure 2", None, ("seeds=0,1,2",), 16,
            "particle/linear_targets"),
        Row("particle", "public_states", "Table 1 (appendix A)", None, ("num_cards=13",), 5,
            self_play),
        # It goes on from 2,400 games, to `continued.safetensors`, which plays the match.
        Row("particle", "self_play", "ours", None,
            ("network=results/particle/goofspiel_13/network.safetensors", "iterations=20",
             "play.budget=200", "play.buffer_size=2000", "num_games=4800"), 60, self_play),
        Row("particle", "match", "ours", None,
            ("num_games=2000", "iterations=20",
             f"network=results/{self_play}/continued.safetensors"), 60, self_play),
        # One thing changed: five times as many iterations in each search.
        Row("particle", "match", "ours", None,
            ("num_games=2000", "iterations=100",
             f"network=results/{self_play}/continued.safetensors"), 120, f"{self_play}_100"),
        # What the number of iterations is worth, told exactly, and whether self-play with more of
        # them learns better. Seed 0 was tried before this was declared.
        *(
            Row("particle", "iterations", "ours", None,
                ("game=python_goofspiel_ii(num_cards=5,points_order=descending)", "seeds=1,2,3",
                 "play.budget=200", "play.buffer_size=2000", "num_games=600",
                 f"play.iterations={iterations}"), minutes, f"particle/goofspiel_5_play{ending}",
                "three seeds of ten")
            for iterations, minutes, ending in ((20, 30, ""), (100, 60, "_100"))
        ),
        # Whose fault it is. Seeds 1 to 3 were tried before this was declared.
        Row("particle", "values", "ours", None,
            ("game=python_goofspiel_ii(num_cards=5,points_order=descending)", "seeds=4,5,6",
             "play.budget=200", "play.buffer_size=2000", "play.iterations=20",
             "search_iterations=200"), 30, "particle/goofspiel_5_play", "three seeds of ten"),
    ]  # fmt: skip
