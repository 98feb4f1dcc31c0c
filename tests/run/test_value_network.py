"""`run/generate_data.py` and `run/train_value_network.py` as users start them, one on the other."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path

import pytest

from spiel_dl.commands.value_networks import NewNetwork
from spiel_dl.system.run_directory import read_run
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.run.scripts import run_script, succeed

GENERATE = ("generate_data.py", "--game=kuhn_poker", "--moves=1", "--shard_size=20")
TRAIN = ("train_value_network.py", "--data=data", "--num_epochs=2", "--num_units=8")
ROUNDS = ("train_on_policy.py", "--num_rounds=1", "--iterations=2", "--num_epochs=1,1,1")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a dataset, and a network trained on it."""
    directory = tmp_path_factory.mktemp("finished")
    output, _ = succeed(*GENERATE, "--run_dir=data", "--shards=3", directory=directory)
    assert "60\n" in output
    output, _ = succeed(*TRAIN, "--run_dir=network", "--num_layers=3", directory=directory)
    for word in ("kuhn_poker()", "1 moves", "120", "L1 (mean)", "network.safetensors"):
        assert word in output, word
    return directory


def test_the_results_can_be_used(finished: Path) -> None:
    dataset = Dataset.load(finished / "data")
    assert dataset.num_samples == 120
    network = PositionalNetwork.load(finished / "network" / "network.safetensors")
    network.initialize(cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves)
    assert (network.header()["num_layers"], network.header()["num_units"]) == (3, 8)
    assert [path.name for path in finished.rglob(".*")] == []


def test_a_slash_behind_the_data_makes_no_other_run(finished: Path) -> None:
    words = ("--data=data/", "--num_layers=3", "--run_dir=network", "--resume")
    succeed(TRAIN[0], *words, *TRAIN[2:], directory=finished)


def test_a_run_on_policy_does_not_go_on_with_more_data(finished: Path) -> None:
    shutil.copytree(finished / "data", finished / "more")
    words = (*ROUNDS, "--data=more", "--run_dir=on_policy", "--num_units=8", "--num_layers=1")
    succeed(*words, directory=finished)
    more = ("--run_dir=more", "--shards=4", "--resume")
    succeed(*GENERATE, *more, directory=finished)
    code, _, errors = run_script(*words, "--resume", directory=finished)
    assert (code, "its num_strategies is 60, not 80" in errors) == (1, True), errors


def test_training_starts_from_a_network(finished: Path) -> None:
    arguments = ("--network=network/network.safetensors", "--left_out_state=1", "--run_dir=again")
    succeed(*TRAIN[:-1], *arguments, "--max_strategies=30", directory=finished)
    again = PositionalNetwork.load(finished / "again" / "network.safetensors")
    assert (again.header()["num_layers"], again.header()["num_units"]) == (3, 8)
    run = read_run(finished / "again")
    assert run.config["started_from"] == "network/network.safetensors"
    assert {"left_out_linf", "left_out_unnormalised_l1"} <= run.metrics[-1].keys()


def test_a_new_network_has_the_networks_own_defaults() -> None:
    parameters = inspect.signature(PositionalNetwork).parameters
    assert {name: parameters[name].default for name in NewNetwork._fields} == (
        NewNetwork._field_defaults
    )
