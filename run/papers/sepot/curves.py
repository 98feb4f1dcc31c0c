"""Exploitability over training: Figures 3 to 12 of Kubíček et al. (2023).

`curves`: the network against search with each depth limit, given cfvs of the critic (Figures 3, 5
and 6). `cfvs`: for each depth limit, given cfvs of the critic against those of previous searches
(Figures 4 and 7 to 12).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from papers.report import Picture, Report
from papers.sepot.evaluation import CRITIC, SEARCHES, Search
from papers.sepot.study import Study, StudyConfig
from spiel_dl.play.tally import student_half_width
from spiel_dl.runs.parts import file_name
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table

NETWORK = "network"
_METRICS = {
    "nash_conv": "NashConv (utility)",
    "exploitability_0": "player 0's exploitability (utility)",
    "exploitability_1": "player 1's exploitability (utility)",
}
_STEPS = "learner steps"
_PANELS = tuple(Panel("step", name, _STEPS, title, "linear") for name, title in _METRICS.items())
_POINT = {
    "game": "game",
    "step": _STEPS,
    "policy": "policy",
    **_METRICS,
    "half_width": "NashConv ± (95 %, t, over seeds)",
    "by_seed": "NashConv by seed",
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


class Curve(NamedTuple):
    """One curve of a study.

    Attributes:
      label: what it is called.
      search: on top of the network; None: the network alone.
    """

    label: str
    search: Search | None


def curves(studies: Sequence[Study]) -> Report:
    """Figures 3, 5 and 6: the network, and search with each depth limit."""
    rows, final, pictures = [], [], []
    for study in studies:
        wanted = [Curve(NETWORK, None), *(_searches(study, CRITIC))]
        found = measured(study, wanted)
        rows += found
        final += last_points(found)
        name = file_name("curves", study.config.game)
        pictures.append(_picture(name, f"{study.game}; given cfvs of the critic", found))
    return Report(
        "curves",
        "Exploitability of the network and of search over training",
        [*_notes(studies), "Given cfvs are those of the critic everywhere."],
        {"At the last step": Table(final, _FINAL), "All points": Table(rows, _POINT)},
        pictures,
    )


def cfvs(studies: Sequence[Study]) -> Report:
    """Figures 4 and 7 to 12: given cfvs of the critic, or of previous searches."""
    rows, final, pictures = [], [], []
    for study in studies:
        pairs = zip(_searches(study, CRITIC), _searches(study, SEARCHES), strict=True)
        network = Curve(NETWORK, None)
        for limit, pair in zip(study.limits, pairs, strict=True):
            found = measured(study, [network, *pair])
            rows += [row for row in found if row["policy"] != NETWORK or limit == study.limits[0]]
            final += last_points(found)
            name = file_name("cfvs", study.config.game, limit)
            pictures.append(_picture(name, f"{study.game}; depth limit {limit}", found))
    return Report(
        "cfvs",
        "Given cfvs of the critic and of previous searches",
        [
            *_notes(studies),
            "With cfvs of previous searches, own ranges are those of the searched strategy, too; "
            "with those of the critic, the network's.",
        ],
        {"At the last step": Table(final, _FINAL), "All points": Table(rows, _POINT)},
        pictures,
    )


def measured(study: Study, wanted: Sequence[Curve]) -> list[dict[str, Any]]:
    """The points of some curves: means over seeds, after every step whose checkpoint is kept."""
    study.train()
    places = [
        (curve, step, seed)
        for curve in wanted
        for step in study.config.steps
        for seed in study.config.seeds
    ]
    results = study.measure([study.evaluation(seed, step, c.search) for c, step, seed in places])
    by_point: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for (curve, step, _), result in zip(places, results, strict=True):
        by_point.setdefault((curve.label, step), []).append(result)
    rows = []
    for (label, step), found in by_point.items():
        means = {name: float(np.mean([r[name] for r in found])) for name in (*_METRICS, "seconds")}
        values = [result["nash_conv"] for result in found]
        row = {"game": study.config.game, "policy": label, "step": step, **means}
        row |= {"values": values, "by_seed": _joined(values)}
        row |= {"half_width": student_half_width(values)}
        rows.append(row)
    return rows


def last_points(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The points of the last step but the network's, each compared with it seed by seed."""
    last = [dict(row) for row in rows if row["step"] == max(r["step"] for r in rows)]
    network = next(row for row in last if row["policy"] == NETWORK)
    for row in last:
        pairs = list(zip(row["values"], network["values"], strict=True))
        row["network"] = network["nash_conv"]
        row["below"] = f"{sum(own < other for own, other in pairs)} of {len(pairs)}"
    return [row for row in last if row is not network]


def _searches(study: Study, source: str) -> list[Curve]:
    searches = [Search(limit, source, study.config.iterations) for limit in study.limits]
    return [Curve(f"search, {each.depth_limit}, cfvs of {source}", each) for each in searches]


def _picture(name: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Picture:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["policy"], []).append(row)
    return Picture(name, f"{title}; means over seeds", _PANELS, groups)


def _notes(studies: Sequence[Study]) -> list[str]:
    """What there is to say of all studies."""
    notes = [
        "NashConv is in utility units; a player's exploitability is what a best response to it "
        "earns above the game's value, and the two sum to NashConv. Means over seeds. Every search "
        "starts anew at each level; its depth limit counts from where it starts."
    ]
    for study in studies:
        config = study.config
        sizes = "x".join(map(str, config.learner.hidden_sizes))
        notes.append(
            f"{config.game} is `{study.game}`; seeds {', '.join(map(str, config.seeds))}; R-NaD "
            f"of {config.num_steps:,} learner steps, batch {config.learner.batch_size}, policy "
            f"network {sizes}, critic {'x'.join(map(str, config.critic.hidden_sizes))} of the "
            f"transformations {study.transformations!r}, {_describe_critic(config)}; "
            f"{config.iterations:,} iterations of CFR+."
        )
    return notes


def _describe_critic(config: StudyConfig) -> str:
    if not config.critic_steps:
        return "trained on the same games"
    return (
        f"trained for each kept network by itself, {config.critic_steps:,} steps on games in which "
        f"{config.exploration:.0%} of decisions are random"
    )


def _joined(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
