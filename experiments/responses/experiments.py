"""The experiments of Milec et al. (2024, 2025) with responses to a model, by name."""

from experiments.responses.frontiers import BIASED_RPS, FRONTIER
from experiments.responses.gadget_sets import GADGET_SETS
from experiments.responses.late_mistakes import LATE_MISTAKES
from experiments.responses.local import LOCAL_RESPONSES
from experiments.responses.table import TABLE_1
from experiments.study import by_name

EXPERIMENTS = by_name(TABLE_1, LOCAL_RESPONSES, FRONTIER, GADGET_SETS, BIASED_RPS, LATE_MISTAKES)
