"""Table 1 of Kubíček et al. (2023) with values that are exact: what would SePoT win with them?

Whether it is the critic that keeps SePoT from winning can be told where its values can be replaced
by right ones, with all else as in `table_1`: the networks, the searches, the games and their luck.
`GoofspielCritic` has them in Goofspiel with a fixed order of prizes, also with 8 cards.
"""

from __future__ import annotations

import functools
import math

from experiments.sepot.goofspiel_critic import critic_of
from experiments.sepot.networks import Networks
from experiments.sepot.played_matches import Rows, match_of
from experiments.sepot.study import Study
from experiments.sepot.table_1 import MATCHES, SUMMARY, opponents, pooled, wins
from experiments.study import Experiment, verdict
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.small_policies import RememberingPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree.from_openspiel import load_turn_based

GAMES = ("goofspiel_8_descending",)


def _exact_match(study: Study) -> tuple[Rows, Rows]:
    """Rows of all networks together, and of all matches.

    Raises:
      ValueError: if a network is missing, or a game is none that `GoofspielCritic` knows.
    """
    summary: Rows = []
    all_rows: Rows = []
    for each in study.games(*GAMES):
        networks = Networks(each)
        networks.check()
        rows = [row for seed in networks.seeds for row in _matches_of(networks, seed)]
        all_rows += rows
        summary += [
            pooled([row for row in rows if row["max_histories"] == most])
            for most in study.settings.bounds
        ]
    return summary, all_rows


def _matches_of(networks: Networks, seed: int) -> Rows:
    """All matches of one network with search; its tables, of gigabytes, are given up afterwards."""
    study = networks.study
    known = transformations_by_name(study.transformations, load_turn_based(study.game))
    critic = functools.cache(lambda: critic_of(networks, seed, known))
    player = functools.cache(
        lambda most: RememberingPolicy(study.searching(critic().act, critic(), most))
    )
    return [
        match_of(networks, seed, other, most, player, "exact")
        for most in study.settings.bounds
        for other in opponents(networks.seeds, seed)
    ]


def _report(study: Study, found: tuple[Rows, Rows]) -> Report:
    summary, rows = found
    games = study.games(*dict.fromkeys(row["game"] for row in summary))
    return Report(
        "",
        [
            "As in Table 1, the same luck included, but for the values of histories, at leaves and "
            "where searches begin: they are exact, of the network and each of the paper's "
            "transformations of it. Returns are in utility units, of pairs of games with both "
            "seats and the same luck, less the luck that the network's trained critic tells.",
            *(f"{each.describe()}; searches look {each.limits[0]} ahead." for each in games),
        ],
        {"Table 1": Table(summary, SUMMARY), "All matches": Table(rows, MATCHES)},
        verdict=verdict(wins(summary)),
        headline="; ".join(
            f"{row['mean']:.4f} ± {row['half_width'] or math.nan:.2g} "
            f"({row['max_histories']:,} histories, exact values)"
            for row in summary
        ),
    )


EXACT_MATCH = Experiment(
    "exact_match",
    "SePoT with exact values head to head with policy networks",
    "mean return (utility)",
    "SePoT wins against R-NaD in all games (Table 1); held against the intervals over games.",
    _exact_match,
    _report,
    ("games", "seeds", "transformations", "limits", "iterations", "network", "bounds", "num_games"),
)
