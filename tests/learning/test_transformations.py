"""Policy transformations against vectors computed by hand."""

from __future__ import annotations

import math

import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401
from spiel_dl import ArrayPolicy, GameTree
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import (
    IDENTITY,
    TRANSFORMATION_SETS,
    UNIFORM,
    PolicyTransformations,
    Transformation,
    action_values,
    paper_transformations,
    pure_transformations,
    register_transformations,
    transformations_by_name,
)

E = math.e

# I = 1, 2, 3, 4, so I^R = 4, 3, 2, 1; pi = 0.1, 0.2, 0.3, 0.4. Weights before normalisation.
BY_HAND = [
    [0.1, 0.2, 0.3, 0.4],
    [1, 1, 1, 1],
    [0.9, 0.8, 0.7, 0.6],
    [0.1, 0.4, 0.9, 1.6],
    [0.1, 0.8, 2.7, 6.4],
    [0.1, 0.2 * E, 0.3 * E**2, 0.4 * E**3],
    [0.4, 0.6, 0.6, 0.4],
    [1.6, 1.8, 1.2, 0.4],
    [0.1 * E**3, 0.2 * E**2, 0.3 * E, 0.4],
    [0.1, 0.4, 0.6, 0.4],
    [0.1, 0.8, 1.2, 0.4],
    [0.1, 0.2 * E, 0.3 * E, 0.4],
    [0.4, 0.6, 0.9, 1.6],
    [1.6, 1.8, 2.7, 6.4],
    [0.1 * E**4, 0.2 * E**3, 0.3 * E**3, 0.4 * E**4],
    [0, 0.2, 0, 0.4],
    [0.1, 0, 0.3, 0],
    [0, 0, 0.3, 0],
    [0.1, 0, 0, 0.4],
    [0, 0.2, 0, 0],
    [0, 0.2, 0.3, 0.4],
    [0.1, 0.2, 0.3, 0],
]
POLICY = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
FOUR = torch.arange(1.0, 5.0)


def test_the_22_transformations_by_hand():
    transformations = paper_transformations(FOUR)
    assert len(transformations) == len(set(transformations.names)) == 22
    found = transformations.apply(POLICY, torch.ones(4, dtype=torch.bool))
    weights = torch.tensor(BY_HAND, dtype=torch.float64)
    expected = weights / weights.sum(dim=-1, keepdim=True)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-15)


def test_illegal_actions_get_nothing_and_what_leaves_nothing_changes_nothing():
    """Only actions 1 (I = 2) and 2 (I = 3) are legal; I^R stays that of all four actions."""
    policy = torch.tensor([0, 0.25, 0.75, 0], dtype=torch.float64)
    legal = torch.tensor([False, True, True, False])
    found = paper_transformations(FOUR).apply(policy, legal)
    assert not found[:, ~legal].any()
    expected = {
        1: [0.5, 0.5],
        2: [0.75, 0.25],
        3: [0.5 / 2.75, 2.25 / 2.75],
        6: [0.75 / 2.25, 1.5 / 2.25],
        8: [0.25 * E / (0.25 * E + 0.75), 0.75 / (0.25 * E + 0.75)],
        15: [1, 0],
        16: [0, 1],
        18: [0.25, 0.75],  # no legal action of residue 1: as it was
        20: [0.25, 0.75],
    }
    for number, row in expected.items():
        expected = torch.tensor(row, dtype=torch.float64)
        torch.testing.assert_close(found[number, 1:3], expected, rtol=0, atol=1e-15)


def test_batches_of_any_shape_are_transformed_row_by_row():
    generator = torch.Generator().manual_seed(1)
    legal = torch.rand((3, 5, 4), generator=generator) < 0.7
    legal[..., 0] = True
    legal[0, 0] = False  # a row where nobody moves
    policy = torch.rand((3, 5, 4), generator=generator) * legal
    policy = policy / policy.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    transformations = paper_transformations(FOUR)
    found = transformations.apply(policy, legal)
    assert found.shape == (22, 3, 5, 4)
    assert found.dtype == torch.float32
    assert not found[:, 0, 0].any()
    for row in range(3):
        for column in range(5):
            alone = transformations.apply(policy[row, column], legal[row, column])
            torch.testing.assert_close(found[:, row, column], alone)
    assert (found[0] == policy).all()


def test_unchecked_weights_that_are_wrong_become_nan():
    """A policy of NaN is refused, too."""
    wrong = Transformation("negative", lambda policy, legal: policy - 0.3)
    transformations = PolicyTransformations([IDENTITY, wrong])
    legal = torch.ones(4, dtype=torch.bool)
    found = transformations.apply(torch.tensor([0.1, 0.2, 0.3, 0.4]), legal, check=False)
    assert found.isnan().any(dim=1).tolist() == [False, True]
    nothing = paper_transformations(FOUR).apply(torch.full((4,), math.nan), legal, check=False)
    is_nan = nothing.isnan().any(dim=1)
    assert is_nan.tolist() == [number != 1 for number in range(22)]  # 1 is uniform


