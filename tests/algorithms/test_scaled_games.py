"""A game and the same one with all utilities scaled: all algorithms find the same policies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import spiel_dl as dl
from spiel_dl.algorithms import trunk_exploitability
from spiel_dl.algorithms.sepot import SePoTPolicy
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.games.openspiel import RulesGame
from spiel_dl.games.rules import Rules
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.solvers.variants import VARIANTS
from spiel_dl.tree import cut
from spiel_dl.tree.load import turn_based_game
from tests.reference import assert_same_policy

GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=descending,returns_type=point_difference)"
Algorithm = Callable[[dl.GameTree], dl.ArrayPolicy]
LIMIT = dl.DepthLimit(moves=1)
# Powers of 2, about 1e-6 and 1e6: all numbers are scaled without a rounding error.
FACTORS = (2.0**-20, 2.0**20)


def scaled_kuhn(factor: float) -> dl.GameTree:
    """Kuhn poker, in which all utilities are multiplied by a factor."""
    tree = dl.compile_game("kuhn_poker")
    return dataclasses.replace(tree, utility=factor * tree.utility)


def scaled_rules(factor: float) -> dl.GameTree:
    """The same of Goofspiel, by its rules."""
    game = turn_based_game(GOOFSPIEL)

    def make_rules(**parameters: Any) -> Rules[Any]:
        found = game.registration.maker(**parameters)
        returns = found.returns
        found.returns = lambda state: factor * returns(state)
        found.max_utility *= factor
        found.min_utility *= factor
        return found

    registration = dataclasses.replace(game.registration, make_rules=make_rules)
    return dl.compile_game(RulesGame(registration, game.get_parameters()))


def sepot(tree: dl.GameTree) -> dl.ArrayPolicy:
    blueprint = dl.ArrayPolicy.uniform(tree)
    critic = ExactCritic(tree, blueprint.strategies, pure_transformations(2))
    return SePoTPolicy(tree, blueprint, critic, LIMIT).to_array_policy()


def particles(tree: dl.GameTree) -> dl.ArrayPolicy:
    policy = dl.ParticleSearch(tree.game, None, dl.DepthLimit(moves=9), effort=dl.Effort(50))
    return dl.ArrayPolicy.from_policy(tree, policy)


def solved(variant: str) -> Algorithm:
    def run(tree: dl.GameTree) -> dl.ArrayPolicy:
        solver = dl.CFR(tree, variant=variant)
        solver.run(100)
        return solver.average_policy()

    return run


def dl_cfr(tree: dl.GameTree) -> dl.ArrayPolicy:
    solver = dl.DLCFR(tree, dl.ExactValue(), LIMIT)
    solver.run(5)
    return solver.average_policy()


def continual_resolving(tree: dl.GameTree) -> dl.ArrayPolicy:
    policy = dl.ContinualResolving(tree, dl.ExactValue(), LIMIT, effort=dl.Effort(20))
    return policy.to_array_policy()


def response(make: Callable[..., Any], *limit: dl.DepthLimit, **options: Any) -> Algorithm:
    def run(tree: dl.GameTree) -> dl.ArrayPolicy:
        model = dl.ArrayPolicy(tree, dl.random_policy(tree, 1).strategies)
        return make(tree, 0, model, *limit, **options).to_array_policy()

    return run


def mmd(tree: dl.GameTree) -> dl.ArrayPolicy:
    config = dl.MMD.default_config(batch_size=8, hidden_sizes=(8,), seed=1)
    learner = dl.MMD(tree.game, config)
    learner.run(3)
    return dl.ArrayPolicy.from_policy(tree, learner.policy())


ALGORITHMS: dict[str, Algorithm] = {
    **{name: solved(name) for name in VARIANTS},
    "solve": dl.solve,
    "DL-CFR": dl_cfr,
    "continual resolving": continual_resolving,
    "RNR": response(dl.RNR, p=0.5),
    "CDBR": response(dl.CDBR, LIMIT),
    "CDRNR": response(dl.CDRNR, LIMIT, p=0.5),
    "SePoT": sepot,
    "particle search": particles,
    "MMD": mmd,
}
BY_RULES = ("particle search", "MMD")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_policies_are_those_of_the_game_in_another_unit(name: str) -> None:
    scaled = scaled_rules if name in BY_RULES else scaled_kuhn
    expected = ALGORITHMS[name](scaled(1.0))
    for factor in FACTORS:
        found = ALGORITHMS[name](scaled(factor))
        assert_same_policy(found, expected, atol=1e-9)


def test_losses_of_trunks_are_in_the_unit_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trunk_exploitability, "_MAX_LP_PAYOFFS", 0)
    losses = {}
    for factor in (1.0, *FACTORS):
        tree = scaled_kuhn(factor)
        uniform = dl.ArrayPolicy.uniform(tree)
        losses[factor] = trunk_losses(cut(tree, LIMIT), uniform).nash_conv / factor
    assert losses[FACTORS[0]] == losses[FACTORS[1]] == losses[1.0] > 0
