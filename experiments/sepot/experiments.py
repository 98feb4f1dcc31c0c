"""The experiments of Kubíček et al. (2023), by name."""

from experiments.sepot.ablation import ABLATION
from experiments.sepot.bounded import BOUNDED
from experiments.sepot.critic_errors import CRITIC_ERRORS
from experiments.sepot.curves import CFVS, CURVES
from experiments.sepot.distilled import DISTILLED_VALUES
from experiments.sepot.earned import EARNED
from experiments.sepot.earned_large import EARNED_LARGE
from experiments.sepot.exact_match import EXACT_MATCH
from experiments.sepot.isolated import ISOLATED
from experiments.sepot.late_rounds import LATE_ROUNDS
from experiments.sepot.rational_tiles import POSITION
from experiments.sepot.readings import LARGE_READINGS, SEARCH_READINGS
from experiments.sepot.readings_match import READINGS_MATCH
from experiments.sepot.refined import REFINED_GADGETS
from experiments.sepot.refined_resolving import REFINED_RESOLVING
from experiments.sepot.residuals import RESIDUALS
from experiments.sepot.safety import SAFETY
from experiments.sepot.short_critics import SHORT_CRITICS
from experiments.sepot.table_1 import TABLE_1
from experiments.study import by_name

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
