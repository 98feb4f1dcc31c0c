"""Fixed points against root finders, saddle points, known numbers and the learners' gradients."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pyspiel
import pytest
import scipy.optimize
import torch

from experiments.fixed_points.fixed_points import (
    MMDFixedPoints,
    RegularizedFixedPoints,
    RNaDFixedPoints,
)
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.learning.neurd import neurd_gradient
from spiel_dl.learning.policy_gradient import move_ratio
from spiel_dl.learning.vtrace import v_trace
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree import GameTree
from tests.experiments.fixed_point_checks import (
    KUHN,
    KuhnEquations,
    best_regularised_value,
    skewed,
)

LEDUC = "leduc_poker"
GOOFSPIEL_5 = "python_goofspiel_ii(num_cards=5,points_order=descending)"
MATRIX = np.array([[2.0, 0.0, 0.5], [-1.0, 1.0, 0.0]])
ETA = 0.2


def matrix_game() -> pyspiel.Game:
    return pyspiel.create_matrix_game(MATRIX.tolist(), (-MATRIX).tolist())


@pytest.mark.parametrize("temperature", [0.05, 0.5])
@pytest.mark.parametrize("kind", ["rnad", "mmd"])
def test_a_root_finder_finds_the_same_in_kuhn_poker(kind: str, temperature: float) -> None:
    reference = skewed(KUHN)
    exact: RegularizedFixedPoints
    if kind == "rnad":
        exact = RNaDFixedPoints(KUHN, reference, eta=temperature, tolerance=1e-9)
        equations = KuhnEquations(temperature, reference, 1.0, paid=True)
    else:
        weights = {"temperature": 0.75 * temperature, "magnet_weight": 0.25 * temperature}
        exact = MMDFixedPoints(KUHN, reference, tolerance=1e-9, **weights)
        equations = KuhnEquations(temperature, reference, 0.25, paid=False)
    exact.run(1)
    assert exact.num_unfinished == 0
    found = exact.current_policy().to_tabular()
    probability = {k: found.policy_for_key(k) for k in equations.keys}
    ours = np.array([np.log(p[0] / p[1]) for p in probability.values()])
    assert np.abs(equations.error(np.zeros(12))).max() > 0.3
    # From uniform play at a high temperature; at a low one there it is too far for the finder.
    start = np.zeros(12) if temperature > 0.1 else ours + 0.05
    root = scipy.optimize.root(equations.error, start, tol=1e-11)
    assert root.success
    np.testing.assert_allclose(ours, root.x, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("game", "eta"), [(KUHN, 0.1), (LEDUC, 1.0), (GOOFSPIEL_5, 0.2)])
def test_nobody_gains_by_leaving_a_fixed_point_of_rnad(game: str, eta: float) -> None:
    """Also with a reference that is not uniform: that of the second period."""
    exact = RNaDFixedPoints(game, eta=eta, tolerance=1e-8)
    for _ in range(2):
        reference = exact.current_policy()
        exact.run(1)
        found = exact.current_policy()
        gap = sum(best_regularised_value(found, reference, p, eta) for p in (0, 1))
        assert abs(gap) < 1e-7
    # What is no fixed point has a gap.
    assert sum(best_regularised_value(reference, reference, p, eta) for p in (0, 1)) > 0.01


@pytest.mark.parametrize(
    ("game", "eta", "expected"),
    [
        (GOOFSPIEL_5, 0.2, {1: 0.49, 2: 0.163, 3: 0.111, 4: 0.052, 5: 0.052, 20: 0.023}),
        (LEDUC, 2.0, {20: 0.39}),
        (LEDUC, 1.0, {20: 0.14}),
        (LEDUC, 0.5, {20: 0.17}),
    ],
)
def test_the_regularisation_policies_of_rnad(
    game: str, eta: float, expected: dict[int, float]
) -> None:
    """NashConvs that another implementation found, outside of this project, to 2 or 3 digits."""
    exact = RNaDFixedPoints(game, eta=eta)
    for iteration, number in expected.items():
        exact.run(iteration - exact.iteration)
        digits = len(str(number)) - 2
        assert nash_conv(exact.tree, exact.current_policy()) == pytest.approx(
            number, abs=0.51 * 10**-digits
        )
    assert exact.num_unfinished == 0


def test_a_uniform_magnet_is_entropy() -> None:
    """So what MMD with a fixed uniform magnet and PPO with entropy head for is one policy."""
    entropy = MMDFixedPoints(LEDUC, temperature=0.5)
    magnet = MMDFixedPoints(entropy.tree, temperature=0.2, magnet_weight=0.3)
    entropy.run(1)
    magnet.run(1)
    for first, second in zip(
        entropy.current_policy().strategies, magnet.current_policy().strategies, strict=True
    ):
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-5)
    # The second magnet is another one.
    magnet.run(1)
    assert nash_conv(magnet.tree, magnet.current_policy()) < 0.9 * nash_conv(
        magnet.tree, entropy.current_policy()
    )


def test_with_one_decision_each_mmd_and_rnad_are_the_same() -> None:
    rnad = RNaDFixedPoints(matrix_game(), eta=0.3, tolerance=1e-9)
    mmd = MMDFixedPoints(matrix_game(), magnet_weight=0.3, tolerance=1e-9)
    for _ in range(4):
        rnad.run(1)
        mmd.run(1)
        for first, second in zip(
            rnad.current_policy().strategies, mmd.current_policy().strategies, strict=True
        ):
            np.testing.assert_allclose(first, second, rtol=0, atol=1e-7)
    assert nash_conv(rnad.tree, rnad.current_policy()) < 0.1


class AllGames:
    """Every game of Kuhn poker as a trajectory, weighted by its probability under a policy."""

    def __init__(self, policy: ArrayPolicy, reference: ArrayPolicy):
        tree = policy.tree
        ends = np.flatnonzero(tree.is_terminal)
        length = int(tree.move_number.max())
        self.weight = torch.zeros(len(ends), dtype=torch.float64)
        shape = (length, len(ends))
        # The infosets of both players, one after the other.
        self.row = torch.zeros(shape, dtype=torch.int64)
        self.action = torch.zeros(shape, dtype=torch.int64)
        self.player = torch.zeros(shape, dtype=torch.int8)
        self.valid = torch.zeros(shape, dtype=torch.bool)
        self.reward = torch.zeros(shape, dtype=torch.float64)
        for column, end in enumerate(ends):
            probability, node = tree.chance_reach[end], int(end)
            self.reward[int(tree.move_number[end]) - 1, column] = tree.utility[end]
            while node > 0:
                parent = int(tree.parent[node])
                player = int(tree.player[parent])
                if player >= 0:
                    place = (int(tree.move_number[parent]), column)
                    sequence = int(tree.sequence[player, node])
                    probability *= policy.strategies[player][sequence]
                    infoset = int(tree.infoset[parent])
                    self.row[place] = player * tree.num_infosets(0) + infoset
                    self.action[place] = sequence - tree.treeplexes[player].first_sequence[infoset]
                    self.player[place], self.valid[place] = player, True
                node = parent
            self.weight[column] = probability
        self.table = self._table(policy)
        self.reference = self._table(reference)
        self.behaviour = self.table[self.row]
        self.legal = torch.ones_like(self.behaviour, dtype=torch.bool)

    @staticmethod
    def _table(policy: ArrayPolicy) -> torch.Tensor:
        return torch.tensor(np.concatenate([s[1:].reshape(-1, 2) for s in policy.strategies]))

    def targets(self, eta: float):
        """By v-trace with baselines that say nothing; they must not matter."""
        baseline = torch.tensor(np.random.default_rng(5).normal(size=len(self.table)))
        log_ratio = (self.table / self.reference).log()
        value = baseline[self.row]
        return value, v_trace(
            value=value,
            policy=self.behaviour,
            log_ratio=log_ratio[self.row],
            behaviour=self.behaviour,
            action=self.action,
            player=self.player,
            valid=self.valid,
            reward=self.reward,
            eta=eta,
        )


def rnad_gradient(policy: ArrayPolicy, reference: ArrayPolicy) -> torch.Tensor:
    """The expectation of the learner's gradient, for each logit: float64 [12, 2].

    Without NeuRD's bounds, of which the clip changes it, too: rare moves have advantages beyond it.
    """
    games = AllGames(policy, reference)
    _, targets = games.targets(ETA)
    pull = neurd_gradient(
        games.behaviour.log(),
        games.behaviour,
        targets.action_value,
        games.legal,
        threshold=math.inf,
        clip=math.inf,
    )
    weighted = pull * (games.weight * games.valid).unsqueeze(-1)
    return torch.zeros(12, 2, dtype=torch.float64).index_put(
        (games.row.flatten(),), weighted.flatten(0, 1), accumulate=True
    )


def mmd_gradient(policy: ArrayPolicy, magnet: ArrayPolicy) -> torch.Tensor:
    """The same for a temperature of 0.05 and a magnet's weight of 0.15."""
    games = AllGames(policy, magnet)
    value, targets = games.targets(0.0)
    logits = games.table.log().requires_grad_()
    log_pi = logits.log_softmax(dim=-1)[games.row]
    moves = SimpleNamespace(action=games.action, behaviour=games.behaviour)
    pi, log_magnet = log_pi.exp(), games.reference.log()[games.row]
    entropy = -(pi * log_pi).sum(dim=-1)
    to_magnet = (pi * (log_pi - log_magnet)).sum(dim=-1)
    loss = -move_ratio(log_pi, moves) * (targets.value - value) - 0.05 * entropy + 0.15 * to_magnet
    (loss * games.weight * games.valid).sum().backward()
    return logits.grad


