"""The experiments of Milec et al. (2024, 2025) with responses to a model, by name."""

from papers.responses.frontiers import BIASED_RPS, FRONTIER
from papers.responses.gadget_sets import GADGET_SETS
from papers.responses.late_mistakes import LATE_MISTAKES
from papers.responses.local import LOCAL_RESPONSES
from papers.responses.online import ONLINE
from papers.responses.sampled_match import SAMPLED_MATCH
from papers.responses.table import NETWORK, TABLE_1
from papers.responses.times import TIMES
from papers.study import by_name

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
