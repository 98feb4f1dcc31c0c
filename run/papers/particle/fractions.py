"""Figure 4 of the particle paper: search below a part of the histories that play leads to.

Šustr et al. (2021), section 6, second experiment; `PlayedGame` says how it is judged. The paper's
0.42 for uniform play in Goofspiel is NashConv / 2, as here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from papers.dl_cfr.report import Result
from papers.dl_cfr.study import Study
from papers.particle.played_game import PlayedGame
from papers.particle.study import (
    DOMAINS,
    LAYERS,
    PARTICLE,
    NetworkSizes,
    train,
)
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.value_functions.value_network import ValueNetwork

EXPLOITABILITY = "exploitability"
MOST_REACHED, RANDOM = "most reached", "random"
_TITLE = "NashConv / 2 of the look-ahead, in utility units"


@dataclasses.dataclass(frozen=True)
class FractionsConfig:
    """What Figure 4 varies.

    Attributes:
      played: how deep the equilibrium is played, in the unit of the study's depth limit; search
        looks from there down to that limit.
      fractions: of the histories that the equilibrium may reach there; at least one is kept.
      num_draws: random choices of histories for each network.
      equilibrium_iterations: of CFR+ of the whole game.
    """

    played: int = 2
    fractions: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
    num_draws: int = 1
    equilibrium_iterations: int = 10_000

    def __post_init__(self) -> None:
        if min(self.played, self.num_draws, self.equilibrium_iterations) < 1:
            raise ValueError(f"{self}: all numbers must be at least 1")
        if not self.fractions or not all(0 <= fraction <= 1 for fraction in self.fractions):
            raise ValueError(f"fractions={self.fractions} must be numbers from 0 to 1")


class _Choice(NamedTuple):
    """Histories to keep.

    Attributes:
      kind: how they were chosen.
      number: how many.
      draw: number of the random choice.
      histories: their positions, int64 [number].
    """

    kind: str
    number: int
    draw: int
    histories: np.ndarray


def fractions(study: Study, sizes: NetworkSizes, config: FractionsConfig) -> Result:
    """Exploitability against the fraction of histories below which to search.

    Args:
      study: of a `study_config`, for a game with `Rules`.
      sizes: of the networks.
      config: what is varied.

    Raises:
      ValueError: as `study.train` does, if nothing is left to search, or if the game has
        no rules.
    """
    game = _played_game(study, config)
    rows = _rows(study, game, sizes, config)
    uniform = game.nash_conv(game.uniform_strategies()) / 2
    return Result(
        "fractions",
        "Search below a fraction of the histories",
        [
            f"An equilibrium is played for {game.played.depth_limit} and may reach "
            f"{(game.reach > 0).sum()} histories. Below those that are kept, the look-ahead of "
            f"{game.lookahead} is solved by {study.config.num_iterations:,} iterations of DL-CFR+ "
            f"with a particle network. Means over {len(study.config.seeds)} networks, and "
            f"{config.num_draws} random choices for each. Sizes: {sizes}.",
        ],
        summary(
            rows, uniform, is_the_papers=is_the_papers(study.trunk.tree, game.played.depth_limit)
        ),
        Table(
            rows,
            {
                "choice": "kept histories",
                "histories": "number",
                "fraction": "fraction",
                EXPLOITABILITY: _TITLE,
                "deviation": "standard deviation",
            },
        ),
        [Panel("fraction", EXPLOITABILITY, "fraction of the histories", _TITLE, "linear")],
        "choice",
        study.settings(
            *LAYERS, sizes=dataclasses.asdict(sizes), fractions=dataclasses.asdict(config)
        ),
        {"uniform": {EXPLOITABILITY: uniform}},
    )


def _rows(
    study: Study, game: PlayedGame, sizes: NetworkSizes, config: FractionsConfig
) -> list[dict[str, Any]]:
    """Means over networks and draws, for every kind and number of histories."""
    support = np.flatnonzero(game.reach > 0)
    measured: dict[tuple[str, int], list[float]] = {}
    for seed in study.config.seeds:
        network = study.load_network(train(study, PARTICLE, sizes, seed).path)
        name = f"after-{config.played}-{config.equilibrium_iterations}-{sizes.name}-seed-{seed}"
        for choice in _choices(game.reach, support, config, seed):
            value = _measure(study, game, network, choice, name)
            measured.setdefault((choice.kind, choice.number), []).append(value)
    return [
        {
            "choice": kind,
            "histories": number,
            "fraction": number / len(support),
            EXPLOITABILITY: float(np.mean(values)),
            "deviation": float(np.std(values)),
        }
        for (kind, number), values in sorted(measured.items())
    ]


def _measure(
    study: Study, game: PlayedGame, network: ValueNetwork, choice: _Choice, name: str
) -> float:
    """Exploitability of search below a choice, once."""

    def measure() -> float:
        found = game.search(choice.histories, network, study.config.num_iterations)
        return game.nash_conv(found) / 2

    kind = choice.kind.replace(" ", "_")
    return float(study.part(f"below-{kind}-{choice.number}-{choice.draw}-{name}", measure))


def _played_game(study: Study, config: FractionsConfig) -> PlayedGame:
    """The study's game after an equilibrium was played."""
    limit = study.config.data.depth_limit
    if config.played >= limit.value:
        raise ValueError(
            f"played={config.played} leaves no look-ahead above the depth limit of {limit}; play "
            "less, or use a larger limit"
        )
    solver = CFRPlusSolver(study.trunk.tree)
    solver.run(config.equilibrium_iterations)
    return PlayedGame.of_strategies(
        study.trunk.tree,
        solver.average_policy().strategies,
        limit.with_value(config.played),
        limit.with_value(limit.value - config.played),
    )


