"""What variants do that look at whole infosets: compiled functions in the places of `kernels`'.

Each function here has the name and the arguments of the one in `kernels` that it replaces, and a
suffix. `solvers.infoset_variants` says which papers they are from.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from spiel_dl.solvers.kernels import counterfactual_values, realize

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def project(x, first, end, floor):
    """Moves x[first:end] to the nearest point without negative entries and with a sum >= floor."""
    total = 0.0
    for s in range(first, end):
        total += max(x[s], 0.0)
    if total >= floor:
        for s in range(first, end):
            x[s] = max(x[s], 0.0)
        return
    # Onto the simplex of this size: a shift is found by leaving out, again and again, what it would
    # make negative (Michelot 1986).
    shift, count = -np.inf, -1
    while True:
        total, left = 0.0, 0
        for s in range(first, end):
            if x[s] > shift:
                total += x[s]
                left += 1
        # By rounding, one that was left out may come back: then it is at the shift itself.
        if 0 < count <= left:
            break
        shift, count = (total - floor) / left, left
    for s in range(first, end):
        x[s] = max(x[s] - shift, 0.0)


@_jit
def normalize(weights, first, end):
    """Makes a distribution of weights; the uniform one if all are zero."""
    total = 0.0
    for s in range(first, end):
        total += weights[s]
    for s in range(first, end):
        weights[s] = weights[s] / total if total > 0.0 else 1.0 / (end - first)


@_jit
def _begin_at(regret, first, end, floor):
    """Regrets begin at a sum of `floor`, not at zero."""
    for s in range(first, end):
        if regret[s] != 0.0:
            return
    for s in range(first, end):
        regret[s] = floor / (end - first)


@_jit
def rates_floor(iteration, numbers):
    """The smallest sum of regrets, and nothing that changes."""
    return numbers[1], 0.0


@_jit
def average_power(iteration, numbers):
    """The weight of an iterate: a power of the iteration."""
    return iteration ** numbers[0]


@_jit
def match_regrets_smooth(regret, strategy, first, end, cfv, value, now, tolerance):
    """Predictive regret matching+ whose regrets keep a sum of at least `now[0]`."""
    floor = now[0]
    _begin_at(regret, first, end, floor)
    for s in range(first, end):
        regret[s] += cfv[s] - value
    project(regret, first, end, floor)
    for s in range(first, end):
        strategy[s] = regret[s] + (cfv[s] - value)
    project(strategy, first, end, floor)
    normalize(strategy, first, end)


@_jit
def match_regrets_stable(regret, strategy, first, end, cfv, value, now, tolerance):
    """Predictive regret matching+ that begins anew when all regrets are at most `now[0]`."""
    floor, predicts = now[0], False
    _begin_at(regret, first, end, (end - first) * floor)
    for s in range(first, end):
        regret[s] = max(regret[s] + (cfv[s] - value), 0.0)
        predicts = predicts or regret[s] > floor
    for s in range(first, end):
        if not predicts:
            regret[s] = floor
        strategy[s] = max(regret[s] + (cfv[s] - value), 0.0) if predicts else floor
    normalize(strategy, first, end)


@_jit
def _evaluate(treeplex, strategy, cfv, i):
    """Where an infoset's sequences begin and end, and its value, which is added to its parent's."""
    first = treeplex.first_sequence[i]
    end = first + treeplex.num_actions[i]
    value = 0.0
    for s in range(first, end):
        value += strategy[s] * cfv[s]
    cfv[treeplex.parent_sequence[i]] += value
    return first, end, value


@_jit
def _half_step(treeplex, learner, cfv, stepsize, floor, keeps):
    """Regret matching+ from the regrets of before; they are kept, or a strategy made of them."""
    regret, strategy = learner.regret, learner.strategy
    for i in range(treeplex.parent_sequence.size - 1, -1, -1):
        first, end, value = _evaluate(treeplex, strategy, cfv, i)
        if learner.is_fixed[i]:
            continue
        _begin_at(regret, first, end, floor)
        for s in range(first, end):
            strategy[s] = regret[s] + stepsize * (cfv[s] - value)
        project(strategy, first, end, floor)
        if keeps:
            for s in range(first, end):
                regret[s] = strategy[s]
        normalize(strategy, first, end)


@_jit
def run_iterations_extragradient(
    game, learned, iterations, numbers, alternating, tolerance, cfv
):  # fmt: skip
    """Two evaluations an iteration: where the regrets point to, and from there the step itself."""
    (treeplex_0, treeplex_1), (payoffs_0, payoffs_1), (constants_0, constants_1) = game
    learner_0, learner_1 = learned
    cfv_0, cfv_1 = cfv
    gamma, floor, stepsize = numbers
    for iteration in range(iterations[0], iterations[1] + 1):
        for keeps in (False, True):
            counterfactual_values(payoffs_0, constants_0, learner_1.realization, cfv_0)
            counterfactual_values(payoffs_1, constants_1, learner_0.realization, cfv_1)
            if keeps:
                weight = float(iteration) ** gamma
                for learner in (learner_0, learner_1):
                    for s in range(learner.realization.size):
                        learner.average[s] += weight * learner.realization[s]
            _half_step(treeplex_0, learner_0, cfv_0, stepsize, floor, keeps)
            _half_step(treeplex_1, learner_1, cfv_1, stepsize, floor, keeps)
            realize(treeplex_0, learner_0)
            realize(treeplex_1, learner_1)


@_jit
def _newest_regrets(treeplex, learner, cfv):
    """An iteration's own regrets, into the learner's memory; zeros where it is held fixed."""
    newest, strategy = learner.memory, learner.strategy
    for i in range(treeplex.parent_sequence.size - 1, -1, -1):
        first, end, value = _evaluate(treeplex, strategy, cfv, i)
        for s in range(first, end):
            newest[s] = 0.0 if learner.is_fixed[i] else cfv[s] - value


@_jit
def _slopes(learner, share):
    """Half of the first and second derivative, by the share, of what `greedy_share` makes least."""
    slope, curvature = 0.0, 0.0
    for s in range(learner.regret.size):
        change = learner.memory[s] - learner.regret[s]
        mixed = learner.regret[s] + share * change
        if mixed > 0.0:
            slope += mixed * change
            curvature += change * change
    return slope, curvature


@_jit
def greedy_share(learner_0, learner_1):
    """The share of the newest regrets, from 0 to 1, at which mean regrets are least.

    What is least is the sum over both players and all infosets of squared positive regrets, which
    is convex in the share: Newton's method within a bracket finds it.
    """
    # Nothing is known at 0 before it was looked at.
    low, high, share = -1.0, 1.0, 1.0
    for _ in range(100):
        slope_0, curvature_0 = _slopes(learner_0, share)
        slope_1, curvature_1 = _slopes(learner_1, share)
        slope, curvature = slope_0 + slope_1, curvature_0 + curvature_1
        if slope > 0.0:
            high = share
        else:
            low = share
        if high == low or slope == 0.0:
            break
        step = slope / curvature if curvature > 0.0 else 0.0
        following = share - step
        if following < 0.0 or not low < following < high:
            following = 0.0 if low < 0.0 else 0.5 * (low + high)
        if abs(following - share) <= 1e-15:
            break
        share = following
    return share


@_jit
def _mix_in(treeplex, learner, share, iteration):
    """Mean regrets and plans with a share of the newest, and the next strategy."""
    regret, strategy = learner.regret, learner.strategy
    kept = (1.0 - share) * iteration / max(iteration - 1.0, 1.0)
    for s in range(regret.size):
        regret[s] += share * (learner.memory[s] - regret[s])
        # The average's weights sum to the number of iterations.
        learner.average[s] = kept * learner.average[s] + share * iteration * learner.realization[s]
    for i in range(treeplex.parent_sequence.size):
        if learner.is_fixed[i]:
            continue
        first = treeplex.first_sequence[i]
        end = first + treeplex.num_actions[i]
        for s in range(first, end):
            strategy[s] = max(regret[s], 0.0)
        normalize(strategy, first, end)
    realize(treeplex, learner)


@_jit
def run_iterations_greedy(
    game, learned, iterations, numbers, alternating, tolerance, cfv
):  # fmt: skip
    """Greedy weights: `numbers` are the exponent 0 of the average, and the floor's divisor."""
    (treeplex_0, treeplex_1), (payoffs_0, payoffs_1), (constants_0, constants_1) = game
    learner_0, learner_1 = learned
    cfv_0, cfv_1 = cfv
    for iteration in range(iterations[0], iterations[1] + 1):
        counterfactual_values(payoffs_0, constants_0, learner_1.realization, cfv_0)
        counterfactual_values(payoffs_1, constants_1, learner_0.realization, cfv_1)
        _newest_regrets(treeplex_0, learner_0, cfv_0)
        _newest_regrets(treeplex_1, learner_1, cfv_1)
        t, share = float(iteration), 1.0
        if iteration > 1:
            share = max(greedy_share(learner_0, learner_1), 1.0 / (numbers[1] * t + 1.0))
            # Where the newest regrets are 0, those before decide; the authors keep as much.
            share = min(share, 1.0 - 1e-6)
        _mix_in(treeplex_0, learner_0, share, t)
        _mix_in(treeplex_1, learner_1, share, t)


