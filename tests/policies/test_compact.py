"""Strategies in few bytes: the same values, and nothing of what their player never does."""

from pathlib import Path

import numpy as np
import pytest

import spiel_dl as dl
from spiel_dl import ArrayPolicy, GameTree
from spiel_dl.policies import compact
from spiel_dl.solvers.strategies import behaviour_strategy


@pytest.fixture(scope="module")
def tree() -> GameTree:
    return GameTree.from_game("leduc_poker")


def sparse_policy(tree: GameTree) -> ArrayPolicy:
    """Every second infoset is pure; the others mix with probabilities of all sizes."""
    generator = np.random.default_rng(3)
    strategies = []
    for treeplex in tree.treeplexes:
        weights = generator.exponential(size=treeplex.num_sequences) ** 3
        is_pure = treeplex.per_sequence(np.arange(treeplex.num_infosets) % 2 == 0)
        is_first = np.isin(np.arange(treeplex.num_sequences), treeplex.first_sequence)
        strategies.append(behaviour_strategy(treeplex, np.where(is_pure, is_first, weights)))
    return ArrayPolicy(tree, (strategies[0], strategies[1]))


def test_values_stay_and_bytes_do_not(tree: GameTree, tmp_path: Path) -> None:
    policy = sparse_policy(tree)
    path = tmp_path / "policy"
    policy.save_compact(path, notes={"command": "by hand"})
    loaded = ArrayPolicy.load(path)
    assert dl.exploitability(tree, loaded) == pytest.approx(
        dl.exploitability(tree, policy), abs=1e-4
    )
    uniform = tree.treeplexes[0].uniform_strategy()
    packed = compact.pack(tree.treeplexes[0], policy.strategies[0])
    assert len(packed) < len(uniform) / 2
    changed = np.abs(loaded.strategies[0] - policy.strategies[0]) > 1e-4
    np.testing.assert_array_equal(loaded.strategies[0][changed], uniform[changed])
    assert changed.any()


def test_what_is_seldom_played_may_be_dropped(tree: GameTree) -> None:
    treeplex = tree.treeplexes[1]
    strategy = sparse_policy(tree).strategies[1]
    found = compact.unpack(treeplex, compact.pack(treeplex, strategy, least=0.2))
    again = compact.pack(treeplex, found)
    assert again[again > 0].min() >= 0.2 * 65535 - 1
    # Nothing is left of an infoset whose probabilities are all below: the largest stays.
    thirds = compact.unpack(treeplex, compact.pack(treeplex, treeplex.uniform_strategy(), 0.9))
    np.testing.assert_allclose(thirds, treeplex.uniform_strategy(), atol=1e-4)


def test_damaged_numbers_are_refused(tree: GameTree) -> None:
    treeplex = tree.treeplexes[0]
    packed = compact.pack(treeplex, sparse_policy(tree).strategies[0])
    with pytest.raises(ValueError, match="ends too early"):
        compact.unpack(treeplex, packed[:-1])
    with pytest.raises(ValueError, match="of which"):
        compact.unpack(treeplex, np.append(packed, packed[:2]))
    with pytest.raises(ValueError, match="nothing is played"):
        compact.unpack(treeplex, np.zeros_like(packed))
