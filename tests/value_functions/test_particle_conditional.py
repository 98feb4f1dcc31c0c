"""Samples of a dataset for particle networks, conditional ones included."""

import numpy as np
import pytest

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.dataset import Dataset
from tests.particle_networks import CASES, GOOFSPIEL_3, leaves_of, random_ranges, small_network


def some_dataset(trunk, range_0, range_1):
    return Dataset(
        trunk=trunk,
        ranges=(range_0, range_1),
        masses=(np.full((4, 3), 2, np.float32), np.full((4, 3), 5, np.float32)),
        cfvs=(-range_0, 2 * range_1),
        gaps=np.zeros(4),
    )


def counterfactual_reach(leaves, ranges, player):
    """One history after the other."""
    reach = np.zeros(leaves.num_infosets(player))
    for infosets, chance in zip(leaves.infoset_of_history.T, leaves.chance_reach, strict=True):
        reach[infosets[player]] += chance * ranges[1 - player][infosets[1 - player]]
    return reach


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_conditional_values_are_multiplied_by_the_counterfactual_reach(game, limit):
    leaves = leaves_of(game, limit)
    plain, conditional = (small_network(leaves, conditional=c) for c in (False, True))
    ranges = random_ranges(leaves, 8)
    expected, found = (each.bind(leaves).evaluate(*ranges) for each in (plain, conditional))
    scaled = []
    for player in (0, 1):
        mass = leaves.sum_by_public_state(player, ranges[player])
        scaled.append(ranges[player] / mass[leaves.public_state_of_infoset(player)])
    for player in (0, 1):
        reach = counterfactual_reach(leaves, scaled, player)
        assert len(np.unique(reach.round(6))) > 2
        np.testing.assert_allclose(found[player], expected[player] * reach, rtol=1e-4, atol=1e-6)


def test_samples_of_a_conditional_network_are_divided_by_the_counterfactual_reach():
    trunk = cut(GameTree.from_game(GOOFSPIEL_3), DepthLimit(rounds=1))
    leaves = trunk.leaves
    range_0, range_1 = (r.astype(np.float32) for r in random_ranges(leaves, 6, (4,)))
    # Player 1 has one card only, so that what its opponent holds may be impossible.
    range_1[:, 1:] = 0
    dataset = some_dataset(trunk, range_0, range_1)
    network = small_network(leaves, conditional=True)
    samples = network.samples(dataset)
    numbers = np.arange(dataset.num_samples)
    _, targets, counts = samples.batch(numbers)
    # Player 1's own range of 0 does not matter for its own values, only for its opponent's.
    reach = np.stack(
        [
            np.concatenate([counterfactual_reach(leaves, ranges, p) for p in (0, 1)])
            for ranges in zip(range_0, range_1, strict=True)
        ]
    )
    entry = network.bind(leaves).tensors.entry
    by_entry = np.pad(reach, [(0, 0), (0, 1)])[:, entry].reshape(targets.shape)
    np.testing.assert_array_equal(counts, by_entry > 0)
    assert 0 < counts.sum() < (entry < reach.shape[1]).sum() * 4
    plain = small_network(leaves).samples(dataset)
    cfvs = plain.batch(numbers)[1] * plain.opponent_masses(numbers)
    found = targets * samples.opponent_masses(numbers)
    np.testing.assert_allclose(found[counts], cfvs[counts], rtol=1e-4, atol=1e-6)


def test_samples_are_public_states_of_a_dataset():
    trunk = cut(GameTree.from_game(GOOFSPIEL_3), DepthLimit(rounds=1))
    leaves = trunk.leaves
    network = small_network(leaves)
    range_0, range_1 = (r.astype(np.float32) for r in random_ranges(leaves, 6, (4,)))
    samples = network.samples(some_dataset(trunk, range_0, range_1))
    numbers = samples.numbers(np.array([1, 3]), np.array([0, 2]))
    assert numbers.tolist() == [3, 5, 9, 11]
    inputs, targets, is_entry = samples.batch(numbers)
    assert targets.shape == is_entry.shape == inputs.belief.shape
    for row, (strategy, state) in enumerate([(1, 0), (1, 2), (3, 0), (3, 2)]):
        here = [leaves.public_state_of_infoset(p) == state for p in (0, 1)]
        beliefs = np.concatenate([range_0[strategy, here[0]], range_1[strategy, here[1]]])
        values = np.concatenate([-range_0[strategy, here[0]], 2 * range_1[strategy, here[1]]])
        np.testing.assert_array_equal(inputs.belief[row][is_entry[row]], beliefs)
        np.testing.assert_array_equal(targets[row][is_entry[row]], values)
        opponents = np.repeat([5, 2], [here[0].sum(), here[1].sum()])
        masses = samples.opponent_masses(numbers)[row][is_entry[row]]
        np.testing.assert_array_equal(masses, opponents)
        assert not inputs.belief[row][~is_entry[row]].any()
