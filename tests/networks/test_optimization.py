"""Adam and its learning rate: steps by hand, a peer, and where the count of steps comes from."""

import itertools
import math

import numpy as np
import pytest
import torch

from spiel_dl.learning.config import NetworkConfig
from spiel_dl.networks.learning_rate import LearningRate
from spiel_dl.networks.optimization import Descent


def moves(config: NetworkConfig, num_steps: int) -> list[float]:
    """The change of one parameter in every step with a constant gradient."""
    descent = config.descent(torch.zeros(1))
    (parameter,) = descent.parameters
    places = [0.0]
    for _ in range(num_steps):
        descent.step(3.0 * parameter.sum())
        places.append(float(parameter.detach()))
    return [before - after for before, after in itertools.pairwise(places)]


def test_the_learning_rate_falls_exponentially_and_then_stays() -> None:
    # Without a mean gradient, Adam's step down a constant slope is its learning rate.
    config = NetworkConfig(learning_rate=0.1, final_learning_rate=0.001, decay_steps=4)
    expected = [0.1, 0.1 / 10**0.5, 0.01, 0.01 / 10**0.5, 0.001, 0.001, 0.001]
    assert moves(config, 7) == pytest.approx(expected, rel=1e-4)
    assert moves(NetworkConfig(learning_rate=0.1), 3) == pytest.approx([0.1] * 3, rel=1e-4)


def test_rates_of_the_host_and_of_the_device_agree() -> None:
    falling = LearningRate(0.3, 0.001, 9)
    for step in range(12):
        on_device = falling.on_device(torch.tensor(float(step))).item()
        assert on_device == pytest.approx(falling.at(step), rel=1e-6)
    assert [LearningRate(0.3).at(step) for step in (0, 5)] == [0.3, 0.3]
    assert LearningRate(0.3).on_device(torch.tensor(5.0)).item() == pytest.approx(0.3)


@pytest.mark.parametrize("num_parameters", [1, 2])
def test_steps_are_those_of_adam_by_hand(num_parameters: int) -> None:
    """Kingma and Ba (2015), algorithm 1, in float64."""
    targets = [np.array([1.0, -2.0, 0.5]), np.array([[3.0]])][:num_parameters]
    tensors = [torch.zeros(target.shape, dtype=torch.float64) for target in targets]
    descent = Descent(tensors, LearningRate(0.1), betas=(0.8, 0.9), epsilon=1e-3)
    places = [np.zeros(target.shape) for target in targets]
    means = [np.zeros(target.shape) for target in targets]
    squares = [np.zeros(target.shape) for target in targets]
    for step in range(1, 6):
        errors = [x - torch.from_numpy(y) for x, y in zip(tensors, targets, strict=True)]
        descent.step(torch.stack([error.square().sum() for error in errors]).sum())
        for i, target in enumerate(targets):
            gradient = 2 * (places[i] - target)
            means[i] = 0.8 * means[i] + 0.2 * gradient
            squares[i] = 0.9 * squares[i] + 0.1 * gradient**2
            mean, square = means[i] / (1 - 0.8**step), squares[i] / (1 - 0.9**step)
            places[i] = places[i] - 0.1 * mean / (np.sqrt(square) + 1e-3)
            np.testing.assert_allclose(tensors[i].detach().numpy(), places[i], rtol=1e-9)
            state = descent.state(tensors[i])
            np.testing.assert_allclose(state["exp_avg"].numpy(), means[i], rtol=1e-9)
            assert state["step"].item() == step


def test_gradients_are_clipped() -> None:
    config = NetworkConfig(adam_epsilon=1.0, gradient_clip=0.5, learning_rate=1.0)
    assert moves(config, 1) == pytest.approx([0.5 / 1.5])


@pytest.mark.parametrize("rate", [0.0, -1.0, 0.2])
def test_wrong_rates_are_refused(rate: float) -> None:
    with pytest.raises(ValueError, match=f"final_learning_rate={rate} must be None, or positive"):
        NetworkConfig(learning_rate=0.1, final_learning_rate=rate)
    with pytest.raises(ValueError, match="learning_rate=inf must be above 0 and at most 1"):
        LearningRate(math.inf)
    with pytest.raises(ValueError, match="cannot fall for 0 steps"):
        LearningRate(0.1, 0.01, 0)


def test_a_gradient_that_is_known_is_followed_as_that_of_a_loss() -> None:
    by_loss, by_gradient = torch.zeros(2), torch.zeros(2)
    slopes = torch.tensor([4.0, -1.0])
    descents = [Descent([x], LearningRate(0.1, 0.01, 5)) for x in (by_loss, by_gradient)]
    for _ in range(3):
        descents[0].step((slopes * by_loss).sum())
        descents[1].apply_gradients([slopes.clone()])
        assert torch.equal(by_loss, by_gradient)
    assert by_loss[0] < 0 < by_loss[1]
