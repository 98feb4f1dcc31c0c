"""Common behaviour of positional and particle networks."""

import numpy as np
import pytest
import torch

from spiel_dl import DepthLimit, ExactValue
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.particle_networks import CASES, SMALL, initialized, leaves_of, random_ranges
from tests.reference import assert_same_arrays

KUHN = leaves_of("kuhn_poker", DepthLimit(moves=1))


def positional(**arguments):
    return PositionalNetwork(2, 16, **arguments)


def particle(**arguments):
    return ParticleNetwork(SMALL, **arguments)


def conditional(**arguments):
    return ParticleNetwork(SMALL, InfostateFeatures(False), conditional=True, **arguments)


KINDS = pytest.mark.parametrize("make", [positional, particle, conditional])


@pytest.mark.parametrize("make", [positional, particle, conditional, None])
@pytest.mark.parametrize(("game", "limit"), CASES[:2])
def test_values_are_homogeneous_in_the_opponents_range_only(make, game, limit):
    """Those of networks, and exact ones."""
    leaves = leaves_of(game, limit)
    values = (initialized(make(), leaves) if make else ExactValue(tolerance=1e-3)).bind(leaves)
    range_0, range_1 = random_ranges(leaves, seed=1)
    expected = values.evaluate(range_0, range_1)
    # Powers of 2, so that the scaled ranges are equal to the last bit.
    scaled = values.evaluate(4 * range_0, range_1 / 8)
    np.testing.assert_allclose(scaled[0], expected[0] / 8, rtol=1e-12)
    np.testing.assert_allclose(scaled[1], expected[1] * 4, rtol=1e-12)
    nothing = values.evaluate(range_0, np.zeros_like(range_1))
    np.testing.assert_array_equal(nothing[0], 0)
    assert np.abs(nothing[1]).max() > 0


@KINDS
def test_the_seed_makes_the_parameters_and_torchs_own_generator_is_left_alone(make):
    state = torch.random.get_rng_state()
    networks = [initialized(make(seed=seed), KUHN) for seed in (1, 1, 2)]
    assert torch.equal(state, torch.random.get_rng_state())
    first, same, other = (network.parameter_arrays() for network in networks)
    assert_same_arrays(same, first)
    weights = [name for name in first if name.endswith("weight")]
    assert any((first[name] != other[name]).any() for name in weights)


@KINDS
def test_files(make, tmp_path):
    network = initialized(make(seed=5), KUHN)
    network.save(tmp_path / "network")
    loaded = type(network).load(tmp_path / "network")
    assert loaded.header() == network.header()
    with pytest.raises(ValueError, match=r"game is kuhn_poker\(\), but the leaves' is leduc"):
        loaded.initialize(leaves_of("leduc_poker", DepthLimit(moves=1)))
    same = leaves_of("kuhn_poker(players=2)", DepthLimit(moves=1))
    loaded.initialize(same)
    ranges = random_ranges(KUHN, seed=6)
    pair = [network.bind(KUHN).evaluate(*ranges), loaded.bind(same).evaluate(*ranges)]
    for one, other in zip(*pair, strict=True):
        np.testing.assert_array_equal(one, other)
    others = ParticleNetwork if make is positional else PositionalNetwork
    with pytest.raises(ValueError, match=f"holds a {network.kind}, not a {others.kind}"):
        others.load(tmp_path / "network")


@KINDS
def test_errors(make, tmp_path):
    for ask in (lambda new: new.bind(KUHN), lambda new: new.save(tmp_path / "network")):
        with pytest.raises(ValueError, match="has no parameters yet; call initialize"):
            ask(make())
    with pytest.raises(ValueError, match="nothing to value"):
        make().bind(leaves_of("kuhn_poker", DepthLimit(moves=9)))
    network = initialized(make(), KUHN)
    arrays = network.parameter_arrays()
    del arrays[next(iter(arrays))]
    with pytest.raises(ValueError, match="but the network needs"):
        network.load_parameters(arrays)


def test_what_a_positional_network_refuses():
    with pytest.raises(ValueError, match="depth limit is 1 moves, but the leaves' is 2 moves"):
        initialized(positional(), KUHN).initialize(leaves_of("kuhn_poker", DepthLimit(moves=2)))


def test_a_game_without_tensors_has_no_features():
    with pytest.raises(ValueError, match="has no information_state_tensor"):
        particle().bind(leaves_of("coordinated_mp", DepthLimit(moves=1)))
