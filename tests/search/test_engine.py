"""The continual engine: a search of a person's own, and what all of them have in common."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay
from spiel_dl.algorithms.sepot import SePoTPlayPolicy, SePoTPolicy
from spiel_dl.algorithms.ses import safe_exploitation_search
from spiel_dl.algorithms.trunk_exploitability import trunk_exploitability
from spiel_dl.play.public_tree_view import view_public_tree
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.opponent_models import errs_beyond, random_policy
from spiel_dl.search.engine import ContinualPolicy
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.search.step import Step
from spiel_dl.solvers import gadgets
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.restricted_game import unrestricted
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.value_functions import ExactValue, ZeroValue

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"


class UnsafeStep(Step):
    """A searcher in a few lines: solves each piece at both players' ranges, without a gadget."""

    def solve(self, player: int, places: list[int]) -> None:
        trunk = self.cut(places)
        ranges = [self.root_range(each, places)[0] for each in (0, 1)]
        gadget = gadgets.unsafe(trunk.sequence_form, (ranges[0], ranges[1]))
        game = unrestricted(gadget.sequence_form, gadget.root_ranges)
        solution = self.solve_game(player, game, trunk, horizon=self.horizon(places))
        for each in (0, 1):
            treeplex = trunk.sequence_form.treeplexes[each]
            self.keep(each, trunk, behaviour_strategy(treeplex, solution.plans[each]))


def unsafe_search(tree: GameTree, limit: DepthLimit) -> ContinualPolicy:
    pieces = Pieces(tree, limit, "block")
    policy, effort = ArrayPolicy.uniform(tree), Effort(200)
    return ContinualPolicy(UnsafeStep(pieces, policy, value_function=ZeroValue(), effort=effort))


def test_a_seventh_searcher_is_a_step():
    """It plays "unsafe search with ZeroValue", as continual resolving without a gadget does."""
    tree, limit = GameTree.from_game(GOOFSPIEL_4), DepthLimit(rounds=1)
    found = unsafe_search(tree, limit).to_array_policy()
    expected = ContinualResolvingPolicy(
        tree, ZeroValue(), limit, gadget="unsafe", effort=Effort(200)
    ).to_array_policy()
    for player in (0, 1):
        np.testing.assert_allclose(found.strategies[player], expected.strategies[player], atol=1e-9)
    assert exploitability.nash_conv(tree, found) > 0.1, "zeros say nothing of what lies below"


def test_only_what_is_asked_for_is_solved():
    tree = GameTree.from_game(GOOFSPIEL_4)
    lazy = unsafe_search(tree, DepthLimit(rounds=1))
    state = tree.game.new_initial_state()
    assert len(lazy._done) == 0
    lazy.action_probabilities(state)
    assert len(lazy._done) == 1
    for action in (0, 1):
        state.apply_action(action)
    answer = lazy.action_probabilities(state)
    assert len(lazy._done) == 2
    assert lazy.to_array_policy().action_probabilities(state) == answer


@pytest.mark.parametrize("refinement", [None, "ones"])
@pytest.mark.parametrize("gadget", ["resolving", "max_margin", "reach_max_margin"])
@pytest.mark.parametrize("game", ["kuhn_poker", GOOFSPIEL_4])
def test_cdrnr_that_never_trusts_its_model_is_continual_resolving(game, gadget, refinement):
    """The same steps but for rounding: who is updated first only differs for player 1."""
    tree, limit, effort = GameTree.from_game(game), DepthLimit(moves=2), Effort(30)
    model, values = random_policy(tree, seed=0), ZeroValue()
    gadgets_of_both = {"gadget": gadget, "refinement": refinement, "effort": effort}
    expected = ContinualResolvingPolicy(tree, values, limit, **gadgets_of_both)
    found = CDRNRPolicy(tree, 0, model, limit, p=0.0, value_function=values, **gadgets_of_both)
    np.testing.assert_allclose(
        found.to_array_policy().strategies[0],
        expected.to_array_policy().strategies[0],
        atol=1e-6,
    )


@pytest.mark.parametrize("kind", [ContinualResolvingPolicy, ParticlePolicy])
def test_arguments_in_another_order_are_told_at_once(kind):
    with pytest.raises(ValueError, match="the value function comes before the depth limit"):
        kind(GOOFSPIEL_4, DepthLimit(rounds=1), ZeroValue())


@pytest.mark.parametrize(
    "call",
    [
        lambda uniform: SePoTPolicy("kuhn_poker", uniform, None, 3),
        lambda uniform: SePoTPolicy(
            "kuhn_poker", uniform, None, 3, config=SearchConfig(max_histories=10)
        ),
        lambda uniform: CDRNRPolicy("kuhn_poker", 0, uniform, 3, p=0.5),
        lambda uniform: trunk_exploitability("kuhn_poker", uniform, 3),
        lambda uniform: safe_exploitation_search("kuhn_poker", 0, uniform, 3, alpha=0.5),
        lambda uniform: errs_beyond("kuhn_poker", 3, uniform, uniform),
        lambda uniform: view_public_tree("kuhn_poker", uniform, 3, "uniform"),
        lambda _: ParticleSelfPlay(GOOFSPIEL_4, None, 3),
        lambda _: SePoTPlayPolicy(GOOFSPIEL_4, torch.softmax, None, 3),
    ],
)
def test_a_depth_limit_that_is_none_is_told(call):
    with pytest.raises(ValueError, match="depth_limit=3 must be a DepthLimit, such as"):
        call(ArrayPolicy.uniform("kuhn_poker"))


def test_places_are_solved_after_those_they_depend_on():
    order: list[tuple[int, int]] = []

    class Recording(UnsafeStep):
        def solve(self, player: int, places: list[int]) -> None:
            order.extend((player, place) for place in places)
            super().solve(player, places)

    tree = GameTree.from_game("kuhn_poker")
    pieces = Pieces(tree, DepthLimit(moves=1), "block")
    step = Recording(
        pieces, ArrayPolicy.uniform(tree), value_function=ExactValue(), effort=Effort(3)
    )
    ContinualPolicy(step).to_array_policy()
    assert order[0] == (0, ROOT)
    for player in (0, 1):
        places = [place for each, place in order if each == player]
        assert len(places) == len(set(places)) > 2
        for position, place in enumerate(places):
            assert set(pieces.path(place)) <= set(places[: position + 1])


class _Careless(Step):
    """Keeps what is no strategy."""

    def __init__(self, pieces: Pieces, policy: ArrayPolicy, size: int | None):
        super().__init__(pieces, policy)
        self._size = size

    def solve(self, player: int, places: list[int]) -> None:
        trunk = self.cut(places)
        size = self._size or trunk.sequence_form.treeplexes[player].num_sequences
        self.keep(player, trunk, np.zeros(size))


@pytest.mark.parametrize(("size", "message"), [(None, "are not a distribution"), (2, "the shape")])
def test_steps_keep_nothing_but_strategies(size: int | None, message: str) -> None:
    tree = GameTree.from_game("kuhn_poker")
    pieces = Pieces(tree, DepthLimit(moves=1), "sliding")
    policy = ContinualPolicy(_Careless(pieces, ArrayPolicy.uniform(tree), size))
    with pytest.raises(ValueError, match=message):
        policy.action_probabilities(tree.state(int(tree.first_history[0][0])))
