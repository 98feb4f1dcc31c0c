"""Variants of CFR by their numbers: discounts of regrets, averaging weights, predictions.

Variants differ only in the numbers of their `Weighting`, on which `accumulate`, `predicted_regret`
and `averaging_weight` of `solvers.kernels` depend.
"""

from __future__ import annotations

import dataclasses
import math

from spiel_dl.solvers import kernels
from spiel_dl.tree.counts import is_number

# The weight of iteration t is about t^gamma: below the largest float for ten million iterations.
_LARGEST_GAMMA = 40.0


@dataclasses.dataclass(frozen=True)
class Weighting:
    """A variant of CFR.

    After the update of iteration t, positive cumulative regrets are multiplied by
    t^alpha / (t^alpha + offset) and negative ones by t^beta / (t^beta + offset); iterates enter the
    average with weight t^gamma (Brown and Sandholm 2019, "Solving Imperfect-Information Games via
    Discounted Regret Minimization", section 4). An exponent of inf means a factor of 1, one of
    -inf a factor of 0.

    The exponent of the average may change in equal steps up to a horizon, and stay there (Zhang,
    McAleer, Sandholm 2024, "Faster Game Solving via Hyperparameter Schedules"). Then the average is
    multiplied by ((t - 1) / t)^gamma_t before iterate t is added, as there.

    Attributes:
      alpha: exponent of the discount of positive cumulative regrets.
      beta: exponent of the discount of negative cumulative regrets.
      gamma: exponent of the averaging weight.
      predictive: regret matching adds the newest regrets once more, as a prediction of the next
        ones (Farina, Kroer, Sandholm 2021, "Faster Game Solving via Predictive Blackwell
        Approachability", section 5; here the prediction is the newest regret itself, so the values
        of what lies behind an infoset are those of the strategies that were played there).
      offset: see above; positive.
      gamma_change: the total change of gamma up to the horizon.
      horizon: the iteration from which on gamma is constant.
    """

    alpha: float = math.inf
    beta: float = math.inf
    gamma: float = 0.0
    predictive: bool = False
    offset: float = 1.0
    gamma_change: float = 0.0
    horizon: float = math.inf

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "predictive" and not is_number(value):
                raise ValueError(f"{name}={value!r} must be a number")
        finite = (self.gamma, self.offset, self.gamma_change)
        if math.isnan(self.alpha) or math.isnan(self.beta) or not all(map(math.isfinite, finite)):
            raise ValueError(
                f"{self}: alpha and beta must be numbers, all others but the horizon finite ones"
            )
        if self.gamma + max(self.gamma_change, 0.0) > _LARGEST_GAMMA:
            raise ValueError(
                f"gamma={self.gamma} and gamma_change={self.gamma_change} must be at most "
                f"{_LARGEST_GAMMA} together: weights of late iterations would be infinite"
            )
        if not self.offset > 0:
            raise ValueError(f"offset={self.offset} must be positive")
        if not self.horizon >= 1 or (self.gamma_change and math.isinf(self.horizon)):
            raise ValueError(
                f"horizon={self.horizon} must be at least 1, and finite if gamma changes"
            )

    @property
    def numbers(self) -> tuple[float, ...]:
        """The fields as floats, in their order, for the compiled loops."""
        return tuple(map(float, dataclasses.astuple(self)))

    def weight(self, iteration: int) -> float:
        """The weight of an iterate (counted from 1) in the average."""
        return float(kernels.averaging_weight(float(iteration), self.numbers))


CFR = Weighting()
CFR_PLUS = Weighting(beta=-math.inf, gamma=1.0)
LINEAR_CFR = Weighting(alpha=1.0, beta=1.0, gamma=1.0)
DISCOUNTED_CFR = Weighting(alpha=1.5, beta=0.0, gamma=2.0)
DISCOUNTED_CFR_PLUS = Weighting(alpha=1.5, beta=-math.inf, gamma=4.0, offset=1.5)
PREDICTIVE_CFR_PLUS = Weighting(beta=-math.inf, gamma=2.0, predictive=True)
PREDICTIVE_DISCOUNTED_CFR_PLUS = Weighting(2.3, -math.inf, 5.0, predictive=True)
SCHEDULED_PREDICTIVE_CFR_PLUS = dataclasses.replace(
    PREDICTIVE_CFR_PLUS, gamma=30.0, gamma_change=-5.0, horizon=1000.0
)
"""HS-PCFR+(30) of Zhang, McAleer, Sandholm (2024), section 3, for 1,000 iterations."""

VARIANTS: dict[str, Weighting] = {
    "cfr": CFR,
    "cfr+": CFR_PLUS,
    "lcfr": LINEAR_CFR,
    "dcfr": DISCOUNTED_CFR,
    "dcfr+": DISCOUNTED_CFR_PLUS,
    "pcfr+": PREDICTIVE_CFR_PLUS,
    "pcfr+(5)": dataclasses.replace(PREDICTIVE_CFR_PLUS, gamma=5.0),
    "pdcfr+": PREDICTIVE_DISCOUNTED_CFR_PLUS,
    "hs-pcfr+(30)": SCHEDULED_PREDICTIVE_CFR_PLUS,
}
"""Variants by the names of their papers; docs/algorithms/cfr.md has their sources."""


def variant_by_name(variant: str | Weighting) -> Weighting:
    """The variant of a name in `VARIANTS`; a `Weighting` is returned as it is.

    Raises:
      ValueError: if there is no variant of this name, or the argument is neither.
    """
    if isinstance(variant, Weighting):
        return variant
    if not isinstance(variant, str) or variant not in VARIANTS:
        raise ValueError(
            f"variant={variant!r} must be one of {', '.join(VARIANTS)}, or a Weighting"
        )
    return VARIANTS[variant]
