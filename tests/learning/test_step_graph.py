"""Learner steps as CUDA graphs: what they demand on every machine, and the same steps on a GPU."""

import pytest
import torch

from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.tree.from_openspiel import load_turn_based

CONFIG = RNaDConfig(
    batch_size=8,
    hidden_sizes=(8, 8),
    first_period=4,
    final_learning_rate=1e-4,
    decay_steps=20,
)
GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=random)"
BY_RULES = RNaDConfig(batch_size=8, hidden_sizes=(8, 8), first_period=4, max_tree_histories=0)
CASES = [("kuhn_poker", CONFIG), (GOOFSPIEL, BY_RULES)]
NEEDS_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def all_pure(game):
    return transformations_by_name("pure", load_turn_based(game))


def places(solver):
    """Where in memory everything is that steps read and that outlives them."""
    tensors = [*solver._tensors().values(), solver._shares, *solver._self_play._trajectories]
    if solver._log_policy_tables is not None:
        tensors.append(solver._log_policy_tables)
    return [tensor.data_ptr() for tensor in tensors]


@pytest.mark.parametrize(("game", "config"), CASES)
def test_steps_change_everything_in_place(game, config, tmp_path):
    """A graph would go on with what was there when it was captured."""
    solver = RNaDSolver(game, config, transformations=all_pure(game))
    before = places(solver)
    for _ in range(9):  # two changes of the regularisation policy
        solver.step()
    assert places(solver) == before
    solver.save(tmp_path / "checkpoint")
    solver.load(tmp_path / "checkpoint")
    assert places(solver) == before


def test_without_a_gpu_a_graph_is_refused():
    with pytest.raises(ValueError, match="CUDA graphs need a CUDA device, and this is cpu"):
        RNaDSolver("kuhn_poker", CONFIG, cuda_graph=True)


@pytest.mark.gpu
@NEEDS_CUDA
@pytest.mark.parametrize(("game", "config"), CASES)
def test_a_graph_does_what_ordinary_steps_do(game, config, tmp_path):
    ordinary, graph = (
        RNaDSolver(game, config, device="cuda", transformations=all_pure(game), cuda_graph=is_graph)
        for is_graph in (False, True)
    )
    for _ in range(11):
        ordinary.step()
        graph.step()
        torch.testing.assert_close(graph.parameters, ordinary.parameters, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(graph._fixed, ordinary._fixed, rtol=1e-4, atol=1e-5)
    graph.save(tmp_path / "checkpoint")
    for _ in range(5):
        graph.step()
    expected = graph.parameters.detach().clone()
    graph.load(tmp_path / "checkpoint")
    for _ in range(5):
        graph.step()
    torch.testing.assert_close(graph.parameters.detach(), expected, rtol=1e-4, atol=1e-5)
    assert graph.metrics()["learner_steps_per_second"] > 0
