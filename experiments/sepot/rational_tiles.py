"""The rational tiles in the Battleships position of Kubíček et al. (2023), section 2.

How much of each network's policy is on them, before and after search; see `sepot.position`.
"""

from __future__ import annotations

from typing import Any

from experiments.sepot import position as sepot_position
from experiments.sepot.networks import Networks
from experiments.sepot.study import TRAINED, GameStudy, Study
from experiments.study import Experiment, Judgement, Tables, verdict
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
        networks = Networks(each)
        networks.check()
        if study.settings.network is not None:
            asked: list[tuple[int, str, int | None]] = [
                (seed, networks.with_critic(seed), None) for seed in networks.seeds
            ]
        else:
            asked = [
                (seed, str(each.checkpoint(seed, step)), step)
                for step in study.settings.steps
                for seed in networks.seeds
            ]
        rows += [
            _answer(each, limit, *network)
            for network in asked
            for limit in study.settings.limits or LIMITS
        ]
    return rows


def _position_report(study: Study, rows: Rows) -> Report:
    chance = len(sepot_position.RATIONAL_TILES) / sepot_position.NUM_OPEN
    return Report(
        POSITION.title,
        [
            "Probability of shooting at one of the five tiles that can hold anything: "
            f"{', '.join(sepot_position.RATIONAL_TILES)}. Chance alone would give {chance:.3f} "
            "here; the paper does not say what it would give there.",
            f"Searches have {sepot_position.EFFORT.iterations} iterations of CFR+.",
        ],
        {
            "By seed and step": Table.of(
                rows,
                step="learner steps",
                limit="depth limit",
                network="network, on rational tiles",
                search="search, on rational tiles",
                seconds="seconds of search",
            )
        },
    )


def _judge(tables: Tables) -> Judgement:
    [rows] = tables.values()
    final = max(row.get("step") or 0 for row in rows)
    last = [row for row in rows if (row.get("step") or 0) == final]
    told = (
        f"network {row['network']:.2f}, search of {row['limit']} {row['search']:.2f}"
        for row in last
    )
    parts = {f"raised by search of {row['limit']}": row["search"] > row["network"] for row in last}
    return Judgement(verdict(parts), "; ".join(told))


POSITION = Experiment(
    "position",
    "The Battleships position of section 2",
    "probability of the rational tiles",
    "the network had slightly above 0.4 after three days of training; search sees what matters. "
    "The paper does not give the whole position, so held is of ours alone that search raises it "
    "with every depth limit.",
    _position,
    _position_report,
    (*TRAINED, "network"),
    _judge,
)


def _answer(
    study: GameStudy, limit: DepthLimit, seed: int, checkpoint: str, step: int | None
) -> dict[str, Any]:
    """A row of the table; the step is that of the study's own training."""
    settings = {
        "game": study.game,
        "file": registry.digest(checkpoint),
        "depth_limit": str(limit),
        "iterations": sepot_position.EFFORT.iterations,
    }

    def measure() -> dict[str, float]:
        blueprint, critic = checkpoints.load(checkpoint)
        assert isinstance(blueprint, NetworkPolicy)  # The game is too large for tables.
        return sepot_position.measure(blueprint, critic, limit)._asdict()

    labels = {"seed": seed} | ({} if step is None else {"step": step})
    told = [f"{key} {value}" for key, value in labels.items()]
    name = file_name("position", *told, limit)
    return {**labels, "limit": str(limit), **study.workspace.part(name, settings, measure)}
