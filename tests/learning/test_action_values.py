"""Action values of histories: targets by hand and in expectation over all games of kuhn poker."""

from __future__ import annotations

import random

import pytest
import torch

from spiel_dl.algorithms import mmd
from spiel_dl.learning.action_values import HistoryTargets, history_targets
from spiel_dl.learning.config import MMDConfig
from spiel_dl.learning.vtrace import Targets
from tests.learning.test_vtrace import ETA, Kuhn, Policy, column, game_by_hand, games_and_rest

SMALL = {"hidden_sizes": (16, 16), "batch_size": 16, "history_values": True}


def by_hand(trace_decay: float, c_bar: float) -> HistoryTargets:
    """The last move earns 5."""
    return history_targets(
        action_value=column([1, 3], [2, 4], [6, 2], [99, 99]),
        policy=column([0.5, 0.5], [0.5, 0.5], [0.8, 0.2], [0.9, 0.1]),
        cost=column(0.3, 0.2, 0.4, 7),
        trajectories=game_by_hand(),
        reward=column(0, 0, 5, 1000),
        trace_decay=trace_decay,
        c_bar=c_bar,
    )


def test_a_game_by_hand() -> None:
    # All ratios are 2 and bounded by 1.5, so lambda times the bound is 0.75.
    targets = by_hand(trace_decay=0.5, c_bar=1.5)
    # Last move: G = 5, Q = 6, V = 5.2, so W = 5.2 - 0.4 - 0.75.
    # Player 1: G = 4.05, Q = 4, V = 3, so W = 3 + 0.2 + 0.75 * 0.05.
    # First move: G = 3.2375, Q = 1, V = 2, so W = 2 - 0.3 + 0.75 * 2.2375.
    assert targets.taken_value[:3, 0].tolist() == pytest.approx([3.2375, 4.05, 5])
    assert targets.value[:3, 0].tolist() == pytest.approx([3.378125, -3.2375, 4.05])
    expected = [[1 + 2.2375 / 0.25, 3], [-2, -4 - 0.05 / 0.25], [6 - 1 / 0.4, 2]]
    for row, numbers in enumerate(expected):
        assert targets.action_value[row, 0].tolist() == pytest.approx(numbers)


class KuhnByHistories(Kuhn):
    """Beside it, arbitrary action values of each history."""

    def history_targets(
        self, behaviour: Policy, trace_decay: float, c_bar: float = 1.0
    ) -> tuple[Targets, torch.Tensor]:
        """Of all games, and their probabilities under the behaviour."""
        tensors, probability = self.trajectories(behaviour)
        action_value = torch.full_like(tensors["policy"], 0.5)
        for game, (moves, _, _) in enumerate(self.games):
            cards = [key[1][0] for key, _ in moves[:2]]
            for t in range(len(moves)):
                numbers = random.Random(str((cards, [move for _, move in moves[:t]])))
                values = [numbers.uniform(-2, 2) for _ in (0, 1)]
                action_value[t, game] = torch.tensor(values)
        ratios = ETA * tensors.pop("log_ratio") * tensors["valid"].unsqueeze(-1)
        trajectories, rest = games_and_rest(tensors)
        found = history_targets(
            action_value=action_value,
            cost=(rest["policy"] * ratios).sum(dim=-1),
            trajectories=trajectories,
            **rest,
            trace_decay=trace_decay,
            c_bar=c_bar,
        )
        return Targets(found.value, found.action_value - ratios), probability


def test_targets_are_exact_in_expectation_whatever_the_values() -> None:
    kuhn = KuhnByHistories(seed=1)
    targets, probability = kuhn.history_targets(kuhn.policy, trace_decay=1.0)
    kuhn.check(targets, kuhn.weights(probability, off_policy=False))


def test_off_policy_targets_are_exact_in_expectation_where_nothing_is_bounded() -> None:
    kuhn = KuhnByHistories(seed=2)
    targets, probability = kuhn.history_targets(kuhn.behaviour, trace_decay=1.0, c_bar=1e9)
    kuhn.check(targets, kuhn.weights(probability, off_policy=True))


def test_values_of_histories_are_learned() -> None:
    """Measured: none of the returns' variance is explained at first, 42% in the end."""
    # What is learned are the returns.
    config = MMDConfig(**SMALL, learning_rate=3e-3, history_trace_decay=1.0)
    solver = mmd.MMDSolver("leduc_poker", config)
    assert unexplained(solver) > 0.9
    solver.run(600)
    assert unexplained(solver) < 0.7


def unexplained(solver: mmd.MMDSolver) -> float:
    """The part of the returns' variance in 20 batches that the values of histories leave."""
    squares = torch.zeros(2)
    for _ in range(20):
        trajectories = solver.play()
        values = solver._action_values.evaluate(trajectories)
        no_cost = torch.zeros_like(trajectories.reward)
        found = solver._history_targets(values, trajectories, trajectories.behaviour, no_cost)
        made = values.at_moves.gather(-1, trajectories.action.unsqueeze(-1))[..., 0]
        for place, error in enumerate((found.taken_value - made, found.taken_value)):
            squares[place] += error[trajectories.valid].square().sum()
    return (squares[0] / squares[1]).item()


def test_they_are_there_unless_something_else_is_said() -> None:
    sizes = {"hidden_sizes": (8, 8), "batch_size": 4}
    for settings, expected in (
        ({}, True),
        ({"history_values": False}, False),
        ({"max_tree_histories": 0}, True),
    ):
        solver = mmd.MMDSolver("python_leduc", MMDConfig(**sizes, **settings))
        assert (solver._action_values is not None) == expected
