"""Training data: values against linear programs, strategies and kills."""

import dataclasses

import numpy as np
import pytest

from spiel_dl.solvers import linear_program
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions import dataset as data
from spiel_dl.value_functions import generation
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from tests.value_functions.datasets import CONFIGS, GOOFSPIEL_4, KUHN, make, shards


@pytest.mark.parametrize("config", CONFIGS, ids=["kuhn", "goofspiel"])
def test_range_weighted_values_are_the_lps(config, tmp_path):
    """In every leaf public state of every strategy, against an LP of that subgame alone."""
    dataset, _ = make(tmp_path, config)
    leaves = dataset.trunk.leaves
    own = [leaves.public_state_of_infoset(player) for player in (0, 1)]
    for row in range(dataset.num_strategies):
        ranges = [dataset.ranges[player][row].astype(float) for player in (0, 1)]
        for player in (0, 1):
            sums = leaves.sum_by_public_state(player, ranges[player])
            np.testing.assert_allclose(sums, 1, atol=1e-6)
        sums = sum(leaves.sum_by_public_state(p, ranges[p] * dataset.cfvs[p][row]) for p in (0, 1))
        assert sums.max() == pytest.approx(dataset.gaps[row], abs=1e-6)
        assert dataset.gaps[row] <= 1.001 * config.tolerance
        for state in range(leaves.num_public_states):
            here = [np.where(own[p] == state, ranges[p], 0) for p in (0, 1)]
            value = linear_program.solve(dataset.trunk.leaves.subgames, (here[0], here[1])).value
            for player, sign in ((0, 1), (1, -1)):
                found = here[player] @ dataset.cfvs[player][row]
                assert found == pytest.approx(sign * value, abs=1e-4)


def test_results_depend_on_seed_and_number_alone(tmp_path):
    config = CONFIGS[1]
    _, alone = make(tmp_path / "alone", config, num_shards=4)
    make(tmp_path / "longer", config, num_shards=2)
    _, longer = make(tmp_path / "longer", config, num_shards=4)
    assert alone == longer
    assert len(set(alone.values())) == 4
    _, other = make(tmp_path / "other", dataclasses.replace(config, seed=1), num_shards=4)
    assert all(other[name] != alone[name] for name in alone)


def test_a_killed_run_goes_on_with_what_is_missing(tmp_path, monkeypatch):
    _, whole = make(tmp_path / "whole", KUHN, num_shards=3)
    original, calls = data.tensor_files.save, []

    def dying(path, arrays, header):
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        original(path, arrays, header)

    killed = tmp_path / "killed"
    monkeypatch.setattr(data.tensor_files, "save", dying)
    with pytest.raises(KeyboardInterrupt):
        make(killed, KUHN, num_shards=3)
    assert list(shards(killed)) == ["random-00000.safetensors"]
    (killed / "random-00001.safetensors.bak").touch()
    calls.extend("xx")
    _, resumed = make(killed, KUHN, num_shards=3)
    assert resumed == whole
    assert len(calls) == 2 + 2 + 2, "a finished shard was made again"


def test_ranges_from_elsewhere_are_added(tmp_path):
    before, _ = make(tmp_path, KUHN)
    leaves = before.trunk.leaves
    generator = np.random.default_rng(0)
    ranges = tuple(7 * generator.random((4, leaves.num_infosets(player))) for player in (0, 1))
    generation.add_ranges(tmp_path, "a-asked", ranges)
    after = Dataset.load(tmp_path)
    assert (before.num_strategies, after.num_strategies) == (3, 7)
    masses = leaves.sum_by_public_state(0, ranges[0])[:, leaves.public_state_of_infoset(0)]
    np.testing.assert_allclose(after.ranges[0][:4], ranges[0] / masses, rtol=1e-6)
    np.testing.assert_array_equal(after.cfvs[0][4:], before.cfvs[0])
    for player in (0, 1):
        masses = leaves.sum_by_public_state(player, ranges[player])
        np.testing.assert_allclose(after.masses[player][:4], masses, rtol=1e-6)
    for bad, message in (
        ((ranges[0], ranges[1][:, 1:]), "but the leaves need 6 and 6 numbers"),
        ((-ranges[0], ranges[1]), "player 0's range has entries that are negative"),
        ((ranges[0][:0], ranges[1][:0]), "give at least one row"),
    ):
        with pytest.raises(ValueError, match=message):
            generation.add_ranges(tmp_path, "bad", bad)
    for name in ("../elsewhere", "random-00000"):
        with pytest.raises(ValueError, match="must be made of letters"):
            generation.add_ranges(tmp_path, name, ranges)


def test_masses_are_reaches_of_public_states(tmp_path):
    """Each leaf infoset's own actions are multiplied on the way up from one of its histories."""
    config = DatasetConfig(GOOFSPIEL_4, DepthLimit(rounds=2), shard_size=4, tolerance=0.1)
    dataset, _ = make(tmp_path, config)
    trunk, leaves = dataset.trunk, dataset.trunk.leaves
    for row in range(4):
        strategies = generation.random_trunk_strategies(trunk, config, row)
        for player in (0, 1):
            reach = np.zeros((leaves.num_public_states, leaves.num_infosets(player)))
            for place, history in enumerate(leaves.histories.tolist()):
                infoset = leaves.infoset_of_history[player, place]
                state = leaves.public_state_of_infoset(player)[infoset]
                reach[state, infoset] = own_reach(trunk, strategies[player], player, history)
            np.testing.assert_allclose(dataset.masses[player][row], reach.sum(axis=1), rtol=1e-6)


def own_reach(trunk, strategy, player, history):
    """The product of a player's action probabilities on the way to a history."""
    tree, reach = trunk.tree, 1.0
    while history > 0:
        parent = int(tree.parent[history])
        if tree.player[parent] == player:
            place = np.searchsorted(trunk.sequences[player][1:], tree.sequence[player, history])
            reach *= strategy[1 + place]
        history = parent
    return reach
