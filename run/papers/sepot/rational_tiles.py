"""The rational tiles in the Battleships position of Kubíček et al. (2023), section 2.

How much of each network's policy is on them, before and after search; see `papers.sepot.position`.
"""

from __future__ import annotations

from typing import Any

from papers.sepot import position as sepot_position
from papers.sepot.study import TRAINED, GameStudy, Study
from papers.study import Experiment, verdict
from spiel_dl.learning import checkpoints
from spiel_dl.play.presets import game_string
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name

POSITION_GAME = "battleships_5x5"
Rows = list[dict[str, Any]]


def _position(study: Study) -> Rows:
    """Section 2: the rational tiles, by the network and by search.

    Raises:
      ValueError: if a game is another one.
    """
    rows = []
    for each in study.games(POSITION_GAME):
        if each.game != str(sepot_position.position().get_game()):
            raise ValueError(
                f"the position is one of {game_string(POSITION_GAME)}, not of {each.game}; use "
                f"games={POSITION_GAME}"
            )
        each.train()
        for step in study.settings.steps:
            rows += [_answer(each, seed, step) for seed in study.settings.seeds]
    return rows


def _position_report(study: Study, rows: Rows) -> Report:
    search = sepot_position.SEARCH
    last = [row for row in rows if row["step"] == study.settings.num_steps]
    return Report(
        POSITION.title,
        [
            "Probability of shooting at one of the five tiles that can hold anything: "
            f"{', '.join(sepot_position.RATIONAL_TILES)}.",
            f"Search: {search.depth_limit} ahead, {search.effort.iterations} iterations of CFR+.",
        ],
        {
            "By seed and step": Table.of(
                rows,
                step="learner steps",
                network="network, on rational tiles",
                search="search, on rational tiles",
                seconds="seconds of search",
            )
        },
        verdict=verdict(row["search"] > row["network"] for row in last),
        headline="; ".join(
            f"network {row['network']:.2f}, search {row['search']:.2f}" for row in last
        ),
    )


POSITION = Experiment(
    "position",
    "The Battleships position of section 2",
    "probability of the rational tiles",
    "the network had slightly above 0.4 after three days of training; search sees what matters.",
    _position,
    _position_report,
    TRAINED,
)


def _answer(study: GameStudy, seed: int, step: int) -> dict[str, Any]:
    search = sepot_position.SEARCH
    settings = {
        "game": study.game,
        "depth_limit": str(search.depth_limit),
        "iterations": search.effort.iterations,
    }

    def measure() -> dict[str, float]:
        blueprint, critic = checkpoints.load(study.checkpoint(seed, step))
        assert isinstance(blueprint, NetworkPolicy)  # The game is too large for tables.
        return sepot_position.measure(blueprint, critic)._asdict()

    name = file_name("position seed", seed, "step", step)
    return {"seed": seed, "step": step, **study.workspace.part(name, settings, measure)}
