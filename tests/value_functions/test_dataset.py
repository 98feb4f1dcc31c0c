"""Training data: values against linear programs, strategies, files and kills."""

import dataclasses
import shutil

import numpy as np
import pytest

from spiel_dl.runs import tensor_files
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.solvers import linear_program
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import dataset as data
from spiel_dl.value_functions.exact import ExactValue

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"
KUHN = data.DatasetConfig("kuhn_poker", DepthLimit(moves=1), shard_size=3)
CONFIGS = [
    dataclasses.replace(KUHN, tolerance=1e-6, max_iterations=20_000),
    data.DatasetConfig(
        GOOFSPIEL_4, DepthLimit(rounds=1), shard_size=3, tolerance=5e-5, max_iterations=20_000
    ),
]


def make(directory, config, num_shards=1):
    """A dataset, and the bytes of its shards."""
    run = RunDirectory(directory, config.to_json(), resume=True)
    data.generate(run, config, num_shards, show_progress=False)
    return data.Dataset.load(directory), shards(directory)


def shards(directory):
    return {path.name: path.read_bytes() for path in directory.glob("*.safetensors")}


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


def test_values_are_those_of_exact_value_at_the_stored_ranges(tmp_path):
    """Also infoset by infoset, where the optimal values are unique (Kuhn's are, nearly always)."""
    config = CONFIGS[0]
    dataset, _ = make(tmp_path, config)
    leaves = cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves
    leaf_values = ExactValue(1e-7, 100_000).bind(leaves)
    for row in range(dataset.num_strategies):
        ranges = [dataset.ranges[player][row].astype(float) for player in (0, 1)]
        values = leaf_values.evaluate(*ranges)
        for player in (0, 1):
            reached = ranges[player] > 0.01
            found = dataset.cfvs[player][row]
            np.testing.assert_allclose(found[reached], values[player][reached], atol=2e-3)


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
    calls.extend("xx")
    _, resumed = make(killed, KUHN, num_shards=3)
    assert resumed == whole
    assert len(calls) == 2 + 2 + 2, "a finished shard was made again"


def test_ranges_from_elsewhere_are_added(tmp_path):
    before, _ = make(tmp_path, KUHN)
    leaves = before.trunk.leaves
    generator = np.random.default_rng(0)
    ranges = tuple(7 * generator.random((4, leaves.num_infosets(player))) for player in (0, 1))
    data.add_ranges(tmp_path, "a-asked", ranges)
    after = data.Dataset.load(tmp_path)
    assert (before.num_strategies, after.num_strategies) == (3, 7)
    masses = leaves.sum_by_public_state(0, ranges[0])[:, leaves.public_state_of_infoset(0)]
    np.testing.assert_allclose(after.ranges[0][:4], ranges[0] / masses, rtol=1e-6)
    np.testing.assert_array_equal(after.cfvs[0][4:], before.cfvs[0])
    for player in (0, 1):
        masses = leaves.sum_by_public_state(player, ranges[player])
        np.testing.assert_allclose(after.masses[player][:4], masses, rtol=1e-6)
    for bad, message in (
        ((ranges[0], ranges[1][:, 1:]), r"ranges\[1\] must be finite numbers >= 0 of shape"),
        ((-ranges[0], ranges[1]), r"ranges\[0\]"),
    ):
        with pytest.raises(ValueError, match=message):
            data.add_ranges(tmp_path, "bad", bad)
    for name in ("../elsewhere", "random-00000"):
        with pytest.raises(ValueError, match="must be made of letters"):
            data.add_ranges(tmp_path, name, ranges)


def test_random_strategies_are_as_pure_as_asked():
    trunk = cut(GameTree.from_game(GOOFSPIEL_4), DepthLimit(rounds=2))
    treeplex = trunk.sequence_form.treeplexes[0]
    config = data.DatasetConfig(GOOFSPIEL_4, DepthLimit(rounds=2))
    largest = []
    for index in range(100):
        strategy = data.random_trunk_strategies(trunk, config, index)[0]
        assert strategy.min() >= 0
        np.testing.assert_allclose(treeplex.sum_per_infoset(strategy), 1, rtol=1e-12)
        largest.append(np.maximum.reduceat(strategy, treeplex.first_sequence))
    several = np.stack(largest)[:, treeplex.num_actions > 1]
    assert (several == 1).mean() == pytest.approx(0.2, abs=0.05)
    assert ((several > 0.9) & (several < 1)).mean() > 0.2
    assert (several < 0.6).mean() > 0.2


