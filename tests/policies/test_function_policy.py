"""Policies of functions on information state tensors, in memory and from files."""

import json
import math
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl as dl
from spiel_dl.policies import function_policy
from spiel_dl.policies.function_policy import FunctionPolicy, MaskedFunction, load_onnx
from tests.reference import state_after

GAME = pyspiel.load_game("leduc_poker")


def test_devices_that_the_runtime_does_not_have_are_refused() -> None:
    runtime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" not in runtime.get_available_providers():
        with pytest.raises(ValueError, match="device='cuda' needs CUDAExecutionProvider, but"):
            load_onnx("network.onnx", "cuda")


def test_the_softmax_of_logits_over_legal_actions() -> None:
    state = state_after(GAME, (0, 1))
    assert state.legal_actions() == [1, 2]
    logits = torch.tensor([5.0, 0.0, np.log(3.0)])
    policy = FunctionPolicy(GAME, lambda tensors: logits.expand(len(tensors), 3))
    assert policy.action_probabilities(state) == pytest.approx({1: 0.25, 2: 0.75})


def test_states_of_other_games_are_refused() -> None:
    """Also where the function would answer them, because it does not look at its inputs."""
    policy = FunctionPolicy(GAME, lambda tensors: torch.zeros(len(tensors), 3))
    state = pyspiel.load_game("kuhn_poker").new_initial_state().child(0).child(1)
    with pytest.raises(ValueError, match=r"the state is of kuhn_poker.*, not of leduc_poker"):
        policy.action_probabilities(state)
    same = pyspiel.load_game("leduc_poker(players=2)").new_initial_state().child(0).child(1)
    assert policy.action_probabilities(same) == {1: 0.5, 2: 0.5}


@pytest.mark.parametrize("answer", [torch.zeros(1, 2), torch.full((1, 3), torch.nan)])
def test_answers_that_are_no_logits_are_refused(answer: torch.Tensor) -> None:
    state = state_after(GAME, (0, 1))
    with pytest.raises(ValueError, match="one finite logit for each action"):
        FunctionPolicy(GAME, lambda tensors: answer).action_probabilities(state)
    with pytest.raises(ValueError, match="answers with a tuple; it must give one tensor"):
        FunctionPolicy(GAME, lambda tensors: (answer, answer)).action_probabilities(state)


def test_files_that_are_none_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text"
    path.write_text("no network")
    with pytest.raises(ValueError, match="no file"):
        dl.load_policy("onnx:nowhere.onnx", "leduc_poker")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ValueError, match="pip install onnxruntime"):
        load_onnx(path)


def test_of_two_files_the_first_is_player_0s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "bets.onnx", tmp_path / "passes.onnx"]
    for file, logits in zip(files, ((0.0, math.log(3)), (math.log(4), 0.0)), strict=True):
        file.write_text(json.dumps(logits))

    def constant(path: str, device: str) -> Any:
        logits = torch.tensor(json.loads(Path(path).read_text()))
        return lambda tensors: logits.expand(len(tensors), 2)

    monkeypatch.setattr(function_policy, "load_onnx", constant)
    policy = dl.load_policy(f"onnx:{files[0]},{files[1]}", "kuhn_poker")
    first = policy.game.new_initial_state().child(0).child(1)
    assert policy.action_probabilities(first) == pytest.approx({0: 1 / 4, 1: 3 / 4})
    assert policy.action_probabilities(first.child(0)) == pytest.approx({0: 4 / 5, 1: 1 / 5})


def test_onnx_is_asked_by_its_first_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for onnxruntime, which is not installed with the package."""
    names = ["observation"]

    class Session:
        def __init__(self, path: str, providers: list[str]):
            assert (path, providers) == ("network.onnx", ["CPUExecutionProvider"])

        def get_inputs(self) -> list[types.SimpleNamespace]:
            return [types.SimpleNamespace(name=name) for name in names]

        def run(self, outputs: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            return [inputs["observation"][:, :3] * 2]

    monkeypatch.setitem(sys.modules, "onnxruntime", types.SimpleNamespace(InferenceSession=Session))
    tensors = torch.eye(4)
    function = load_onnx("network.onnx")
    assert not isinstance(function, MaskedFunction)
    torch.testing.assert_close(function(tensors), 2 * tensors[:, :3])
    names.append("memory")
    with pytest.raises(ValueError, match="has the inputs observation, memory; it must have one"):
        load_onnx("network.onnx")


def test_a_function_that_knows_what_is_legal_says_probabilities() -> None:
    state = state_after(GAME, (0, 1))
    outputs = torch.tensor([0.0, 0.2, 0.6])
    policy = FunctionPolicy(GAME, MaskedFunction(lambda seen, legal: outputs * legal))
    assert policy.action_probabilities(state) == pytest.approx({1: 0.25, 2: 0.75})
    for wrong in (torch.zeros(1, 2), torch.full((1, 3), -0.5), torch.full((1, 3), torch.nan)):
        policy.function = MaskedFunction(lambda seen, legal, wrong=wrong: wrong)
        with pytest.raises(ValueError, match="one finite probability for each action"):
            policy.action_probabilities(state)
