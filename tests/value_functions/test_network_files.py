"""Value functions by name."""

from pathlib import Path

import pytest

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import ExactValue, ZeroValue, network_files
from spiel_dl.value_functions.positional import PositionalNetwork


def test_value_functions_by_name(tmp_path: Path) -> None:
    assert isinstance(network_files.load_value_function("exact"), ExactValue)
    assert isinstance(network_files.load_value_function("zero"), ZeroValue)
    network = PositionalNetwork(1, 4)
    network.initialize(cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves)
    path = tmp_path / "network.safetensors"
    network.save(path)
    loaded = network_files.load_value_function(str(path))
    assert isinstance(loaded, PositionalNetwork)
    assert loaded.header() == network.header()
    with pytest.raises(ValueError, match="cannot read the file nothing"):
        network_files.load_value_function("nothing")
    with pytest.raises(ValueError, match=r"tolerance=0\.0"):
        network_files.load_value_function("exact", exact_tolerance=0.0)
