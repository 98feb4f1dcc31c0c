"""What search adds in games that are too large to judge: Kubíček et al. (2023), 2 and 5.1.

`table_1`: SePoT on top of every network head to head with the networks of the other seeds. The
paper trains networks without critic for these; here a critic changes nothing for the network that
it is trained with, so any other seed's will do. With one seed only, it is the same network.

`position`: how much of each network's policy is on the rational tiles in the Battleships position
of section 2, before and after search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from papers.report import Report
from papers.sepot import position as sepot_position
from papers.sepot.study import Study
from spiel_dl.jobs import head_to_head
from spiel_dl.jobs.head_to_head import HeadToHeadConfig
from spiel_dl.learning import checkpoints
from spiel_dl.play.presets import PRESETS, TABLE_1
from spiel_dl.play.requests import SearchOptions
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs.parts import file_name
from spiel_dl.runs.reports import Table
from spiel_dl.solvers.effort import Effort

POSITION_GAME = "battleships_5x5"
_MATCHES = {
    "game": "game",
    "max_histories": "largest public state (histories)",
    "network": "SePoT's network",
    "opponent": "opponent",
    "games": "games",
    "mean": "SePoT's mean return (utility)",
    "half_width": "± (95 %)",
    "seconds_per_move": "seconds per move",
}
_TABLE_1 = {
    "game": "game",
    "max_histories": "largest public state (histories)",
    "matches": "matches",
    "games": "games",
    "mean": "SePoT's mean return (utility)",
    "half_width": "± (95 %, over pairs of games)",
    "paper": "paper",
}
_POSITION = {
    "seed": "seed",
    "step": "learner steps",
    "network": "network, on rational tiles",
    "search": "search, on rational tiles",
    "seconds": "seconds of search",
}


def table_1(studies: Sequence[Study], num_games: int) -> Report:
    """Table 1: mean returns of SePoT against networks, with two bounds of public states."""
    matches, summary = [], []
    for study in studies:
        study.train()
        for most in TABLE_1:
            rows = [
                _match(study, seed, other, most, num_games)
                for seed in study.config.seeds
                for other in _opponents(study.config.seeds, seed)
            ]
            matches += rows
            summary.append(pooled(rows))
    return Report(
        "table_1",
        "SePoT head to head with policy networks",
        [
            "Returns are in utility units, of pairs of games with both seats and the same luck; "
            "the paper's Table 1 shows them times 100. SePoT plays as printed: given cfvs of the "
            "critic, ranges of the network.",
            *(
                f"{study.config.game} is `{study.game}`; searches look {study.limits[0]} ahead; "
                f"{study.config.num_steps:,} learner steps."
                for study in studies
            ),
        ],
        {"Table 1": Table(summary, _TABLE_1), "All matches": Table(matches, _MATCHES)},
    )


def position(studies: Sequence[Study]) -> Report:
    """Section 2: the rational tiles, by the network and by search.

    Raises:
      ValueError: if a study is of another game.
    """
    rows = []
    for study in studies:
        if study.config.game_string != str(sepot_position.position().get_game()):
            raise ValueError(
                f"the position is one of {PRESETS[POSITION_GAME]}, not of {study.game}; use "
                f"--game={POSITION_GAME}"
            )
        study.train()
        for step in study.config.steps:
            rows += [_answer(study, seed, step) for seed in study.config.seeds]
    return Report(
        "position",
        "The Battleships position of section 2",
        [
            "Probability of shooting at one of the five tiles that can hold anything: "
            f"{', '.join(sepot_position.RATIONAL_TILES)}. The paper's network had slightly above "
            "0.4 after three days of training.",
            f"Search: {sepot_position.SEARCH.depth_limit} ahead, "
            f"{sepot_position.SEARCH.effort.iterations} iterations of CFR+.",
        ],
        {"By seed and step": Table(rows, _POSITION)},
    )


def match_seed(seed: int, other: int) -> int:
    """The seed of the match of two networks, of these seeds: another one for every pair.

    Intervals over all matches take them to be independent. (It is Cantor's pairing function.)
    """
    return (seed + other) * (seed + other + 1) // 2 + other


def _opponents(seeds: Sequence[int], seed: int) -> list[int]:
    others = [other for other in seeds if other != seed]
    return others or [seed]


def _match(study: Study, seed: int, other: int, most: int, num_games: int) -> dict[str, Any]:
    config = study.config
    own, others = (str(study.checkpoint(number, config.num_steps)) for number in (seed, other))
    played = HeadToHeadConfig(
        config.game,
        f"sepot:{own}",
        others,
        num_games=num_games,
        seed=match_seed(seed, other),
        search=SearchOptions(study.limits[0], most, Effort(config.iterations)),
        device=config.device,
    )
    name = file_name("match", seed, other, config.num_steps, most, num_games)
    settings = {
        "game": study.game,
        "depth_limit": str(study.limits[0]),
        "iterations": config.iterations,
        "seed": played.seed,
    }
    row = study.parts.get(
        name, settings, lambda: head_to_head.measure(played, study.engine, description=name)
    )
    return {
        **row,
        "game": config.game,
        "network": f"seed {seed}",
        "opponent": f"seed {other}",
        "max_histories": most,
    }


def pooled(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row of Table 1, of all matches of a game and bound.

    They are taken to be of equal size, and to have luck of their own.
    """
    widths = [row["half_width"] for row in rows]
    known = [width for width in widths if width is not None]
    found = {
        "game": rows[0]["game"],
        "max_histories": rows[0]["max_histories"],
        "matches": len(rows),
        "games": sum(row["games"] for row in rows),
        "mean": math.fsum(row["mean"] for row in rows) / len(rows),
        "half_width": None,
    }
    if len(known) == len(rows):
        found["half_width"] = math.sqrt(sum(width**2 for width in known)) / len(rows)
    # What `head_to_head.paper_result` says is the same for all of them.
    return {**found, "paper": rows[0].get("paper")}


def _answer(study: Study, seed: int, step: int) -> dict[str, Any]:
    checkpoint = study.checkpoint(seed, step)
    search = sepot_position.SEARCH
    settings = {
        "game": study.game,
        "depth_limit": str(search.depth_limit),
        "iterations": search.effort.iterations,
    }

    def measure() -> dict[str, float]:
        blueprint, critic = checkpoints.load(checkpoint)
        assert isinstance(blueprint, NetworkPolicy)  # The game is too large for tables.
        return sepot_position.measure(blueprint, critic)._asdict()

    found = study.parts.get(file_name("position seed", seed, "step", step), settings, measure)
    return {"seed": seed, "step": step, **found}
