"""Matches against an opponent who changes on the way, without a sign: ABD, CDRNR and others.

As `run/exploit.py` plays them: every few hands the opponent is estimated anew from what it was seen
to do, where older hands count less, and responded to. What a response wins is computed exactly,
against the opponent of the moment; only the hands that are observed are drawn.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from experiments.responses.late_mistakes import EQUILIBRIUM_ITERATIONS, LIMITS, model_of
from experiments.responses.study import Study
from experiments.study import Experiment
from spiel_dl.algorithms.best_response import best_response_value
from spiel_dl.play.tally import student_half_width
from spiel_dl.policies import opponent_models
from spiel_dl.runs.exploitation_match import EFFORT, RESPONSES, ExploitationMatch
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.variants import CFR_PLUS

GAME = "leduc"
OPPONENTS = ("late:uniform", "random:1", "late:random:1")
"""They come one after the other, each as often as the hands allow."""
SEEDS = (0, 1, 2, 3, 4)
HANDS, CHANGES_EVERY, RESOLVE_EVERY, HALF_LIFE = 6000, 1000, 250, 500.0
P = 0.8
_PRIOR_ITERATIONS = 1000
Rows = list[dict[str, Any]]


def play(study: Study, response: str, player: int, seed: int) -> Rows:
    """A match: after each response, `hands`, `opponent`, `expected`, `exploitability`, `won`."""
    tree, limit = study.tree(GAME), LIMITS[GAME]
    first, *others = (model_of(name, tree, limit) for name in OPPONENTS)
    match = ExploitationMatch(
        first,
        opponent_models.cfr_average(tree, _PRIOR_ITERATIONS, CFR_PLUS),
        player=player,
        response=response,
        p=P,
        resolve_every=RESOLVE_EVERY,
        others=others,
        changes_every=CHANGES_EVERY,
        half_life=HALF_LIFE,
        depth_limit=limit,
        seed=seed,
    )
    rows = []
    while match.done < HANDS:
        opponent = OPPONENTS[match.done // CHANGES_EVERY % len(OPPONENTS)]
        match.run(match.next_response(match.done) - match.done)
        now = match.measure()
        rows.append(
            {
                "hands": match.done,
                "opponent": opponent,
                "expected": now["expected"],
                "exploitability": now["exploitability"],
                "won": now["mean"],
                "seconds": now["solving_seconds"],
            }
        )
    return rows


def _compute(study: Study) -> dict[str, Any]:
    told = {
        "game": GAME,
        "opponents": OPPONENTS,
        "depth_limit": str(LIMITS[GAME]),
        "hands": HANDS,
        "changes_every": CHANGES_EVERY,
        "resolve_every": RESOLVE_EVERY,
        "half_life": HALF_LIFE,
        "p": P,
        "prior_iterations": _PRIOR_ITERATIONS,
        "equilibrium_iterations": EQUILIBRIUM_ITERATIONS,
        "iterations": EFFORT.iterations,
        "tolerance": EFFORT.tolerance,
    }
    found: dict[str, Any] = {response: [] for response in RESPONSES}
    for who in itertools.product(RESPONSES, study.settings.players, SEEDS):
        find = functools.partial(play, study, *who)
        labels = dict(zip(("response", "player", "seed"), who, strict=True))
        name = file_name("online", *labels.values())
        found[who[0]].append(study.workspace.part(name, {**told, **labels}, find))
    return found


def _after_a_change(response: str, rows: Rows) -> Rows:
    """Means by hands since the opponent's last change; the first hands follow none."""
    phases: Rows = []
    for since in range(RESOLVE_EVERY, CHANGES_EVERY + 1, RESOLVE_EVERY):
        phase: dict[str, Any] = {"response": response, "hands since the change": since}
        for name in OPPONENTS:
            earned = [
                row["expected"]
                for row in rows
                if row["opponent"] == name
                and row["hands"] > CHANGES_EVERY
                and (row["hands"] - 1) % CHANGES_EVERY + 1 == since
            ]
            phase[name] = float(np.mean(earned)) if earned else None
        phases.append(phase)
    return phases


