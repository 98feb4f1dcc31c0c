"""Validation errors of two samples, by hand."""

import dataclasses

import numpy as np
import pytest
import torch

from spiel_dl.value_functions.validation import ERROR_TITLES, UNNORMALISED, validation_errors


@dataclasses.dataclass
class Answers:
    """A network that answers what it is given."""

    module: torch.nn.Module = dataclasses.field(default_factory=torch.nn.Identity)


class TwoSamples:
    """Errors 0.5 and 2 in the first sample, 1 in the second; what does not count is far off."""

    num_states = 1

    def batch(self, samples):
        inputs = torch.tensor([[0.5, 3.0, 0.0], [9.0, -1.0, 7.0]])[samples]
        targets = torch.tensor([[0.0, 1.0, 100.0], [100.0, -2.0, 100.0]])[samples]
        counts = torch.tensor([[True, True, False], [False, True, False]])[samples]
        return inputs, targets, counts

    def opponent_masses(self, samples):
        return torch.tensor([[0.1, 0.5, 9.0], [9.0, 0.25, 9.0]])[samples]


def test_errors_by_hand():
    found = validation_errors(Answers(), TwoSamples(), np.array([0, 1]))
    assert found.keys() == {unit + name for unit in ("", UNNORMALISED) for name in ERROR_TITLES}
    assert found["l1"] == pytest.approx((0.5 + 2 + 1) / 3)
    assert found["huber"] == pytest.approx((0.125 + 1.5 + 0.5) / 3)
    assert found["linf"] == 2
    assert found["linf_mean"] == pytest.approx((2 + 1) / 2)
    # Times the masses, errors are 0.05, 1 and 0.25.
    assert found["unnormalised_l1"] == pytest.approx(1.3 / 3)
    assert found["unnormalised_huber"] == pytest.approx((0.00125 + 0.5 + 0.03125) / 3)
    assert found["unnormalised_linf"] == 1
    assert found["unnormalised_linf_mean"] == pytest.approx((1 + 0.25) / 2)


def test_large_sets_are_looked_at_in_pieces():
    alone = validation_errors(Answers(), TwoSamples(), np.array([0, 1]))
    often = validation_errors(Answers(), TwoSamples(), np.tile([0, 1], 5000))
    assert often == pytest.approx(alone)


def test_nan_is_not_lost():
    class Spoiled(TwoSamples):
        def batch(self, samples):
            inputs, targets, counts = super().batch(samples)
            return inputs.index_fill(0, torch.tensor([0]), torch.nan), targets, counts

    found = validation_errors(Answers(), Spoiled(), np.array([0, 1]))
    assert np.isnan([found["l1"], found["linf"], found["linf_mean"]]).all()
