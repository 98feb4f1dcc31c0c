"""All variants of CFR by the names of their papers: what `dl.CFR(game, variant=...)` takes."""

from __future__ import annotations

import dataclasses

from spiel_dl.solvers import infoset_variants, variants
from spiel_dl.solvers.variants import AnyVariant

VARIANTS: dict[str, AnyVariant] = {
    "cfr": variants.CFR,
    "cfr+": variants.CFR_PLUS,
    "lcfr": variants.LINEAR_CFR,
    "dcfr": variants.DISCOUNTED_CFR,
    "dcfr+": variants.DISCOUNTED_CFR_PLUS,
    "pcfr+": variants.PREDICTIVE_CFR_PLUS,
    "pcfr+(5)": dataclasses.replace(variants.PREDICTIVE_CFR_PLUS, gamma=5.0),
    "pdcfr+": variants.PREDICTIVE_DISCOUNTED_CFR_PLUS,
    "hs-dcfr(30)": variants.scheduled_discounted_cfr(),
    "hs-pcfr+(30)": variants.scheduled_predictive_cfr_plus(),
    "hs-pdcfr+": variants.scheduled_predictive_discounted_cfr_plus(),
    "smooth-pcfr+": infoset_variants.smooth_predictive_cfr_plus(),
    "stable-pcfr+": infoset_variants.stable_predictive_cfr_plus(),
    "excfr+": infoset_variants.extragradient_cfr_plus(),
    "vad-cfr": infoset_variants.volatility_adaptive_cfr(),
    "greedy": infoset_variants.greedy_weights(),
    "reg-cfr": infoset_variants.regularized_cfr(),
}
"""Variants by the names of their papers; docs/algorithms/cfr.md tells where each is from. Schedules
end at 1000 iterations here."""


def variant_by_name(variant: str | AnyVariant) -> AnyVariant:
    """A variant, or the one of a name in `VARIANTS`.

    Raises:
      ValueError: if there is no variant of this name, or it is neither.
    """
    if isinstance(variant, (variants.Weighting, variants.FromFunctions)):
        return variant
    if variant not in VARIANTS:
        raise ValueError(
            f"variant={variant!r} must be one of {', '.join(VARIANTS)}, or a Weighting or Variant"
        )
    return VARIANTS[variant]