def _headline(summary: Rows) -> str:
    """What each response earns, with its interval if there are several seeds."""
    told = []
    for row in summary:
        width = row["half_width"]
        spread = "" if width is None else f" ± {width:.2g}"
        told.append(f"{row['response']} {row['earned']:.3g}{spread}")
    return f"earned per hand (95 %, {len(SEEDS)} seeds): {', '.join(told)}"


def _summary(response: str, matches: list[Rows]) -> dict[str, Any]:
    """What a response came to in all its matches, and the interval over seeds."""
    # Both players' matches of a seed have the same luck, so they are one observation.
    by_seed = [matches[seed :: len(SEEDS)] for seed in range(len(SEEDS))]
    means = [float(np.mean([row["expected"] for rows in both for row in rows])) for both in by_seed]
    everything = [row for rows in matches for row in rows]
    return {
        "response": response,
        "earned": float(np.mean(means)),
        "half_width": student_half_width(means),
        "won": float(np.mean([rows[-1]["won"] for rows in matches])),
        "exploitability": float(np.mean([row["exploitability"] for row in everything])),
        "seconds": float(np.mean([row["seconds"] for row in everything])),
    }


def _report(study: Study, found: dict[str, list[Rows]]) -> Report:
    tree, limit = study.tree(GAME), LIMITS[GAME]
    summary = [_summary(response, matches) for response, matches in found.items()]
    phases = []
    for response, matches in found.items():
        phases += _after_a_change(response, list(itertools.chain.from_iterable(matches)))
    players = study.settings.players
    who = " and ".join(f"player {player}" for player in players).capitalize()
    best = {
        name: float(
            np.mean([best_response_value(tree, model_of(name, tree, limit), p) for p in players])
        )
        for name in OPPONENTS
    }
    curves = {
        # Both players' matches of a seed are one observation, as in the table.
        f"{response}, seed {seed}": [
            {"hands": rows[0]["hands"], "expected": float(np.mean([r["expected"] for r in rows]))}
            for rows in zip(*matches[number :: len(SEEDS)], strict=True)
        ]
        for response, matches in found.items()
        for number, seed in enumerate(SEEDS)
    }
    panel = Panel("hands", "expected", "hands", "earned per hand (utility)", "linear", "linear")
    return Report(
        ONLINE.title,
        [
            f"{who} of {GAME} responds; utilities per hand. The opponent is {OPPONENTS[0]}, and "
            f"after every {CHANGES_EVERY:,} hands another one of {', '.join(OPPONENTS[1:])}, in "
            f"turn. Nobody says so. Depth limit: {limit}. p = {P}; {len(SEEDS)} seeds, {HANDS:,} "
            f"hands each, a new response every {RESOLVE_EVERY} hands, observations lose half of "
            f"their weight in {HALF_LIFE:g} hands. The estimate starts from an equilibrium.",
            "Earned: what the responses earn in expectation, exactly, with a 95 % interval over "
            "seeds; won: what was won in the hands that were drawn. Seconds are of the wall clock, "
            f"for one response. After a change: without the first {CHANGES_EVERY:,} hands, which "
            "follow none.",
            "What a best response would earn: "
            + ", ".join(f"{value:.3g} against {name}" for name, value in best.items())
            + ".",
            study.describe([GAME]),
        ],
        {
            "All hands": Table.of(
                summary, earned="earned per hand", half_width="±", won="won per hand"
            ),
            "After a change": Table.of(phases),
        },
        [Picture("online", f"{ONLINE.title}\n{tree.game}", [panel], curves)],
        more={"found": found, "best": best},
        headline=_headline(summary),
    )


ONLINE = Experiment(
    "online",
    "ABD, CDRNR and others against an opponent who changes during the match",
    "earned per hand (utility)",
    "",
    _compute,
    _report,
    ("players",),
)