def test_ranges_are_reaches():
    """Goofspiel after one round: each player's reach is the probability of its own bid."""
    trunk = cut(GameTree.from_game(GOOFSPIEL_4), DepthLimit(rounds=1))
    config = data.DatasetConfig(GOOFSPIEL_4, DepthLimit(rounds=1))
    strategies = data.random_trunk_strategies(trunk, config, 0)
    ranges = data.leaf_ranges(trunk, strategies)
    for player in (0, 1):
        tree_sequence = trunk.sequences[player][trunk.leaves.sequences[player]]
        bids = trunk.tree.sequence_action[player][tree_sequence]
        np.testing.assert_array_equal(ranges[player], strategies[player][1:][bids])


def test_masses_are_reaches_of_public_states(tmp_path):
    """Each leaf infoset's own actions are multiplied on the way up from one of its histories."""
    config = data.DatasetConfig(GOOFSPIEL_4, DepthLimit(rounds=2), shard_size=4, tolerance=0.1)
    dataset, _ = make(tmp_path, config)
    trunk, leaves = dataset.trunk, dataset.trunk.leaves
    for row in range(4):
        strategies = data.random_trunk_strategies(trunk, config, row)
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shard_size": 0}, "shard_size=0"),
        ({"seed": -1}, "seed=-1"),
        ({"tolerance": -1.0}, "tolerance=-1.0 must be positive"),
        ({"max_iterations": 0}, "max_iterations=0"),
        ({"pure_share": 0.7, "near_pure_share": 0.7}, "near_pure_share=0.7"),
    ],
)
def test_wrong_configs(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(KUHN, **change)


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="holds no dataset"):
        data.Dataset.load(tmp_path)
    beyond = dataclasses.replace(KUHN, depth_limit=DepthLimit(moves=9))
    with pytest.raises(ValueError, match="choose a smaller limit"):
        make(tmp_path / "beyond", beyond)
    RunDirectory(tmp_path / "empty", KUHN.to_json())
    with pytest.raises(ValueError, match="no shards yet"):
        data.Dataset.load(tmp_path / "empty")
    dataset, _ = make(tmp_path / "kuhn", KUHN)
    make(tmp_path / "other", CONFIGS[1])
    shutil.copy(
        tmp_path / "other" / "random-00000.safetensors", tmp_path / "kuhn" / "x.safetensors"
    )
    with pytest.raises(ValueError, match="is no shard of"):
        data.Dataset.load(tmp_path / "kuhn")
    arrays, header = tensor_files.load(tmp_path / "other" / "random-00000.safetensors")
    del arrays["mass_1"]
    tensor_files.save(tmp_path / "other" / "random-00000.safetensors", arrays, header)
    with pytest.raises(ValueError, match=r"not \['cfv_0', .*'mass_1'.*make it again"):
        data.Dataset.load(tmp_path / "other")
    spoiled = dataset.cfvs[1].copy()
    spoiled[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"cfvs\[1\] must be finite"):
        dataclasses.replace(dataset, cfvs=(dataset.cfvs[0], spoiled))
    with pytest.raises(ValueError, match=r"gaps must be finite numbers of shape \(3,\)"):
        dataclasses.replace(dataset, gaps=dataset.gaps[1:])


def test_datasets_of_one_trunk_are_joined(tmp_path):
    first, _ = make(tmp_path / "first", KUHN)
    second, _ = make(tmp_path / "second", dataclasses.replace(KUHN, seed=1))
    joined = data.Dataset.join([first, second])
    for one, other, both in zip(first.cfvs, second.cfvs, joined.cfvs, strict=True):
        np.testing.assert_array_equal(np.concatenate([one, other]), both)
    with pytest.raises(ValueError, match="no datasets"):
        data.Dataset.join([])
    # Its arrays have the shapes of Kuhn poker's.
    other_game = dataclasses.replace(KUHN, game="python_leduc(num_ranks=3,num_suits=1)")
    other, _ = make(tmp_path / "other", other_game)
    with pytest.raises(ValueError, match="one game and depth limit"):
        data.Dataset.join([first, other])
