"""Gain against exploitability in biased rock, paper, scissors: Figure 15 of Milec et al. (2024)."""

from __future__ import annotations

from experiments.experiment import Experiment, Row
from experiments.responses import frontier, sweeps
from experiments.responses.frontier import METRIC, POINTS, SAME, Study
from experiments.responses.sweeps import Sweep
from experiments.verdicts import Judgement, Tables, counted, grouped, verdict
from spiel_dl.algorithms.cdrnr import GADGETS
from spiel_dl.tree.depth_limit import DepthLimit

_PAPERS_GADGETS = ("full_trunk", "resolving", "max_margin", "reach_max_margin")
# The claim's "nothing", as a part of the full gadget's largest gain.
_NOTHING = 0.01
# The claim's "maximum", in percent of a best response's gain.
_MAXIMUM = 99.0

LIMIT = DepthLimit(moves=2)
SETTINGS = frontier.Settings(
    ("biased_rps",), ("random:0", "random:1"), (0,), sweep=Sweep(LIMIT, gadgets=GADGETS)
)


def _judge(tables: Tables) -> Judgement:
    """Judges that SES gains 0, all gadgets the maximum, and none more than the full one."""
    cases: dict[str, list[bool]] = {
        "SES gains nothing": [],
        "gadgets gain the maximum": [],
        "full gadget is the best": [],
    }
    for rows in grouped(tables[POINTS], "model").values():
        points = grouped(rows, "method")
        own = sweeps.cdrnr_name(_PAPERS_GADGETS[0])
        if own not in points:
            return Judgement("", f"{own} was left out")
        largest = max(row["gain"] for row in points[own])
        papers = [sweeps.cdrnr_name(gadget) for gadget in _PAPERS_GADGETS]
        others = [name for name in papers if name in points and name != own]
        parts = (
            all(row["gain"] <= _NOTHING * largest for row in points[sweeps.SES]),
            all(max(row["percent"] for row in points[name]) >= _MAXIMUM for name in (own, *others)),
            all(
                sweeps.gain_at(points[own], row["exploitability"] + SAME) >= row["gain"] - SAME
                for name in others
                for row in points[name]
            ),
        )
        for held, part in zip(cases.values(), parts, strict=True):
            held.append(part)
    judged, text = counted(cases)
    return Judgement(verdict(judged), text)


BIASED_RPS = Experiment(
    name="biased_rps",
    title="Gain and exploitability in two rounds of biased rock, paper, scissors",
    metric=METRIC,
    claim=(
        "SES gains nothing, all gadgets can gain the maximum, and the full one is the best, before "
        "the others (Figure 15); held is, of the first two, at most a hundredth of what the full "
        f"gadget gains and at least {_MAXIMUM:g} % of what a best response does, and of the last "
        "that it gains as much as the others at the exploitability of each of their points."
    ),
    study=Study,
    compute=lambda study: frontier.measure_all("biased_rps", study),
    render=lambda study, found: frontier.sweep_report(study, "biased_rps", found),
    judge=_judge,
)
ROWS = (
    Row(
        BIASED_RPS,
        "responses",
        SETTINGS,
        "Figure 15",
        2,
        paper="SES gains nothing, gadgets the maximum, the full one at least cost",
        cause="reading: the opponent is not named; ours errs in ways this depth limit does not see",
    ),
)
