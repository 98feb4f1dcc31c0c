"""Fixed points of one-shot games, against the equations that they have to fulfil."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.special

from experiments.fixed_points.regularized import FixedPoint, Regularization, RegularizedGame
from tests.solvers.matrix_games import matrix_game

PAYOFFS = [[2.0, 0.0, 0.5], [-1.0, 1.0, 0.0]]
ANCHORS = (np.log([0.7, 0.3]), np.log([0.2, 0.5, 0.3]))


def one_shot(payoffs: list[list[float]], *, reach: float = 1.0) -> RegularizedGame:
    """A one-shot game whose two infosets chance reaches with some probability."""
    form = matrix_game(payoffs)
    visits = []
    for player in (0, 1):
        row = np.zeros((1, form.treeplexes[1 - player].num_sequences))
        row[0, 0] = reach
        visits.append(scipy.sparse.csr_array(row))
    return RegularizedGame(form, (visits[0], visits[1]))


def regularization(temperature: float, *, paid: bool) -> Regularization:
    first, second = (np.concatenate([[0.0], anchor]) for anchor in ANCHORS)
    return Regularization(temperature, (first, second), paid)


def solved_by_scipy(temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """The roots of logits = anchor + values / temperature."""
    matrix = np.array(PAYOFFS)

    def error(logits: np.ndarray) -> np.ndarray:
        first, second = scipy.special.softmax(logits[:2]), scipy.special.softmax(logits[2:])
        wanted = ANCHORS[0] + matrix @ second / temperature
        wanted_of_1 = ANCHORS[1] - first @ matrix / temperature
        return logits - np.concatenate([wanted, wanted_of_1])

    found = scipy.optimize.root(error, np.zeros(5), tol=1e-12)
    assert found.success
    return scipy.special.softmax(found.x[:2]), scipy.special.softmax(found.x[2:])


@pytest.mark.parametrize("paid", [False, True])
@pytest.mark.parametrize("temperature", [0.05, 0.3, 2.0])
def test_a_fixed_point_fulfils_its_equations(temperature: float, paid: bool) -> None:
    game = one_shot(PAYOFFS)
    found = game.fixed_point(regularization(temperature, paid=paid), tolerance=1e-10)
    assert found.converged
    assert found.residual <= 1e-10
    for strategy, expected in zip(found.strategies, solved_by_scipy(temperature), strict=True):
        assert strategy[0] == 1
        np.testing.assert_allclose(strategy[1:], expected, rtol=0, atol=1e-8)


def test_a_fixed_point_stays() -> None:
    game = one_shot(PAYOFFS)
    found = game.fixed_point(regularization(0.3, paid=True), tolerance=1e-9)
    assert found.num_iterations > 0
    again = game.fixed_point(regularization(0.3, paid=True), found.strategies, tolerance=1e-8)
    assert again.num_iterations == 0
    response = game.response(regularization(0.3, paid=True), found.strategies)
    assert response.residual <= 1e-8
    for answer, strategy in zip(response.strategies, found.strategies, strict=True):
        np.testing.assert_allclose(answer, strategy, rtol=0, atol=1e-8)


def test_a_response_by_hand() -> None:
    """Against uniform play, rows are worth 2.5 / 3 and 0; columns -0.5, -0.5 and -0.25."""
    game = one_shot(PAYOFFS)
    uniform = (np.array([1, 1 / 2, 1 / 2]), np.array([1, 1 / 3, 1 / 3, 1 / 3]))
    response = game.response(regularization(0.5, paid=True), uniform)
    first = np.array([0.7, 0.3]) * np.exp([2.5 / 3 / 0.5, 0])
    second = np.array([0.2, 0.5, 0.3]) * np.exp([-0.5 / 0.5, -0.5 / 0.5, -0.25 / 0.5])
    np.testing.assert_allclose(response.strategies[0][1:], first / first.sum())
    np.testing.assert_allclose(response.strategies[1][1:], second / second.sum())
    assert response.residual == pytest.approx(abs(first / first.sum() - 1 / 2).max())


def test_where_chance_never_leads_the_anchor_is_played() -> None:
    found = one_shot(PAYOFFS, reach=0.0).fixed_point(regularization(0.3, paid=False))
    np.testing.assert_allclose(found.strategies[0][1:], [0.7, 0.3], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.strategies[1][1:], [0.2, 0.5, 0.3], rtol=0, atol=1e-5)


def test_what_has_not_converged_says_so() -> None:
    found = one_shot(PAYOFFS).fixed_point(regularization(0.05, paid=False), max_iterations=7)
    assert isinstance(found, FixedPoint)
    assert not found.converged
    assert found.num_iterations == 7
    assert found.residual > 1e-6


def test_at_very_low_temperatures_no_number_overflows() -> None:
    found = one_shot([[1.0, 2.0], [0.0, 1.0]]).fixed_point(
        Regularization(1e-6, (np.zeros(3), np.zeros(3)), paid=True)
    )
    assert found.converged
    np.testing.assert_allclose(found.strategies[0], [1, 1, 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.strategies[1], [1, 1, 0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.inf, np.nan])
def test_a_wrong_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match="must be positive and finite"):
        regularization(temperature, paid=True)


def test_wrong_arrays_are_refused() -> None:
    game = one_shot(PAYOFFS)
    anchors = (np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="log_anchor must be finite"):
        Regularization(1.0, (np.array([0, 0, -np.inf]), np.zeros(4)), paid=True)
    with pytest.raises(ValueError, match=r"player 1's log_anchor has the shape \(3,\)"):
        game.fixed_point(Regularization(1.0, (np.zeros(3), np.zeros(3)), paid=True))
    zeros = (np.array([1.0, 1.0, 0.0]), np.array([1, 1 / 3, 1 / 3, 1 / 3]))
    with pytest.raises(ValueError, match="player 0's strategy has zeros"):
        game.fixed_point(Regularization(1.0, anchors, paid=True), zeros)
    with pytest.raises(ValueError, match=r"tolerance=0\.0 must be between"):
        game.fixed_point(Regularization(1.0, anchors, paid=True), tolerance=0.0)
    with pytest.raises(ValueError, match=r"the visits of player 0 have the shape \(1, 3\)"):
        RegularizedGame(game.sequence_form, (scipy.sparse.csr_array((1, 3)),) * 2)
