"""CFR on tensors against the compiled solver."""

from __future__ import annotations

import pytest
import torch

from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.tensor_cfr import TensorCFRSolver
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.tree import GameTree
from tests.reference import assert_same_policy

GAMES = ["leduc_poker", "goofspiel(imp_info=True,num_cards=4,points_order=descending)"]


def assert_same_iterates(tree: GameTree, solver: TensorCFRSolver, num_iterations: int) -> None:
    expected = CFRSolver(tree, variant=solver.variant)
    for _ in range(3):
        solver.run(num_iterations)
        expected.run(num_iterations)
        assert_same_policy(solver.current_policy(), expected.current_policy(), atol=1e-9)
        assert_same_policy(solver.average_policy(), expected.average_policy(), atol=1e-9)


@pytest.mark.parametrize("variant", ["cfr", "cfr+", "dcfr", "pcfr+", "hs-pcfr+(30)"])
@pytest.mark.parametrize("game", GAMES)
def test_iterates_equal_the_compiled_ones(game: str, variant: str) -> None:
    tree = GameTree.from_game(game)
    assert_same_iterates(tree, TensorCFRSolver(tree, variant=variant, device="cpu"), 4)
    assert variant in VARIANTS


def test_single_precision_comes_as_near() -> None:
    tree = GameTree.from_game("leduc_poker")
    solver = TensorCFRSolver(tree, device="cpu", dtype=torch.float32)
    solver.run(300)
    assert solver.iteration == 300
    assert exploitability.nash_conv(tree, solver.average_policy()) < 0.02
    with pytest.raises(ValueError, match="-1"):
        solver.run(-1)
    steep = TensorCFRSolver(tree, variant="hs-pcfr+(30)", device="cpu", dtype=torch.float32)
    with pytest.raises(ValueError, match="take float64"):
        steep.run(100)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("game", GAMES)
def test_a_captured_iteration_is_the_same(game: str) -> None:
    tree = GameTree.from_game(game)
    solver = TensorCFRSolver(tree, device="cuda")
    assert_same_iterates(tree, solver, 5)
    assert solver._graph is not None
