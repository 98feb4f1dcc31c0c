"""v-trace by hand, and in expectation over all games of kuhn poker."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from typing import Any

import pyspiel
import pytest
import torch

from spiel_dl.learning.recurrence import solve_backwards, solve_by_doubling
from spiel_dl.learning.sources import Trajectories
from spiel_dl.learning.vtrace import Targets, v_trace
from tests.learning.learner_checks import games_of

ETA = 0.3
Policy = dict[tuple[int, str], list[float]]


def column(*numbers: object, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Of one game."""
    return torch.tensor(numbers, dtype=dtype).unsqueeze(1)


def game_by_hand() -> Trajectories:
    """Player 0 moves, then player 1, then player 0; a masked step follows."""
    return games_of(
        behaviour=column([0.25, 0.75], [0.75, 0.25], [0.4, 0.6], [0.1, 0.9]),
        action=column(0, 1, 0, 0, dtype=torch.int64),
        player=column(0, 1, 0, 1, dtype=torch.int8),
        valid=column(1, 1, 1, 0, dtype=torch.bool),
    )


def by_hand(c_bar: float = 1.0, rho_bar: float = math.inf) -> Targets:
    """The last move earns 5."""
    return v_trace(
        value=column(1, 2, 3, 99),
        policy=column([0.5, 0.5], [0.5, 0.5], [0.8, 0.2], [0.9, 0.1]),
        log_ratio=column([0.2, 0.4], [0.1, 0.3], [0.5, 0], [7, 7]),
        trajectories=game_by_hand(),
        reward=column(0, 0, 5, 1000),
        eta=1.0,
        c_bar=c_bar,
        rho_bar=rho_bar,
    )


def test_a_game_by_hand() -> None:
    # All three ratios are 2; the costs K are 0.3, 0.2 and 0.8 * 0.5 = 0.4.
    targets = by_hand()
    # Last move: w = 2, R = 5 - 0.4, so v = 3 + 2 (4.6 - 3).
    # Player 1: w = 4, R = -0.2 + 0.4 - 5, so v = 2 + 4 (-4.8 - 2).
    # First move: w = 4, R = -0.3 + 0.2, so v = 1 + 4 (-0.1 + 3 - 1) + min(1, 4) (6.2 - 3).
    assert targets.value[:3, 0].tolist() == pytest.approx([11.8, -25.2, 6.2])
    # Last move: 3 - 0.5 + (5 - 3) / 0.4.
    # Player 1: D = 0.4 - 2 * 5, so 2 - 0.3 + (-9.6 - 2) / 0.25.
    # First move: D = 0.2, w' = 2, so 1 - 0.2 + (0.2 + 2 * 6.2 - 1) / 0.25.
    expected = [[47.2, 1 - 0.4], [2 - 0.1, -44.7], [7.5, 3 - 0]]
    for row, numbers in enumerate(expected):
        assert targets.action_value[row, 0].tolist() == pytest.approx(numbers)


def test_bounds_on_ratios_by_hand() -> None:
    # Last move: 3 + 1 (4.6 - 3). Player 1: 2 + 1 (-4.8 - 2). First: 1 + 1.9 + 0.5 (4.6 - 3).
    targets = by_hand(c_bar=0.5, rho_bar=1.0)
    assert targets.value[:3, 0].tolist() == pytest.approx([3.7, -4.8, 4.6])


