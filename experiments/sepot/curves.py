"""Exploitability over training: Figures 3 to 12 of Kubíček et al. (2023).

The network, and search with each depth limit: with given cfvs of the critic (Figures 3, 5 and 6),
and of previous searches (Figures 4 and 7 to 12).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.experiment import Experiment, Row
from experiments.sepot.evaluation import CRITIC, SEARCHES, Search
from experiments.sepot.study import Trained, TrainedGame, TrainedStudy, is_whole_game
from experiments.verdicts import (
    Judgement,
    Tables,
    difference,
    grouped,
    is_less,
    student_half_width,
    verdict,
)
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.depth_limit import DepthLimit

Study = TrainedStudy[Trained]
Game = TrainedGame[Trained]
NETWORK = "network"
_AT_THE_END, _ALL = "At the last step", "All points"
_WHOLE = " (to the end of the game, without a network)"
_METRICS = {
    "nash_conv": "NashConv (utility)",
    "exploitability_0": "player 0's exploitability (utility)",
    "exploitability_1": "player 1's exploitability (utility)",
}
_STEPS = "learner steps"
_PANELS = tuple(
    # Intervals are of NashConv alone.
    Panel(
        "step", name, _STEPS, title, "linear", band=("half_width",) if name == "nash_conv" else ()
    )
    for name, title in _METRICS.items()
)
_POINT = {
    "game": "game",
    "step": _STEPS,
    "policy": "policy",
    "nash_conv": _METRICS["nash_conv"],
    "half_width": "± (95 %, t, over seeds)",
    "by_seed": "by seed",
    **_METRICS,
    "seconds": "seconds of search, mean",
}
_FINAL = {
    "game": "game",
    "policy": "policy",
    "step": _STEPS,
    "nash_conv": "NashConv, mean",
    "network": "the network's",
    "by_seed": "by seed",
    "below": "seeds on which it is below the network's",
}


class Figure(NamedTuple):
    """The points of one picture."""

    study: Game
    name: str
    what: str
    rows: list[dict[str, Any]]


def _compute(study: Study) -> list[Figure]:
    """The points of the network and of search with each depth limit and kind of given cfvs."""
    figures = []
    for each in study.games():
        for limit in each.limits:
            rows = measured(each, _policies(each, limit))
            name = file_name("cfvs", each.name, limit)
            figures.append(Figure(each, name, f"depth limit {limit}", rows))
    return figures


def _judge(tables: Tables) -> Judgement:
    """Judges both kinds of given cfvs against each other, and the critic's against the network."""
    claims: dict[str, bool | None] = {}
    for game, final in grouped(tables[_AT_THE_END], "game").items():
        *_, network = (
            row["values"] for row in tables[_ALL] if (row["game"], row["policy"]) == (game, NETWORK)
        )
        by_critic = [row for row in final if row["policy"].endswith(CRITIC)]
        claims |= curves_claims(game, by_critic, network)
        limits = dict.fromkeys(_limit(row) for row in final)
        claims |= {
            f"previous searches better, {limit}": cfvs_claim(
                [row for row in final if _limit(row) == limit]
            )
            for limit in limits
            # The paper's figures of Leduc have a limit of 1.
            if not is_whole_game(game, limit)
        }
    return Judgement(verdict(claims), _headline(tables))


def _limit(row: Mapping[str, Any]) -> str:
    limit: str = row["policy"].split(", ")[1]
    return limit


def _headline(tables: Tables) -> str:
    return "; ".join(
        f"{row['policy']}{_WHOLE if is_whole_game(row['game'], _limit(row)) else ''} "
        f"{row['nash_conv']:.3g} (network {row['network']:.3g})"
        for row in tables[_AT_THE_END]
    )


