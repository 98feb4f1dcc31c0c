"""Every experiment of the papers, as it is to be run: the one list behind `docs/scoreboard.md`.

A `Row` is an experiment with its game, settings and seeds, and what it may cost. All that can be
chosen is chosen here, before it is run; what a report's settings are is in its JSON file, and
`scoreboard.state` compares the two. The scoreboard says what all rows together may take on two
cores; most take less.
"""

from __future__ import annotations

from collections.abc import Sequence

from papers.row import Row


def _dl_cfr() -> list[Row]:
    """Kovařík et al. (2021): three domains, networks of three seeds."""
    rows, seeds, random_data = [], ("seeds=0,1,2",), ("training.num_epochs=40",)
    fewer = "40 epochs of 100 on random data"
    for domain, minutes, every in (("goofspiel", 60, 3), ("oshi_zumo", 90, 16), ("leduc", 120, 15)):
        # How networks learn on policy was chosen with these domains' networks of earlier seeds.
        fresh = {"goofspiel": ("seeds=6,7,8",), "oshi_zumo": ("seeds=3,4,5",)}
        on_policy = fresh.get(domain, seeds)
        left_out = ("seeds=0", "training.num_epochs=10", f"every_state={every}")
        rows += [
            Row("dl_cfr", "checkpoints", "Figure 2", domain, (*seeds, *random_data), 0.4 * minutes,
                short_of=fewer),
            Row("dl_cfr", "exact", "Main Experiments", domain, (), 3),
            Row("dl_cfr", "on_policy", "Main Experiments", domain, on_policy, 1.5 * minutes),
            Row("dl_cfr", "left_out", "Main Experiments", domain, left_out, 15,
                short_of=f"one seed; one leaf public state in {every}, and 10 epochs of 100"),
            Row("dl_cfr", "ranges", "Main Experiments", domain, (*seeds, *random_data), 15,
                short_of=fewer),
            Row("dl_cfr", "resolving", "ours", domain, on_policy, 10),
        ]  # fmt: skip
    own_leduc = ("data.game=python_leduc", "data.depth_limit=1 rounds")
    few = f"one seed and one domain of three: a network for every size; {fewer}"
    rows += [
        Row("dl_cfr", "exact", "ours", None, own_leduc, 2, "dl_cfr/leduc_openspiel"),
        Row("dl_cfr", "losses", "Additional Experiments", "goofspiel",
            ("seeds=0,1,2", *random_data), 75, short_of=f"one domain of three; {fewer}"),
        Row("dl_cfr", "amount", "Additional Experiments", "goofspiel",
            ("seeds=0", *random_data), 30, short_of=few),
        Row("dl_cfr", "size", "Additional Experiments", "goofspiel",
            ("seeds=0", *random_data), 60, short_of=few),
    ]  # fmt: skip
    return rows


def _particle() -> list[Row]:
    """Šustr et al. (2021): three seeds; `fractions` searches two rounds on in Goofspiel."""
    self_play, seeds = "particle/goofspiel_13", "seeds=0,1,2"
    rows, fewer = [], "three seeds of ten; 40 % of the paper's epochs"
    for domain, epochs in (("leduc", 62), ("goofspiel", 373)):
        trained = f"training.num_epochs={epochs}"
        rows += [
            Row("particle", "architectures", "Figure 3", domain,
                (seeds, trained, "iterations=100"), 45, short_of=fewer),
            Row("particle", "on_policy", "ours", domain, (seeds, "on_policy.num_rounds=10"), 45,
                short_of="three seeds of ten; ten rounds of twenty"),
        ]  # fmt: skip
    # The look-ahead begins after two rounds in Goofspiel, where the networks of Figure 3 value.
    deeper = (
        "game=python_goofspiel_ii(num_cards=5,points_order=descending)", "depth_limit=3 rounds",
        "num_samples=27000", seeds, "training.num_epochs=40",
    )  # fmt: skip
    for name, of, chosen, short in (
        ("leduc", "leduc", (seeds, "training.num_epochs=62"), fewer),
        ("goofspiel_5", None, deeper, "three seeds of ten; 40 epochs"),
    ):
        rows += [
            Row("particle", "fractions", "Figure 4", of, (*chosen, *changes), 40,
                f"particle/{name}_fractions{ending}", short)
            for ending, changes in (("", ()), ("_conditional", ("conditional=true",)))
        ]  # fmt: skip
    return [
        *rows,
        Row("particle", "linear_targets", "Figure 2", None, ("seeds=0,1,2",), 16,
            "particle/linear_targets"),
        Row("particle", "public_states", "section 6", None, ("num_cards=13",), 5, self_play),
        # It goes on from 2,400 games.
        Row("particle", "self_play", "section 6", None,
            ("network=results/particle/goofspiel_13/network.safetensors", "iterations=20",
             "play.budget=200", "play.buffer_size=2000", "num_games=4800"), 60, self_play),
        Row("particle", "match", "section 6", None,
            ("num_games=2000", "iterations=20",
             f"network=runs/{self_play}/self_play/network.safetensors"), 60, self_play),
    ]  # fmt: skip


