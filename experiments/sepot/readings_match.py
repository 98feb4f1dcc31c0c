"""What the caution of a search costs it in the matches of Table 1, by trained critics.

As `readings`, where games are so large that nothing is known exactly: the networks, their critics,
the games and their luck are those of `table_1`, and only the searches differ.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from open_spiel.python import policy as openspiel_policy

from experiments.sepot.networks import Networks
from experiments.sepot.played_matches import Rows, match_of
from experiments.sepot.search_readings import READINGS, Reading
from experiments.sepot.study import Study
from experiments.sepot.table_1 import MATCHES, SUMMARY, opponents, pooled
from experiments.study import Experiment
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.small_policies import RememberingPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.from_openspiel import load_turn_based

GAMES = ("goofspiel_8_random",)
Player = Callable[[Networks, int, Reading, int], openspiel_policy.Policy]
"""Makes who searches: on top of the network of a seed, by a reading, within so many histories."""
_SEARCH = {"reading": "search"}


class IdentityCritic(Critic):
    """What another critic says of the identity alone."""

    def __init__(self, critic: Critic):
        """Takes the critic."""
        self._critic = critic

    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; K is 1."""
        return self._critic.values(tree, histories, player)[:, :1]

    def pair_values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; K is 1."""
        return self._critic.pair_values(tree, histories, player)[:, :1, :1]


def _player(networks: Networks, seed: int, reading: Reading, most: int) -> RememberingPolicy:
    study = networks.study
    loaded = checkpoints.load(networks.with_critic(seed), load_turn_based(study.game))
    assert isinstance(loaded.blueprint, NetworkPolicy)  # Its game cannot be compiled.
    critic = loaded.critic if reading.may_choose else IdentityCritic(loaded.critic)
    return RememberingPolicy(study.searching(loaded.blueprint.act, critic, most, **reading.config))


def play_readings(
    study: Study, games: tuple[str, ...], player: Player, **told: object
) -> tuple[Rows, Rows]:
    """Plays the matches of all readings.

    Args:
      study: says which readings, networks and bounds.
      games: those of the study if it names none.
      player: makes who searches.
      told: what else a finished match depends on.

    Returns:
      Rows of all networks together, and of all matches.

    Raises:
      ValueError: if a network is missing.
    """
    summary: Rows = []
    all_rows: Rows = []
    for each in study.games(*games):
        networks = Networks(each)
        networks.check()
        for name in study.settings.readings:
            for most in study.settings.bounds:
                rows = [
                    match_of(
                        networks,
                        seed,
                        other,
                        most,
                        functools.partial(player, networks, seed, READINGS[name]),
                        file_name("reading", name),
                        **told,
                    )
                    for seed in networks.seeds
                    for other in opponents(networks.seeds, seed)
                ]
                all_rows += [{"reading": name, **row} for row in rows]
                summary.append({"reading": name, **pooled(rows), "paper": None})
    return summary, all_rows


def _compute(study: Study) -> tuple[Rows, Rows]:
    return play_readings(study, GAMES, _player)


def report_of(
    study: Study, found: tuple[Rows, Rows], searches: str, bound: str = SUMMARY["max_histories"]
) -> Report:
    """A report of matches by several readings.

    Args:
      study: says which readings.
      found: what `play_readings` returned.
      searches: a sentence: what searches have in common.
      bound: what the bound of the study is on, as the title of a column.
    """
    summary, rows = found
    titles = {"max_histories": bound}
    games = study.games(*dict.fromkeys(row["game"] for row in summary))
    return Report(
        "",
        [
            f"{searches} Returns are in utility units, of pairs of games with both seats and the "
            "same luck, less the luck that the network's critic tells.",
            *(f"{name}: {READINGS[name].what}." for name in study.settings.readings),
            *(f"{each.describe()}." for each in games),
        ],
        {
            "By search": Table(summary, {**_SEARCH, **SUMMARY, **titles}),
            "All matches": Table(rows, {**_SEARCH, **MATCHES, **titles}),
        },
        headline="; ".join(
            f"{row['reading']}: {row['mean']:.3f} ± {row['half_width'] or math.nan:.2g} "
            f"({row['max_histories']:,} {bound})"
            for row in summary
        ),
    )


def _report(study: Study, found: tuple[Rows, Rows]) -> Report:
    limits = {str(each.limits[0]) for each in study.games(*GAMES)}
    searches = (
        "As in Table 1, the same luck included, but for how searches are made. They look "
        f"{' or '.join(sorted(limits))} ahead."
    )
    return report_of(study, found, searches)


READINGS_MATCH = Experiment(
    "readings_match",
    "What the caution of SePoT's search costs in matches",
    "mean return (utility)",
    "",
    _compute,
    _report,
    (
        "games", "seeds", "transformations", "limits", "iterations", "network", "bounds",
        "num_games", "readings",
    ),
)  # fmt: skip