def curves_claims(
    game: str, final: Sequence[Mapping[str, Any]], network: Sequence[float]
) -> dict[str, bool | None]:
    """Checks section 5.2's claims about a game, which differ for Leduc and Goofspiel.

    Args:
      game: the preset's name.
      final: `last_points` of searches with one kind of given cfvs, the shortest depth limit first.
      network: the network's NashConv at the last step, by seed.

    Returns:
      Whether each claim holds; None: open, as paired differences of seeds do not tell.
    """
    first, *others = final
    if game == "leduc":
        limited = [row for row in final if not is_whole_game(game, _limit(row))]
        return {
            f"no better than the network, {_limit(row)}": is_less(network, row["values"])
            for row in limited
        }
    parts: dict[str, bool | None] = {}
    for row in others:
        part = f"better than {{}}, {_limit(row)}"
        parts[part.format("the network")] = is_less(row["values"], network)
        parts[part.format(_limit(first))] = is_less(row["values"], first["values"])
    if len(others) > 1:
        part = f"{_limit(others[0])} and {_limit(others[1])} alike"
        parts[part] = are_alike(others[0], others[1], min(first["nash_conv"], first["network"]))
    return parts


def are_alike(one: Mapping[str, Any], other: Mapping[str, Any], reference: float) -> bool | None:
    """Whether two searches are closer to each other than both are to a reference; None: open."""
    mean, half_width = difference(one["values"], other["values"])
    distance = reference - max(one["nash_conv"], other["nash_conv"])
    if half_width is None or abs(mean) - half_width <= distance < abs(mean) + half_width:
        return None
    return abs(mean) < distance


