"""Files of value networks are read as what they are."""

import numpy as np
import pytest

from spiel_dl.runs import tensor_files
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.network_files import load_network
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.particle_networks import SMALL, leaves_of

LEAVES = leaves_of("kuhn_poker", DepthLimit(moves=1))


@pytest.mark.parametrize(
    "make", [lambda: PositionalNetwork(1, 4, seed=3), lambda: ParticleNetwork(SMALL, seed=3)]
)
def test_the_kind_and_all_parameters_are_kept(make, tmp_path):
    network = make()
    network.initialize(LEAVES)
    network.save(tmp_path / "network")
    loaded = load_network(tmp_path / "network")
    assert type(loaded) is type(network)
    assert loaded.header() == network.header()
    arrays = loaded.parameter_arrays()
    for name, array in network.parameter_arrays().items():
        np.testing.assert_array_equal(array, arrays[name])


def test_other_files_are_refused(tmp_path):
    tensor_files.save(tmp_path / "policy", {}, {"kind": "policy"})
    with pytest.raises(ValueError, match="holds a policy, not one of positional_network, particle"):
        load_network(tmp_path / "policy")
    with pytest.raises(ValueError, match="missing"):
        load_network(tmp_path / "missing")
