"""The rational tiles in the Battleships position of Kubíček et al. (2023), section 2.

How much of each network's policy is on them, before and after search; see `sepot.battleships`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from experiments.experiment import Experiment, Row
from experiments.sepot import battleships
from experiments.sepot import study as sepot_study
from experiments.sepot.study import GameStudy
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.learning import checkpoints
from spiel_dl.play import registry
from spiel_dl.play.presets import game_string
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.depth_limit import DepthLimit

POSITION_GAME = "battleships_5x5"
LIMITS = tuple(DepthLimit(moves=number) for number in (1, 2, 3, 5))
"""Up to three moves ahead, nothing is decided but by the critic; five show who can still win."""
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Settings(sepot_study.Settings):
    """Networks and searches.

    Attributes:
      network: what `play.registry` calls the network, with {game} in it.
    """

    games: tuple[str, ...] = (POSITION_GAME,)
    limits: tuple[DepthLimit, ...] = LIMITS
    network: str = "rnad:{game}"


Study = sepot_study.Study[Settings]


def _compute(study: Study) -> Rows:
    """Section 2: the rational tiles, by the network and by search.

    Raises:
      ValueError: if a game is another one.
    """
    rows = []
    for each in study.games():
        if each.game != str(battleships.position().get_game()):
            raise ValueError(
                f"the position is one of {game_string(POSITION_GAME)}, not of {each.game}; use "
                f"games={POSITION_GAME}"
            )
        network = sepot_study.network_with_critic(study.settings.network, each.name)
        rows += [
            _answer(each, limit, seed, network)
            for seed in study.settings.seeds
            for limit in each.limits
        ]
    return rows


def _report(study: Study, rows: Rows) -> Report:
    chance = len(battleships.RATIONAL_TILES) / battleships.NUM_OPEN
    return Report(
        POSITION.title,
        [
            "Probability of shooting at one of the five tiles that can hold anything: "
            f"{', '.join(battleships.RATIONAL_TILES)}. Chance alone would give {chance:.3f} "
            "here; the paper does not say what it would give there.",
            f"Searches have {battleships.EFFORT.iterations} iterations of CFR+.",
        ],
        {
            "By seed": Table.of(
                rows,
                limit="depth limit",
                network="network, on rational tiles",
                search="search, on rational tiles",
                seconds="seconds of search",
            )
        },
    )


def _judge(tables: Tables) -> Judgement:
    [rows] = tables.values()
    told = (
        f"network {row['network']:.2f}, search of {row['limit']} {row['search']:.2f}"
        for row in rows
    )
    parts = {f"raised by search of {row['limit']}": row["search"] > row["network"] for row in rows}
    return Judgement(verdict(parts), "; ".join(told))


POSITION = Experiment(
    name="position",
    title="The Battleships position of section 2",
    metric="probability of the rational tiles",
    claim=(
        "the network had slightly above 0.4 after three days of training; search sees what "
        "matters. The paper does not give the whole position, so held is of ours alone that "
        "search raises it with every depth limit."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)
ROWS = (
    Row(
        POSITION,
        "sepot/battleships_5x5",
        Settings(seeds=(0,)),
        "section 2",
        5,
        "one network, of 15,000 learner steps",
        paper="network slightly above 0.4; search sees what matters",
        cause="reading: the position is not given in full",
    ),
)


def _answer(
    study: GameStudy[Settings], limit: DepthLimit, seed: int, network: str
) -> dict[str, Any]:
    """A row of the table."""
    settings = {
        "game": study.game,
        "file": registry.digest(network),
        "depth_limit": str(limit),
        "iterations": battleships.EFFORT.iterations,
    }

    def measure() -> dict[str, float]:
        blueprint, critic = checkpoints.load(str(registry.path_in(network)))
        assert isinstance(blueprint, NetworkPolicy)  # The game is too large for tables.
        return battleships.measure(blueprint, critic, limit)._asdict()

    name = file_name("position", f"seed {seed}", limit)
    found = study.workspace.part(name, settings, measure)
    return {"seed": seed, "limit": str(limit), **found}
