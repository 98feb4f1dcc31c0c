import itertools

import pytest
import torch

from spiel_dl.learning.descent import Descent, NetworkConfig


def moves(config: NetworkConfig, num_steps: int) -> list[float]:
    """How far one parameter goes in every step down a slope that stays the same."""
    descent = Descent(torch.zeros(1), config)
    places = [0.0]
    for _ in range(num_steps):
        descent.step(3.0 * descent.parameters.sum())
        places.append(float(descent.parameters.detach()))
    return [before - after for before, after in itertools.pairwise(places)]


def test_the_learning_rate_falls_exponentially_and_then_stays() -> None:
    # Without a mean gradient, Adam's step down a constant slope is its learning rate.
    config = NetworkConfig(learning_rate=0.1, final_learning_rate=0.001, decay_steps=4)
    expected = [0.1, 0.1 / 10**0.5, 0.01, 0.01 / 10**0.5, 0.001, 0.001, 0.001]
    assert moves(config, 7) == pytest.approx(expected, rel=1e-4)
    assert moves(NetworkConfig(learning_rate=0.1), 3) == pytest.approx([0.1] * 3, rel=1e-4)


def test_gradients_are_clipped() -> None:
    config = NetworkConfig(adam_epsilon=1.0, gradient_clip=0.5, learning_rate=1.0)
    assert moves(config, 1) == pytest.approx([0.5 / 1.5])


@pytest.mark.parametrize("rate", [0.0, -1.0, 0.2])
def test_wrong_rates_are_refused(rate: float) -> None:
    with pytest.raises(ValueError, match=f"final_learning_rate={rate} must be None, or positive"):
        NetworkConfig(learning_rate=0.1, final_learning_rate=rate)
