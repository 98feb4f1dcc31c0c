"""Training: does it learn, what does it leave alone, does it survive being killed."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
import torch

from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.networks.learning_rate import LearningRate
from spiel_dl.networks.optimization import Descent
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions import training
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.positional import PositionalNetwork, PositionalSamples
from tests.particle_networks import initialized
from tests.reference import assert_same_arrays, timeless
from tests.value_functions.datasets import GOOFSPIEL_4, make

KUHN = DatasetConfig("kuhn_poker", DepthLimit(moves=1), shard_size=300)
GOOFSPIEL = DatasetConfig(GOOFSPIEL_4, DepthLimit(rounds=2), shard_size=400, tolerance=1e-3)
SHORT = TrainingConfig(num_epochs=3, batch_size=64)


@pytest.fixture(scope="module")
def kuhn(tmp_path_factory):
    return make(tmp_path_factory.mktemp("data"), KUHN)[0]


@pytest.fixture(scope="module")
def goofspiel(tmp_path_factory):
    return make(tmp_path_factory.mktemp("data"), GOOFSPIEL)[0]


def new_network(dataset, num_layers=2, num_units=32, seed=0):
    return initialized(PositionalNetwork(num_layers, num_units, seed=seed), dataset.trunk.leaves)


def train(network, dataset, path, config):
    directory = RunDirectory(path, {}, resume=True)
    return training.train(network, dataset, directory, config, show_progress=False)


def trunk_nash_conv(dataset, network):
    solver = DLCFRSolver(dataset.trunk.tree, network, dataset.trunk.depth_limit)
    solver.run(300)
    return trunk_losses(solver.trunk, solver.average_policy()).nash_conv


def assert_equal(one, other):
    """Equal parameters, to the last bit."""
    assert_same_arrays(one.parameter_arrays(), other.parameter_arrays())


@pytest.mark.parametrize(
    ("name", "l1", "untrained", "trained"),
    [("kuhn", 0.03, 0.05, 0.03), pytest.param("goofspiel", 0.09, 1.0, 0.4, marks=pytest.mark.slow)],
)
def test_a_trained_network_makes_good_trunks(name, l1, untrained, trained, request, tmp_path):
    dataset = request.getfixturevalue(name)
    network = new_network(dataset, num_layers=3, num_units=128)
    assert trunk_nash_conv(dataset, network) > untrained
    config = TrainingConfig(num_epochs=40, batch_size=128)
    last = train(network, dataset, tmp_path, config)
    assert last["l1"] < l1
    assert trunk_nash_conv(dataset, network) < trained
    # Values that are the mean of the training values in every infoset are much worse.
    mean_error = [np.abs(cfvs - cfvs.mean(axis=0)).mean() for cfvs in dataset.cfvs]
    assert last["l1"] < 0.5 * np.mean(mean_error)


def test_impossible_positions_are_never_trained(goofspiel, tmp_path):
    """Makes one more position impossible everywhere, and finds its output's weights untouched."""
    network = new_network(goofspiel)
    layout = network.bind(goofspiel.trunk.leaves).layout
    zero = len(layout.output_of_infoset)
    output_index = layout.output_index.copy()
    output_index[:, 3] = zero
    changed_layout = dataclasses.replace(layout, output_index=output_index)
    network.samples = lambda dataset: PositionalSamples(changed_layout, dataset, network.device)
    before = network.parameter_arrays()
    train(network, goofspiel, tmp_path, SHORT)
    after = network.parameter_arrays()
    weight, bias = list(before)[-2:]
    changed = (before[weight] != after[weight]).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(~changed), [3])
    assert (before[bias] != after[bias]).tolist() == changed.tolist()


def test_left_out_states_are_never_trained_on(goofspiel, tmp_path):
    """Their values may be anything, and have errors of their own; others' may not."""
    config = dataclasses.replace(SHORT, left_out_states=(2,))
    whole = new_network(goofspiel)
    last = train(whole, goofspiel, tmp_path / "whole", config)
    leaves = goofspiel.trunk.leaves
    for state, is_equal in ((2, True), (3, False)):
        spoiled = [cfvs.copy() for cfvs in goofspiel.cfvs]
        for player in (0, 1):
            spoiled[player][:, leaves.public_state_of_infoset(player) == state] += 1
        network = new_network(goofspiel)
        changed = dataclasses.replace(goofspiel, cfvs=(spoiled[0], spoiled[1]))
        again = train(network, changed, tmp_path / str(state), config)
        assert (again["l1"] == last["l1"]) == is_equal
        assert again["left_out_l1"] != last["left_out_l1"]
        ours, theirs = whole.parameter_arrays(), network.parameter_arrays()
        assert is_equal == all((ours[name] == theirs[name]).all() for name in ours)


