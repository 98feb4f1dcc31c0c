"""Bad input to the library raises a ValueError with one sentence, never another error.

Errors of settings name the setting, its value and the allowed values.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyspiel
import pytest
import torch
from open_spiel.python import policy as openspiel_policy

import spiel_dl as dl
from spiel_dl import ArrayPolicy, Effort, policy_bot
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.abd import ABDPolicy
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.algorithms.sepot import SePoTPlayPolicy, SePoTPolicy
from spiel_dl.algorithms.ses import safe_exploitation_search
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.learning.config import (
    CriticConfig,
    MMDConfig,
    PolicyGradientConfig,
    PPOConfig,
    RNaDConfig,
)
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.transformations import (
    IDENTITY,
    PolicyTransformations,
    pure_transformations,
)
from spiel_dl.play.public_tree_view import view_public_tree
from spiel_dl.policies import portfolios
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.policies.opponent_models import cfr_average, errs_beyond
from spiel_dl.search.samples import WholePublicState
from spiel_dl.search.sepot_config import ParticleConfig, SearchConfig
from spiel_dl.solvers import checks
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree import cut
from spiel_dl.value_functions.config import OnPolicyConfig, TrainingConfig
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.reference import ByHand
from tests.value_functions.datasets import KUHN as KUHN_DATA

KUHN = pyspiel.load_game("kuhn_poker")
GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"
UNIFORM = openspiel_policy.UniformRandomPolicy(KUHN)
LIMIT, ZERO = dl.DepthLimit(moves=1), dl.ZeroValue()


def cheats(state: pyspiel.State, _: int | None) -> dict[int, float]:
    """Bets more if the opponent's card is the lowest one."""
    share = 0.9 if state.history()[1 - state.current_player()] == 0 else 0.1
    return {0: 1 - share, 1: share}


def changes_its_mind(state: pyspiel.State, _: int | None) -> dict[int, float]:
    share = random.random()
    return {0: 1 - share, 1: share}


