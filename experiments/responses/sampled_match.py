"""ABD in a game too large to compile, by sampled matrices, against a weakened network.

The opponent plays a network, and uniformly from a round on. ABD knows this model, and trusts it
with some probability; it searches from that round on, one move ahead, from a sample of what the
opponent may have, and leaves are worth means of games that are played out by both portfolios. What
it gains is what it wins more than the network itself does, in pairs of games with the same luck.
"""

from __future__ import annotations

import math
from typing import Any

from experiments.responses.study import Study
from experiments.study import Experiment
from spiel_dl.play import registry
from spiel_dl.runs import head_to_head
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit

GAME = "battleships_5x5"
ROUNDS = 22
"""From this round on the opponent plays uniformly; three rounds are placements."""
PROBABILITY = 0.9
EFFORT = Effort(iterations=200)
SEARCH: dict[str, Any] = {
    "depth_limit": DepthLimit(moves=1),
    "budget": 16,
    "num_rollouts": 300,
    "effort": EFFORT,
}
_SEED = 0
_PAIRS_AT_ONCE = 25
Rows = list[dict[str, Any]]


def _compute(study: Study) -> Rows:
    name = study.settings.network
    model = f"weakened:{ROUNDS}:{name}"
    responders = {
        f"ABD, p = {PROBABILITY}": f"abd:{PROBABILITY}:{model}",
        "the network itself": f"weakened:99:{name}",
    }
    rows = []
    for said, responder in responders.items():
        row = head_to_head.measure(
            GAME,
            responder,
            model,
            num_games=study.settings.num_games,
            seed=_SEED,
            options=registry.taken(SEARCH, responder, model),
            pairs_at_once=_PAIRS_AT_ONCE,
            workspace=study.workspace.within(said.partition(",")[0].replace(" ", "_")),
            description=said,
        )
        rows.append({"who": said, **row})
    return rows


def _report(study: Study, found: Rows) -> Report:
    del study
    response, base = found
    gain = response["mean"] - base["mean"]
    width = math.hypot(response["half_width"], base["half_width"])
    told = [
        {
            "who": row["who"],
            **{name: row[name] for name in ("games", "mean", "half_width")},
            "searched": row["share_searched"],
            "seconds": row["seconds_per_move"],
            "slowest": row["slowest_move"],
        }
        for row in found
    ]
    wins = "more" if gain > width else "less" if gain < -width else "neither more nor less"
    return Report(
        SAMPLED_MATCH.title,
        [
            f"Game: `{response['game']}`. The opponent plays a network, and uniformly from round "
            f"{ROUNDS} on, of which the first three are placements. ABD knows that and trusts it "
            f"with p = {PROBABILITY}; it searches from that round on. Mean returns are of pairs of "
            "games with both seats and the same luck; their intervals are over pairs.",
            f"Each search looks {SEARCH['depth_limit']} ahead from at most {SEARCH['budget']} "
            f"histories of its infoset, plays out {SEARCH['num_rollouts']} games or more, and does "
            f"{EFFORT.iterations} iterations of CFR+. The player goes on by the network, "
            "the opponent by the model or the network. Times are of the wall clock, on a machine "
            "that did other things as well.",
            f"ABD wins {gain:+.3f} ± {width:.3f} a game against what the network wins: "
            f"{wins} than it, at 95 %, the two matches taken for independent.",
        ],
        {
            "Against the weakened network": Table.of(
                told,
                mean="mean return",
                half_width="±",
                searched="moves searched",
                seconds="seconds per move",
                slowest="slowest move (s)",
            )
        },
        more={"found": found, "gain": gain, "half_width": width},
        headline=f"ABD wins {gain:+.3f} ± {width:.3f} a game against what the network wins",
    )


SAMPLED_MATCH = Experiment(
    "sampled_match",
    "ABD with sampled matrices in Battleships 5x5, against a network that is weakened late",
    "mean return (utility)",
    "",
    _compute,
    _report,
    ("network", "num_games"),
)