def _responses() -> list[Row]:
    """Milec et al. (2024, 2025); SlumBot (Table 2) is out of reach: it plays no-limit hold'em."""
    return [
        Row("responses", "table_1", "Table 1", None, (), 15),
        Row("responses", "table_1", "Table 1", None,
            ("games=goofspiel_6", "models=uniform", "players=0"), 10, "responses/goofspiel_6"),
        Row("responses", "table_1", "Table 1, ABR", None,
            ("games=leduc,goofspiel_4,goofspiel_5,goofspiel_6", "models=uniform", "players=0",
             "abr_episodes=100000"), 60, "responses/abr"),
        Row("responses", "gadgets", "Figures 4, 8", minutes=2),
        Row("responses", "frontier", "Figures 5 to 7", minutes=10),
        Row("responses", "frontier", "Figures 5 to 7", None,
            ("games=goofspiel_5", "models=uniform", "players=0"), 10, "responses/goofspiel_5"),
        *(
            Row("responses", "frontier", "Figures 5 to 7", None,
                ("games=leduc", f"depth_limit={plies} plies", "scheme=sliding"), 15,
                f"responses/sliding_{plies}")
            for plies in (2, 4, 6)
        ),
        Row("responses", "biased_rps", "Figure 15", minutes=2),
        Row("responses", "late_mistakes", "2025, abstract", None, (), 10,
            short_of="portfolios of its figures are not known here"),
        Row("responses", "online", "ours", None, ("players=0",), 15),
        Row("responses", "sampled_match", "ours", minutes=40,
            short_of="one network, of 20,000 steps"),
        Row("responses", "network", "ours", minutes=15),
        Row("responses", "times", "ours", minutes=10),
    ]  # fmt: skip