def test_exponentials_do_not_overflow():
    """In float32, e^89 is infinite; here I goes to 200."""
    values = torch.arange(1.0, 201.0)
    policy = torch.full((200,), 1 / 200)
    found = paper_transformations(values).apply(policy, torch.ones(200, dtype=torch.bool))
    assert found.isfinite().all()
    torch.testing.assert_close(found.sum(dim=1), torch.ones(22))
    # A geometric series: the largest action has (1 - 1/e) of the weight.
    torch.testing.assert_close(found[5, -1], torch.tensor(1 - 1 / E))
    torch.testing.assert_close(found[8, 0], torch.tensor(1 - 1 / E))


def test_pure_transformations_in_leduc():
    """Fold is illegal when nothing has been bet: then the policy stays."""
    policy = torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]])
    found = pure_transformations(3).apply(policy, policy > 0)
    expected = torch.eye(3)
    for action in range(3):
        assert (found[1 + action, 0] == expected[action]).all()
    assert (found[1, 1] == policy[1]).all()
    assert (found[2, 1] == expected[1]).all()
    # Those of fewer actions leave the others out.
    for fewer in (1, 2):
        assert (pure_transformations(fewer).apply(policy, policy > 0) == found[: fewer + 1]).all()


def test_action_values():
    goofspiel = pyspiel.load_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
    assert action_values(goofspiel).tolist() == [1, 2, 3, 4]
    battleships = pyspiel.load_game(
        "python_battleships(board_width=2,board_height=2,ship_sizes=[2])"
    )
    values = action_values(battleships).tolist()
    assert values[:4] == [1, 2, 3, 4]
    assert set(values) == {1, 2, 3, 4}


def test_errors():
    with pytest.raises(ValueError, match="must be IDENTITY"):
        PolicyTransformations([])
    with pytest.raises(ValueError, match="must be natural numbers"):
        paper_transformations(torch.arange(3.0))
    everywhere = torch.ones(4, dtype=torch.bool)
    for row, message in ((-POLICY, "'bad' returns weights"), (POLICY[:2], "returns the shape")):
        bad = Transformation("bad", lambda policy, legal, row=row: row)
        with pytest.raises(ValueError, match=message):
            PolicyTransformations([IDENTITY, bad]).apply(POLICY, everywhere)


@pytest.mark.parametrize("num_actions", [1, 3, 5])
def test_transformations_of_another_game_are_refused(num_actions: int):
    """A single value would fit policies of any length, by broadcasting."""
    made = [paper_transformations(torch.arange(1.0, num_actions + 1))]
    made += [pure_transformations(num_actions)] if num_actions > 4 else []
    for transformations in made:
        with pytest.raises(ValueError, match=f"are of {num_actions} actions, and the game has 4"):
            transformations.apply(POLICY, torch.ones(4, dtype=torch.bool))


def test_transformations_of_ones_own_have_names(monkeypatch: pytest.MonkeyPatch):
    game = pyspiel.load_game("kuhn_poker")
    monkeypatch.setitem(TRANSFORMATION_SETS, "mine", _mine)  # so that it is taken away afterwards
    del TRANSFORMATION_SETS["mine"]
    # Other tests may have given names to their own.
    with pytest.raises(ValueError, match=r"transformations='mine' must be one of paper, pure.*; "):
        transformations_by_name("mine", game)
    register_transformations("mine", _mine)
    register_transformations("mine", _mine)  # as modules that are imported twice do
    assert transformations_by_name("mine", game).names == ("identity", "uniform")
    for name in ("paper", "mine"):
        with pytest.raises(ValueError, match=f"name='{name}' is that of other transformations"):
            register_transformations(name, lambda game: _mine(game))


def _mine(game: pyspiel.Game) -> PolicyTransformations:
    return PolicyTransformations([IDENTITY, UNIFORM])


def test_what_are_no_transformations():
    with pytest.raises(ValueError, match=r"pass PolicyTransformations\(\[IDENTITY, \.\.\.\]\)"):
        RNaDSolver("kuhn_poker", transformations=[IDENTITY, UNIFORM])
    tree = GameTree.from_game("kuhn_poker")
    with pytest.raises(ValueError, match="must be PolicyTransformations"):
        ExactCritic(tree, ArrayPolicy.uniform(tree), [IDENTITY, UNIFORM])
    wrong = Transformation("by hand", lambda policy, legal: policy.numpy())
    transformations = PolicyTransformations([IDENTITY, wrong])
    with pytest.raises(ValueError, match=r"'by hand' returns a numpy\.ndarray; return a tensor"):
        transformations.apply(POLICY, torch.ones(4, dtype=torch.bool))
