"""On-policy training: it learns, resumes to the same result, and refuses what it cannot do."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from spiel_dl import DepthLimit, ExactValue
from spiel_dl.algorithms.dl_cfr import DLCFRSolver, evaluated_ranges
from spiel_dl.runs import on_policy
from spiel_dl.runs.dl_cfr_run import METRIC
from spiel_dl.runs.on_policy import train_on_policy
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.value_functions.config import OnPolicyConfig, TrainingConfig
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import generate
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import NETWORK_FILE
from spiel_dl.value_functions.validation import validation_errors
from tests.reference import assert_same_arrays, timeless

GOOFSPIEL = DatasetConfig(
    "python_goofspiel_ii(num_cards=4,points_order=descending)", DepthLimit(rounds=2), tolerance=1e-3
)
KUHN = DatasetConfig("kuhn_poker", DepthLimit(moves=1), shard_size=20)
SHORT = OnPolicyConfig(
    num_rounds=2, num_iterations=20, max_ranges=5, averaged_share=1.0, num_epochs=(2, 1, 2)
)


def random_data(path: Path, config: DatasetConfig, num_shards: int) -> Path:
    generate(RunDirectory(path, config.to_json()), config, num_shards, show_progress=False)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random data of Kuhn poker."""
    return random_data(tmp_path_factory.mktemp("data") / "data", KUHN, 2)


@pytest.fixture(scope="module")
def finished(data: Path, tmp_path_factory: pytest.TempPathFactory):
    """A short run's directory, lines of metrics and parameters."""
    path = tmp_path_factory.mktemp("finished")
    return path, *run(data, path, SHORT)


def run(data: Path, path: Path, config: OnPolicyConfig, *, num_units: int = 8):
    """The lines of metrics, and the parameters."""
    network = PositionalNetwork(2, num_units)
    network.initialize(Dataset.load(data).trunk.leaves)
    directory = RunDirectory(path, config.to_json(), resume=True)
    lines = train_on_policy(network, data, directory, config, show_progress=False)
    return lines, network.parameter_arrays()


@pytest.mark.slow
def test_ranges_asked_for_teach_more_than_random_ones(tmp_path: Path) -> None:
    data = random_data(tmp_path / "data", GOOFSPIEL, 3)
    config = OnPolicyConfig(num_rounds=4, num_iterations=300, max_ranges=300, num_epochs=(3, 2, 8))
    lines, _ = run(data, tmp_path / "run", config, num_units=100)
    assert [line["round"] for line in lines] == [0, 1, 2, 3, 4]
    assert [line["num_strategies"] for line in lines] == [300, 600, 900, 1200, 1500]
    # Uniform play has 0.25; CFR+ comes to 1e-4.
    assert lines[0][METRIC] > 0.1
    assert lines[-1][METRIC] < 0.06
    assert lines[-1]["on_policy_l1"] < lines[0]["random_l1"] / 2


def test_learning_rates_fall_from_round_to_round() -> None:
    config, by_mass = OnPolicyConfig(seed=3), TrainingConfig(mass_share=0.9, seed=3)
    assert config.training_of(0) == TrainingConfig(10, final_learning_rate=5e-4, seed=3)
    assert config.training_of(1) == dataclasses.replace(
        by_mass, num_epochs=2, learning_rate=1e-3, final_learning_rate=3e-4
    )
    end = dataclasses.replace(by_mass, num_epochs=4, learning_rate=1e-4)
    assert end.final_learning_rate == 1e-5
    assert config.training_of(20) == end
    assert OnPolicyConfig(num_rounds=1, seed=3).training_of(1) == end
    middle = OnPolicyConfig(num_rounds=3).training_of(2)
    assert middle.learning_rate == pytest.approx(np.sqrt(1e-3 * 1e-4))
    assert middle.final_learning_rate == pytest.approx(np.sqrt(3e-4 * 1e-5))


def test_a_killed_run_ends_with_the_same_parameters(data, finished, tmp_path, monkeypatch) -> None:
    path, lines, parameters = finished
    assert run(data, path, SHORT)[0] == lines, "nothing is left to do"
    measure = on_policy.measure_trunk
    for kill_at in (1, 3):
        calls = 0

        def fail(*arguments, number=kill_at):
            nonlocal calls
            calls += 1
            if calls == number:
                raise KeyboardInterrupt
            return measure(*arguments)

        monkeypatch.setattr(on_policy, "measure_trunk", fail)
        path = tmp_path / f"killed_{kill_at}"
        with pytest.raises(KeyboardInterrupt):
            run(data, path, SHORT)
        monkeypatch.setattr(on_policy, "measure_trunk", measure)
        resumed, found = run(data, path, SHORT)
        assert timeless(resumed) == timeless(lines)
        assert_same_arrays(found, parameters)


def test_what_is_asked_is_solved(finished) -> None:
    """The added shards hold ranges that DL-CFR asks for, and their optimal values."""
    path = finished[0]
    added = Dataset.load(path / "data")
    assert added.num_strategies == 3 * 5
    network = PositionalNetwork.load(path / "rounds" / "00" / "network.safetensors")
    solver = DLCFRSolver("kuhn_poker", network, KUHN.depth_limit)
    solver_ranges = evaluated_ranges(solver, [1, 10, 20])
    exact = ExactValue(1e-6).bind(solver.trunk.leaves)
    for row in range(5):
        values = exact.evaluate(solver_ranges[0][row], solver_ranges[1][row])
        for player in (0, 1):
            state = solver.trunk.leaves.public_state_of_infoset(player)
            mass = added.masses[1 - player][row, state]
            # Values of infosets of range 0 may jump, but here all are reached.
            np.testing.assert_allclose(
                added.cfvs[player][row] * mass, values[player], atol=2e-3, err_msg=str(row)
            )


def test_errors_on_policy_are_of_ranges_that_no_training_has_seen(finished) -> None:
    path, lines, _ = finished
    last = SHORT.num_rounds
    solver_ranges = Dataset.load(path / "data", [f"round-{last + 1:02d}"])
    network = PositionalNetwork.load(path / NETWORK_FILE)
    samples = network.samples(solver_ranges)
    numbers = samples.numbers(np.arange(5), np.arange(samples.num_states))
    errors = validation_errors(network, samples, numbers)
    assert lines[last]["on_policy_l1"] == pytest.approx(errors["l1"], rel=1e-6)
    # Two rounds' ranges were trained on, beside the random ones.
    assert lines[last]["num_strategies"] == 2 * KUHN.shard_size + 2 * 5


def test_the_network_in_the_end_is_the_mean_of_those_of_the_last_rounds(finished) -> None:
    path, lines, parameters = finished
    trained = [
        PositionalNetwork.load(path / "rounds" / name / NETWORK_FILE).parameter_arrays()
        for name in ("01", "02")
    ]
    for name, array in parameters.items():
        np.testing.assert_allclose(array, (trained[0][name] + trained[1][name]) / 2, rtol=1e-6)
    assert any((array != trained[1][name]).any() for name, array in parameters.items())
    solver = DLCFRSolver(
        "kuhn_poker", PositionalNetwork.load(path / NETWORK_FILE), KUHN.depth_limit
    )
    solver.run(SHORT.num_iterations)
    measured = on_policy.measure_trunk(solver.trunk, solver.average_policy())
    assert lines[-1][METRIC] == pytest.approx(measured[METRIC], rel=1e-6)