def _choices(
    reach: np.ndarray, support: np.ndarray, config: FractionsConfig, seed: int
) -> Iterator[_Choice]:
    """All choices among the histories (int64 [n]) that are reached; the seed is of random ones."""
    generator = np.random.default_rng(seed)
    orders = {RANDOM: [generator.permutation(support) for _ in range(config.num_draws)]}
    orders[MOST_REACHED] = [support[np.argsort(-reach[support], kind="stable")]]
    numbers = {max(1, round(fraction * len(support))) for fraction in config.fractions}
    for kind, kinds_orders in orders.items():
        for draw, order in enumerate(kinds_orders):
            for number in sorted(numbers):
                yield _Choice(kind, number, draw, np.sort(order[:number]))


def is_the_papers(tree: GameTree, played: DepthLimit) -> bool:
    """Whether the paper's numbers in Goofspiel are of this: 5 cards, two rounds played."""
    return str(tree.game) == str(load_turn_based(DOMAINS["goofspiel"].game)) and played.rounds == 2


def summary(rows: Sequence[Mapping[str, Any]], uniform: float, *, is_the_papers: bool) -> Table:
    """The ends of the curve, beside the paper's numbers if they are of the same game.

    Args:
      rows: of the table, in ascending numbers of histories.
      uniform: exploitability of uniform play, in utility units.
      is_the_papers: whether the game is the paper's.
    """
    best = [row for row in rows if row["choice"] == MOST_REACHED]
    fewest, most = best[0][EXPLOITABILITY], best[-1][EXPLOITABILITY]
    lines: list[dict[str, Any]] = [
        {"what": "uniform", "ours": uniform, "paper": 0.42},
        {"what": f"{best[0]['histories']} most reached", "ours": fewest},
        {
            "what": "uniform divided by that",
            "ours": uniform / fewest if fewest > 0 else None,
            "paper": "about 3.5",
        },
        {"what": f"{best[-1]['histories']} most reached", "ours": most},
    ]
    titles = {"what": _TITLE, "ours": "ours"}
    return Table(lines, titles | ({"paper": "the paper"} if is_the_papers else {}))
