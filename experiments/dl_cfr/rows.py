"""The rows of the manifest for Kovařík et al. (2021)."""

from __future__ import annotations

from experiments.row import Row


def rows() -> list[Row]:
    """Kovařík et al. (2021): three domains, networks of three seeds."""
    found, seeds, random_data = [], ("seeds=0,1,2",), ("training.num_epochs=40",)
    fewer = "40 epochs on random data, of our default of 100"
    for domain, minutes, every in (("goofspiel", 60, 3), ("oshi_zumo", 90, 16), ("leduc", 120, 15)):
        # How networks learn on policy was chosen with these domains' networks of earlier seeds.
        fresh = {"goofspiel": ("seeds=6,7,8",), "oshi_zumo": ("seeds=3,4,5",)}
        on_policy = fresh.get(domain, seeds)
        place = "Figure 2" if domain == "goofspiel" else "Main Experiments"
        left_out = ("seeds=0", "training.num_epochs=10", f"every_state={every}")
        found += [
            Row("dl_cfr", "checkpoints", place, domain, (*seeds, *random_data), 0.4 * minutes,
                short_of=fewer),
            Row("dl_cfr", "on_policy", "ours", domain, on_policy, 1.5 * minutes),
            Row("dl_cfr", "left_out", "Main Experiments", domain, left_out, 15,
                short_of=f"one seed; one leaf public state in {every}, and 10 epochs, of our "
                "default of 100"),
            Row("dl_cfr", "ranges", "Main Experiments", domain, (*seeds, *random_data), 15,
                short_of=fewer),
        ]  # fmt: skip
    few = f"one seed and one domain of three: a network for every size; {fewer}"
    found += [
        Row("dl_cfr", "losses", "Additional Experiments", "goofspiel",
            ("seeds=0,1,2", *random_data), 75, short_of=f"one domain of three; {fewer}"),
        Row("dl_cfr", "amount", "Additional Experiments", "goofspiel",
            ("seeds=0", *random_data), 30, short_of=few),
        Row("dl_cfr", "size", "Additional Experiments", "goofspiel",
            ("seeds=0", *random_data), 60, short_of=few),
    ]  # fmt: skip
    return found