class Kuhn:
    """All games of kuhn poker as trajectories, and exact values by recursion over its states."""

    def __init__(self, seed: int):
        numbers = random.Random(seed)
        self.policy: Policy = defaultdict(lambda: normal(numbers))
        self.behaviour: Policy = defaultdict(lambda: normal(numbers))
        self.regularisation: Policy = defaultdict(lambda: normal(numbers))
        self.values: dict[tuple[int, str], float] = defaultdict(lambda: numbers.uniform(-2, 2))
        self.games: list[tuple[list[tuple[tuple[int, str], int]], float, float]] = []
        self._walk(pyspiel.load_game("kuhn_poker").new_initial_state(), [], 1.0)
        self.exact_value: dict[tuple[int, str], float] = defaultdict(float)
        self.exact_action_value: dict[tuple[int, str, int], float] = defaultdict(float)
        self._reach: dict[tuple[int, str], float] = defaultdict(float)
        self._value(pyspiel.load_game("kuhn_poker").new_initial_state(), 1.0)
        for infoset, reach in self._reach.items():
            self.exact_value[infoset] /= reach
            for action in (0, 1):
                self.exact_action_value[(*infoset, action)] /= reach

    def _walk(self, state: Any, moves: list[Any], chance_reach: float) -> None:
        if state.is_terminal():
            self.games.append((moves, chance_reach, state.returns()[0]))
        elif state.is_chance_node():
            for outcome, probability in state.chance_outcomes():
                self._walk(state.child(outcome), moves, chance_reach * probability)
        else:
            key = (state.current_player(), state.information_state_string())
            for action in state.legal_actions():
                self._walk(state.child(action), [*moves, (key, action)], chance_reach)

    def log_ratios(self, key: tuple[int, str]) -> list[float]:
        pairs = zip(self.policy[key], self.regularisation[key], strict=True)
        return [math.log(p / r) for p, r in pairs]

    def _value(self, state: Any, reach: float) -> float:
        """Player 0's regularised value under the policy; adds up the infosets' on the way."""
        if state.is_terminal():
            return float(state.returns()[0])
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            return sum(p * self._value(state.child(a), reach * p) for a, p in outcomes)
        player = state.current_player()
        key = (player, state.information_state_string())
        sign, policy, log_ratios = 1 - 2 * player, self.policy[key], self.log_ratios(key)
        children = [self._value(state.child(a), reach * policy[a]) for a in (0, 1)]
        value = 0.0
        for action in (0, 1):
            own = sign * children[action] - ETA * log_ratios[action]
            self.exact_action_value[(*key, action)] += reach * own
            value += policy[action] * own
        self.exact_value[key] += reach * value
        self._reach[key] += reach
        return sign * value

    def trajectories(self, behaviour: Policy) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """All games at once, as `games_and_rest` takes them, and their probabilities."""
        shape = (3, len(self.games))
        rows = {
            n: torch.full((*shape, 2), 0.5, dtype=torch.float64)
            for n in ("policy", "log_ratio", "behaviour")
        }
        reward = torch.zeros(shape, dtype=torch.float64)
        action = torch.zeros(shape, dtype=torch.int64)
        player = torch.zeros(shape, dtype=torch.int8)
        valid = torch.zeros(shape, dtype=torch.bool)
        probability = torch.zeros(len(self.games), dtype=torch.float64)
        for game, (moves, reach, utility) in enumerate(self.games):
            for t, (key, chosen) in enumerate(moves):
                rows["policy"][t, game] = torch.tensor(self.policy[key])
                rows["log_ratio"][t, game] = torch.tensor(self.log_ratios(key))
                rows["behaviour"][t, game] = torch.tensor(behaviour[key])
                action[t, game], player[t, game], valid[t, game] = chosen, key[0], True
                reach *= behaviour[key][chosen]
            reward[len(moves) - 1, game] = utility
            probability[game] = reach
        games = {"action": action, "player": player, "valid": valid, "reward": reward}
        return {**rows, **games}, probability

    def targets(self, behaviour: Policy, **bounds: float) -> tuple[Targets, torch.Tensor]:
        """Of all games, and their probabilities under the behaviour."""
        tensors, probability = self.trajectories(behaviour)
        trajectories, tensors = games_and_rest(tensors)
        value = torch.zeros_like(tensors["reward"])
        for game, (moves, _, _) in enumerate(self.games):
            for t, (key, _) in enumerate(moves):
                value[t, game] = self.values[key]
        found = v_trace(value=value, trajectories=trajectories, **tensors, eta=ETA, **bounds)
        return found, probability

    def weights(
        self, probability: torch.Tensor, *, off_policy: bool
    ) -> dict[tuple[int, int], float]:
        """Of the targets of all moves; what came before a move is corrected by its ratios."""
        weights = {}
        for game, (moves, _, _) in enumerate(self.games):
            weight = probability[game].item()
            for t, (key, action) in enumerate(moves):
                weights[game, t] = weight
                if off_policy:
                    weight *= self.policy[key][action] / self.behaviour[key][action]
        return weights

    def check(self, targets: Targets, weights: dict[tuple[int, int], float]) -> None:
        """Holds the weighted means of the targets at every infoset against its exact values."""
        sums: dict[Any, float] = defaultdict(float)
        totals: dict[Any, float] = defaultdict(float)
        for (game, t), weight in weights.items():
            key = self.games[game][0][t][0]
            totals[key] += weight
            sums[key] += weight * targets.value[t, game].item()
            for action in (0, 1):
                q = targets.action_value[t, game, action].item()
                sums[(*key, action)] += weight * q
        assert len(totals) == 12
        for key, total in totals.items():
            assert sums[key] / total == pytest.approx(self.exact_value[key], abs=1e-6)
            for action in (0, 1):
                exact = self.exact_action_value[(*key, action)]
                assert sums[(*key, action)] / total == pytest.approx(exact, abs=1e-6)


def games_and_rest(
    tensors: dict[str, torch.Tensor],
) -> tuple[Trajectories, dict[str, torch.Tensor]]:
    """Trajectories, and the further arguments of v-trace."""
    names = ("behaviour", "action", "player", "valid")
    rest = {name: tensor for name, tensor in tensors.items() if name not in names}
    return games_of(**{name: tensors[name] for name in names}), rest


def normal(numbers: random.Random) -> list[float]:
    first = numbers.uniform(0.1, 0.9)
    return [first, 1 - first]


@pytest.mark.parametrize("c_bar", [1.0, math.inf])
def test_on_policy_targets_are_exact_in_expectation_whatever_the_values(c_bar: float) -> None:
    kuhn = Kuhn(seed=1)
    targets, probability = kuhn.targets(kuhn.policy, c_bar=c_bar)
    assert probability.sum().item() == pytest.approx(1)
    kuhn.check(targets, kuhn.weights(probability, off_policy=False))


def test_off_policy_targets_are_exact_in_expectation_where_nothing_is_bounded() -> None:
    """v-trace corrects the future; what came before is corrected by the weights."""
    kuhn = Kuhn(seed=2)
    targets, probability = kuhn.targets(kuhn.behaviour, c_bar=math.inf)
    assert probability.sum().item() == pytest.approx(1)
    kuhn.check(targets, kuhn.weights(probability, off_policy=True))


@pytest.mark.parametrize("num_steps", [1, 2, 7, 16, 21])
def test_recurrences_are_solved_as_one_step_after_the_other(num_steps: int) -> None:
    constant, factor = torch.rand((2, num_steps, 5, 3), generator=torch.manual_seed(0))
    after, expected = torch.zeros((5, 3)), []
    for t in reversed(range(num_steps)):
        after = constant[t] + factor[t] * after
        expected.append(after)
    before = constant.clone(), factor.clone()
    for solve in (solve_backwards, solve_by_doubling):
        torch.testing.assert_close(solve(constant, factor), torch.stack(expected[::-1]))
    assert torch.equal(constant, before[0])
    assert torch.equal(factor, before[1])