@pytest.mark.parametrize("kind", ["rnad", "mmd"])
def test_there_the_expected_gradient_of_the_sampled_learner_is_zero(kind: str) -> None:
    reference = skewed(KUHN)
    exact: RegularizedFixedPoints
    if kind == "rnad":
        exact, gradient = RNaDFixedPoints(KUHN, reference, eta=ETA, tolerance=1e-9), rnad_gradient
    else:
        weights = {"temperature": 0.05, "magnet_weight": 0.15}
        exact, gradient = MMDFixedPoints(KUHN, reference, tolerance=1e-9, **weights), mmd_gradient
    exact.run(1)
    at_fixed_point = gradient(exact.current_policy(), reference)
    assert at_fixed_point.abs().max() < 1e-7
    # Elsewhere it is not: neither where everything started, nor at the other learner's target.
    assert gradient(reference, reference).abs().max() > 0.01
    other = MMDFixedPoints(KUHN, reference, magnet_weight=ETA)
    if kind == "mmd":
        other = RNaDFixedPoints(KUHN, reference, eta=ETA)
    other.run(1)
    assert gradient(other.current_policy(), reference).abs().max() > 1e-4


def test_what_is_not_found_is_counted() -> None:
    exact = RNaDFixedPoints(KUHN, eta=0.01, max_iterations=5)
    exact.run(2)
    assert exact.num_unfinished == 2
    assert exact.last is not None
    assert not exact.last.converged


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"eta=0\.0 must be positive and finite"):
        RNaDFixedPoints(KUHN, eta=0.0)
    with pytest.raises(ValueError, match=r"temperature=0\.0 and magnet_weight=0\.0 must be"):
        MMDFixedPoints(KUHN)
    with pytest.raises(ValueError, match=r"temperature=-0\.1 and magnet_weight=0\.2 must be"):
        MMDFixedPoints(KUHN, temperature=-0.1, magnet_weight=0.2)
    tree = GameTree.from_game(KUHN)
    pure = [np.concatenate([[1.0], np.tile([1.0, 0.0], t.num_infosets)]) for t in tree.treeplexes]
    with pytest.raises(ValueError, match="give a reference policy without zeros"):
        RNaDFixedPoints(tree, ArrayPolicy(tree, (pure[0], pure[1]))).run(1)
