"""Matches of Table 1 of Kubíček et al. (2023) by players that no name of `play.registry` has.

The games and their luck are those of `table_1`, and so are the control variates.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from open_spiel.python import policy as openspiel_policy

from experiments.sepot.networks import Networks
from experiments.sepot.table_1 import match_seed
from spiel_dl.play import history_networks, matches, registry
from spiel_dl.play.matches import MatchResult, PairResults
from spiel_dl.runs import head_to_head
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.from_openspiel import load_turn_based

_PAIRS_OF_PART = 256
Rows = list[dict[str, Any]]


def match_of(
    networks: Networks,
    seed: int,
    other: int,
    most: int,
    player: Callable[[int], openspiel_policy.Policy],
    name: str,
    **also: Any,
) -> dict[str, Any]:
    """A match of the network of a seed, with search, against that of another one without.

    Args:
      networks: of the game.
      seed: of the network of which `player` is.
      other: of the opponent.
      most: unique histories of a search.
      player: makes the player who searches from `most`, if there are games to be played.
      name: what the parts' names begin with.
      also: what else the player depends on.

    Returns:
      A row as `table_1.MATCHES` has it.
    """
    study = networks.study
    settings, match = study.settings, match_seed(seed, other)
    own, opponent = networks.player(seed), networks.name(other)
    told = {
        "game": study.game,
        "depth_limit": str(study.limits[0]),
        "iterations": settings.iterations,
        "transformations": study.transformations,
        "seed": match,
        "files": [registry.digest(each) for each in (own, opponent)],
        **also,
    }

    def play(pairs: range) -> dict[str, Any]:
        policies = (player(most), registry.load_policy(opponent, load_turn_based(study.game)))
        values = history_networks.load_values(own, study.game)
        return matches.play_pairs(study.game, policies, pairs, match, values).to_json()

    parts = [
        study.workspace.part(
            file_name(name, seed, other, most, pairs.start, pairs.stop),
            told,
            functools.partial(play, pairs),
        )
        for pairs in matches.parts_of(settings.num_games, _PAIRS_OF_PART)
    ]
    result = MatchResult.of_pairs(map(PairResults.from_json, parts))
    return {
        "game": study.name,
        "max_histories": most,
        "network": f"seed {seed}",
        "opponent": f"seed {other}",
        **head_to_head.outcome(result, own),
    }