VOLATILE_FIRST_AVERAGED = 501
"""The iteration with which VAD-CFR's average begins."""


@_jit
def update_player_volatile(treeplex, learner, iteration, numbers, tolerance, cfv):
    """An update of VAD-CFR: what is remembered is each infoset's mean size of regrets."""
    regret, strategy, memory = learner.regret, learner.strategy, learner.memory
    realization, mean = learner.realization, learner.average
    t = float(iteration)
    optimism = 1.0 / (1.0 + (t - 1.0) / 100.0)
    for s in range(treeplex.num_root_sequences):
        mean[s] += realization[s]
    for i in range(treeplex.parent_sequence.size - 1, -1, -1):
        first, end, value = _evaluate(treeplex, strategy, cfv, i)
        size = 0.0
        for s in range(first, end):
            size = max(size, abs(cfv[s] - value))
        if iteration >= VOLATILE_FIRST_AVERAGED:
            gamma = min(4.0, 2.0 + 1.5 * min(1.0, size / 2.0))
            weight = t**gamma / (1.0 + size**1.5) * math.sqrt(1.0 + size / 2.0)
            for s in range(first, end):
                mean[s] += weight * realization[s]
        if learner.is_fixed[i]:
            continue
        memory[first] = size if iteration == 1 else 0.1 * size + 0.9 * memory[first]
        volatility = min(1.0, memory[first] / 2.0)
        alpha = max(0.1, 1.5 - 0.5 * volatility)
        beta = min(alpha, -0.1 - 0.5 * volatility)
        positive, negative = t**alpha / (t**alpha + 1.0), t**beta / (t**beta + 1.0)
        for s in range(first, end):
            newest = cfv[s] - value
            newest *= 1.1 if newest > 0.0 else 1.0
            regret[s] *= positive if regret[s] >= 0.0 else negative
            regret[s] = max(-20.0, regret[s] + newest)
            projected = regret[s] * (positive if regret[s] >= 0.0 else negative)
            projected += optimism * (1.0 - 0.5 * volatility) * newest
            strategy[s] = projected**1.5 if projected > tolerance else 0.0
        normalize(strategy, first, end)
    realize(treeplex, learner)


