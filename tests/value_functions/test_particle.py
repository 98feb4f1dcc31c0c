"""The particle network against its definition, the positional network, and exact arithmetic."""

import dataclasses

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.sparse_tree import sparse_trunk
from spiel_dl.value_functions.particle import LeafTensors, ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleBatch, ParticleModule
from tests.particle_networks import (
    CASES,
    GOOFSPIEL_3,
    SMALL,
    leaves_of,
    random_ranges,
    small_network,
)
from tests.public_states import particles_of


@pytest.mark.parametrize("concatenation_layers", [0, 1])
def test_order_and_infostates_of_belief_0_do_not_matter(concatenation_layers):
    """Exactly: with small integers as parameters and features, and dyadic beliefs, no rounding."""
    sizes = dataclasses.replace(SMALL, concatenation_layers=concatenation_layers)
    module = ParticleModule(sizes, 5, 3)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randint(-2, 3, parameter.shape, generator=generator))
    features = torch.randint(-2, 3, (40, 5), generator=generator).float()
    public = torch.randint(0, 2, (1, 3), generator=generator).float()
    belief = torch.randint(1, 17, (1, 40), generator=generator) / 16
    belief[0, 25:] = 0
    everything = torch.arange(40)[None]
    with torch.inference_mode():
        values = module(ParticleBatch(features, everything, belief, public))
        assert len(values.unique()) > 10
        for seed in range(3):
            order = torch.randperm(40, generator=torch.Generator().manual_seed(seed))
            shuffled = ParticleBatch(features[order], everything, belief[:, order], public)
            assert torch.equal(module(shuffled), values[:, order])
        alone = ParticleBatch(features[:25], everything[:, :25], belief[:, :25], public)
        assert torch.equal(module(alone), values[:, :25])


@pytest.mark.parametrize(("game", "limit"), CASES)
@pytest.mark.parametrize("concatenation_layers", [0, 1])
def test_evaluation_follows_the_definition(game, limit, concatenation_layers):
    """One public state and one infostate after the other."""
    leaves = leaves_of(game, limit)
    network = small_network(
        leaves, dataclasses.replace(SMALL, concatenation_layers=concatenation_layers)
    )
    module, (range_0, range_1) = network.module, random_ranges(leaves, seed=0)
    found = network.bind(leaves).evaluate(range_0, range_1)
    features = InfostateFeatures().of_leaves(leaves)
    split = leaves.num_infosets(0)
    for state in range(leaves.num_public_states):
        here = [np.flatnonzero(leaves.public_state_of_infoset(p) == state) for p in (0, 1)]
        mass = [range_0[here[0]].sum(), range_1[here[1]].sum()]
        context, bases = 0.0, {}
        for player, ranges in enumerate((range_0, range_1)):
            for infoset in here[player]:
                row = torch.from_numpy(features.infostates[player * split + infoset])
                bases[player, infoset] = module.change_basis(row)
                context = context + ranges[infoset] / mass[player] * bases[player, infoset]
        public = torch.from_numpy(features.public[state])
        regressed = module.regression(torch.cat([context.float(), public]))
        for (player, infoset), base in bases.items():
            if module.output is None:
                value = (regressed * base).sum() / len(base) ** 0.5
            else:
                value = module.output(torch.cat([base, regressed]))[0]
            expected = value.item() * mass[1 - player]
            assert found[player][infoset] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_infosets_that_look_alike_are_valued_together():
    """The same values as one by one, to float32: only sums are taken in another order."""
    game = "python_goofspiel_ii(num_cards=4,points_order=descending)"
    leaves = leaves_of(game, DepthLimit(rounds=2))
    network = small_network(leaves, features=InfostateFeatures(False))
    sizes = [leaves.num_infosets(p) for p in (0, 1)]
    assert len(network.bind(leaves).tensors.features) < sum(sizes)
    ranges = []
    for player, rows in enumerate(random_ranges(leaves, 9)):
        mass = leaves.sum_by_public_state(player, rows)
        ranges.append(rows / mass[leaves.public_state_of_infoset(player)])
    found = np.concatenate(network.bind(leaves).evaluate(*ranges))
    state = np.concatenate([leaves.public_state_of_infoset(player) for player in (0, 1)])
    every = LeafTensors.of_infosets(state, network.features.of_leaves(leaves), network.device)
    row = np.concatenate([*ranges, np.zeros(1)], dtype=np.float32)
    belief = torch.from_numpy(row)[every.entry]
    inputs = ParticleBatch(every.features, every.infostate, belief, every.public)
    with torch.inference_mode():
        expected = network.module(inputs).flatten()[every.place].numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_a_sparse_trunk_of_all_histories_has_the_values_of_the_whole_one():
    """By name of the infoset: the sparse trunk numbers them in its own order."""
    game = pyspiel.load_game(GOOFSPIEL_3)
    leaves = leaves_of(GOOFSPIEL_3, DepthLimit(rounds=1))
    sparse = sparse_trunk(particles_of(game.new_initial_state()), DepthLimit(rounds=1)).leaves
    network = small_network(leaves)
    keys, sparse_keys = ([keys_of(some, p) for p in (0, 1)] for some in (leaves, sparse))
    ranges = random_ranges(leaves, seed=4)
    values = network.bind(leaves).evaluate(*ranges)
    order = [np.array([list(keys[p]).index(key) for key in sparse_keys[p]]) for p in (0, 1)]
    found = network.bind(sparse).evaluate(*(ranges[p][order[p]] for p in (0, 1)))
    for player in (0, 1):
        assert len(order[player]) == leaves.num_infosets(player)
        np.testing.assert_allclose(
            found[player], values[player][order[player]], rtol=1e-4, atol=1e-6
        )


def keys_of(leaves, player):
    _, first = np.unique(leaves.infoset_of_history[player], return_index=True)
    return leaves.tree.infoset_key[player, leaves.histories[first]]


def test_values_are_those_of_the_newest_parameters():
    leaves = leaves_of("kuhn_poker", DepthLimit(moves=1))
    network = small_network(leaves)
    ranges = random_ranges(leaves, seed=5)
    values = network.bind(leaves)
    before, tensors = values.evaluate(*ranges), values.tensors
    # As training takes its steps; torch does not count these in the parameters' versions.
    optimizer = torch.optim.Adam(network.module.change_basis.parameters(), lr=0.1, fused=True)
    batch = ParticleBatch(
        tensors.features, tensors.infostate, torch.ones(tensors.entry.shape), tensors.public
    )
    network.module(batch).sum().backward()
    optimizer.step()
    after = values.evaluate(*ranges)
    fresh = ParticleNetwork(SMALL)
    fresh.initialize(leaves)
    fresh.load_parameters(network.parameter_arrays())
    assert np.abs(before[0] - after[0]).max() > 1e-6
    np.testing.assert_array_equal(fresh.bind(leaves).evaluate(*ranges)[0], after[0])