def cfvs_claim(final: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether given cfvs of previous searches are better than the critic's; None: open.

    Args:
      final: `last_points` of searches with one depth limit.
    """
    values = {row["policy"]: row["values"] for row in final}
    pair = {kind: values[name] for name in values for kind in (CRITIC, SEARCHES) if kind in name}
    return is_less(pair[SEARCHES], pair[CRITIC])


def _report(study: Study, figures: Sequence[Figure]) -> Report:
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    pictures = []
    for figure in figures:
        # All pictures of a game show the network's points.
        rows |= {(row["game"], row["policy"], row["step"]): row for row in figure.rows}
        title = f"{figure.study.game}; {figure.what}"
        pictures.append(_picture(figure.name, title, figure.rows))
    studies = {figure.study.name: figure.study for figure in figures}
    final = [row for figure in figures for row in last_points(figure.rows)]
    return Report(
        "",
        _notes(study.settings, list(studies.values())),
        {_AT_THE_END: Table(final, _FINAL), _ALL: Table([*rows.values()], _POINT)},
        pictures,
    )


def measured(study: Game, policies: Mapping[str, Search | None]) -> list[dict[str, Any]]:
    """The points of some policies: means over seeds at every kept checkpoint.

    Args:
      study: the game's study.
      policies: searches on top of the network, by name; None: the network alone.
    """
    study.train()
    seeds = study.settings.seeds
    points = list(itertools.product(policies, study.settings.steps))
    results = study.measure(
        [study.evaluation(seed, step, policies[name]) for name, step in points for seed in seeds]
    )
    rows = []
    for number, (name, step) in enumerate(points):
        by_seed = results[number * len(seeds) : (number + 1) * len(seeds)]
        means = {key: float(np.mean([r[key] for r in by_seed])) for key in (*_METRICS, "seconds")}
        values = [result["nash_conv"] for result in by_seed]
        row = {"game": study.name, "policy": name, "step": step, **means}
        row |= {"values": values, "by_seed": ", ".join(f"{value:.3g}" for value in values)}
        row |= {"half_width": student_half_width(values)}
        rows.append(row)
    return rows


def last_points(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The searches' points at the last step, each compared with the network by seed."""
    last = [dict(row) for row in rows if row["step"] == max(r["step"] for r in rows)]
    network = next(row for row in last if row["policy"] == NETWORK)
    for row in last:
        pairs = list(zip(row["values"], network["values"], strict=True))
        row["network"] = network["nash_conv"]
        row["below"] = f"{sum(own < other for own, other in pairs)} of {len(pairs)}"
    return [row for row in last if row is not network]


def _policies(study: Game, limit: DepthLimit) -> dict[str, Search | None]:
    """The network, and search with each source of given cfvs."""
    policies: dict[str, Search | None] = {NETWORK: None}
    for source in (CRITIC, SEARCHES):
        search = Search(limit, source, study.settings.iterations)
        policies[f"search, {limit}, cfvs of {source}"] = search
    return policies


def _picture(name: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Picture:
    subtitle = "means over seeds; band of NashConv: 95 %, t"
    return Picture(name, f"{title}\n{subtitle}", _PANELS, grouped(rows, "policy"))


def _notes(settings: Trained, studies: Sequence[Game]) -> list[str]:
    """The notes of a report on some games."""
    sizes, critic = (
        "x".join(map(str, c.hidden_sizes)) for c in (settings.learner, settings.critic)
    )
    transformations = {study.name: study.transformations for study in studies}
    return [
        "NashConv is in utility units; a player's exploitability is what a best response to it "
        "earns above the game's value, and the two sum to NashConv. Means over seeds. Searches go "
        "in blocks: each begins where the last one ends. Own ranges are those that were played "
        "with both kinds of given cfvs.",
        f"{'; '.join(study.describe() for study in studies)}. Seeds "
        f"{', '.join(map(str, settings.seeds))}; R-NaD of {settings.num_steps:,} learner steps, "
        f"batch {settings.learner.batch_size}, policy network {sizes}, critic {critic}, "
        f"trained on the same games; {settings.iterations:,} iterations of predictive CFR+. "
        f"Transformations: {', '.join(f'{n} {kind!r}' for n, kind in transformations.items())}.",
    ]


CFVS = Experiment(
    name="cfvs",
    title="Exploitability of the network and of search over training, by given cfvs",
    metric=_METRICS["nash_conv"],
    claim=(
        "in Goofspiel searches of 2 and 3 rounds are less exploitable than the network and "
        "than those of one, and alike; in Leduc search is not less exploitable than the "
        "network (section 5.2, Figures 3, 5 and 6), with given cfvs of the critic, as in all "
        "the paper's experiments but the next. Those of previous searches are better: in Leduc by "
        "much, with limits of 1, and in Goofspiel slightly, with all (section 5.3, Figures 4 and "
        "7 to 12). Held against paired differences of seeds at the last step, and open where "
        "these are not told from 0; how much is not judged. Alike are searches that are closer to "
        "each other than to the better of the network and the search of one round."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    version=2,  # Networks see features.
    num_threads=1,
)
_WHY = (
    "{} seeds of ten; learner steps: 20,000 of 100,000 in Goofspiel with random prizes, 100,000 of "
    "a million in Leduc; networks of 128 and 128 units; 250 iterations, of predictive CFR+"
)
# The paper's networks learn for days; ten points of shorter trainings show what search adds.
ROWS = tuple(
    Row(
        CFVS,
        f"sepot/{folder}",
        Trained((game,), seeds, iterations=250, num_steps=steps, steps_per_evaluation=steps // 10),
        "Figures 3 to 12",
        minutes,
        _WHY.format(len(seeds)),
        paper="2 and 3 rounds below the network, in Leduc no search; cfvs of searches are better",
        cause="smaller",
    )
    # The criteria were set after other seeds had been seen.
    for folder, game, seeds, steps, minutes in (
        ("goofspiel_5", "goofspiel_5_descending", (11, 12, 13, 14, 15), 20_000, 60),
        # With random prizes, searches of the whole game take up to half a minute.
        ("goofspiel_5_random", "goofspiel_5_random", (11, 12, 13, 14, 15), 20_000, 120),
        ("leduc", "leduc", (11, 12, 13), 100_000, 90),
    )
)
