"""Files of value networks are read as what they are."""

from pathlib import Path

import numpy as np
import pytest

from spiel_dl import DepthLimit, Effort, ExactValue, ZeroValue, load_policy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.system import tensor_files
from spiel_dl.value_functions import network_files
from spiel_dl.value_functions.network_files import load_network
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.value_network import ValueNetwork
from tests.particle_networks import SMALL, leaves_of
from tests.reference import state_after

LEAVES = leaves_of("kuhn_poker", DepthLimit(moves=1))


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


class OwnNetwork(PositionalNetwork):
    """Of another kind, with the same parameters."""

    kind = "own_network"


def test_networks_of_a_person_s_own_are_registered(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(network_files, "_registered", {})
    network, path = OwnNetwork(1, 4, seed=3), tmp_path / "network.safetensors"
    network.initialize(LEAVES)
    network.save(path)
    with pytest.raises(ValueError, match=r"holds a own_network, .* known by register_network"):
        load_network(path)
    for _ in range(2):  # A notebook's cell may run twice.
        network_files.register_network(OwnNetwork)
    loaded = network_files.load_value_function(str(path))
    assert type(loaded) is OwnNetwork
    ranges = [np.ones(LEAVES.num_infosets(player)) for player in (0, 1)]
    expected = network.bind(LEAVES).evaluate(*ranges)
    np.testing.assert_array_equal(loaded.bind(LEAVES).evaluate(*ranges)[0], expected[0])
    with pytest.raises(ValueError, match=r"OwnNetwork does not fit the leaves at .* of 2 moves"):
        load_policy(f"resolving:{path}", "kuhn_poker", depth_limit=DepthLimit(moves=1))


def test_what_cannot_be_registered() -> None:
    class Other(OwnNetwork):
        kind = "positional_network"

    class NoKind(ValueNetwork):
        pass

    for wrong in (ExactValue, NoKind, OwnNetwork(), "own"):
        with pytest.raises(ValueError, match="must be a subclass of ValueNetwork with a kind"):
            network_files.register_network(wrong)
    with pytest.raises(ValueError, match="kind='positional_network' is that of PositionalNetwork"):
        network_files.register_network(Other)
    Other.__qualname__ = "PositionalNetwork"
    with pytest.raises(ValueError, match="kind='positional_network' is that of PositionalNetwork"):
        network_files.register_network(Other)


def test_value_functions_by_name() -> None:
    assert isinstance(network_files.load_value_function("exact"), ExactValue)
    assert isinstance(network_files.load_value_function("zero"), ZeroValue)
    with pytest.raises(ValueError, match="cannot read the file nothing"):
        network_files.load_value_function("nothing")
    with pytest.raises(ValueError, match=r"tolerance=0\.0"):
        network_files.load_value_function("exact", exact_tolerance=0.0)


def saved(limit: DepthLimit, path: Path, game: str = "kuhn_poker") -> str:
    """Writes a network for a game's leaves at a depth limit."""
    network = PositionalNetwork(1, 4, seed=limit.value)
    network.initialize(leaves_of(game, limit))
    network.save(path)
    return str(path)


def test_networks_of_several_depth_limits_play_together(tmp_path: Path) -> None:
    limits = [DepthLimit(moves=moves) for moves in (1, 2)]
    paths = [saved(limit, tmp_path / f"{limit.value}") for limit in limits]
    networks = network_files.load_networks(paths)
    assert list(networks) == limits
    expected = ContinualResolvingPolicy("kuhn_poker", networks, limits[0], effort=Effort(20))
    for name in (f"resolving:{','.join(paths)}", f"resolving:{','.join(reversed(paths))}"):
        found = load_policy(name, "kuhn_poker", depth_limit=limits[0], effort=20)
        state = state_after(found.game, (0, 1, 0))
        assert found.action_probabilities(state) == expected.action_probabilities(state)
    other = saved(DepthLimit(plies=2), tmp_path / "plies")
    with pytest.raises(ValueError, match=r"no entry for DepthLimit\(moves=2"):
        load_policy(f"resolving:{paths[0]},{other}", "kuhn_poker", depth_limit=limits[0])
    with pytest.raises(ValueError, match=f"two networks were made for a .* 1 moves, .*{paths[0]}"):
        network_files.load_networks([paths[0], paths[0]])


def test_a_network_for_all_depth_limits_is_given_alone(tmp_path: Path) -> None:
    network, path = ParticleNetwork(SMALL), tmp_path / "particles"
    network.initialize(LEAVES)
    network.save(path)
    assert network.depth_limit is None
    with pytest.raises(ValueError, match=f"ParticleNetwork of {path} says no depth limit"):
        network_files.load_networks([str(path), "nothing"])