def test_a_part_of_the_data_is_the_first_part(kuhn, tmp_path):
    """What comes behind it may be anything, but is still validated on."""
    config = dataclasses.replace(SHORT, max_strategies=100)
    part, other = new_network(kuhn), new_network(kuhn)
    last = train(part, kuhn, tmp_path / "part", config)
    assert last["step"] == 3 * -(-100 * kuhn.trunk.leaves.num_public_states // 64)
    chosen, _ = training.split_strategies(kuhn.num_strategies, 0.1)
    spoiled = [cfvs.copy() for cfvs in kuhn.cfvs]
    for array in spoiled:
        array[chosen[100:]] += 1
    changed = dataclasses.replace(kuhn, cfvs=(spoiled[0], spoiled[1]))
    assert train(other, changed, tmp_path / "other", config)["l1"] == last["l1"]
    assert_equal(part, other)
    too_many = dataclasses.replace(SHORT, max_strategies=300)
    with pytest.raises(ValueError, match=f"there are {len(chosen)} trunk strategies to train on"):
        train(other, kuhn, tmp_path / "much", too_many)


def test_validation_only_now_and_then(kuhn, tmp_path):
    """The same parameters, and metrics of the epochs asked for and the last one."""
    config = dataclasses.replace(SHORT, num_epochs=5, networks_per_decade=0)
    often, seldom = new_network(kuhn), new_network(kuhn)
    train(often, kuhn, tmp_path / "often", config)
    every_second = dataclasses.replace(config, epochs_per_validation=2)
    train(seldom, kuhn, tmp_path / "seldom", every_second)
    assert_equal(often, seldom)
    lines = (tmp_path / "seldom" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [2, 4, 5]


def test_the_split_is_by_strategy_and_stays_when_data_is_added():
    few = training.split_strategies(100, 0.2)
    many = training.split_strategies(200, 0.2)
    assert sorted([*few[0], *few[1]]) == list(range(100))
    assert 10 <= len(few[1]) <= 30
    for part in (0, 1):
        np.testing.assert_array_equal(many[part][many[part] < 100], few[part])
    with pytest.raises(ValueError, match="make more data"):
        training.split_strategies(1, 0.2)


def test_metrics_and_kept_networks(kuhn, tmp_path):
    network = new_network(kuhn)
    last = train(network, kuhn, tmp_path, SHORT)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    steps = [line["step"] for line in lines]
    assert steps == sorted(set(steps))
    assert lines[-1] == last
    assert last["epoch"] == 3
    assert lines[0]["learning_rate"] == pytest.approx(SHORT.learning_rate)
    assert last["learning_rate"] == pytest.approx(SHORT.final_learning_rate)
    kept = {line["network"] for line in lines if "network" in line}
    assert kept == {path.name for path in tmp_path.glob("network-step-*")}
    steps_kept = [line["step"] for line in lines if "network" in line]
    assert steps_kept == [1, 2, 3, 6, 10, 18, last["step"]]
    final = PositionalNetwork.load(tmp_path / training.NETWORK_FILE)
    assert_equal(final, network)
    assert_equal(PositionalNetwork.load(tmp_path / last["network"]), network)


@pytest.mark.parametrize("fatal_step", [7, 20])
def test_a_killed_run_ends_with_the_same_parameters(fatal_step, kuhn, tmp_path, monkeypatch):
    whole = new_network(kuhn)
    last = train(whole, kuhn, tmp_path / "whole", SHORT)
    original, steps = Descent.step, itertools.count()

    def dying(descent, loss):
        if next(steps) == fatal_step:
            raise KeyboardInterrupt
        original(descent, loss)

    monkeypatch.setattr(Descent, "step", dying)
    with pytest.raises(KeyboardInterrupt):
        train(new_network(kuhn), kuhn, tmp_path / "killed", SHORT)
    monkeypatch.undo()
    # From the first checkpoint on (14 steps, an epoch's), it says what the network is.
    resumed = new_network(kuhn, seed=0 if fatal_step < 14 else 1)
    again = train(resumed, kuhn, tmp_path / "killed", SHORT)
    assert_equal(resumed, whole)
    assert timeless(again) == timeless(last)
    names = [path.name for path in sorted((tmp_path / "killed").glob("network*"))]
    assert names == [path.name for path in sorted((tmp_path / "whole").glob("network*"))]
    metrics = (tmp_path / "killed" / "metrics.jsonl").read_text().splitlines()
    assert len(metrics) == len((tmp_path / "whole" / "metrics.jsonl").read_text().splitlines())


def test_a_checkpoint_of_another_run_is_refused(kuhn, goofspiel, tmp_path):
    train(new_network(kuhn), kuhn, tmp_path, SHORT)
    before = (tmp_path / "metrics.jsonl").read_bytes()
    half = Dataset(
        kuhn.trunk,
        tuple(ranges[:150] for ranges in kuhn.ranges),
        tuple(masses[:150] for masses in kuhn.masses),
        tuple(cfvs[:150] for cfvs in kuhn.cfvs),
        kuhn.gaps[:150],
    )
    for network, dataset, config, message in (
        (new_network(kuhn), half, SHORT, "its dataset_checksum is"),
        (new_network(kuhn, num_units=16), kuhn, SHORT, r"its network\.num_units is 32, not 16"),
        (
            new_network(kuhn),
            kuhn,
            dataclasses.replace(SHORT, seed=1),
            r"its training\.seed is 0, not 1;",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            train(network, dataset, tmp_path, config)
    assert (tmp_path / "metrics.jsonl").read_bytes() == before
    with pytest.raises(ValueError, match=r"game is python_goofspiel.*leaves' is kuhn"):
        train(new_network(goofspiel), kuhn, tmp_path, SHORT)


def test_an_infinite_loss_is_told(kuhn, tmp_path, monkeypatch):
    network = new_network(kuhn)
    monkeypatch.setattr(LearningRate, "__post_init__", lambda _: None)  # Which forbids 1e18.
    config = dataclasses.replace(SHORT, learning_rate=1e18, loss="l2")
    # The first step spoils the network, which shows when it is validated.
    with pytest.raises(ValueError, match=r"the validation error is \w+ at step 1; .* none"):
        train(network, kuhn, tmp_path, config)
    config = dataclasses.replace(config, networks_per_decade=0)
    with pytest.raises(ValueError, match=r"the loss is \w+ at step \d+; .* good checkpoint"):
        train(network, kuhn, tmp_path, config)
    assert not (tmp_path / "checkpoint.safetensors").exists()
    with torch.no_grad():
        network.module[0].weight.fill_(np.nan)
    with pytest.raises(ValueError, match=r"nan at step 0; .* none, it began at step 0"):
        train(network, kuhn, tmp_path / "again", SHORT)


def test_wrong_left_out_states(goofspiel, tmp_path):
    for states in ((9,), tuple(range(9))):
        config = dataclasses.replace(SHORT, left_out_states=states)
        with pytest.raises(ValueError, match=r"must be some, and not all, of .* 0, ..., 8"):
            train(new_network(goofspiel), goofspiel, tmp_path, config)


@pytest.mark.slow
def test_a_trained_particle_network_makes_good_trunks(goofspiel, tmp_path):
    sizes = ParticleSizes(16, basis_width=1, regression_layers=3, regression_width=2)
    network = ParticleNetwork(sizes)
    network.initialize(goofspiel.trunk.leaves)
    assert trunk_nash_conv(goofspiel, network) > 1.0
    config = TrainingConfig(num_epochs=40, batch_size=128, networks_per_decade=0)
    last = train(network, goofspiel, tmp_path / "run", config)
    assert last["l1"] < 0.15
    assert trunk_nash_conv(goofspiel, network) < 0.8


def test_a_share_of_the_loss_counts_by_mass(kuhn, tmp_path):
    """By hand: of masses 0, 1 and 3 with mean 4/3; and one step of it is an unnormalised loss's."""
    masses = torch.tensor([0.0, 1.0, 3.0])
    np.testing.assert_allclose(training.mass_weights(masses, 0.5), [0.5, 0.875, 1.625])
    assert training.mass_weights(torch.zeros(2), 1.0).tolist() == [0, 0]
    config = dataclasses.replace(SHORT, num_epochs=1, batch_size=10_000, loss="l1", mass_share=1.0)
    trained, stepped = new_network(kuhn), new_network(kuhn)
    train(trained, kuhn, tmp_path, config)
    samples = stepped.samples(kuhn)
    strategies, _ = training.split_strategies(kuhn.num_strategies, config.validation_share)
    numbers = samples.numbers(strategies, np.arange(samples.num_states))
    inputs, targets, is_possible = samples.batch(numbers)
    masses = samples.opponent_masses(numbers)
    errors = (stepped.module(inputs) - targets) * masses / masses[is_possible].mean()
    optimizer = torch.optim.Adam(stepped.module.parameters(), lr=config.learning_rate)
    errors[is_possible].abs().mean().backward()
    optimizer.step()
    expected = stepped.parameter_arrays()
    # Adam's first step goes by signs of gradients, and those that are nearly 0 may have either.
    same = [
        np.abs(array - expected[name]) < 1e-5 for name, array in trained.parameter_arrays().items()
    ]
    assert np.concatenate([each.reshape(-1) for each in same]).mean() > 0.98