def _sepot() -> list[Row]:
    """Kubíček et al. (2023): networks of five seeds in Goofspiel with 5 cards, three in Leduc."""
    five, three = "seeds=0,1,2,3,4", "seeds=0,1,2"
    games = {
        "goofspiel_5": ("goofspiel_5_descending", five),
        "goofspiel_5_random": ("goofspiel_5_random", five),
        "leduc": ("leduc", three),
    }
    rows = [
        Row("sepot", "safety", "section 4.2", None,
            ("seeds=0", "num_steps=20000", "steps_per_evaluation=20000"), 15,
            short_of="one network, of 20,000 learner steps")
    ]  # fmt: skip
    # The paper's networks learn for days; ten points of shorter trainings show what search adds.
    short = ("num_steps=20000", "iterations=250")
    why = "20,000 learner steps; 250 iterations, of predictive CFR+"
    for folder, (game, seeds) in games.items():
        chosen = (f"games={game}", seeds, *short, "steps_per_evaluation=2000")
        # With random prizes, searches of the whole game take up to half a minute.
        curves, cfvs = (60, 90) if folder.endswith("random") else (45, 45)
        rows += [
            Row("sepot", "curves", "Figures 5 to 12", None, chosen, curves, f"sepot/{folder}", why),
            Row("sepot", "cfvs", "Figure 3", None, chosen, cfvs, f"sepot/{folder}", why),
        ]
    alone = ("num_steps=20000", "steps_per_evaluation=20000", "iterations=250")
    rows += [
        # Critics of the same networks, trained by themselves, beside those of the curves.
        Row("sepot", "curves", "ours", None,
            (f"games={game}", seeds, *alone, "critic_steps=20000"), 20,
            f"sepot/{folder}/own_critics", why)
        for folder, (game, seeds) in games.items()
    ]  # fmt: skip
    rows += [
        Row("sepot", "ablation", "ours", None, (f"games={game}", "iterations=250"), 30, place)
        for game, place in (
            ("goofspiel_5_descending", "sepot/goofspiel_5"),
            ("leduc", "sepot/leduc"),
            ("battleships_2x2", "sepot/battleships_2x2"),
        )
    ]
    # Its infosets are a hundred times as many as those of the other order.
    rows.append(
        Row("sepot", "ablation", "ours", None,
            ("games=goofspiel_5_random", "iterations=250", "own_ranges=played",
             "given_cfvs=transformations", "schemes=block"), 10, "sepot/goofspiel_5_random",
            "the defaults alone, three blueprints")
    )  # fmt: skip
    # Rates that were chosen in Goofspiel, descending, by a critic of seed 10.
    trained = (
        five, "critic_steps=50000", "critics=trained", "critic.learning_rate=0.003",
        "critic.final_learning_rate=0.0001", "critic.target_averaging=0.00001",
        "own_ranges=played", "given_cfvs=transformations,critic", "schemes=block",
        "iterations=1000",
    )  # fmt: skip
    rows += [
        Row("sepot", "ablation", "ours", None,
            (f"games={game}", f"blueprints=mmd:{game}", *trained), 45, f"sepot/{folder}/trained")
        for folder, (game, _) in games.items()
    ]  # fmt: skip
    # As the paper has it: squared errors of unbounded values, of what came of games, by v-trace.
    papers_critic = (
        five, "critic_steps=20000", "critics=trained", "exploration=0.2",
        "critic.hidden_sizes=128,128", "critic.final_learning_rate=none",
        "critic.learning_rate=0.0003", "critic.adam_beta1=0", "critic.target_share=inf",
        "critic.bounded=false", "critic.expected=false", "own_ranges=played",
        "given_cfvs=transformations,critic", "schemes=block",
        "gadgets=resolving,refined,max_margin", "iterations=250",
    )  # fmt: skip
    rows += [
        Row("sepot", "ablation", "ours", None,
            (f"games={game}", f"blueprints=mmd:{game}", *papers_critic), 20,
            f"sepot/{folder}/trained_gadgets")
        for folder, game in (("goofspiel_5", "goofspiel_5_descending"), ("leduc", "leduc"))
    ]  # fmt: skip
    rows += [
        Row("sepot", "isolated", "ours", minutes=20),
        Row("sepot", "critic_errors", "ours", None,
            ("games=goofspiel_5_descending,leduc", five, "iterations=250"), 10),
        Row("sepot", "earned", "Table 1, exactly", None, (five, "iterations=250"), 5),
        Row("sepot", "short_critics", "Table 1, exactly", None, (five, "iterations=250"), 20),
        Row("sepot", "refined", "ours", minutes=10),
        Row("sepot", "refined_resolving", "ours", minutes=15),
        Row("sepot", "distilled", "section 4.3", None,
            ("games=leduc,goofspiel_5_descending", "num_steps=20000",
             "steps_per_evaluation=20000"), 60, short_of="networks of 20,000 learner steps"),
        Row("sepot", "position", "section 2", None,
            ("network=rnad:{game}_long_{seed}", "seeds=0"), 5,
            "sepot/battleships_5x5", "one network, of 50,000 learner steps"),
    ]  # fmt: skip
    # The model zoo's networks, of 100,000 steps, and their critics, of 20,000. With 13 cards and in
    # Battleships 5x5, networks have 20,000 steps. The claim is held against the larger of the
    # paper's bounds.
    zoo = ("network=rnad:{game}_{seed}", "bounds=100000")
    one_bound = "one bound of two"
    one_long = f"one network of three, against itself; {one_bound}"
    one_network_alone = "one network of three, of 20,000 steps, against itself"
    one_network = f"{one_network_alone}; {one_bound}"
    rows += [
        Row("sepot", "table_1", "Table 1", None,
            (f"games={game}", seeds, *zoo, f"num_games={number}"), minutes, f"sepot/{game}",
            short_of)
        for game, seeds, number, minutes, short_of in (
            ("goofspiel_8_descending", three, 334, 90, one_bound),
            ("goofspiel_8_random", "seeds=0", 2004, 60, one_long),
            ("battleships_3x3", "seeds=0", 2004, 30, one_long),
            ("goofspiel_13_descending", "seeds=0", 504, 50, one_network),
            ("goofspiel_13_random", "seeds=0", 504, 75, one_network),
            ("battleships_5x5", "seeds=0", 504, 90, one_network),
        )
    ]  # fmt: skip
    rows += [
        Row("sepot", "residuals", "ours", None, (f"games={games}", *chosen), 10,
            f"sepot/residuals{ending}")
        for ending, games, chosen in (
            ("", "goofspiel_8_descending", (three, "network=rnad:{game}_{seed}")),
            ("_long", "goofspiel_8_descending", (three, "network=rnad:{game}_long_critic_{seed}")),
            ("_13", "goofspiel_13_descending,goofspiel_13_random",
             ("seeds=0", "network=rnad:{game}_{seed}", "num_histories=20")),
        )
    ]  # fmt: skip
    # Searches of the first round alone, and of the first two, whose values are the least wrong.
    rows.append(
        Row("sepot", "table_1", "ours", None,
            ("games=goofspiel_8_descending", "seeds=0",
             "network=rnad:{game}_long_critic_{seed}", "bounds=100,2000", "num_games=6000"), 20,
            "sepot/goofspiel_8_descending/early_rounds", "one network of three, against itself")
    )  # fmt: skip
    # All else as in Table 1, and ten times as many games.
    rows.append(
        Row("sepot", "exact_match", "Table 1", None,
            ("games=goofspiel_8_descending", three, "network=rnad:{game}_{seed}", "bounds=100000",
             "num_games=3334"), 120, "sepot/goofspiel_8_descending", one_bound)
    )  # fmt: skip
    rows.append(
        Row("sepot", "earned_large", "Table 1, exactly", None,
            ("games=goofspiel_8_descending", three, "network=rnad:{game}_long_critic_{seed}",
             "bounds=100000"), 60, short_of=one_bound)
    )  # fmt: skip
    rows += [
        Row("sepot", "readings", "ours", None,
            ("games=goofspiel_5_descending,leduc,battleships_2x2", "iterations=250"), 5),
        Row("sepot", "readings", "ours", None,
            ("games=goofspiel_5_random", "iterations=250"), 30, "sepot/goofspiel_5_random"),
        Row("sepot", "bounded", "ours", None,
            ("iterations=250", "bounds=200,300,1000,2000,100000"), 5),
        Row("sepot", "readings_large", "ours", None,
            ("games=goofspiel_8_descending", "seeds=0",
             "network=rnad:{game}_long_critic_{seed}", "bounds=100000"), 60,
            "sepot/goofspiel_8_descending", "one network of three"),
        # Of the searches that exact returns tell to earn most in small games.
        Row("sepot", "readings_match", "ours", None,
            ("games=goofspiel_8_random", "seeds=0", "network=rnad:{game}_{seed}", "bounds=100000",
             "num_games=2004", "readings=neither"), 40, "sepot/goofspiel_8_random", one_long),
    ]  # fmt: skip
    # How many histories and iterations was chosen with the network of seed 0 in the first game.
    rows += [
        Row("sepot", "late_rounds", "ours", None,
            (f"games={game}", f"seeds={networks}", "network=rnad:{game}_{seed}", "bounds=400",
             "iterations=250", f"num_games={number}", "readings=defaults,no gadget"), 20,
            f"sepot/{game}", short_of)
        for game, networks, number, short_of in (
            ("goofspiel_8_descending", "1,2", 1002, ""),
            ("goofspiel_8_random", "0", 2004, "one network of three, against itself"),
            ("goofspiel_13_descending", "0", 504, one_network_alone),
            ("goofspiel_13_random", "0", 504, one_network_alone),
        )
    ]  # fmt: skip
    # The same networks, with critics that learned by the rates that helped in smaller games.
    rows.append(
        Row("sepot", "table_1", "Table 1", None,
            ("games=goofspiel_8_descending", three, "network=rnad:{game}_long_critic_{seed}",
             "bounds=100000", "num_games=334"), 90, "sepot/goofspiel_8_descending/long_critics",
            one_bound)
    )  # fmt: skip
    return rows