ANSWERS: list[Any] = [
    [0.5, 0.5], None, "call", 0.5, {}, {0: 0.5}, {0: 0.7, 1: 0.7}, {0: 1.5, 1: -0.5}, {7: 1.0},
    {0: 0.5, 1: 0.5, 2: -0.5}, {0: float("nan"), 1: 1.0},
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_are_no_distribution(answer: Any) -> None:
    policy = ByHand(KUHN, lambda *_: answer)
    state = KUHN.new_initial_state().child(0).child(1)
    message = "ByHand answered"
    if isinstance(answer, dict):
        message = r"ByHand: \{.*\} is not a distribution over the legal actions \[0, 1\] of player"
    for use in (
        lambda: dl.play_match(policy, UNIFORM, 2),
        lambda: dl.nash_conv("kuhn_poker", policy),
        lambda: dl.best_response_value("kuhn_poker", policy, 0),
        lambda: policy_bot(policy, 0).step(state),
        lambda: policy_bot(policy, 0).get_policy(state),
    ):
        with pytest.raises(ValueError, match=message):
            use()


_TWO_HISTORIES = (
    r"ByHand plays .* after .*\[.*\] and .* after \[.*\], which player \d cannot tell apart"
)


@pytest.mark.parametrize("answer", [cheats, changes_its_mind])
def test_policies_that_are_no_function_of_the_infoset(answer: Any) -> None:
    policy = ByHand(KUHN, answer)
    for use in (
        lambda: dl.play_match(policy, UNIFORM, 200),
        lambda: dl.play_match(UNIFORM, policy, 200),
        lambda: dl.expected_value("kuhn_poker", policy, policy),
        lambda: dl.nash_conv("kuhn_poker", policy),
        lambda: dl.exploitability("kuhn_poker", policy),
        lambda: dl.best_response_value("kuhn_poker", policy, 0),
    ):
        with pytest.raises(ValueError, match=_TWO_HISTORIES):
            use()


def kuhn_data(**wrong: Any) -> Any:
    return dataclasses.replace(KUHN_DATA, **wrong)


TRUNK = cut(dl.compile_game(KUHN), LIMIT)
TABLE = ArrayPolicy.uniform(TRUNK.tree)
LOSSES = partial(trunk_losses, TRUNK, TABLE)
OF_A_CRITIC = partial(CriticLearner, TRUNK.tree, TABLE, pure_transformations(2))
RESOLVING = partial(dl.ContinualResolving, KUHN, dl.ExactValue(), LIMIT)
CDBR = partial(dl.CDBR, KUHN, 0, UNIFORM, LIMIT, value_function=dl.ExactValue())
CDRNR = partial(dl.CDRNR, KUHN, 0, UNIFORM, LIMIT, p=0.5, value_function=dl.ExactValue())
ENDGAME = partial(
    dl.poker.endgame, board="QsJh2h4d", pot=20, stacks=(90, 90), ranges=("", ""), bets="pot"
)
SES = partial(safe_exploitation_search, KUHN, 0, UNIFORM, LIMIT)
OF_A_PLAYER = (
    partial(dl.best_response_value, KUHN, UNIFORM),
    partial(dl.best_response_policy, KUHN, UNIFORM),
    partial(exploitability.player_exploitability, KUHN, UNIFORM),
    partial(exploitability.gain, KUHN, UNIFORM, UNIFORM),
    partial(exploitability.game_value, KUHN),
    partial(policy_bot, UNIFORM),
    TRUNK.tree.num_infosets,
    TRUNK.leaves.num_infosets,
    partial(TRUNK.tree.find_infoset, KUHN.new_initial_state().child(0).child(1)),
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
    (RNaDConfig, "gradient_clip", (1e39,), "must be at most 3e.38, as a float32"),
    (PPOConfig, "value_weight", (0.0, math.inf), "must be positive and finite"),
    (RNaDConfig, "batch_size", (1.5, True), ""),
    (RNaDConfig, "learning_rate", (math.nan, 1e9), "must be above 0 and at most 1"),
    (RNaDConfig, "eta", (-1.0,), "must be finite and not negative"),
    (RNaDConfig, "target_averaging", (0.0,), "must be above 0"),
    (RNaDConfig, "adam_beta1", (1.0,), "must be at least 0 and below 1"),
    (RNaDConfig, "hidden_sizes", ((),), "must be one layer or more"),
    (CriticConfig, "c_bar", (0.0,), "must be positive"),
    (MirrorDescentConfig, "stepsize", (0, math.inf, math.nan), ""),
    (MirrorDescentConfig, "num_rollouts", (0,), ""),
    (SearchConfig, "given_cfvs", ("none",), "must be one of"),
    (SearchConfig, "refinement", (None, "reach"), "must be one of"),
    (SearchConfig, "first_level", (-1,), ""),
    (SearchConfig, "gadget", ("none",), "must be one of"),
    (ParticleConfig, "budget", (1,), ""),
    (ParticleConfig, "order", (0,), ""),
    (ParticleSelfPlayConfig, "exploration", (2,), ""),
    (ParticleSelfPlayConfig, "final_learning_rate", (1.0,), ""),
    (ParticleSelfPlayConfig, "learning_rate", ("a",), "must be float"),
    (TrainingConfig, "loss", ("hinge",), ""),
    (TrainingConfig, "num_epochs", (0,), ""),
    (TrainingConfig, "learning_rate", (1e-9,), ""),
    (TrainingConfig, "validation_share", (0.0,), ""),
    (OnPolicyConfig, "averaged_share", (1.5,), "must be from 0 to 1"),
    (OnPolicyConfig, "num_epochs", ((1, 2), (1, 2, 0)), "must be three positive integers"),
    (kuhn_data, "tolerance", (-1.0,), "must be positive"),
    (partial(kuhn_data, pure_share=0.7), "near_pure_share", (0.7, math.nan), ""),
    (ParticleSizes, "base", (0, 2.5), ""),
    (ParticleSizes, "concatenation_layers", (-1,), ""),
    (ParticleSizes, "basis_width", (0.0, math.inf, math.nan), "must be positive and finite"),
    (PositionalNetwork, "num_units", (0,), "must be at least 1"),
    (PositionalNetwork, "num_layers", (2.5,), "must be an integer"),
    (FineTuning, "num_levels", (0, 2.5, True), ""),
    (FineTuning, "threshold", (-0.1, 1.0, "0", None), "must be at least 0 and below 1"),
    (partial(portfolios.of_cfr, KUHN, 0, UNIFORM), "size", (1, 2.5), ""),
    (partial(cfr_average, KUHN), "iterations", (0, 2.5), ""),
    (OF_A_CRITIC, "batch_size", (0, 2.5), ""),
    (OF_A_CRITIC, "max_tree_histories", (-1,), ""),
    (OF_A_CRITIC, "exploration", (1.5, "1", None), "must be between 0 and 1"),
    (pure_transformations, "num_actions", (0, 1.5, True), ""),
    (dl.ExactValue, "tolerance", (0, math.inf, "x"), "must be positive and finite"),
    (Effort, "iterations", (0,), "must be at least 1"),
    (Effort, "iterations", (100.5, True), "must be an integer"),
    (Effort, "tolerance", (-1.0, math.inf, math.nan, "1"), "must be at least 0 and finite"),
    (Effort, "seconds", (0.0, math.inf, "1"), "must be positive and finite"),
    (Effort, "variant", (3, ["cfr"]), "must be one of cfr"),
    (SearchConfig, "effort", (5,), r"must be an Effort, such as Effort\(5\)"),
    *(
        (search, "effort", (0, "long"), r"must be an Effort, .* Effort\(100\)")
        for search in SEARCHES
    ),
    (dl.DepthLimit, "moves", (0, 1.5, "1", True, 10**20), "an integer from 1 to 1,000,000"),
    (Weighting, "offset", (0.0,), "must be positive"),
    (Weighting, "gamma", (math.inf,), ""),
    (Weighting, "alpha", ("a", None), "must be a number"),
    (Weighting, "gamma", (41.0, 300.0), "must be at most 40.0 together"),
    (WholePublicState, "max_listed", (0, -5), "must be at least 1"),
    (partial(dl.CFR, KUHN), "variant", ("pcfr",), r"must be one of cfr, cfr\+"),
    (partial(dl.CFR, KUHN), "alternating_updates", ("no", 1), "must be True or False"),
    (partial(dl.GameTree.from_game, KUHN), "max_histories", (0, 1.5, "9"), ""),
    (ENDGAME, "pot", (0, "20"), "must be a number of chips"),
    (ENDGAME, "stacks", (90, ("9", "9"), (1, 2, 3)), "must be what two players have left"),
    (ENDGAME, "ranges", ("22", ("22",), None, ("22", None)), "must be two, one for each player"),
    (ENDGAME, "board", (None, 3), "must be a text"),
    (ENDGAME, "bets", (None, ["pot"]), "must be a text"),
    (partial(dl.solve, KUHN), "seconds", (0.0, math.inf, "5"), "must be positive and finite"),
    (partial(dl.solve, KUHN), "exploitability", (-1.0, "x"), "must not be negative"),
    *((asked, "player", (-1, 2, True, "0"), "must be 0 or 1") for asked in OF_A_PLAYER),
    (partial(dl.gain, KUHN, UNIFORM, UNIFORM, 0), "value", (math.nan, "0"), "must be finite"),
    (LOSSES, "tolerance", (0.0, -1.0, math.inf, math.nan), "must be positive and finite"),
    (partial(ABDPolicy, KUHN, 0, UNIFORM, LIMIT), "p", (1.5, "1"), "must be between 0 and 1"),
    (SES, "alpha", (-0.1, 1.1, math.nan, "1", None), "must be between 0 and 1"),
    (partial(policy_bot, player=0), "policy", (1, None, [0.5, 0.5]), "must be an open_spiel"),
    (partial(policy_bot, UNIFORM, 0), "seed", (-1, 1.5, "a"), "must be .*at least 0"),
    (partial(dl.load_policy, "cdbr:uniform", KUHN), "player", (2,), ""),
    (partial(dl.load_policy, "resolving:exact", KUHN), "effort", (20.0,), "must be an Effort"),
]


@pytest.mark.parametrize(("make", "name", "values", "message"), SETTINGS)
def test_settings_that_cannot_be(
    make: Callable[..., Any], name: str, values: tuple[Any, ...], message: str
) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"{re.escape(f'{name}={value!r}')}.*{message}"):
            make(**{name: value})


