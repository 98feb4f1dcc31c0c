"""Policies of functions on information state tensors, in memory and from files."""

import functools
import sys
import types
from pathlib import Path

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl as dl
from spiel_dl.policies.function_policy import (
    FunctionPolicy,
    MaskedFunction,
    load_onnx,
    load_torch_script,
)
from spiel_dl.tree.game_tree import GameTree

GAME = pyspiel.load_game("leduc_poker")


@pytest.fixture(scope="module")
def tree() -> GameTree:
    return GameTree.from_game(GAME)


def network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    sizes = (GAME.information_state_tensor_size(), GAME.num_distinct_actions())
    return torch.nn.Sequential(torch.nn.Linear(sizes[0], 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def save(module: torch.nn.Module, path: Path) -> Path:
    tensors = torch.zeros(2, GAME.information_state_tensor_size())
    torch.jit.trace(module, tensors).save(str(path))
    return path


def test_files_go_to_the_device(tmp_path: Path) -> None:
    """PyTorch's device "meta" has no numbers, and is everywhere."""
    path = save(network(0), tmp_path / "network.pt")
    function = load_torch_script(path, "meta")
    assert isinstance(function, functools.partial)
    assert {parameter.device.type for parameter in function.args[0].parameters()} == {"meta"}
    size = GAME.information_state_tensor_size()
    assert function.args[0](torch.zeros(2, size, device="meta")).device.type == "meta"
    runtime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" not in runtime.get_available_providers():
        with pytest.raises(ValueError, match="device='cuda' needs CUDAExecutionProvider, but"):
            load_onnx(path, "cuda")


def test_the_softmax_of_logits_over_legal_actions() -> None:
    state = GAME.new_initial_state()
    for action in (0, 1):
        state.apply_action(action)
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


def test_a_file_plays_as_the_network_it_was_saved_from(tree: GameTree, tmp_path: Path) -> None:
    path = save(network(1), tmp_path / "network.pt")
    loaded = dl.load_policy(f"torch:{path}", "leduc_poker")
    own = dl.ArrayPolicy.from_policy(tree, FunctionPolicy(GAME, network(1)))
    of_file = dl.ArrayPolicy.from_policy(tree, loaded)
    for player in (0, 1):
        np.testing.assert_allclose(
            of_file.strategies[player], own.strategies[player], rtol=1e-5, atol=1e-7
        )
        assert own.strategies[player].std() > 0.1


@pytest.mark.parametrize("answer", [torch.zeros(1, 2), torch.full((1, 3), torch.nan)])
def test_answers_that_are_no_logits_are_refused(answer: torch.Tensor) -> None:
    state = GAME.new_initial_state()
    for action in (0, 1):
        state.apply_action(action)
    with pytest.raises(ValueError, match="one finite logit for each action"):
        FunctionPolicy(GAME, lambda tensors: answer).action_probabilities(state)
    with pytest.raises(ValueError, match="answers with a tuple; it must give one tensor"):
        FunctionPolicy(GAME, lambda tensors: (answer, answer)).action_probabilities(state)


def test_files_that_are_none_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text"
    path.write_text("no network")
    with pytest.raises(ValueError, match="is no file of TorchScript"):
        load_torch_script(path)
    with pytest.raises(ValueError, match="no file"):
        dl.load_policy("torch:nowhere.pt", "leduc_poker")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ValueError, match="pip install onnxruntime"):
        load_onnx(path)


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
    state = GAME.new_initial_state()
    for action in (0, 1):
        state.apply_action(action)
    said = torch.tensor([0.0, 0.2, 0.6])
    policy = FunctionPolicy(GAME, MaskedFunction(lambda seen, legal: said * legal))
    assert policy.action_probabilities(state) == pytest.approx({1: 0.25, 2: 0.75})
    for wrong in (torch.zeros(1, 2), torch.full((1, 3), -0.5), torch.full((1, 3), torch.nan)):
        policy.function = MaskedFunction(lambda seen, legal, wrong=wrong: wrong)
        with pytest.raises(ValueError, match="one finite probability for each action"):
            policy.action_probabilities(state)
