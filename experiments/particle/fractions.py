"""Figure 4 of the particle paper: search below a part of the histories that play leads to.

Šustr et al. (2021), section 6, second experiment; `PlayedGame` says how it is judged. The paper's
0.42 for uniform play in Goofspiel is NashConv / 2, as here.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from experiments.dl_cfr import study as dl_cfr
from experiments.experiment import OURS, Experiment, Row
from experiments.particle import study as particle
from experiments.particle.played_game import PlayedGame
from experiments.particle.study import PARTICLE
from experiments.verdicts import Judgement, Tables, at_most, deviation, numbers_of, verdict
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.parameters import Bounds, Positive
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.value_functions.value_network import ValueNetwork

EXPLOITABILITY = "exploitability"
MOST_REACHED, RANDOM = "most reached", "random"
_FEW, _NEAR = 0.3, 0.02
_PRACTICALLY = 1.1
"""Largest ratio that counts as "practically the same"."""
_TITLE = "NashConv / 2 of the look-ahead, in utility units"
_IN_PICTURES = "NashConv / 2 (utility), mean ± standard deviation"


@dataclasses.dataclass(frozen=True)
class Settings(particle.Settings):
    """Networks, and which histories are kept.

    Attributes:
      played: how deep the equilibrium is played, in the unit of the depth limit; search looks from
        there down to that limit.
      fractions: of the histories that the equilibrium reaches there; at least one.
      equilibrium_iterations: of CFR+ of the whole game.
      never_reached: the probability that is left out of the equilibrium's support; 0: none. An
        average of CFR+ reaches all histories, very seldom, as its first iterate is uniform.
    """

    not_empty = ("fractions",)
    played: Positive = 2
    fractions: tuple[Annotated[float, Bounds(0, 1)], ...] = (
        0.0,
        0.05,
        0.1,
        0.2,
        0.3,
        0.5,
        0.7,
        1.0,
    )
    equilibrium_iterations: Positive = 10_000
    never_reached: float = 1e-3


Study = particle.Study[Settings]


class Results(NamedTuple):
    """Exploitability by kind and number of histories, and that of uniform play."""

    game: PlayedGame
    rows: list[dict[str, Any]]
    uniform: float


def _compute(study: Study) -> Results:
    """Exploitability against the fraction of histories below which to search.

    Raises:
      ValueError: as `Study.train` does, if nothing is left to search, or if the game has no rules.
    """
    trunk = study.trunk_study()
    game = _played_game(trunk, study.settings)
    uniform = game.nash_conv(game.uniform_strategies()) / 2
    return Results(game, _rows(study, trunk, game), uniform)


def _report(study: Study, result: Results) -> Report:
    trunk, settings, played = study.trunk_study(), study.settings, result.game.played.depth_limit
    is_papers = (settings.game, played) == (particle.GOOFSPIEL[0], DepthLimit(rounds=2))
    reached = support(result.game.reach, settings.never_reached)
    return trunk.report(
        [
            f"An equilibrium is played for {played}. {len(reached)} histories "
            f"hold all but {settings.never_reached:g} of what it reaches then, and fractions and "
            "random choices are of these. Below those that are kept, the look-ahead "
            f"of {result.game.lookahead} is solved by {trunk.settings.num_iterations:,} iterations "
            f"of DL-CFR+ with a particle network. Means over {len(settings.seeds)} networks, with "
            f"a random choice for each. Sizes: {settings.sizes}.",
        ],
        summary(result.rows, result.uniform, is_the_papers=is_papers),
        Table.of(
            result.rows,
            choice="kept histories",
            histories="number",
            mass="probability of being in one of them",
            exploitability=_TITLE,
            deviation="standard deviation",
        ),
        [
            Panel(x, EXPLOITABILITY, x_title, y_title, "linear", band=("deviation",))
            for x, x_title, y_title in (
                ("fraction", "fraction of the histories", _IN_PICTURES),
                ("mass", "probability of the kept histories", ""),
            )
        ],
        "choice",
        levels={"uniform": {EXPLOITABILITY: result.uniform}},
        settings=particle.data_settings(trunk),
    )


def _judge(tables: Tables) -> Judgement:
    """Judges the paper's claims, which are of Goofspiel alone."""
    uniform = tables[dl_cfr.SUMMARY][0]
    most_reached = [row for row in tables[dl_cfr.ALL_NUMBERS] if row["choice"] == MOST_REACHED]
    fewest = most_reached[0][EXPLOITABILITY]
    few = [row for row in most_reached if abs(row["fraction"] - _FEW) < _NEAR]
    parts: dict[str, bool | None] = {}
    if uniform.get("paper") is not None:
        parts = {
            f"{row['fraction']:.0%} as good as all": _as_good(row, most_reached[-1]) for row in few
        }
        parts["uniform play's number"] = abs(uniform["ours"] - uniform["paper"]) < 0.005
        parts["3.5 times less below one history"] = uniform["ours"] >= 3.5 * fewest
    shown_rows = [most_reached[0], *few, most_reached[-1]]
    return Judgement(
        verdict(parts),
        f"uniform play {uniform['ours']:.3g}; most reached histories: "
        + ", ".join(f"{row[EXPLOITABILITY]:.3g} with {row['histories']}" for row in shown_rows),
    )


