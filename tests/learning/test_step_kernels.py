"""The compiled loop from outputs to gradients against the same in torch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from spiel_dl.algorithms.mmd import MMDConfig, MMDSolver
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.learning.self_play import Distinct, Trajectories
from spiel_dl.learning.self_play_learner import SelfPlayLearner

GAMES = ("kuhn_poker", "leduc_poker", "python_goofspiel_ii(num_cards=4)")
RNAD = RNaDConfig(hidden_sizes=(16, 16), batch_size=16, first_period=3, neurd_threshold=0.3, seed=4)
MMD = MMDConfig(hidden_sizes=(16, 16), batch_size=16, magnet_period=2, seed=4)


class TorchMMD(MMDSolver):
    """Learns by torch on a CPU, too."""

    def _has_kernel(self) -> bool:
        return False


class TorchRNaD(RNaDSolver):
    """Learns by torch on a CPU, too."""

    def _learn_by_kernel(self, trajectories: Trajectories, seen: Distinct) -> list[torch.Tensor]:
        return self._learn_by_torch(trajectories, seen)


@pytest.mark.parametrize("max_tree_histories", [0, 100_000])
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    ("compiled", "by_torch", "config"),
    [
        pytest.param(RNaDSolver, TorchRNaD, RNAD, id="rnad"),
        pytest.param(MMDSolver, TorchMMD, MMD, id="mmd"),
        pytest.param(
            MMDSolver, TorchMMD, dataclasses.replace(MMD, num_epochs=3), id="mmd, three epochs"
        ),
    ],
)
def test_steps_are_those_of_torch(
    compiled: type[SelfPlayLearner],
    by_torch: type[SelfPlayLearner],
    config: RNaDConfig | MMDConfig,
    game: str,
    max_tree_histories: int,
) -> None:
    config = dataclasses.replace(config, max_tree_histories=max_tree_histories)
    one, other = compiled(game, config), by_torch(game, config)
    start = one.parameters.detach().numpy().copy()
    for _ in range(7):
        one.step()
        other.step()
    ours, theirs = one.parameters.detach().numpy(), other.parameters.detach().numpy()
    assert np.abs(ours - start).max() > 5e-3
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    told = one.metrics()
    for name, value in other.metrics().items():
        if "second" not in name:
            assert told[name] == pytest.approx(value, rel=1e-3, abs=1e-5), name
