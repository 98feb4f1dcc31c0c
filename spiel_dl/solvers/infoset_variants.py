"""Variants of CFR that look at whole infosets, not at one action at a time.

smooth and stable PCFR+, extragradient CFR+: Farina, Grand-Clément, Kroer, Lee, Luo (2023), "Regret
Matching+: (In)Stability and Fast Convergence in Games", algorithms 2, 1 and 5. An infoset's regrets
keep a sum of at least 1; or become 1 each when all are at most 1; or there are two evaluations an
iteration, the second where the first one points to.

VAD-CFR: Li, Schultz, Hennes, Lanctot (2026), "Discovering Multiagent Learning Algorithms with Large
Language Models", listing 5. Discounts, prediction and averaging weight depend on how large an
infoset's newest regrets are, and averaging begins at iteration 501.

Reg-CFR: Liu, Ozdaglar, Yu, Zhang (2023), "The Power of Regularization in Solving Extensive-Form
Games", section 4, as in the authors' LiteEFG: optimistic mirror descent in a game with entropy,
whose temperature is halved now and then, so that the last iterate converges.

Greedy weights: Zhang, Lerer, Brown (2022), "Equilibrium Finding in Normal-Form Games Via Greedy
Regret Minimization". Each iterate is weighted such that the sum of squared positive mean regrets is
as small as it can be, in regrets as in the average.

The first three are defined for one decision; here every infoset does the same with counterfactual
regrets in units of utility, and the sums of 1 are in this unit. They average with weight t, which
their papers' theorems leave open. VAD-CFR's listing keeps one moving average in an object of which
it is not said whether there is one for each infoset; here there is.
"""

from __future__ import annotations

import dataclasses

from spiel_dl.solvers import infoset_kernels
from spiel_dl.solvers.variants import FromFunctions, Parts


@dataclasses.dataclass(frozen=True)
class InfosetVariant(FromFunctions):
    """A variant by functions of whole infosets, players or iterations.

    Attributes:
      name: of its paper, as `variant_names.VARIANTS` has it.
      functions: compiled with the loops, in the places of those of these names in `kernels`.
      numbers: what they depend on; the first one is the exponent of the average.
      memory: how many numbers they remember for each sequence.
      drops_negative: whether cumulative regrets are never negative.
      averages_plans: whether the average is one of realization plans.
      first_averaged: the first iteration that is averaged.
    """

    name: str
    functions: Parts
    numbers: tuple[float, ...]
    memory: int = 0
    drops_negative: bool = True
    averages_plans: bool = True
    first_averaged: int = 1

    def __str__(self) -> str:
        return self.name

    @property
    def parts(self) -> Parts:
        """What is compiled into the loops."""
        rates, average = infoset_kernels.rates_floor, infoset_kernels.average_power
        return self.functions._replace(rates=rates, average=average)


def smooth_predictive_cfr_plus(floor: float = 1.0, gamma: float = 1.0) -> InfosetVariant:
    """Predictive CFR+ whose regrets keep a sum of at least `floor` in every infoset."""
    _check_positive(floor=floor)
    functions = Parts(match_regrets=infoset_kernels.match_regrets_smooth)
    return InfosetVariant("smooth-pcfr+", functions, (gamma, floor))


def stable_predictive_cfr_plus(floor: float = 1.0, gamma: float = 1.0) -> InfosetVariant:
    """Predictive CFR+ that begins anew at `floor` where all regrets of an infoset are below it."""
    _check_positive(floor=floor)
    functions = Parts(match_regrets=infoset_kernels.match_regrets_stable)
    return InfosetVariant("stable-pcfr+", functions, (gamma, floor))


def extragradient_cfr_plus(
    floor: float = 1.0, stepsize: float = 1.0, gamma: float = 1.0
) -> InfosetVariant:
    """Extragradient CFR+: both players at once, and two evaluations an iteration."""
    _check_positive(floor=floor, stepsize=stepsize)
    functions = Parts(run_iterations=infoset_kernels.run_iterations_extragradient)
    return InfosetVariant("excfr+", functions, (gamma, floor, stepsize))


def volatility_adaptive_cfr() -> InfosetVariant:
    """VAD-CFR; it averages from iteration 501 on, so the average before is uniform."""
    functions = Parts(update_player=infoset_kernels.update_player_volatile)
    return InfosetVariant(
        "vad-cfr",
        functions,
        (2.0, 0.0),
        memory=1,
        drops_negative=False,
        averages_plans=False,
        first_averaged=infoset_kernels.VOLATILE_FIRST_AVERAGED,
    )


def regularized_cfr(
    kappa: float = 1.0, temperature: float = 0.1, halved_after: int = 1000, gamma: float = 1.0
) -> InfosetVariant:
    """Reg-CFR with the entropy of every infoset; its last iterate is what converges.

    Args:
      kappa: first squared inverse stepsize.
      temperature: in utility units per nat, at first.
      halved_after: after how many iterations the temperature is halved.
      gamma: exponent of the average.
    """
    _check_positive(kappa=kappa, temperature=temperature, halved_after=halved_after)
    functions = Parts(update_player=infoset_kernels.update_player_regularized)
    numbers = (gamma, kappa, temperature, float(halved_after))
    return InfosetVariant("reg-cfr", functions, numbers, memory=3)


def greedy_weights(floor: float = 2.0) -> InfosetVariant:
    """CFR by greedy weights; both players are updated at once.

    Args:
      floor: an iterate weighs at least as much as the mean of those before, divided by this.
    """
    _check_positive(floor=floor)
    functions = Parts(run_iterations=infoset_kernels.run_iterations_greedy)
    return InfosetVariant("greedy", functions, (0.0, floor), memory=1, drops_negative=False)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name}={value} must be positive")