def test_configurations_turn_numbers_of_numpy_into_pythons() -> None:
    made: list[tuple[Any, Any]] = [
        (
            ParticleSelfPlayConfig(batch_size=4, learning_rate=0.5),
            ParticleSelfPlayConfig(batch_size=np.int64(4), learning_rate=np.float32(0.5)),  # type: ignore[arg-type]
        ),
        (
            TrainingConfig(batch_size=4, left_out_states=(1,)),
            TrainingConfig(batch_size=np.int64(4), left_out_states=[np.int32(1)]),  # type: ignore[arg-type]
        ),
        (kuhn_data(seed=1), kuhn_data(seed=np.uint8(1))),
    ]
    for ours, theirs in made:
        assert theirs == ours
        assert json.loads(json.dumps(theirs.to_json())) == json.loads(json.dumps(ours.to_json()))


# What is told, and of what: each is refused before anything is computed.
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("seed=1.5", lambda: dl.play_match(UNIFORM, UNIFORM, 2, seed=1.5)),  # type: ignore[arg-type]
    ("seed=-1", lambda: dl.play_match(UNIFORM, UNIFORM, 2, seed=-1)),
    (
        r"the policies are of kuhn_poker\(\) and of leduc_poker\(\); give policies of the same",
        lambda: dl.play_match(UNIFORM, dl.load_policy("uniform", "leduc_poker"), 2),
    ),
    ("num_games=3", lambda: dl.play_match(UNIFORM, UNIFORM, 3)),
    ("hidden_sizes=8", lambda: RNaDConfig(hidden_sizes=8)),  # type: ignore[arg-type]
    (r"hidden_sizes=\(8, 2.5\)", lambda: MMDConfig(hidden_sizes=(8, 2.5))),  # type: ignore[arg-type]
    (r"left_out_states=\(1.5,\)", lambda: TrainingConfig(left_out_states=(1.5,))),  # type: ignore[arg-type]
    ("left_out_states=-1", lambda: TrainingConfig(left_out_states=(-1,))),
    ("at most 10.9 weights", lambda: RNaDConfig(hidden_sizes=(10**6, 10**6))),
    ("eta='x'", lambda: RNaDConfig(eta="x")),  # type: ignore[arg-type]
    ("seed=100000000000000000000", lambda: CriticConfig(seed=10**20)),
    ("no game but of type State", lambda: dl.CFR(KUHN.new_initial_state())),  # type: ignore[arg-type]
    (
        "of type RulesState",
        lambda: dl.nash_conv(
            pyspiel.load_game("python_leduc").new_initial_state(),  # type: ignore[arg-type]
            UNIFORM,
        ),
    ),
    ("no game but of type int", lambda: dl.solve_lp(3)),  # type: ignore[arg-type]
    ("made of a learner with a critic", lambda: dl.SePoT(KUHN, UNIFORM, None, LIMIT)),  # type: ignore[arg-type]
    ("its checkpoint or its run directory", lambda: dl.SePoT(UNIFORM, LIMIT)),  # type: ignore[arg-type]
    (r"beyond 1e\+100", lambda: checks.check_values(np.full(3, 1e308))),
    ("'None' is no game", lambda: dl.CFRPlus(None)),  # type: ignore[arg-type]
    ("is no game but of type Uniform", lambda: dl.nash_conv(UNIFORM, KUHN)),  # type: ignore[arg-type]
    ("num_iterations='10' must be an int", lambda: dl.CFRPlus(KUHN).run("10")),  # type: ignore[arg-type]
    ("num_iterations=9223372036854775808 must be below", lambda: dl.CFRPlus(KUHN).run(2**63)),
    ("give exactly one of moves", lambda: dl.DepthLimit()),
    ("give exactly one of moves", lambda: dl.DepthLimit(moves=1, plies=2)),
    ("depth_limit=2 must be a Dep", lambda: dl.DLCFR(KUHN, dl.ExactValue(), 2)),  # type: ignore[arg-type]
    ("depth_limit=.* must be a DepthLimit, such", lambda: dl.CDBR(KUHN, 0, LIMIT, UNIFORM)),  # type: ignore[arg-type]
    ("pass value_function=", lambda: dl.DLCFR(KUHN, None, LIMIT)),
    ("must be a ValueFunction", lambda: dl.DLCFR(KUHN, dl.ExactValue, LIMIT)),  # type: ignore[arg-type]
    ("must be a ValueFunction", lambda: dl.DLCFR(KUHN, LIMIT, dl.ExactValue())),  # type: ignore[arg-type]
    ("None is no policy", lambda: dl.nash_conv(KUHN, None)),  # type: ignore[arg-type]
    ("'uniform' is no policy", lambda: dl.nash_conv(KUHN, "uniform")),  # type: ignore[arg-type]
    ("'a' is no policy", lambda: dl.play_match("a", "b", 2, game=KUHN)),  # type: ignore[arg-type]
    ("neither str nor str says of which game it is; give game=", lambda: dl.play_match("a", "b")),  # type: ignore[arg-type]
    ("player=2 must be 0 or 1", lambda: dl.CDBR(KUHN, 2, UNIFORM, LIMIT)),
    ("p=2.0 must be between", lambda: dl.CDRNR(KUHN, 0, UNIFORM, LIMIT, p=2.0)),
    ("gadget='no' must be one of", lambda: dl.CDRNR(KUHN, 0, UNIFORM, LIMIT, p=0.5, gadget="no")),
    ("p=-1 must be between", lambda: dl.RNR(KUHN, 0, UNIFORM, p=-1)),
    ("name=3 is neither", lambda: dl.load_policy(3, KUHN)),  # type: ignore[arg-type]
    ("iterations=-1 must be", lambda: dl.load_policy("resolving:exact", KUHN, effort=-1)),
    ("pass value_function=", lambda: dl.ContinualResolving(KUHN, None, LIMIT)),
    ("horizon=inf must be at least 1, and finite if", lambda: Weighting(gamma_change=-5.0)),
    ("has no Rules", lambda: MirrorDescentPolicy("kuhn_poker", lambda seen, legal: legal)),
    (
        "choose a smaller limit",
        lambda: ParticleSelfPlay(
            "python_goofspiel_ii(num_cards=3)", ParticleNetwork(), dl.DepthLimit(rounds=9)
        ),
    ),
    *(
        (message, partial(make, MMDConfig()))  # type: ignore[arg-type]
        for message, make in (
            ("config is a MMDConfig; RNaDSolver takes a RNaD", partial(RNaDSolver, KUHN)),
            ("config is a MMDConfig; CriticLearner takes a Cr", OF_A_CRITIC),
            (
                "config is a MMDConfig; ParticleSelfPlay takes a P",
                partial(ParticleSelfPlay, GOOFSPIEL, None, dl.DepthLimit(rounds=1)),
            ),
        )
    ),
    (
        "config is a RNaDConfig; a critic takes a CriticConfig",
        lambda: RNaDSolver(KUHN, critic=RNaDConfig(), transformations=pure_transformations(2)),  # type: ignore[arg-type]
    ),
    *(
        ("must be a ParticleNetwork, or None", partial(ParticleSelfPlay, GOOFSPIEL, network, LIMIT))
        for network in (LIMIT, PositionalNetwork())
    ),
    ("must be PolicyTransformations", lambda: CriticLearner(KUHN, UNIFORM, None)),  # type: ignore[arg-type]
    (
        r"is no Transformation; pass Transformation\(name",
        lambda: PolicyTransformations([IDENTITY, lambda policy, legal: policy]),  # type: ignore[list-item]
    ),
    (
        "are of 5 actions, and the game has 2",
        lambda: RNaDSolver(KUHN, transformations=pure_transformations(5)),
    ),
    (r"tolerance=0\.1 cannot be used here: .*; leave", lambda: RESOLVING(effort=Effort(1, 0.1))),
    (r"tolerance=0\.1 cannot be used here: .*; leave", lambda: CDBR(effort=Effort(1, 0.1))),
    (r"tolerance=0\.1 cannot be used here: .*; leave", lambda: CDRNR(effort=Effort(1, 0.1))),
    ("cannot use value_function=", lambda: CDBR(exact=True)),
    ("use scheme='block'", lambda: CDRNR(scheme="sliding", gadget="resolving")),
    (
        "gadget='full' or 'full_trunk' looks down to several depth limits",
        lambda: CDRNR(scheme="block", gadget="full", value_function={LIMIT: dl.ExactValue()}),
    ),
    *(
        ("value function comes before the depth limit", partial(kind, GOOFSPIEL, LIMIT, ZERO))
        for kind in (dl.ContinualResolving, dl.ParticleSearch)
    ),
    (
        r"tolerance=0\.1 cannot be used here: .*; leave",
        partial(dl.ParticleSearch, GOOFSPIEL, ZERO, LIMIT, effort=Effort(1, 0.1)),
    ),
    *(
        ("depth_limit=3 must be a DepthLimit, such as", use)
        for use in (
            partial(SePoTPolicy, "kuhn_poker", TABLE, None, 3),
            partial(dl.CDRNR, "kuhn_poker", 0, TABLE, 3, p=0.5),
            partial(dl.trunk_exploitability, "kuhn_poker", TABLE, 3),
            partial(safe_exploitation_search, "kuhn_poker", 0, TABLE, 3, alpha=0.5),
            partial(errs_beyond, "kuhn_poker", 3, TABLE, TABLE),
            partial(view_public_tree, "kuhn_poker", TABLE, 3, "uniform"),
            partial(ParticleSelfPlay, GOOFSPIEL, None, 3),
            partial(SePoTPlayPolicy, GOOFSPIEL, torch.softmax, None, 3),
        )
    ),
]


@pytest.mark.parametrize(("message", "use"), REFUSED)
def test_what_is_refused(message: str, use: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=message):
        use()