def _as_good(few: Mapping[str, Any], all_of_them: Mapping[str, Any]) -> bool | None:
    """Whether a part of the histories is as good as all, by network; by means in older reports."""
    values, goals = (row.get("values", [row[EXPLOITABILITY]]) for row in (few, all_of_them))
    excess = [value - _PRACTICALLY * goal for value, goal in zip(values, goals, strict=True)]
    return at_most(excess, 0.0)


FRACTIONS = Experiment(
    name="fractions",
    title="Search below a fraction of the histories",
    metric=_TITLE,
    claim=(
        "in Goofspiel with 5 cards 0.42 for uniform play, about 3.5 times less below the most "
        "reached history, and with the 30 % of the histories that are most reached practically "
        "the same as with all (section 6, Figure 4; of Leduc a curve without numbers, not "
        f"judged). Held is that 30 % come to at most {_PRACTICALLY} times what all come to, open "
        "if networks do not tell."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)
_PAPER = "uniform 0.42; 3.5 times less below one history; 30 % practically as good as all"
_READING = "reading: the paper does not define the support"
# The look-ahead begins after two rounds in Goofspiel, where the networks of Figure 3 value.
_GOOFSPIEL = (particle.GOOFSPIEL[0], DepthLimit(rounds=3), 27_000)
ROWS = (
    *(
        Row(
            FRACTIONS,
            f"particle/{name}_fractions{ending}",
            dataclasses.replace(settings, sizes=particle.Sizes(conditional=bool(ending))),
            OURS if ending else "Figure 4",
            40,
            short_of,
            paper=_PAPER,
            cause=_READING,
        )
        for name, settings, short_of in (
            (
                "leduc",
                Settings(*particle.LEDUC, particle.training_of(62), (0, 1, 2), played=1),
                particle.FEWER,
            ),
            (
                "goofspiel_5",
                Settings(*_GOOFSPIEL, particle.training_of(40), (0, 1, 2, 3, 4)),
                "five seeds of ten; 40 epochs",
            ),
        )
        for ending in ("", "_conditional")
    ),
    *(
        Row(
            FRACTIONS,
            f"particle/{name}_fractions/all_reached",
            dataclasses.replace(
                settings, seeds=particle.TEN_SEEDS, data_per_seed=True, never_reached=0.0
            ),
            "Figure 4",
            240,
            paper=_PAPER,
        )
        for name, settings in (
            ("leduc", Settings(*particle.LEDUC, particle.training_of(155), played=1)),
            ("goofspiel_5", Settings(*_GOOFSPIEL, particle.training_of(155))),
        )
    ),
)


def _rows(
    study: Study, trunk: dl_cfr.TrainedStudy[dl_cfr.Trained], game: PlayedGame
) -> list[dict[str, Any]]:
    """Means over networks, for every kind and number of histories."""
    settings = study.settings
    reached = support(game.reach, settings.never_reached)
    measured: list[dict[str, Any]] = []
    for seed in settings.seeds:
        own = study.trunk_study(seed)
        network = own.load_network(study.train(own, PARTICLE, seed).path)
        name = f"after-{settings.played}-{settings.equilibrium_iterations}-{settings.sizes}"
        for kind, histories in _choices(reached, settings, seed):
            part = f"below-{kind.replace(' ', '_')}-{len(histories)}-{name}-seed-{seed}"
            measure = functools.partial(_measure, trunk, game, network, histories)
            mass = game.reach[histories].sum() / game.reach.sum()
            value = trunk.part(part, measure)
            row = {"choice": kind, "histories": len(histories), "mass": mass, "value": value}
            measured.append(row)
    masses = numbers_of(measured, "mass", "choice", "histories")
    return [
        {
            "choice": kind,
            "histories": number,
            "fraction": number / len(reached),
            "mass": float(np.mean(masses[kind, number])),
            EXPLOITABILITY: float(np.mean(values)),
            "deviation": deviation(values),
            "values": values,
        }
        for (kind, number), values in sorted(
            numbers_of(measured, "value", "choice", "histories").items()
        )
    ]


def _measure(
    trunk: dl_cfr.TrainedStudy[dl_cfr.Trained],
    game: PlayedGame,
    network: ValueNetwork,
    histories: np.ndarray,
) -> float:
    """Exploitability of search below some histories."""
    strategies = game.search(histories, network, trunk.settings.num_iterations)
    return game.nash_conv(strategies) / 2


def _played_game(trunk: dl_cfr.TrainedStudy[dl_cfr.Trained], settings: Settings) -> PlayedGame:
    """The study's game after an equilibrium was played."""
    limit = trunk.settings.data.depth_limit
    if settings.played >= limit.value:
        raise ValueError(
            f"played={settings.played} leaves no look-ahead above the depth limit of {limit}; play "
            "less, or use a larger limit"
        )
    solver = CFRPlusSolver(trunk.trunk.tree)
    solver.run(settings.equilibrium_iterations)
    return PlayedGame.of_strategies(
        trunk.trunk.tree,
        solver.average_policy().strategies,
        limit.with_value(settings.played),
        limit.with_value(limit.value - settings.played),
    )


def support(reach: np.ndarray, never_reached: float) -> np.ndarray:
    """The fewest histories with all but a given part of the total probability.

    Args:
      reach: float64 [n], each history's probability.
      never_reached: the part left out; 0: all reached histories.

    Returns:
      int64 [m], the most reached first.
    """
    order = np.argsort(-reach, kind="stable")
    if not never_reached:
        return order[: int((reach > 0).sum())]
    held = np.cumsum(reach[order])
    return order[: int(np.searchsorted(held, (1 - never_reached) * held[-1])) + 1]


def _choices(
    reached: np.ndarray, settings: Settings, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """All subsets to search below: the most reached histories, and random ones by the seed."""
    generator = np.random.default_rng(seed)
    orders = {RANDOM: generator.permutation(np.sort(reached)), MOST_REACHED: reached}
    numbers = {max(1, round(fraction * len(reached))) for fraction in settings.fractions}
    for kind, order in orders.items():
        for number in sorted(numbers):
            yield kind, np.sort(order[:number])


def summary(rows: Sequence[Mapping[str, Any]], uniform: float, *, is_the_papers: bool) -> Table:
    """The ends of the curve, beside the paper's numbers if the game is the same.

    Args:
      rows: rows of the table, in ascending numbers of histories.
      uniform: exploitability of uniform play, in utility units.
      is_the_papers: whether the game is the paper's.
    """
    most_reached = [row for row in rows if row["choice"] == MOST_REACHED]
    fewest, all_of_them = most_reached[0][EXPLOITABILITY], most_reached[-1][EXPLOITABILITY]
    lines: list[dict[str, Any]] = [
        {"what": "uniform", "ours": uniform, "paper": 0.42 if is_the_papers else None},
        {"what": f"{most_reached[0]['histories']} most reached", "ours": fewest},
        {
            "what": "uniform divided by that",
            "ours": uniform / fewest if fewest > 0 else None,
            "paper": "about 3.5",
        },
        {"what": f"{most_reached[-1]['histories']} most reached", "ours": all_of_them},
    ]
    titles = {"what": _TITLE, "ours": "ours"}
    return Table(lines, titles | ({"paper": "the paper"} if is_the_papers else {}))
