"""`run/train_sepot.py` as users start it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spiel_dl.algorithms import sepot
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import ExactCritic, mean_absolute_error
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree import DepthLimit
from tests.run.scripts import run_script

TRAIN = (
    "train_sepot.py",
    "--steps_per_evaluation=20",
    "--batch_size=8",
    "--critic_hidden_size=8",
    "--transformations=pure",
)
KUHN = (*TRAIN, "--hidden_size=8", "--game=kuhn_poker", "--run_dir=kuhn")
FROZEN = (*TRAIN, "--frozen_blueprint=kuhn/checkpoint.safetensors", "--run_dir=frozen")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a run in two goes, and one for its blueprint."""
    directory = tmp_path_factory.mktemp("finished")
    for arguments, steps in ((KUHN, 20), (KUHN, 50), (FROZEN, 50)):
        code, output, errors = run_script(
            *arguments, f"--num_steps={steps}", "--resume", directory=directory
        )
        assert code == 0, errors
        for words in ("kuhn_poker()", "critic's mean error", "checkpoint.safetensors"):
            assert words in output, words
    return directory


@pytest.mark.parametrize("run", ["kuhn", "frozen"])
def test_a_run_leaves_metrics_and_what_searches_need(finished: Path, run: str) -> None:
    lines = (finished / run / "metrics.jsonl").read_text().splitlines()
    metrics = [json.loads(line) for line in lines]
    assert [line["step"] for line in metrics] == [20, 40, 50]
    assert ("entropy" in metrics[0]) == (run == "kuhn")
    path = finished / run / "checkpoint.safetensors"
    policy = ArrayPolicy.load(finished / run / "policy.safetensors")
    game = policy.tree.game
    exact = ExactCritic(policy.tree, policy.strategies, transformations_by_name("pure", game))
    error = mean_absolute_error(checkpoints.load(path).critic, exact)
    assert metrics[-1]["critic_error"] == pytest.approx(error, abs=1e-6)
    assert metrics[-1]["critic_loss"] > 0
    assert (finished / run / "nash_conv.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    search = sepot.load(path, DepthLimit(moves=1), game=policy.tree)
    state = game.new_initial_state().child(0).child(1)
    assert sum(search.action_probabilities(state).values()) == pytest.approx(1)


def test_a_frozen_blueprint_stays_as_it_is(finished: Path) -> None:
    trained, frozen = (
        ArrayPolicy.load(finished / run / "policy.safetensors") for run in ("kuhn", "frozen")
    )
    for mine, theirs in zip(trained.strategies, frozen.strategies, strict=True):
        assert mine.tolist() == theirs.tolist()
    blueprints = [
        checkpoints.load(finished / run / "checkpoint.safetensors").blueprint
        for run in ("kuhn", "frozen")
    ]
    assert blueprints[0].parameters.equal(blueprints[1].parameters)


def test_a_preset_is_a_game_of_the_paper(tmp_path: Path) -> None:
    """With 22 transformations, in a game that is too large to be compiled."""
    code, output, errors = run_script(
        *TRAIN, "--preset=goofspiel_8_random", "--transformations=paper", "--num_steps=1",
        "--run_dir=run", directory=tmp_path,
    )  # fmt: skip
    assert code == 0, errors
    assert "num_cards=8,num_turns=-1,points_order=random" in output
    assert "NashConv" not in output
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["critic"]["rho_bar"] == "inf"
    assert config["transformations"] == "paper"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (KUHN, "is not empty; resume its run (--resume)"),
        ((*KUHN, "--resume", "--critic_c_bar=0.5"), "its critic is"),
        ((*FROZEN, "--resume", "--exploration=0.5"), "its learner is"),
        ((*TRAIN, "--frozen_blueprint=none", "--run_dir=new"), "cannot read the file none"),
        ((*FROZEN, "--game=kuhn_poker"), "must have a value"),
        ((*FROZEN, "--resume", "--eta=0.3"), "--eta: not used with --frozen_blueprint"),
        ((*KUHN, "--resume", "--exploration=0.5"), "--exploration: used with --frozen_blueprint"),
        (
            (*TRAIN, "--frozen_blueprint=kuhn", "--run_dir=new", "--fine_tuning"),
            "fine-tune the blueprint before its critic learns",
        ),
        (
            (
                *TRAIN,
                "--game=kuhn_poker",
                "--run_dir=new",
                "--fine_tuning",
                "--max_tree_histories=9",
            ),
            "raise max_tree_histories, or leave fine-tuning out",
        ),
    ],
    ids=[
        "not empty",
        "c_bar",
        "exploration",
        "no file",
        "two games",
        "eta",
        "explores",
        "frozen and tuned",
        "tuned and not measured",
    ],
)
def test_wrong_input_is_told_and_spoils_nothing(
    arguments: tuple[str, ...], message: str, finished: Path
) -> None:
    names = ("policy.safetensors", "checkpoint.safetensors", "metrics.jsonl")
    files = [finished / run / name for run in ("kuhn", "frozen") for name in names]
    before = [file.read_bytes() for file in files]
    code, _, errors = run_script(*arguments, directory=finished)
    assert code == 1
    assert message in errors
    assert [file.read_bytes() for file in files] == before
    assert not (finished / "new").exists()
