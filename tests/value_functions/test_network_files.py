"""Files of value networks are read as what they are."""

from pathlib import Path

import numpy as np
import pytest

from spiel_dl.runs import tensor_files
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions import ExactValue, ZeroValue, network_files
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
    tensor_files.save(tmp_path / "checkpoint", {}, {"training": "begun"})
    with pytest.raises(
        ValueError, match="holds a file of another kind, not one of positional_network, particle"
    ):
        load_network(tmp_path / "checkpoint")
    with pytest.raises(ValueError, match="missing"):
        load_network(tmp_path / "missing")


def test_value_functions_by_name(tmp_path: Path) -> None:
    assert isinstance(network_files.load_value_function("exact"), ExactValue)
    assert isinstance(network_files.load_value_function("zero"), ZeroValue)
    network = PositionalNetwork(1, 4)
    network.initialize(LEAVES)
    path = tmp_path / "network.safetensors"
    network.save(path)
    loaded = network_files.load_value_function(str(path))
    assert isinstance(loaded, PositionalNetwork)
    assert loaded.header() == network.header()
    with pytest.raises(ValueError, match="cannot read the file nothing"):
        network_files.load_value_function("nothing")
    with pytest.raises(ValueError, match=r"tolerance=0\.0"):
        network_files.load_value_function("exact", exact_tolerance=0.0)
