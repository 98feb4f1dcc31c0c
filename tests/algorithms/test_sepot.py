"""SePoT: exact exploitability of searches with an exact critic, and what they may rely upon."""

from __future__ import annotations

import functools

import numpy as np
import pyspiel
import pytest
import torch

from spiel_dl import ArrayPolicy, DepthLimit, Effort, GameTree, best_response_value
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import (
    IDENTITY,
    PolicyTransformations,
    Transformation,
    action_values,
    paper_transformations,
    pure_transformations,
    transformations_by_name,
)
from spiel_dl.policies.array_policy import plans_of
from spiel_dl.policies.opponent_models import cfr_average
from spiel_dl.solvers import gadgets, linear_program
from spiel_dl.solvers import refinement as refinements
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.tree import cut
from tests import tiny_games
from tests.reference import assert_same_policy
from tests.solvers.test_refinement_by_hand import solved_by_lp
from tests.trees import compiled
from tests.untrained_blueprints import random_table

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"


@functools.cache
def trained(game: str, iterations: int) -> ArrayPolicy:
    return cfr_average(compiled(game), iterations, "cfr+")


def random_policy(game: str, seed: int) -> ArrayPolicy:
    return random_table(compiled(game), seed, 0.2, 0.2)


def _extreme(direction: int):
    """The legal action with the highest id, or the one with the lowest."""

    def weights(policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        numbers = direction * torch.arange(legal.shape[-1]) + legal.shape[-1]
        best = (legal * numbers).argmax(dim=-1, keepdim=True)
        return torch.zeros_like(policy).scatter(-1, best, 1.0)

    return weights


EXTREMES = PolicyTransformations(
    [IDENTITY, Transformation("lowest", _extreme(-1)), Transformation("highest", _extreme(1))]
)


def test_as_printed_is_the_papers_reading():
    """Section 4.2 and Table 2; the default is another reading (docs/deviations.md)."""
    papers = Effort(iterations=1500, variant="cfr+")
    printed = SearchConfig(given_cfvs="critic", refinement="none", effort=papers)
    assert SearchConfig.as_printed() == printed != SearchConfig()
    assert SearchConfig.as_printed(effort=EFFORT).effort == EFFORT


def searched(blueprint, transformations, limit, config=None) -> SePoTPolicy:
    critic = ExactCritic(blueprint.tree, blueprint.strategies, transformations)
    return SePoTPolicy(blueprint.tree, blueprint, critic, limit, config=config)


def to_the_end(
    blueprint: ArrayPolicy, limit: DepthLimit, first_level: int = 1, **settings
) -> SePoTPolicy:
    """From the second round on by default, with given cfvs of best responses to the blueprint."""
    config = SearchConfig(first_level=first_level, given_cfvs="best_response", **settings)
    return SePoTPolicy(blueprint.tree, blueprint, None, limit, config=config)


@pytest.mark.parametrize(
    ("game", "limit", "transformations"),
    [
        ("kuhn_poker", DepthLimit(moves=1), pure_transformations(2)),
        # After two rounds everybody holds two cards, so the two extremes are all continuations.
        (GOOFSPIEL_4, DepthLimit(rounds=2), EXTREMES),
        # Of any two of four cards, some of the 22 keep only the one, and some only the other.
        (GOOFSPIEL_4, DepthLimit(rounds=2), paper_transformations(torch.arange(1.0, 5.0))),
    ],
)
def test_an_equilibrium_stays_one(game, limit, transformations):
    blueprint = trained(game, 5000)
    # In blocks, a search begins at the leaves of the one before, and asks the critic for the same.
    policy = searched(blueprint, transformations, limit)
    assert exploitability.nash_conv(policy.tree, policy.to_array_policy()) < 1e-2
    assert policy.num_searches > 2


@pytest.mark.parametrize(
    ("given_cfvs", "expected"), [("transformations", 0.0), ("best_response", 0.0), ("critic", 0.25)]
)
def test_an_equilibrium_needs_cfvs_of_all_continuations(given_cfvs, expected):
    """The blueprint errs at b, which it never reaches, so its cfv there cannot be kept.

    The search gives up a, which player 1 does reach, to lower b's cfv from 0.5 towards -0.5.
    """
    tree = GameTree.from_game(pyspiel.load_efg_game(tiny_games.RARELY_ENTERED_AND_WRONG))
    # Player 0: l. Player 1: in with a, out with b, and wrong.
    strategies = ([1, 1, 0], [1, 1, 0, 0, 1, 0, 1])
    blueprint = ArrayPolicy(tree, (np.array(strategies[0]), np.array(strategies[1])))
    assert exploitability.nash_conv(tree, blueprint) == 0
    config = SearchConfig(given_cfvs=given_cfvs)
    policy = searched(blueprint, pure_transformations(6), DepthLimit(moves=1), config)
    found = exploitability.nash_conv(tree, policy.to_array_policy())
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("given_cfvs", ["transformations", "critic", "best_response"])
@pytest.mark.parametrize("leaf_choice", ["regret_matching", "best_response"])
def test_kuhn_poker_with_every_kind_of_search(given_cfvs, leaf_choice):
    config = SearchConfig(given_cfvs=given_cfvs, leaf_choice=leaf_choice)
    blueprint = trained("kuhn_poker", 5000)
    policy = searched(blueprint, pure_transformations(2), DepthLimit(moves=1), config)
    assert exploitability.nash_conv(policy.tree, policy.to_array_policy()) < 1e-2


@pytest.mark.parametrize(
    ("game", "limit", "transformations"),
    [
        (GOOFSPIEL_4, DepthLimit(rounds=1), paper_transformations(torch.arange(1.0, 5.0))),
        (GOOFSPIEL_4, DepthLimit(rounds=2), paper_transformations(torch.arange(1.0, 5.0))),
        ("python_leduc", DepthLimit(rounds=1), pure_transformations(3)),
    ],
)
def test_search_improves_a_trained_blueprint(game, limit, transformations):
    """After 30 iterations of CFR+; NashConv falls from 0.037 to 0.013 and 0.006, 0.16 to 0.087."""
    blueprint = trained(game, 30)
    policy = searched(blueprint, transformations, limit).to_array_policy()
    before = exploitability.nash_conv(policy.tree, blueprint)
    assert exploitability.nash_conv(policy.tree, policy) < 0.6 * before


def test_search_improves_a_uniform_blueprint():
    """NashConv of the uniform policy is 11/12 in kuhn_poker, by hand."""
    blueprint = ArrayPolicy.uniform(compiled("kuhn_poker"))
    policy = searched(blueprint, pure_transformations(2), DepthLimit(moves=2))
    assert exploitability.nash_conv(policy.tree, blueprint) == pytest.approx(11 / 12)
    assert exploitability.nash_conv(policy.tree, policy.to_array_policy()) < 0.5


@pytest.mark.parametrize(
    ("kind", "gadget"),
    [
        ("uniform", "resolving"),
        ("random", "resolving"),
        ("trained", "resolving"),
        ("random", "max_margin"),
        ("trained", "max_margin"),
    ],
)
@pytest.mark.parametrize(("game", "rounds"), [("python_leduc", 2), (GOOFSPIEL_4, 4)])
def test_search_to_the_end_is_safe(game, rounds, kind, gadget):
    """Both players search from the second round on, and play the blueprint before."""
    tree = compiled(game)
    blueprints = {"uniform": ArrayPolicy.uniform(tree), "random": random_policy(game, seed=2)}
    blueprint = blueprints[kind] if kind in blueprints else trained(game, 30)
    limit, effort = DepthLimit(rounds=rounds), Effort(iterations=300)
    found = to_the_end(blueprint, limit, gadget=gadget, effort=effort).to_array_policy()
    gains = []
    for player in (0, 1):
        above = DepthLimit(rounds=1).depths(tree)[tree.first_history[player]] < 1
        kept = tree.treeplexes[player].sequences_of(above)
        before, after = blueprint.strategies[player], found.strategies[player]
        np.testing.assert_array_equal(after[kept], before[kept])
        lost = best_response_value(tree, found, 1 - player)
        gains.append(best_response_value(tree, blueprint, 1 - player) - lost)
    # Without the gadget, the trained policy of Leduc loses 0.04 and 0.05.
    assert min(gains) > -0.002
    assert max(gains) > (0.001 if kind == "trained" else 0.1)


@pytest.mark.parametrize("weights", refinements.WEIGHTS)
def test_refined_search_to_the_end_comes_to_the_linear_programs(weights):
    """Of the second round, with given cfvs of best responses; each player by itself."""
    tree, blueprint = compiled("python_leduc"), random_policy("python_leduc", seed=2)
    found = {}
    for refinement in ("none", weights):
        settings = {"refinement": refinement, "effort": Effort(iterations=1000)}
        policy = to_the_end(blueprint, DepthLimit(rounds=2), **settings)
        found[refinement] = policy.to_array_policy()
    trunk = cut(tree, DepthLimit(rounds=1))
    form, leaves = trunk.leaves.subgames, trunk.leaves
    for player in (0, 1):
        plans = plans_of(tree, blueprint.strategies)
        own, prior = (
            plans[p][trunk.sequences[p]][leaves.sequences[p]] for p in (player, 1 - player)
        )
        below = leaves.subgame_sequences[player]
        treeplex = form.treeplexes[player]

        def cfvs(policy, player=player, own=own, below=below, treeplex=treeplex):
            plan = realization_plan(treeplex, policy.strategies[player][below], own)
            num_roots = form.treeplexes[1 - player].num_root_sequences
            return best_response(form, 1 - player, plan).cfv[:num_roots]

        given, groups = cfvs(blueprint), leaves.public_state_of_infoset(1 - player)
        c = refinements.weights(weights, prior, groups)
        c /= c.max()
        floors = refinements.floors(weights, prior, groups)
        gadget = gadgets.resolving(form, player, own, given, floors)
        _, plan = solved_by_lp(gadget, player)
        exact = c @ best_response(form, 1 - player, plan).cfv[: len(given)]
        assert np.maximum(cfvs(found[weights]) - given, 0).sum() < 1e-3
        assert c @ cfvs(found[weights]) == pytest.approx(exact, abs=1e-2)
        assert c @ cfvs(found["none"]) > exact + 0.02


def test_unsafe_search_to_the_end_comes_to_the_linear_program():
    """Of Leduc's second round, where both players come by the blueprint; each player by itself."""
    tree, blueprint = compiled("python_leduc"), random_policy("python_leduc", seed=2)
    settings = {"gadget": "unsafe", "effort": Effort(iterations=1000)}
    found = to_the_end(blueprint, DepthLimit(rounds=2), **settings).to_array_policy()
    trunk = cut(tree, DepthLimit(rounds=1))
    form, leaves = trunk.leaves.subgames, trunk.leaves
    plans = plans_of(tree, blueprint.strategies)
    ranges = [plans[p][trunk.sequences[p]][leaves.sequences[p]] for p in (0, 1)]
    value = linear_program.solve(form, (ranges[0], ranges[1])).value
    for player, sign in ((0, 1), (1, -1)):
        below, treeplex = leaves.subgame_sequences[player], form.treeplexes[player]
        worth = []
        for each in (blueprint, found):
            plan = realization_plan(treeplex, each.strategies[player][below], ranges[player])
            cfvs = best_response(form, 1 - player, plan).cfv[: len(ranges[1 - player])]
            worth.append(-float(cfvs @ ranges[1 - player]))
        assert worth[1] == pytest.approx(sign * value, abs=1e-3)
        assert worth[0] < worth[1] - 0.1


def test_searches_are_made_on_demand_and_in_any_order():
    blueprint = random_policy(GOOFSPIEL_4, seed=6)
    config = SearchConfig(effort=Effort(iterations=20))
    whole = searched(blueprint, EXTREMES, DepthLimit(rounds=1), config).to_array_policy()
    policy = searched(blueprint, EXTREMES, DepthLimit(rounds=1), config)
    state = policy.game.new_initial_state()
    counts = []
    while not state.is_terminal():
        assert policy.action_probabilities(state) == whole.action_probabilities(state)
        counts.append(policy.num_searches)
        state.apply_action(state.legal_actions()[-1])
    assert counts[:5] == [1, 2, 3, 4, 5]
    assert_same_policy(policy.to_array_policy(), whole)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_search_makes_an_almost_solved_goofspiel_worse(limit):
    """Blueprints of NashConv 0.29, 0.12 and 0.037; the same with the network's ranges may be."""
    for iterations in (3, 8, 30):
        blueprint = trained(GOOFSPIEL_4, iterations)
        transformations = paper_transformations(action_values(blueprint.tree.game))
        config = SearchConfig(effort=Effort(iterations=500))
        policy = searched(blueprint, transformations, DepthLimit(rounds=limit), config)
        before = exploitability.nash_conv(policy.tree, blueprint)
        assert exploitability.nash_conv(policy.tree, policy.to_array_policy()) < before


def test_large_searches_are_left_to_the_blueprint():
    """After one round of 4 cards, 4 histories are draws, and 6 are won by each player.

    A search looks at 4 + 12 + 36 histories after a draw, and at 6 + 18 + 54 elsewhere.
    """
    blueprint = random_policy(GOOFSPIEL_4, seed=6)
    tree, limit = blueprint.tree, DepthLimit(rounds=1)
    config = SearchConfig(max_histories=52, effort=Effort(iterations=5))
    search = searched(blueprint, EXTREMES, limit, config)
    policy = search.to_array_policy()
    for player in (0, 1):
        first = tree.first_history[player]
        second_round = np.flatnonzero(limit.depths(tree)[first] == 1)
        assert len(second_round) == 10
        assert search.source.searched[player][second_round].sum() == 4
        num_searched = 0
        for infoset in second_round.tolist():
            own = tree.treeplexes[player].sequences(infoset)
            found, expected = policy.strategies[player][own], blueprint.strategies[player][own]
            num_searched += not np.array_equal(found, expected)
        assert num_searched == 4


EFFORT = Effort(iterations=30)
CONFIGS = {
    "defaults": SearchConfig(effort=EFFORT),
    "below the root": SearchConfig(given_cfvs="critic", first_level=1, effort=EFFORT),
    "until a gap": SearchConfig(effort=Effort(iterations=100, tolerance=0.01)),
    "within a bound": SearchConfig(max_histories=40, effort=EFFORT),
}


@pytest.mark.parametrize(
    ("game", "limit", "transformations", "config"),
    [
        *(("kuhn_poker", DepthLimit(moves=2), "pure", config) for config in CONFIGS),
        (
            "python_goofspiel_ii(num_cards=3,points_order=random)",
            DepthLimit(rounds=1),
            "paper",
            "defaults",
        ),
    ],
)
def test_all_public_states_at_once_are_searched_as_one_after_another(
    game, limit, transformations, config
):
    blueprint = random_policy(game, seed=3)
    tree, by_name = blueprint.tree, transformations_by_name(transformations, compiled(game).game)
    at_once, one_by_one = (searched(blueprint, by_name, limit, CONFIGS[config]) for _ in "ab")
    found = at_once.to_array_policy()
    for player in (0, 1):
        for infoset in range(tree.num_infosets(player)):
            state = tree.state(int(tree.first_history[player][infoset]))
            answer = list(one_by_one.action_probabilities(state, player).values())
            sequences = tree.treeplexes[player].sequences(infoset)
            np.testing.assert_allclose(answer, found.strategies[player][sequences], atol=1e-6)
    assert at_once.num_searches == one_by_one.num_searches > 1
    assert np.abs(found.strategies[0] - blueprint.strategies[0]).max() > 0.01
