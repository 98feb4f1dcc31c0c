"""The rows of the manifest for Šustr et al. (2021)."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Šustr et al. (2021); `fractions` searches two rounds on in Goofspiel."""
    seeds, five = "seeds=0,1,2", "seeds=0,1,2,3,4"
    found, fewer = [], "three seeds of ten; 40 % of the paper's epochs"
    for domain, epochs in (("leduc", 62), ("goofspiel", 373)):
        trained = f"training.num_epochs={epochs}"
        found += [
            Row("particle", "architectures", "Figure 3", domain,
                (seeds, trained, "iterations=100"), 45, short_of=fewer),
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
            "particle/goofspiel_13"),
    ]  # fmt: skip
