"""The experiments of Milec et al. (2024, 2025) with responses to a model, by name."""

from experiments.responses.frontiers import BIASED_RPS, FRONTIER
from experiments.responses.gadget_sets import GADGET_SETS
from experiments.responses.late_mistakes import LATE_MISTAKES
from experiments.responses.local import LOCAL_RESPONSES
from experiments.responses.online import ONLINE
from experiments.responses.sampled_match import SAMPLED_MATCH
from experiments.responses.table import NETWORK, TABLE_1
from experiments.responses.times import TIMES
from experiments.study import by_name

EXPERIMENTS = by_name(
    TABLE_1,
    LOCAL_RESPONSES,
    FRONTIER,
    GADGET_SETS,
    BIASED_RPS,
    NETWORK,
    TIMES,
    LATE_MISTAKES,
    ONLINE,
    SAMPLED_MATCH,
)