@_jit
def update_player_regularized(treeplex, learner, iteration, numbers, tolerance, cfv):
    """An update of Reg-CFR: optimistic mirror descent with an entropy, at every infoset.

    `numbers`: the exponent of the average, first squared inverse stepsize, temperature, and after
    how many iterations it is halved. What is remembered of a sequence: the logarithm of the
    stabilized strategy, and the values of before; of an infoset: its squared inverse stepsize.
    """
    gamma, kappa, temperature, halved_after = numbers
    tau = temperature * 0.5 ** float(iteration // np.int64(halved_after))
    size = learner.strategy.size
    strategy = learner.strategy
    log_stable, before = learner.memory[:size], learner.memory[size : 2 * size]
    inverse = learner.memory[2 * size :]
    weight = float(iteration) ** gamma
    for s in range(size):
        learner.average[s] += weight * learner.realization[s]
    for i in range(treeplex.parent_sequence.size - 1, -1, -1):
        first = treeplex.first_sequence[i]
        end = first + treeplex.num_actions[i]
        if not learner.is_fixed[i]:
            uniform = -math.log(float(end - first))
            if inverse[first] == 0.0:
                inverse[first] = kappa
                for s in range(first, end):
                    log_stable[s] = uniform
            mix = inverse[first]
            for s in range(first, end):
                inverse[first] += (cfv[s] - before[s]) ** 2
                before[s] = cfv[s]
            mix, stepsize = math.sqrt(mix / inverse[first]), 1.0 / math.sqrt(inverse[first])
            for s in range(first, end):
                step = stepsize * (cfv[s] - tau * (log_stable[s] + 1.0))
                log_stable[s] = mix * log_stable[s] + (1.0 - mix) * uniform + step
            _normalize_logarithms(log_stable, first, end)
            for s in range(first, end):
                strategy[s] = log_stable[s] + stepsize * (cfv[s] - tau * (log_stable[s] + 1.0))
            _normalize_logarithms(strategy, first, end)
        value = 0.0
        for s in range(first, end):
            if learner.is_fixed[i]:
                value += strategy[s] * cfv[s]
            else:
                value += math.exp(strategy[s]) * (cfv[s] - tau * strategy[s])
                strategy[s] = math.exp(strategy[s])
        cfv[treeplex.parent_sequence[i]] += value
    realize(treeplex, learner)


@_jit
def _normalize_logarithms(logits, first, end):
    largest = -np.inf
    for s in range(first, end):
        largest = max(largest, logits[s])
    total = 0.0
    for s in range(first, end):
        total += math.exp(logits[s] - largest)
    for s in range(first, end):
        logits[s] -= largest + math.log(total)
