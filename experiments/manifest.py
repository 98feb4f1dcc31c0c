"""All papers and their rows: the one list behind `docs/scoreboard.md`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from experiments.dl_cfr import additional, checkpoints, isolated, left_out, ranges
from experiments.experiment import Row
from experiments.learners import exploitability, opponents, strength
from experiments.particle import architectures, fractions, linear_targets, public_states, self_play
from experiments.particle_search import matches
from experiments.responses import (
    biased_rps,
    counterexample,
    frontier,
    gadgets,
    late_mistakes,
    local,
    poker,
    table_1,
)
from experiments.sepot import curves, position, protocol, safety


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
      title: authors, year and subject.
      rows: its experiments with their settings.
      not_covered: experiments of the paper that no row repeats, and what they would take.
    """

    title: str
    rows: Sequence[Row]
    not_covered: Sequence[str] = ()


PAPERS: Sequence[Paper] = (
    Paper(
        "Kovařík et al. (2021), value functions for depth-limited solving",
        (
            *checkpoints.ROWS,
            *isolated.ROWS,
            *left_out.ROWS,
            *ranges.ROWS,
            *additional.ROWS,
        ),
        (
            "trunk exploitability of networks with one public state left out of training (below "
            "0.1 in Oshi-Zumo and Leduc): one network for each state, 40 hours",
            "without a criterion: trunks as good as CFR-D's and CFR+'s, with little loss left to "
            "gain long before (Main Experiments); one loss trained on, another validated "
            "(Additional Experiments); sizes of games (Table 2), which are the paper's",
        ),
    ),
    Paper(
        "Šustr et al. (2021), particle value functions",
        (*linear_targets.ROWS, *architectures.ROWS, *fractions.ROWS, *public_states.ROWS),
        (
            "the epoch from which the particle network's trunk is as good as the positional one's "
            "(11 and 134, Figure 3): the rows of ten seeds will show it",
            "without a criterion: losses that jump (Figure 2), and performance that degrades "
            "gracefully with fewer histories (Figure 4)",
        ),
    ),
    Paper(
        "Milec et al. (2024), continual depth-limited responses",
        (
            *table_1.ROWS,
            *gadgets.ROWS,
            *frontier.ROWS,
            *local.ROWS,
            *biased_rps.ROWS,
            *counterexample.ROWS,
            *late_mistakes.ROWS,
            *poker.ROWS,
        ),
        (
            "Table 2, SlumBot: its strategy is not public; our row has an endgame instead",
            "CDRNR with values of 500 iterations of CFR (Figure 5): every subgame is solved in "
            "every iteration, 10 hours",
            "the exploiting strategy of Figure 15",
            "Figures 11 to 14 in Goofspiel, with other sizes of steps (appendix G) and SES's own "
            "partition",
            "LBR and CDBR in Goofspiel, and against more than 34 iterations (Figures 6 and 7)",
            "without a criterion: CDRNR mostly below RNR and better than SES, SES often worse than "
            "the best Nash (section 8); ABD gains most against random opponents (2025)",
        ),
    ),
    Paper(
        "Kubíček et al. (2023), look-ahead search on top of policy networks",
        (*protocol.ROWS, *curves.ROWS, *position.ROWS, *safety.ROWS),
        (
            "search that still improves after more training (section 5.2): networks of 20,000 "
            "steps alone; searches of 3 rounds above one of 100,000 were worse than it in an "
            "[earlier report](../results/sepot/goofspiel_5/trained_rnad/ablation.md)",
            "without a criterion: more stable training with search (Figure 3a); larger searches "
            "win more, and most in Battleships 5x5 (section 5.1)",
        ),
    ),
    Paper(
        "R-NaD, MMD and PPO with their defaults",
        (*strength.ROWS, *opponents.ROWS, *exploitability.ROWS),
    ),
    Paper("Search where public states are too large to list", (*self_play.ROWS, *matches.ROWS)),
)
MANIFEST: Sequence[Row] = tuple(row for paper in PAPERS for row in paper.rows)
"""All rows."""
