"""Games played ahead of the learner: which they are, whoever plays them, and what is learned."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spiel_dl.algorithms import exploitability, rnad
from spiel_dl.learning import played_ahead
from spiel_dl.system.workers import DEATHS, WorkerDiedError
from spiel_dl.tree import GameTree

RULES = "python_goofspiel_ii(num_cards=3,points_order=random)"
SETTINGS: dict[str, Any] = {"batch_size": 16, "hidden_sizes": (16, 16), "seed": 1}


class Here:
    """Works in this process, when the result is asked for."""

    num_deaths = 0

    def __init__(self, num_workers: int, initializer: Callable[[], None]):
        del initializer
        self._most, self._under_way = num_workers, 0
        self.numbers: list[int] = []

    def end(self, *, is_now: bool) -> None:
        """Nothing is open."""

    def schedule(self, function: Callable[[Any], Any], item: Any) -> Any:
        """See `KillablePool`."""
        assert self._under_way < self._most
        self._under_way += 1
        self.numbers.append(item.number)

        def result() -> Any:
            self._under_way -= 1
            if Here.num_deaths:
                Here.num_deaths -= 1
                raise DEATHS[0]("died")
            return function(item)

        return types.SimpleNamespace(result=result)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers in this process, also of learners."""
    monkeypatch.setattr(played_ahead, "KillablePool", Here)
    monkeypatch.setattr(Here, "num_deaths", 0)


def learner(game: str, num_workers: int, **settings: Any) -> rnad.RNaDSolver:
    return rnad.RNaDSolver(
        game, rnad.RNaDConfig(**{**SETTINGS, **settings}), num_workers=num_workers
    )


@pytest.mark.parametrize("limit", [0, 200_000])
@pytest.mark.parametrize("num_workers", [1, 3])
def test_games_of_a_step_are_played_by_parameters_of_as_many_steps_ago(
    num_workers: int, limit: int, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[int, np.ndarray]] = []
    play = played_ahead._play

    def watched(order: Any) -> Any:
        played.append((order.number, order.parameters))
        return play(order)

    monkeypatch.setattr(played_ahead, "_play", watched)
    solver = learner(RULES, num_workers, max_tree_histories=limit)
    parameters = [solver.parameters.detach().numpy().copy()]
    for _ in range(6):
        solver.step()
        parameters.append(solver.parameters.detach().numpy().copy())
    assert [number for number, _ in played] == list(range(6))
    for number, acting in played:
        assert np.array_equal(acting, parameters[max(0, number - num_workers)])


def test_what_workers_send_is_what_they_played() -> None:
    for limit in (0, 200_000):
        solver = learner(RULES, 0, max_tree_histories=limit)
        games = played_ahead.Games(RULES, 16, limit, bool(limit), solver.network, 5)
        order = played_ahead._Order(games, 3, solver.parameters.detach().numpy())
        arrays = played_ahead._play(order)
        again = {k: v.copy() for k, v in arrays.items() if isinstance(v, np.ndarray)}
        sent = played_ahead._trajectories(arrays)
        assert sent.valid.any(dim=0).all()
        assert sent.distinct_observations().tensors.evaluation is None
        other = played_ahead._play(order._replace(number=4))
        assert not np.array_equal(again["action"], other["action"])
        arrays = played_ahead._play(order)
        for name, array in again.items():
            assert np.array_equal(array, arrays[name]), name


@pytest.mark.parametrize("limit", [0, 200_000])
def test_a_checkpoint_continues_to_the_same_bits(limit: int, here: None, tmp_path: Path) -> None:
    whole = learner(RULES, 2, max_tree_histories=limit, first_period=4)
    for step in range(9):
        whole.step()
        if step == 4:
            whole.save(tmp_path / "checkpoint.safetensors")
    resumed = learner(RULES, 2, max_tree_histories=limit, first_period=4)
    resumed.step()
    resumed.load(tmp_path / "checkpoint.safetensors")
    for _ in range(4):
        resumed.step()
    for name, array in whole.state().items():
        assert np.array_equal(array, resumed.state()[name]), name
    alone = learner(RULES, 0, max_tree_histories=limit, first_period=4)
    with pytest.raises(ValueError, match="has config"):
        alone.load(tmp_path / "checkpoint.safetensors")


def test_processes_play_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    by_processes = learner(RULES, 1, max_tree_histories=0)
    by_processes.run(3)
    monkeypatch.setattr(played_ahead, "KillablePool", Here)
    inside = learner(RULES, 1, max_tree_histories=0)
    inside.run(3)
    assert torch.equal(by_processes.parameters, inside.parameters)


def test_a_worker_that_dies_is_replaced(here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    solver, other = (learner(RULES, 2, max_tree_histories=0) for _ in range(2))
    solver.run(3)
    other.run(1)
    monkeypatch.setattr(Here, "num_deaths", 2)
    other.run(2)
    assert torch.equal(solver.parameters, other.parameters)
    monkeypatch.setattr(Here, "num_deaths", 3)
    with pytest.raises(WorkerDiedError, match="use fewer workers"):
        other.run(1)
    # Who tries again learns from the same games.
    for each in (solver, other):
        each.run(3)
    assert torch.equal(solver.parameters, other.parameters)


def test_stale_games_are_learned_from(here: None) -> None:
    settings = {"batch_size": 64, "hidden_sizes": (32, 32), "learning_rate": 5e-3}
    solver = learner("kuhn_poker", 4, **settings)
    before = exploitability.nash_conv("kuhn_poker", solver.policy())
    solver.run(3000)
    found = exploitability.nash_conv("kuhn_poker", solver.policy())
    assert before > 0.8
    assert found < 0.25


def test_what_workers_cannot_play_is_refused() -> None:
    with pytest.raises(ValueError, match="pass the game instead of its tree"):
        rnad.RNaDSolver(GameTree.from_game("kuhn_poker"), num_workers=1)
    with pytest.raises(ValueError, match="num_workers=-1 must be positive"):
        learner("kuhn_poker", -1)
