"""`run/train_rnad.py` as users start it."""

from __future__ import annotations

import json
from pathlib import Path

import pyspiel
import pytest

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.policies.array_policy import ArrayPolicy
from tests.run.scripts import run_script

TRAIN = ("train_rnad.py", "--steps_per_evaluation=20", "--hidden_size=8", "--batch_size=8")
KUHN = (*TRAIN, "--game=kuhn_poker", "--run_dir=kuhn")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a run in two goes."""
    directory = tmp_path_factory.mktemp("finished")
    for steps in (20, 50):
        code, output, errors = run_script(
            *KUHN, f"--num_steps={steps}", "--fine_tuning", "--resume", directory=directory
        )
        assert code == 0, errors
    for words in ("kuhn_poker()", "NashConv, last iterate", "checkpoint.safetensors"):
        assert words in output, words
    return directory


def test_a_run_leaves_metrics_policy_and_picture(finished: Path) -> None:
    lines = (finished / "kuhn" / "metrics.jsonl").read_text().splitlines()
    metrics = [json.loads(line) for line in lines]
    assert [line["step"] for line in metrics] == [20, 40, 50]
    seconds = [line["seconds"] for line in metrics]
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    assert {"value_loss", "policy_loss", "entropy", "nash_conv_fine_tuned"} <= metrics[0].keys()
    policy = ArrayPolicy.load(finished / "kuhn" / "policy.safetensors")
    found = nash_conv(pyspiel.load_game("kuhn_poker"), policy)
    assert metrics[-1]["nash_conv"] == pytest.approx(found, abs=1e-12)
    assert (finished / "kuhn" / "nash_conv.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_preset_is_a_game_of_the_paper(tmp_path: Path) -> None:
    code, output, errors = run_script(
        *TRAIN, "--preset=battleships_3x3", "--num_steps=1", "--run_dir=run", directory=tmp_path
    )
    assert code == 0, errors
    assert "board_height=3,board_width=3" in output
    assert "NashConv" not in output
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["learner"]["rho_bar"] == "inf"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (KUHN, "is not empty; resume its run (--resume)"),
        ((*KUHN, "--resume", "--fine_tuning", "--eta=0.1"), "its learner is"),
        ((*KUHN, "--resume", "--fine_tuning", "--num_steps=30"), "has done 50 steps already"),
        ((*TRAIN, "--game=chess", "--run_dir=new"), "information state tensors"),
        ((*TRAIN, "--game=kuhn_poker", "--run_dir=new", "--learning_rate=0"), "learning_rate=0"),
        ((*TRAIN, "--run_dir=new"), "must have a value"),
    ],
    ids=["not empty", "other eta", "fewer steps", "no tensors", "rate", "no game"],
)
def test_wrong_input_is_told_and_spoils_nothing(
    arguments: tuple[str, ...], message: str, finished: Path
) -> None:
    before = policy_and_metrics(finished)
    code, _, errors = run_script(*arguments, directory=finished)
    assert code == 1
    assert message in errors
    assert policy_and_metrics(finished) == before
    assert not (finished / "new").exists()


def policy_and_metrics(directory: Path) -> list[bytes]:
    names = ("policy.safetensors", "checkpoint.safetensors", "metrics.jsonl")
    return [(directory / "kuhn" / name).read_bytes() for name in names]
