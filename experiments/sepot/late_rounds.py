"""What search earns in the last rounds of Goofspiel, where it looks to the end of the game.

Public states are largest there, so that searches of Table 1 leave these rounds to the network. Here
the first rounds are left to it, and one search below drawn histories takes the rest of the game
(`algorithms.particle_sepot`), so that no critic values a leaf. With a gadget the critic still says
what the opponent may have instead; without one it is not asked. Then, if all histories were
searched and solutions were exact, a network with search could not lose to itself: with each seat a
player would get at least the subgame's value against an opponent that has come by the network, and
the values of the two seats sum to 0.
"""

from __future__ import annotations

import dataclasses

import pyspiel

from experiments.sepot.networks import Networks
from experiments.sepot.played_matches import Rows
from experiments.sepot.readings_match import play_readings, report_of
from experiments.sepot.search_readings import Reading
from experiments.sepot.study import Study
from experiments.study import Experiment
from spiel_dl.algorithms.particle_sepot import ParticleConfig, ParticleSePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.policies.small_policies import RememberingPolicy
from spiel_dl.runs.reports import Report
from spiel_dl.search.sepot_config import DEFAULT_EFFORT, SearchConfig
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based

GAMES = ("goofspiel_8_descending", "goofspiel_8_random")


def _player(networks: Networks, seed: int, reading: Reading, budget: int) -> RememberingPolicy:
    """Who searches in the last rounds, below so many histories."""
    study = networks.study
    game, rounds = load_turn_based(study.game), study.settings.last_rounds
    loaded = checkpoints.load(networks.with_critic(seed), game)
    config = SearchConfig(
        first_level=_num_rounds(game) - rounds,
        effort=dataclasses.replace(DEFAULT_EFFORT, iterations=study.settings.iterations),
        **reading.config,
    )
    policy = ParticleSePoTPolicy(
        game,
        loaded.blueprint.act,
        loaded.critic,
        DepthLimit(rounds=rounds),
        config=config,
        particles=ParticleConfig(budget),
    )
    return RememberingPolicy(policy)


def _num_rounds(game: pyspiel.Game) -> int:
    """How many rounds a game of Goofspiel has.

    Raises:
      ValueError: if it is another game.
    """
    parameters = game.get_parameters()
    if "num_turns" not in parameters:
        raise ValueError(f"{game} is not Goofspiel, whose rounds are known; give another game")
    return int(parameters["num_cards" if parameters["num_turns"] == -1 else "num_turns"])


def _compute(study: Study) -> tuple[Rows, Rows]:
    return play_readings(study, GAMES, _player, last_rounds=study.settings.last_rounds)


def _report(study: Study, found: tuple[Rows, Rows]) -> Report:
    searches = (
        f"The network plays until {study.settings.last_rounds} cards are left. The rest of the "
        "game is searched at once, to its end, below so many drawn histories as the bound says."
    )
    return report_of(study, found, searches, "drawn histories at the root")


LATE_ROUNDS = Experiment(
    "late_rounds",
    "What search earns in the last rounds, to the end of the game",
    "mean return (utility)",
    "",
    _compute,
    _report,
    (
        "games", "seeds", "transformations", "iterations", "network", "bounds", "num_games",
        "readings", "last_rounds",
    ),
)  # fmt: skip
