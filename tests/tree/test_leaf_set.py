"""The leaves of Kuhn poker after one move, by hand: six deals, passed or bet."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.tree import DepthLimit, GameTree, LeafSet, cut


@pytest.fixture(scope="module")
def leaves() -> LeafSet:
    return cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves


def test_shapes_by_hand(leaves: LeafSet) -> None:
    assert leaves.num_public_states == 2
    assert leaves.public_states.tolist() == [3, 4], "passed, bet"
    assert leaves.history_offsets.tolist() == [0, 6, 12]
    assert leaves.chance_reach.tolist() == [1 / 6] * 12
    for player in (0, 1):
        assert leaves.num_infosets(player) == 6, "three cards in each"
        assert leaves.infoset_offsets[player].tolist() == [0, 3, 6]
        assert leaves.public_state_of_infoset(player).tolist() == [0, 0, 0, 1, 1, 1]
        for position in range(6):
            first = leaves.first_histories[player][position]
            members = leaves.histories[leaves.infoset_of_history[player] == position]
            assert members[0] == first
            assert len(members) == 2, "the opponent has one of the other two cards"


def test_infosets_hang_from_the_move_that_leads_there(leaves: LeafSet) -> None:
    tree = leaves.tree
    trunk = cut(tree, DepthLimit(moves=1))
    for position, history in enumerate(leaves.first_histories[0].tolist()):
        sequence = trunk.sequences[0][leaves.sequences[0][position]]
        assert sequence == tree.sequence[0, history]
    # Player 1 has not moved yet.
    assert leaves.sequences[1].tolist() == [0] * 6


def test_counterfactual_reaches_by_hand(leaves: LeafSet) -> None:
    """Player 1 comes with probability 1, 2, 3 with its cards when passed, and 0 when bet."""
    range_0, range_1 = np.ones(6), np.zeros(6)
    card = {}
    for player in (0, 1):
        first = leaves.first_histories[player].tolist()
        deals = [leaves.tree.state(history).history()[player] for history in first]
        card[player] = np.array(deals)
    range_1[:3] = 1 + card[1][:3]
    reach_0, reach_1 = leaves.counterfactual_reach(range_0, range_1)
    # The two cards that player 0 does not have.
    np.testing.assert_allclose(reach_0[:3], (6 - (1 + card[0][:3])) / 6)
    np.testing.assert_array_equal(reach_0[3:], 0)
    np.testing.assert_allclose(reach_1, 2 / 6)


def test_a_batch_is_its_rows(leaves: LeafSet) -> None:
    generator = np.random.default_rng(0)
    range_0, range_1 = generator.random((2, 2, 3, 6))
    batch_0, batch_1 = leaves.counterfactual_reach(range_0, range_1)
    assert batch_0.shape == batch_1.shape == (2, 3, 6)
    for place in np.ndindex(2, 3):
        reach_0, reach_1 = leaves.counterfactual_reach(range_0[place], range_1[place])
        np.testing.assert_allclose(batch_0[place], reach_0)
        np.testing.assert_allclose(batch_1[place], reach_1)
    # Both sum chance's, player 0's and player 1's reach over the leaves.
    for mine, reach, player in ((range_0, batch_0, 0), (range_1, batch_1, 1)):
        sums = leaves.sum_by_public_state(player, mine * reach)
        assert sums.shape == (2, 3, 2)
        np.testing.assert_allclose(
            sums, leaves.sum_by_public_state(1, range_1 * batch_1), rtol=1e-12
        )
        np.testing.assert_allclose(sums[..., 0], (mine * reach)[..., :3].sum(axis=-1))


def test_subgames_follow_the_leaves(leaves: LeafSet) -> None:
    for player in (0, 1):
        treeplex = leaves.subgames.treeplexes[player]
        assert treeplex.num_root_sequences == 6
        # Player 1 decides after a pass and after a bet; player 0 when it has passed.
        assert treeplex.num_infosets == (3 if player == 0 else 6)
        originals = leaves.subgame_sequences[player]
        assert originals[:6].tolist() == [0] * 6
        actions = leaves.tree.sequence_action[player][originals[6:]]
        assert actions.tolist() == [0, 1] * treeplex.num_infosets


@pytest.mark.parametrize("shape", [(0,), (2, 0), (2, 3, 0)])
def test_a_trunk_without_leaves_has_reaches_without_entries(shape: tuple[int, ...]) -> None:
    leaves = cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=9)).leaves
    reach = leaves.counterfactual_reach(np.ones(shape), np.ones(shape))
    assert [each.shape for each in reach] == [shape, shape]
