"""The experiments of Kubíček et al. (2023), by name."""

from papers.sepot.ablation import ABLATION
from papers.sepot.bounded import BOUNDED
from papers.sepot.critic_errors import CRITIC_ERRORS
from papers.sepot.curves import CFVS, CURVES
from papers.sepot.distilled import DISTILLED_VALUES
from papers.sepot.earned import EARNED
from papers.sepot.earned_large import EARNED_LARGE
from papers.sepot.exact_match import EXACT_MATCH
from papers.sepot.isolated import ISOLATED
from papers.sepot.late_rounds import LATE_ROUNDS
from papers.sepot.rational_tiles import POSITION
from papers.sepot.readings import LARGE_READINGS, SEARCH_READINGS
from papers.sepot.readings_match import READINGS_MATCH
from papers.sepot.refined import REFINED_GADGETS
from papers.sepot.refined_resolving import REFINED_RESOLVING
from papers.sepot.residuals import RESIDUALS
from papers.sepot.safety import SAFETY
from papers.sepot.short_critics import SHORT_CRITICS
from papers.sepot.table_1 import TABLE_1
from papers.study import by_name

EXPERIMENTS = by_name(
    ABLATION,
    CURVES,
    CFVS,
    SAFETY,
    ISOLATED,
    CRITIC_ERRORS,
    EARNED,
    RESIDUALS,
    SHORT_CRITICS,
    DISTILLED_VALUES,
    POSITION,
    TABLE_1,
    EXACT_MATCH,
    EARNED_LARGE,
    SEARCH_READINGS,
    LARGE_READINGS,
    BOUNDED,
    READINGS_MATCH,
    LATE_ROUNDS,
    REFINED_GADGETS,
    REFINED_RESOLVING,
)
