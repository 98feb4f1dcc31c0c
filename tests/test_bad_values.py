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
from spiel_dl.algorithms.mmd import MMDConfig
from spiel_dl.algorithms.rnad import RNaDConfig
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.solvers import checks

KUHN = pyspiel.load_game("kuhn_poker")
UNIFORM = openspiel_policy.UniformRandomPolicy(KUHN)
LIMIT = dl.DepthLimit(moves=1)


class ByHand(openspiel_policy.Policy):
    """Answers whatever a function says."""

    def __init__(self, answer: Callable[[pyspiel.State], Any]):
        super().__init__(KUHN, [0, 1])
        self._answer = answer

    def action_probabilities(self, state: pyspiel.State, player_id: int | None = None) -> Any:
        return self._answer(state)


def cheats(state: pyspiel.State) -> dict[int, float]:
    """Bets more if the opponent's card is the lowest one."""
    share = 0.9 if state.history()[1 - state.current_player()] == 0 else 0.1
    return {0: 1 - share, 1: share}


def changes_its_mind(state: pyspiel.State) -> dict[int, float]:
    share = random.random()
    return {0: 1 - share, 1: share}


ANSWERS: list[Any] = [
    [0.5, 0.5], None, "call", 0.5, {0: 0.5}, {0: 1.5, 1: -0.5}, {7: 1.0}, {0: float("nan"), 1: 1.0},
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_are_no_distribution(answer: Any) -> None:
    policy = ByHand(lambda state: answer)
    for use in (
        lambda: dl.play_match("kuhn_poker", policy, UNIFORM, 2),
        lambda: dl.nash_conv("kuhn_poker", policy),
    ):
        with pytest.raises(ValueError, match="ByHand"):
            use()


@pytest.mark.parametrize("answer", [cheats, changes_its_mind])
def test_policies_that_are_no_function_of_the_infoset(answer: Any) -> None:
    policy = ByHand(answer)
    for use in (
        lambda: dl.play_match("kuhn_poker", policy, UNIFORM, 200),
        lambda: dl.play_match("kuhn_poker", UNIFORM, policy, 200),
        lambda: dl.expected_value("kuhn_poker", policy, policy),
        lambda: dl.nash_conv("kuhn_poker", policy),
        lambda: dl.best_response_value("kuhn_poker", policy, 0),
    ):
        with pytest.raises(ValueError, match=r"after .*\[.*\] and .* after \[.*cannot tell apart"):
            use()


def test_a_policy_that_is_one_may_be_asked_as_often_as_one_likes() -> None:
    policy = ByHand(lambda state: {0: 0.25, 1: 0.75})
    assert dl.play_match("kuhn_poker", policy, policy, 20).num_games == 20


WRONG: dict[str, Callable[[], Any]] = {
    "seed=1.5": lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 2, seed=1.5),  # type: ignore[arg-type]
    "seed='x'": lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 2, seed="x"),  # type: ignore[arg-type]
    "seed=-1": lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 2, seed=-1),
    "num_games=2.0": lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 2.0),  # type: ignore[arg-type]
    "num_games=3": lambda: dl.play_match(KUHN, UNIFORM, UNIFORM, 3),
    "hidden_sizes=8": lambda: RNaDConfig(hidden_sizes=8),  # type: ignore[arg-type]
    "hidden_sizes='88'": lambda: MMDConfig(hidden_sizes="88"),  # type: ignore[arg-type]
    r"hidden_sizes=\(8, 2.5\)": lambda: MMDConfig(hidden_sizes=(8, 2.5)),  # type: ignore[arg-type]
    "at most 10.9 weights": lambda: RNaDConfig(hidden_sizes=(10**6, 10**6)),
    "batch_size=1.5": lambda: RNaDConfig(batch_size=1.5),  # type: ignore[arg-type]
    "batch_size=True": lambda: RNaDConfig(batch_size=True),
    "learning_rate=1000000000.0": lambda: RNaDConfig(learning_rate=1e9),
    "learning_rate=nan": lambda: CriticConfig(learning_rate=float("nan")),
    "eta='x'": lambda: RNaDConfig(eta="x"),  # type: ignore[arg-type]
    "seed=-2": lambda: RNaDConfig(seed=-2),
    "seed=100000000000000000000": lambda: CriticConfig(seed=10**20),
    "no game but of type State": lambda: dl.CFR(KUHN.new_initial_state()),  # type: ignore[arg-type]
    "of type RulesState": lambda: dl.nash_conv(
        pyspiel.load_game("python_leduc").new_initial_state(),  # type: ignore[arg-type]
        UNIFORM,
    ),
    "no game but of type int": lambda: dl.solve_lp(3),  # type: ignore[arg-type]
    "made of a learner with a critic": lambda: dl.SePoT(KUHN, UNIFORM, None, LIMIT),  # type: ignore[arg-type]
    "its checkpoint or its run directory": lambda: dl.SePoT(UNIFORM, LIMIT),  # type: ignore[arg-type]
    r"beyond 1e\+100": lambda: checks.check_values(np.full(3, 1e308)),
}


@pytest.mark.parametrize("told", WRONG)
def test_what_is_given_wrongly(told: str) -> None:
    with pytest.raises(ValueError, match=told):
        WRONG[told]()


def test_names_that_do_not_exist_are_told_the_nearest() -> None:
    with pytest.raises(AttributeError, match="did you mean ValueFunction"):
        dl.ValuFunction  # noqa: B018


@pytest.mark.parametrize(
    "name",
    [
        "repeated_game(stage_game=matrix_rps(),num_repetitions=2)",
        "markov_soccer(horizon=2)",
        "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
    ],
)
def test_policies_answer_in_the_own_states_of_simultaneous_games(name: str) -> None:
    """The same as in the states of the game that was converted to turns."""
    game = pyspiel.load_game(name)
    solver = dl.CFRPlus(game)
    solver.run(3)
    policy, luck = solver.average_policy(), random.Random(0)
    for _ in range(5):
        own, turned = game.new_initial_state(), policy.game.new_initial_state()
        while not own.is_terminal():
            if own.is_chance_node():
                actions = [luck.choice(own.legal_actions())]
                own.apply_action(actions[0])
            else:
                expected = []
                actions = [luck.choice(own.legal_actions(player)) for player in (0, 1)]
                told = [policy.action_probabilities(own, player) for player in (0, 1)]
                own.apply_actions(actions)
            for action in actions:
                if len(actions) == 2:
                    expected.append(policy.action_probabilities(turned))
                turned.apply_action(action)
            if len(actions) == 2:
                assert told == expected
