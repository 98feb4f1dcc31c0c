"""`run/train.py` as users start it."""

from __future__ import annotations

from pathlib import Path

import pyspiel
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, nash_conv
from spiel_dl.algorithms import sepot
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import ExactCritic, mean_absolute_error
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.system.run_directory import read_run
from spiel_dl.value_functions.particle import ParticleNetwork
from tests.run.scripts import run_script, succeed

COMMON = ("train.py", "--steps_per_evaluation=20", "--batch_size=8")
TRAIN = (*COMMON, "--hidden_size=8")
KUHN = (*TRAIN, "--game=kuhn_poker", "--run_dir=kuhn", "--fine_tuning")
CRITIC = ("--transformations=pure", "--critic_hidden_size=8")
SEPOT = (*TRAIN, *CRITIC, "--game=kuhn_poker", "--run_dir=sepot")
FROZEN = (*COMMON, *CRITIC, "--algorithm=critic", "--blueprint=sepot", "--run_dir=frozen")
PARTICLE = (
    *COMMON, "--algorithm=particle", "--budget=4", "--iterations=3", "--base=4",
    "--regression_width=1", "--game=python_goofspiel_ii(num_cards=3)", "--run_dir=particle",
)  # fmt: skip


def test_a_short_run_is_evaluated_ten_times(tmp_path: Path) -> None:
    arguments = ("train.py", "--batch_size=8", "--hidden_size=8", "--game=kuhn_poker")
    _, errors = succeed(*arguments, "--num_steps=30", "--run_dir=short", directory=tmp_path)
    assert [line["step"] for line in read_run(tmp_path / "short").metrics] == list(range(3, 31, 3))
    # A pipe gets no progress bar.
    assert "step/s" not in errors
    assert {path.name for path in (tmp_path / "short").glob("*.png")} == {
        "curves.png", "losses.png"
    }  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with runs, one of them in two goes."""
    directory = tmp_path_factory.mktemp("finished")
    for arguments, steps in ((KUHN, 20), (KUHN, 50), (SEPOT, 50), (FROZEN, 50), (PARTICLE, 3)):
        output, _ = succeed(*arguments, f"--num_steps={steps}", "--resume", directory=directory)
        assert "checkpoint.safetensors" in output
    return directory


def test_a_run_leaves_metrics_and_policy(finished: Path) -> None:
    metrics = read_run(finished / "kuhn").metrics
    assert [line["step"] for line in metrics] == [20, 40, 50]
    seconds = [line["seconds"] for line in metrics]
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    assert {"value_loss", "policy_loss", "entropy", "nash_conv_fine_tuned"} <= metrics[0].keys()
    policy = ArrayPolicy.load(finished / "kuhn" / "policy.safetensors")
    found = nash_conv(pyspiel.load_game("kuhn_poker"), policy)
    assert metrics[-1]["nash_conv"] == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("run", ["sepot", "frozen"])
def test_a_run_with_a_critic_leaves_what_searches_need(finished: Path, run: str) -> None:
    metrics = read_run(finished / run).metrics
    assert [line["step"] for line in metrics] == [20, 40, 50]
    assert ("entropy" in metrics[0]) == (run == "sepot")
    path = finished / run / "checkpoint.safetensors"
    policy = ArrayPolicy.load(finished / run / "policy.safetensors")
    game = policy.tree.game
    exact = ExactCritic(policy.tree, policy.strategies, transformations_by_name("pure", game))
    error = mean_absolute_error(checkpoints.load(path).critic, exact)
    assert metrics[-1]["critic_error"] == pytest.approx(error, abs=1e-6)
    assert metrics[-1]["critic_loss"] > 0
    search = sepot.load(path, DepthLimit(moves=1), game=policy.tree)
    state = game.new_initial_state().child(0).child(1)
    assert sum(search.action_probabilities(state).values()) == pytest.approx(1)


def test_a_particle_network_is_trained(finished: Path) -> None:
    [line] = read_run(finished / "particle").metrics
    assert line["step"] == 3
    assert line["trunk_nash_conv"] > 0
    network = ParticleNetwork.load(finished / "particle" / "network.safetensors")
    assert network.settings()["sizes"]["base"] == 4


def test_a_preset_is_a_game_with_settings_and_flags_win(tmp_path: Path) -> None:
    output, _ = succeed(
        "train.py", "--preset=goofspiel_5_descending", "--batch_size=8", "--num_steps=1",
        "--max_tree_histories=1", "--run_dir=run", directory=tmp_path,
    )  # fmt: skip
    assert "num_cards=5" in output
    assert "NashConv" not in output
    learner = read_run(tmp_path / "run").config["learner"]
    assert learner["hidden_sizes"] == [128, 128]
    assert learner["batch_size"] == 8
    assert learner["decay_steps"] == 100_000


def test_flags_are_those_of_the_algorithm(tmp_path: Path) -> None:
    output, _ = succeed("train.py", "--help", "--algorithm=mmd")
    assert "--gae_lambda:" in output
    assert "--eta:" not in output
    code, _, errors = run_script(*KUHN, "--algorithm=mmd", "--eta=1", directory=tmp_path)
    assert code == 1
    assert "Unknown command line flag 'eta'; --help lists the flags of this --algorithm" in errors
