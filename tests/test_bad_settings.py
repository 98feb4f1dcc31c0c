"""Settings that cannot be are told by name and value, with what they must be."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

import spiel_dl as dl
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.abd import ABDPolicy
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlayConfig
from spiel_dl.algorithms.ses import safe_exploitation_search
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.learning.config import (
    CriticConfig,
    MMDConfig,
    PolicyGradientConfig,
    PPOConfig,
    RNaDConfig,
)
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.play.bots import policy_bot
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.sepot_config import ParticleConfig, SearchConfig
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree import cut
from spiel_dl.value_functions.config import OnPolicyConfig, TrainingConfig
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.value_functions.datasets import KUHN as KUHN_DATA

KUHN = pyspiel.load_game("kuhn_poker")
UNIFORM = openspiel_policy.UniformRandomPolicy(KUHN)
LIMIT = dl.DepthLimit(moves=1)


def kuhn_data(**wrong: Any) -> Any:
    return dataclasses.replace(KUHN_DATA, **wrong)


TRUNK = cut(dl.compile_game(KUHN), LIMIT)
LOSSES_BY_CFR = partial(trunk_losses, TRUNK, ArrayPolicy.uniform(TRUNK.tree), method="cfr")
RESOLVING = partial(dl.ContinualResolving, KUHN, dl.ExactValue(), LIMIT)
CDBR = partial(dl.CDBR, KUHN, 0, UNIFORM, LIMIT, value_function=dl.ExactValue())
CDRNR = partial(dl.CDRNR, KUHN, 0, UNIFORM, LIMIT, p=0.5, value_function=dl.ExactValue())
SES = partial(safe_exploitation_search, KUHN, 0, UNIFORM, LIMIT)
OF_A_PLAYER = (
    partial(dl.best_response_value, KUHN, UNIFORM),
    partial(dl.best_response_policy, KUHN, UNIFORM),
    partial(exploitability.player_exploitability, KUHN, UNIFORM),
    partial(exploitability.gain, KUHN, UNIFORM, UNIFORM),
    partial(exploitability.game_value, KUHN),
    partial(policy_bot, UNIFORM),
)
SEARCHES = (
    partial(dl.CDBR, KUHN, 0, UNIFORM, LIMIT),
    partial(dl.CDRNR, KUHN, 0, UNIFORM, LIMIT, p=0.5),
    partial(dl.CDRNR, KUHN, 0, UNIFORM, LIMIT, p=0.5, gadget="resolving"),
    partial(dl.RNR, KUHN, 0, UNIFORM, p=0.5),
    partial(ABDPolicy, KUHN, 0, UNIFORM, LIMIT, p=0.5),
    RESOLVING,
    partial(dl.ParticleSearch, "python_leduc", None, LIMIT),
    SearchConfig,
)
# Whose setting, its name, values that it must not have, and what is told of them.
SETTINGS: list[tuple[Callable[..., Any], str, tuple[Any, ...], str]] = [
    (PPOConfig, "clip", (0.0, -1.0, math.inf, math.nan), "must be positive and finite"),
    (MMDConfig, "stepsize", (0.0, math.nan), "must be positive and finite"),
    (MMDConfig, "magnet_period", (0,), "must be positive"),
    (PolicyGradientConfig, "gae_lambda", (1.5,), ""),
    (RNaDConfig, "batch_size", (0,), "must be positive"),
    (RNaDConfig, "learning_rate", (math.nan,), "must be above 0 and at most 1"),
    (RNaDConfig, "eta", (-1.0,), "must be finite and not negative"),
    (RNaDConfig, "target_averaging", (0.0,), "must be above 0"),
    (RNaDConfig, "adam_beta1", (1.0,), "must be at least 0 and below 1"),
    (RNaDConfig, "hidden_sizes", ((),), "must be one layer or more"),
    (CriticConfig, "c_bar", (0.0,), "must be positive"),
    (MirrorDescentConfig, "stepsize", (0, math.inf, math.nan), ""),
    (MirrorDescentConfig, "num_rollouts", (0,), ""),
    (SearchConfig, "given_cfvs", ("none",), "must be one of"),
    (SearchConfig, "first_level", (-1,), ""),
    (SearchConfig, "gadget", ("none",), "must be one of"),
    (SearchConfig, "scheme", ("none",), "must be one of"),
    (ParticleConfig, "budget", (1,), ""),
    (ParticleConfig, "order", (0,), ""),
    (ParticleSelfPlayConfig, "exploration", (2,), ""),
    (ParticleSelfPlayConfig, "final_learning_rate", (1.0,), ""),
    (TrainingConfig, "loss", ("hinge",), ""),
    (TrainingConfig, "num_epochs", (0,), ""),
    (TrainingConfig, "learning_rate", (1e-9,), ""),
    (TrainingConfig, "validation_share", (0.0,), ""),
    (OnPolicyConfig, "averaged_share", (1.5,), "must be from 0 to 1"),
    (OnPolicyConfig().with_epochs, "num_epochs", ([1, 2],), "must be three numbers"),
    (kuhn_data, "tolerance", (-1.0,), "must be positive"),
    (partial(kuhn_data, pure_share=0.7), "near_pure_share", (0.7,), ""),
    (ParticleSizes, "base", (0,), "all sizes must be positive"),
    (ParticleSizes, "concatenation_layers", (-1,), "all sizes must be positive"),
    (PositionalNetwork, "num_units", (0,), ""),
    (pure_transformations, "num_actions", (0, 1.5, True), ""),
    (dl.ExactValue, "tolerance", (0,), ""),
    (Effort, "iterations", (0,), "must be at least 1"),
    (Effort, "iterations", (100.5, True), "must be an integer"),
    (Effort, "tolerance", (-1.0, math.inf, math.nan), "must be at least 0 and finite"),
    (Effort, "seconds", (0.0, math.inf), "must be positive and finite"),
    (Effort, "variant", (3, ["cfr"]), "must be one of cfr"),
    (SearchConfig, "effort", (5,), r"must be an Effort, such as Effort\(5\)"),
    *(
        (search, "effort", (0, "long"), r"must be an Effort, .* Effort\(100\)")
        for search in SEARCHES
    ),
    (dl.DepthLimit, "moves", (0, 1.5, "1", True, 10**20), "an integer from 1 to 1,000,000"),
    (Weighting, "offset", (0.0,), "must be positive"),
    (Weighting, "gamma", (math.inf,), ""),
    (partial(dl.CFR, KUHN), "variant", ("pcfr",), r"must be one of cfr, cfr\+"),
    (partial(dl.solve, KUHN), "seconds", (0.0, math.inf), "must be positive and finite"),
    (partial(dl.solve, KUHN), "exploitability", (-1.0,), "must not be negative"),
    *((asked, "player", (-1, 2, True), "must be 0 or 1") for asked in OF_A_PLAYER),
    (partial(dl.trunk_exploitability, KUHN, UNIFORM, LIMIT), "method", ("magic",), ""),
    (LOSSES_BY_CFR, "tolerance", (0.0, -1.0, math.inf, math.nan), "method='lp' is exact"),
    (partial(ABDPolicy, KUHN, 0, UNIFORM, LIMIT), "p", (1.5,), "must be between 0 and 1"),
    (SES, "alpha", (-0.1, 1.1, math.nan), "must be between 0 and 1"),
    (partial(policy_bot, player=0), "policy", (1, None, [0.5, 0.5]), "must be an open_spiel"),
    (partial(policy_bot, UNIFORM, 0), "seed", (-1,), "must be at least 0, or None"),
    (partial(dl.load_policy, "cdbr:uniform", KUHN), "player", (2,), ""),
    (partial(dl.load_policy, "resolving:exact", KUHN), "effort", (20.0,), "must be an Effort"),
]


@pytest.mark.parametrize(("make", "name", "values", "told"), SETTINGS)
def test_settings_that_cannot_be(
    make: Callable[..., Any], name: str, values: tuple[Any, ...], told: str
) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"{re.escape(f'{name}={value!r}')}.*{told}"):
            make(**{name: value})


# What is told, and of what.
TOGETHER: list[tuple[str, Callable[[], Any]]] = [
    ("gadget='unsafe' is none", lambda: SearchConfig(gadget="unsafe", refinement="ones")),
    (r"tolerance=0\.1 cannot be used here: .*; leave", lambda: RESOLVING(effort=Effort(1, 0.1))),
    ("cannot use value_function=", lambda: CDBR(exact=True)),
    ("use scheme='block'", lambda: CDRNR(scheme="sliding", gadget="resolving")),
    (
        "gadget='full' looks down to several depth limits",
        lambda: CDRNR(scheme="block", gadget="full", value_function={LIMIT: dl.ExactValue()}),
    ),
]


@pytest.mark.parametrize(("told", "use"), TOGETHER)
def test_settings_that_do_not_go_together(told: str, use: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=told):
        use()
