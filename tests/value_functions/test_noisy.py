"""Values with errors: their size, and that they do not change with ranges."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import ExactValue, ZeroValue
from spiel_dl.value_functions.noisy import NoisyValue


def test_errors_are_those_of_infosets():
    leaves = cut(GameTree.from_game("leduc_poker"), DepthLimit(plies=3)).leaves
    sizes = [leaves.num_infosets(player) for player in (0, 1)]
    errors = []
    for scale in (1.0, 0.2):
        values = NoisyValue(ZeroValue(), 0.5, seed=3).bind(leaves)
        ranges = [np.full(size, scale) for size in sizes]
        cfvs, reaches = values.evaluate(*ranges), leaves.counterfactual_reach(*ranges)
        errors.append(np.concatenate([c / r for c, r in zip(cfvs, reaches, strict=True)]))
    np.testing.assert_allclose(errors[0], errors[1])
    assert errors[0].std() == pytest.approx(0.5, rel=0.1)
    assert np.unique(errors[0]).size == sum(sizes)
    others = NoisyValue(ZeroValue(), 0.5, seed=4).bind(leaves).evaluate(*ranges)
    assert not np.allclose(others[0], cfvs[0])


def test_a_part_of_the_leaves_has_the_same_errors():
    tree = GameTree.from_game("leduc_poker")
    whole = cut(tree, DepthLimit(plies=4)).leaves
    state = int(cut(tree, DepthLimit(plies=3)).leaves.public_states[0])
    part = cut(tree, DepthLimit(plies=1), state).leaves
    function, found = NoisyValue(ZeroValue(), 1.0), []
    for leaves in (whole, part):
        ranges = [np.ones(leaves.num_infosets(player)) for player in (0, 1)]
        cfv, _ = function.bind(leaves).evaluate(*ranges)
        reach, _ = leaves.counterfactual_reach(*ranges)
        found.append(dict(zip(leaves.infosets[0].tolist(), (cfv / reach).tolist(), strict=True)))
    shared = found[0].keys() & found[1].keys()
    assert len(shared) > 3
    assert all(found[0][infoset] == pytest.approx(found[1][infoset]) for infoset in shared)


@pytest.mark.parametrize("size", [-1.0, np.inf, np.nan])
def test_bad_sizes_are_refused(size):
    with pytest.raises(ValueError, match="size="):
        NoisyValue(ZeroValue(), size)


def test_what_values_remember_is_remembered_below_errors():
    leaves = cut(GameTree.from_game("leduc_poker"), DepthLimit(plies=3)).leaves
    ranges = [np.ones(leaves.num_infosets(player)) for player in (0, 1)]
    exact = ExactValue(warm_start=True, tolerance=1e-2)
    first, plain = NoisyValue(exact, 0.1).bind(leaves), exact.bind(leaves)
    for values in (first, plain):
        values.evaluate(*ranges)
    assert first.state().keys() == plain.state().keys() != set()
    second = NoisyValue(exact, 0.1).bind(leaves)
    second.load_state(first.state())
    for one, other in zip(first.evaluate(*ranges), second.evaluate(*ranges), strict=True):
        np.testing.assert_array_equal(one, other)