def _particle_search() -> list[Row]:
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


def _policy_gradients() -> list[Row]:
    """Rudolph et al. (2025): 10 million environment steps of each learner in each game."""
    few = ("games=phantom_ttt", "algorithms=mmd", "seeds=0", "environment_steps=3000000")
    return [
        Row("policy_gradients", "large_games", "Figures, by eye", None, ("seeds=0",), 180,
            short_of="one seed of three; all learners, games and steps"),
        Row("policy_gradients", "large_games", "Figures, by eye", None, few, 15,
            "policy_gradients/phantom_ttt",
            "one learner of three, one game of five, one seed of three, 3 of 10 million steps"),
    ]  # fmt: skip


def _compare() -> list[Row]:
    """Our algorithms and OpenSpiel's: the same seconds of learning for all."""
    return [
        Row("compare", "compare", "ours", domain, ("seconds=60", "seeds=0,1,2"), 45,
            f"compare/{domain}", "a minute of learning")
        for domain in ("leduc_poker", "goofspiel_4", "liars_dice")
    ]  # fmt: skip


MANIFEST: Sequence[Row] = (
    *_dl_cfr(),
    *_particle(),
    *_responses(),
    *_sepot(),
    *_particle_search(),
    *_policy_gradients(),
    *_compare(),
)
"""All rows, in the order of the scoreboard."""
