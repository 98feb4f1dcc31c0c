"""The loop with leaves against plain CFR of the whole game, linear programs, and hand values."""

from __future__ import annotations

import itertools
import types

import numpy as np
import pytest

from spiel_dl.solvers import depth_limited, linear_program
from spiel_dl.solvers import effort as effort_module
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.depth_limited import Leaves
from spiel_dl.solvers.effort import Clock, Effort
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.restricted_game import restrict, unrestricted
from spiel_dl.solvers.variants import CFR_PLUS, LINEAR_CFR
from spiel_dl.tree import DepthLimit, GameTree, cut


def whole_game(name: str):
    form = GameTree.from_game(name).sequence_form
    return unrestricted(form, (np.ones(1), np.ones(1)))


def test_without_tolerance_all_iterations_are_done_and_averaged():
    game = whole_game("leduc_poker")
    solution = depth_limited.solve(game, Effort(130))
    expected = RegretMinimizer(game.sequence_form, CFR_PLUS)
    expected.run(130)
    np.testing.assert_array_equal(solution.strategy, expected.average_strategy(0))
    for player in (0, 1):
        np.testing.assert_array_equal(solution.plans[player], expected.average_plan(player))
    assert np.isnan(solution.gap)


def test_the_gap_is_certified():
    game = whole_game("leduc_poker")
    solution = depth_limited.solve(game, Effort(5000, tolerance=1e-3))
    value = linear_program.solve(game.sequence_form).value
    # The largest utility is 13.
    assert 0 <= value - game.guaranteed_value(solution.strategy) <= solution.gap <= 13e-3


@pytest.mark.parametrize("variant", [CFR_PLUS, LINEAR_CFR])
def test_recorded_values_are_averages_against_recorded_plans(variant):
    """Leaves that pay by a matrix: averages of linear values are the values of averages."""
    trunk = cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1))
    leaves = trunk.leaves
    payoffs = np.random.default_rng(0).normal(size=(leaves.num_infosets(0), leaves.num_infosets(1)))
    asked: list[tuple[int, ...]] = []

    def values(players, ranges):
        asked.append(players)
        both = (payoffs @ ranges[1], -(ranges[0] @ payoffs))
        return [both[player] for player in players]

    game = unrestricted(trunk.sequence_form, (np.ones(1), np.ones(1)))
    effort = Effort(50, variant=variant)
    solution = depth_limited.solve_with_leaves(game, Leaves(leaves.sequences, values), effort)
    assert asked == [(0,), (1,)] * 50
    own, others = (solution.plans[p][leaves.sequences[p]] for p in (0, 1))
    np.testing.assert_allclose(solution.cfvs[0], payoffs @ others, atol=1e-12)
    np.testing.assert_allclose(solution.cfvs[1], -(own @ payoffs), atol=1e-12)
    plain = depth_limited.solve_with_leaves(
        game, Leaves(leaves.sequences, values), effort, record=False
    )
    minimizer = RegretMinimizer(trunk.sequence_form, variant)
    minimizer.run_with_leaves(
        50,
        leaves.sequences,
        lambda players, plans: values(players, [plans[p][leaves.sequences[p]] for p in (0, 1)]),
    )
    np.testing.assert_array_equal(plain.plans[0], minimizer.average_plan(0))
    assert plain.cfvs[0].shape == (0,)


def test_against_a_bound_opponent_the_best_iterate_is_taken():
    """The opponent plays uniformly, and leaves are worth what the subgames are against that."""
    tree = GameTree.from_game("kuhn_poker")
    trunk = cut(tree, DepthLimit(moves=1))
    leaves, treeplex = trunk.leaves, tree.treeplexes[1]
    uniform = realization_plan(treeplex, treeplex.uniform_strategy())
    response = best_response(tree.sequence_form, 0, uniform)
    below = leaves.subgames

    def values(players, ranges):
        assert players == (0, 1)
        opponents = realization_plan(
            below.treeplexes[1], below.treeplexes[1].uniform_strategy(), ranges[1]
        )
        answer = best_response(below, 0, opponents)
        return [answer.cfv[: leaves.num_infosets(0)], np.zeros(leaves.num_infosets(1))]

    model = uniform[trunk.sequences[1]]
    everywhere = np.ones(trunk.sequence_form.treeplexes[1].num_infosets, np.bool_)
    game = restrict(trunk.sequence_form, (np.ones(1), np.ones(1)), model, everywhere, p=1.0)
    solution = depth_limited.solve_with_leaves(game, Leaves(leaves.sequences, values), Effort(20))
    own = realization_plan(trunk.sequence_form.treeplexes[0], solution.strategy)
    cfvs = values((0, 1), (None, model[leaves.sequences[1]]))[0]
    value = game.constants @ own + own[leaves.sequences[0]] @ cfvs
    assert value == pytest.approx(response.value, abs=1e-12)


def test_a_clock_shares_out_all_iterations():
    effort = Effort(np.int32(250))
    assert type(effort.iterations) is int
    clock, done = Clock(effort), 0
    batches = []
    while clock.allows(done):
        batches.append(clock.next_iterations(done))
        done += batches[-1]
    assert batches == [100, 100, 50]


@pytest.fixture
def ticking_clock(monkeypatch):
    """A clock that moves on by a second whenever it is read."""
    ticks = itertools.count()
    clock = types.SimpleNamespace(perf_counter=lambda: float(next(ticks)))
    monkeypatch.setattr(effort_module, "time", clock)


@pytest.mark.usefixtures("ticking_clock")
def test_batches_of_a_clock_are_short_beside_its_seconds():
    clock, batches = Clock(Effort(10_000, seconds=100)), []
    while clock.allows(sum(batches)):
        batches.append(clock.next_iterations(sum(batches)))
    # The speed is unknown at first: one iteration. It was seen after two seconds; an eighth of 100
    # seconds has six more like it.
    assert batches[:2] == [1, 6]
    assert len(batches) == 51
    assert sum(batches) < 10_000


@pytest.mark.usefixtures("ticking_clock")
def test_searches_stop_after_their_seconds(monkeypatch):
    iterations, run = [], RegretMinimizer.run
    monkeypatch.setattr(
        RegretMinimizer, "run", lambda self, number: (iterations.append(number), run(self, number))
    )
    depth_limited.solve(whole_game("kuhn_poker"), Effort(10**6, seconds=10))
    assert 0 < sum(iterations) < 10**4

    trunk = cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1))
    leaves, asked = trunk.leaves, []

    def zeros(players, ranges):
        asked.append(players)
        return [np.zeros(leaves.num_infosets(player)) for player in players]

    game = unrestricted(trunk.sequence_form, (np.ones(1), np.ones(1)))
    values = Leaves(leaves.sequences, zeros)
    depth_limited.solve_with_leaves(game, values, Effort(10**6, seconds=10))
    assert 0 < len(asked) < 10**4
