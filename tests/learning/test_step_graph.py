"""Learner steps as CUDA graphs: what they demand on every machine, and the same steps on a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.learning.batch_learner import BatchLearner
from spiel_dl.learning.config import CriticConfig, RNaDConfig
from spiel_dl.learning.sources import TensorSource
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.tree.load import turn_based_game
from tests.small_learners import small_critic, small_learner

NEEDS_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=random)"
DECAY: dict[str, Any] = {"final_learning_rate": 1e-4, "decay_steps": 20}
PERIODS = {"rnad": {"first_period": 4}, "mmd": {"magnet_period": 4}, "ppo": {}}
CASES = [
    (kind, game, limit)
    for kind in ("rnad", "mmd", "ppo", "critic", "fine-tuned critic")
    for game, limit in (("kuhn_poker", 1000), (GOOFSPIEL, 0))
    if limit == 0 or kind != "fine-tuned critic"
]


def learner_of(kind: str, game: str, limit: int, **options: Any) -> BatchLearner:
    """A small one with a critic, by a tree or by the rules."""
    critic = CriticConfig(hidden_sizes=(8,))
    if "critic" in kind:
        device = {"device": options.get("device", "cpu")}
        network = small_learner("ppo", game, options=device, max_tree_histories=0, **DECAY).policy()
        assert isinstance(network, NetworkPolicy)
        if "tuned" in kind:
            network.fine_tuning = FineTuning(0.1, 8)
        return small_critic(game, network, critic, max_tree_histories=limit, **options)
    settings = {**DECAY, **PERIODS[kind], "max_tree_histories": limit}
    return small_learner(kind, game, critic=critic, options=options, **settings)


class RefusesLooks(TorchDispatchMode):
    """Refuses whatever tells the host of values, or has a shape that depends on them."""

    def __torch_dispatch__(
        self, function: Any, kinds: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        name = function.name().removeprefix("aten::").partition(".")[0]
        assert name not in (
            "_local_scalar_dense", "nonzero", "masked_select", "unique_dim", "_unique", "_unique2",
            "is_nonzero", "equal", "repeat_interleave",
        ), name  # fmt: skip
        for index in arguments[1] if name in ("index", "index_put", "index_put_") else ():
            assert index is None or index.dtype != torch.bool, name
        return function(*arguments, **(named or {}))


@pytest.mark.parametrize(("kind", "game", "limit"), CASES)
def test_a_step_looks_at_no_values(
    kind: str, game: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the sources of other devices, on this one; and everything is changed in place."""
    learner = learner_of(kind, game, limit)
    source: Any = learner._self_play
    if limit:
        # Played as on a GPU, where nobody knows what comes of all actions.
        environment = source.environment
        assert isinstance(environment, TreeEnvironment)
    else:
        environment = BatchedEnvironment(turn_based_game(game).rules, 8, seed=1)
    learner._self_play = TensorSource(environment, source.num_steps)
    learner._self_play.record_histories()
    monkeypatch.setattr(BatchedEnvironment, "_refuse_long_run", lambda _: None)
    learner.step()  # what is made once is made now
    before = places(learner)
    for _ in range(9):  # two changes of the regularisation policy
        inner = learner._step

        def step(inner: Any = inner) -> torch.Tensor:
            with RefusesLooks():
                result: torch.Tensor = inner()
            return result

        monkeypatch.setattr(learner, "_step", step)
        learner.step()
        monkeypatch.setattr(learner, "_step", inner)
    assert places(learner) == before


def places(learner: BatchLearner) -> list[int]:
    """Where in memory everything is that steps read and that outlives them."""
    source = learner._self_play
    assert isinstance(source, TensorSource)
    tensors = [*learner._tensors().values(), *source._moves, source._observation]
    tensors += getattr(learner, "_schedule_values", {}).values()
    if getattr(learner, "_logit_tables", None) is not None:
        tensors.append(learner._logit_tables)  # type: ignore[attr-defined]
    return [tensor.data_ptr() for tensor in tensors]


def test_graphs_are_refused_where_there_can_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="CUDA graphs need a CUDA device, and this is cpu"):
        learner_of("mmd", "kuhn_poker", 1000, cuda_graph=True)


@pytest.mark.gpu
@NEEDS_CUDA
@pytest.mark.parametrize(("kind", "game", "limit"), CASES)
def test_a_graph_does_what_ordinary_steps_do(
    kind: str, game: str, limit: int, tmp_path: Path
) -> None:
    ordinary, graph = (
        learner_of(kind, game, limit, device="cuda", cuda_graph=is_graph)
        for is_graph in (False, True)
    )
    for _ in range(11):
        ordinary.step()
        graph.step()
        theirs = ordinary._tensors()
        for name, mine in graph._tensors().items():
            torch.testing.assert_close(mine, theirs[name], rtol=1e-4, atol=1e-5)
    graph.save(tmp_path / "checkpoint")
    for _ in range(5):
        graph.step()
    expected = [tensor.detach().clone() for tensor in graph._tensors().values()]
    graph.load(tmp_path / "checkpoint")
    for _ in range(5):
        graph.step()
    for mine, theirs in zip(graph._tensors().values(), expected, strict=True):
        torch.testing.assert_close(mine.detach(), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.gpu
@NEEDS_CUDA
def test_a_graph_of_a_large_batch() -> None:
    """Products over more rows than these have failed while they were captured."""
    game = "python_battleships(board_width=5,board_height=5,ship_sizes=[3;2;2])"
    config = RNaDConfig(batch_size=8192, max_tree_histories=0)
    learner = RNaDSolver(game, config, device="cuda", cuda_graph=True)
    learner.run(5)
    assert learner.metrics()["learner_steps_per_second"] > 0
