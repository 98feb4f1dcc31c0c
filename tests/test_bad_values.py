"""What people give to the library by mistake: a ValueError in a sentence, never another error."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

import spiel_dl as dl
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentPolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.config import CriticConfig, MMDConfig, RNaDConfig
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.play.bots import policy_bot
from spiel_dl.solvers import checks
from spiel_dl.solvers.variants import Weighting
from spiel_dl.value_functions.particle import ParticleNetwork
from tests.reference import ByHand

KUHN = pyspiel.load_game("kuhn_poker")
UNIFORM = openspiel_policy.UniformRandomPolicy(KUHN)
LIMIT = dl.DepthLimit(moves=1)


def cheats(state: pyspiel.State, _: int | None) -> dict[int, float]:
    """Bets more if the opponent's card is the lowest one."""
    share = 0.9 if state.history()[1 - state.current_player()] == 0 else 0.1
    return {0: 1 - share, 1: share}


def changes_its_mind(state: pyspiel.State, _: int | None) -> dict[int, float]:
    share = random.random()
    return {0: 1 - share, 1: share}


ANSWERS: list[Any] = [
    [0.5, 0.5], None, "call", 0.5, {0: 0.5}, {0: 1.5, 1: -0.5}, {7: 1.0}, {0: float("nan"), 1: 1.0},
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_are_no_distribution(answer: Any) -> None:
    policy = ByHand(KUHN, lambda *_: answer)
    state = KUHN.new_initial_state().child(0).child(1)
    for use in (
        lambda: dl.play_match("kuhn_poker", policy, UNIFORM, 2),
        lambda: dl.nash_conv("kuhn_poker", policy),
        lambda: policy_bot(policy, 0).step(state),
        lambda: policy_bot(policy, 0).get_policy(state),
    ):
        with pytest.raises(ValueError, match="ByHand"):
            use()


_TWO_HISTORIES = (
    r"ByHand plays .* after .*\[.*\] and .* after \[.*\], which player \d cannot tell apart"
)


@pytest.mark.parametrize("answer", [cheats, changes_its_mind])
def test_policies_that_are_no_function_of_the_infoset(answer: Any) -> None:
    policy = ByHand(KUHN, answer)
    for use in (
        lambda: dl.play_match("kuhn_poker", policy, UNIFORM, 200),
        lambda: dl.play_match("kuhn_poker", UNIFORM, policy, 200),
        lambda: dl.expected_value("kuhn_poker", policy, policy),
        lambda: dl.nash_conv("kuhn_poker", policy),
        lambda: dl.exploitability("kuhn_poker", policy),
        lambda: dl.best_response_value("kuhn_poker", policy, 0),
    ):
        with pytest.raises(ValueError, match=_TWO_HISTORIES):
            use()


def endgame(**changed: Any) -> Any:
    return dl.poker.endgame(**{"board": "QsJh2h4d", "pot": 10, "stacks": 10, **changed})


# What is told, and of what: each is refused before anything is computed.
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("seed=1.5", lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 2, seed=1.5)),  # type: ignore[arg-type]
    ("seed=-1", lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 2, seed=-1)),
    ("num_games=3", lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 3)),
    ("hidden_sizes=8", lambda: RNaDConfig(hidden_sizes=8)),  # type: ignore[arg-type]
    (r"hidden_sizes=\(8, 2.5\)", lambda: MMDConfig(hidden_sizes=(8, 2.5))),  # type: ignore[arg-type]
    ("at most 10.9 weights", lambda: RNaDConfig(hidden_sizes=(10**6, 10**6))),
    ("batch_size=1.5", lambda: RNaDConfig(batch_size=1.5)),  # type: ignore[arg-type]
    ("learning_rate=1000000000.0", lambda: RNaDConfig(learning_rate=1e9)),
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
    ("batch_size=True", lambda: RNaDConfig(batch_size=True)),
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
    ("'a' is no policy", lambda: dl.play_match(KUHN, "a", "b", 2)),  # type: ignore[arg-type]
    ("player='0' must be 0", lambda: dl.best_response_value(KUHN, UNIFORM, "0")),  # type: ignore[arg-type]
    ("player=2 must be 0 or 1", lambda: dl.CDBR(KUHN, 2, UNIFORM, LIMIT)),
    ("scheme='jumping'", lambda: dl.CDBR(KUHN, 0, UNIFORM, LIMIT, scheme="jumping")),
    ("p=2.0 must be between", lambda: dl.CDRNR(KUHN, 0, UNIFORM, LIMIT, p=2.0)),
    ("gadget='no' must be one of", lambda: dl.CDRNR(KUHN, 0, UNIFORM, LIMIT, p=0.5, gadget="no")),
    ("p=-1 must be between", lambda: dl.RNR(KUHN, 0, UNIFORM, p=-1)),
    (
        "gadget='x' must be one of",
        lambda: dl.ContinualResolving(KUHN, dl.ExactValue(), LIMIT, gadget="x"),
    ),
    ("name=3 is neither", lambda: dl.load_policy(3, KUHN)),  # type: ignore[arg-type]
    ("pass game=", lambda: dl.load_policy("uniform")),
    ("effort='many' must be", lambda: dl.load_policy("resolving:exact", KUHN, effort="many")),
    ("iterations=-1 must be", lambda: dl.load_policy("resolving:exact", KUHN, effort=-1)),
    ("num_games=0 must be", lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 0)),
    ("board='Qs' has 1 cards", lambda: endgame(board="Qs")),
    ("pass value_function=", lambda: dl.ContinualResolving(KUHN, None, LIMIT)),
    ("has no rounds", lambda: dl.CDBR(KUHN, 0, UNIFORM, dl.DepthLimit(rounds=1))),
    ("horizon=inf must be at least 1, and finite if", lambda: Weighting(gamma_change=-5.0)),
    ("has no Rules", lambda: MirrorDescentPolicy("kuhn_poker", lambda seen, legal: legal)),
    (
        "choose a smaller limit",
        lambda: ParticleSelfPlay(
            "python_goofspiel_ii(num_cards=3)", ParticleNetwork(), dl.DepthLimit(rounds=9)
        ),
    ),
    ("config is a MMDConfig; RNaDSolver takes a RNaD", lambda: RNaDSolver(KUHN, MMDConfig())),
    (
        "are of 5 actions, and the game has 2",
        lambda: RNaDSolver(KUHN, transformations=pure_transformations(5)),
    ),
]


@pytest.mark.parametrize(("told", "use"), REFUSED)
def test_what_is_refused(told: str, use: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=told):
        use()
