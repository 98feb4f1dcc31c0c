"""All papers and their rows: the one list behind `docs/scoreboard.md`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from experiments.dl_cfr import amount, checkpoints, left_out, losses, on_policy, ranges, size
from experiments.experiment import Row
from experiments.learners import strength
from experiments.particle import architectures, fractions, linear_targets, public_states
from experiments.particle_search import curves as particle_search_curves
from experiments.policy_gradients import large_games
from experiments.responses import (
    biased_rps,
    frontier,
    gadgets,
    late_mistakes,
    local,
    table_1,
)
from experiments.sepot import curves, distilled, position, safety
from experiments.sepot import table_1 as sepot_table_1


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
      title: who wrote about what.
      rows: its experiments, as they are to be run.
      not_covered: what the paper has and the rows have not, and why.
    """

    title: str
    rows: Sequence[Row]
    not_covered: Sequence[str] = ()


PAPERS: Sequence[Paper] = (
    Paper(
        "Kovařík et al. (2021), value functions for depth-limited solving",
        (
            *checkpoints.ROWS,
            *left_out.ROWS,
            *ranges.ROWS,
            *losses.ROWS,
            *amount.ROWS,
            *size.ROWS,
            *on_policy.ROWS,
        ),
        (
            "trunk exploitability with public states left out of training, and losses, amounts of "
            "data and sizes of networks in Oshi-Zumo and Leduc, to save time",
        ),
    ),
    Paper(
        "Šustr et al. (2021), particle value functions",
        (*architectures.ROWS, *fractions.ROWS, *linear_targets.ROWS, *public_states.ROWS),
        (
            "after how many epochs the particle network's trunk is as good as the positional one's "
            "(11 and 134, Figure 3) is shown in the pictures; judged is which is better in the "
            "first tenth of the training",
        ),
    ),
    Paper(
        "Milec et al. (2024), continual depth-limited responses",
        (
            *table_1.ROWS,
            *local.ROWS,
            *gadgets.ROWS,
            *frontier.ROWS,
            *biased_rps.ROWS,
            *late_mistakes.ROWS,
        ),
        (
            "Table 2, SlumBot: it plays no-limit hold'em, which is out of reach",
            "CDRNR with networks as value functions, which the paper does not have either, and "
            "sliding CDRNR outside Leduc (Figures 11 to 14), to save time",
            "Figures 9 and 10, CDRNR with the values of 500 iterations of CFR (Figure 5) and the "
            "exploiting strategy of Figure 15, to save time",
            "that CDRNR is better than the mix of CDBR with an equilibrium, and gains over half of "
            "what there is at almost no exploitability: all points are in the frontiers, and "
            "neither is judged",
        ),
    ),
    Paper(
        "Kubíček et al. (2023), look-ahead search on top of policy networks",
        (
            *safety.ROWS,
            *curves.ROWS,
            *distilled.ROWS,
            *position.ROWS,
            *sepot_table_1.ROWS,
        ),
        (
            "Table 1 with 25,000 histories, to save time",
            "that training with search is more stable (Figure 3a): the pictures show spreads over "
            "seeds, and nothing is judged",
        ),
    ),
    Paper("Rudolph et al. (2025), policy gradients in large games", large_games.ROWS),
    Paper("R-NaD, MMD and PPO with their defaults", strength.ROWS),
    Paper("search where public states are too large to list", particle_search_curves.ROWS),
)
MANIFEST: Sequence[Row] = tuple(row for paper in PAPERS for row in paper.rows)
"""All rows."""
