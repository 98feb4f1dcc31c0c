"""Mirror-descent search against exact action values of the blueprint, and by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyspiel
import pytest
import torch

from spiel_dl.algorithms.mirror_descent_search import (
    MirrorDescentConfig,
    MirrorDescentPolicy,
    MirrorDescentSource,
    mirror_descent_step,
)
from spiel_dl.games.features import features, num_features
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import IDENTITY, PolicyTransformations
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.policies.small_policies import UniformPolicy
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree import GameTree
from spiel_dl.tree.from_rules import InfosetKeys
from tests.reference import state_after
from tests.untrained_blueprints import Blueprint

GAMES = {
    "python_goofspiel_ii(num_cards=4,points_order=descending)": [(), (3, 2, 1), (3, 2, 0, 1)],
    "python_leduc": [(0, 3, 1, 1, 4)],
}


def exact_values(tree: GameTree, blueprint: Blueprint, state: pyspiel.State) -> np.ndarray:
    """The action values in the infoset of a state's mover: float64 [A], in utility ranges."""
    player = state.current_player()
    policy = blueprint.tabulate(tree)
    transformations = PolicyTransformations([IDENTITY])
    critic = ExactCritic(tree, policy.strategies, transformations)
    values = critic.values(tree, np.arange(tree.num_histories), player)[:, 0]
    plan = realization_plan(tree.treeplexes[1 - player], policy.strategies[1 - player])
    infoset = tree.find_infoset(state, player)
    members = np.flatnonzero((tree.player == player) & (tree.infoset == infoset))
    weight = plan[tree.sequence[1 - player, members]] * tree.chance_reach[members]
    num_actions = tree.treeplexes[player].num_actions[infoset]
    children = tree.first_child[members][:, None] + np.arange(num_actions)
    return weight @ values[children] / weight.sum() / tree.utility_range


@pytest.mark.parametrize("game_string", GAMES)
def test_action_values_are_those_of_the_blueprint(game_string):
    tree = GameTree.from_game(game_string)
    blueprint = Blueprint(tree.game)
    table = blueprint.tabulate(tree)
    config = MirrorDescentConfig(stepsize=3.0, num_rollouts=8_000, budget=100)
    policy = MirrorDescentPolicy(tree.game, blueprint, config)
    for actions in GAMES[game_string]:
        state = state_after(tree.game, actions)
        values = exact_values(tree, blueprint, state)
        blueprints = np.array(list(table.action_probabilities(state).values()))
        weights = blueprints * np.exp(3.0 * values)
        answer = policy.action_probabilities(state)
        np.testing.assert_allclose(list(answer.values()), weights / weights.sum(), atol=0.05)
        assert answer != pytest.approx(dict(zip(answer, blueprints, strict=True)), abs=1e-3)


class Folder(Blueprint):
    """A blueprint whose player 0 never raises, as the first one to act in Leduc."""

    def __call__(self, observation, legal):
        row = super().__call__(observation, legal)
        row[:, 2] *= (observation[:, 1] > 0).double()
        return row / row.sum(dim=-1, keepdim=True)


def test_an_action_that_its_player_never_makes_hides_nothing_of_the_opponent():
    """After it, the opponent's infosets are as likely as its blueprint makes them."""
    tree = GameTree.from_game("python_leduc")
    blueprint = Folder(tree.game)
    state = tree.game.new_initial_state()
    for action in (0, 3, 2, 1, 4):  # a raise that never is, and a call
        if action == 2:
            assert blueprint.tabulate(tree).action_probabilities(state)[2] == 0.0
        state.apply_action(action)
    config = MirrorDescentConfig(num_rollouts=8_000, budget=100)
    policy = MirrorDescentPolicy(tree.game, blueprint, config)
    policy.action_probabilities(state)
    [found] = policy.results.values()
    assert state.current_player() == 0
    np.testing.assert_allclose(found.values, exact_values(tree, blueprint, state), atol=0.02)


def values_of(tree: GameTree, blueprint: Blueprint) -> Callable[..., np.ndarray]:
    """A player's exact utilities in states of the rules."""
    strategies = blueprint.tabulate(tree).strategies
    critic = ExactCritic(tree, strategies, PolicyTransformations([IDENTITY]))
    history_of = {tuple(keys): history for history, keys in enumerate(tree.infoset_key.T.tolist())}
    of_rules = InfosetKeys(tree.game.rules)

    def values(states, player):
        keys = of_rules.of_level(states)[0].T.tolist()
        histories = np.array([history_of[tuple(each)] for each in keys])
        return critic.values(tree, histories, player)[:, 0]

    return values


def searched_values(policy: MirrorDescentPolicy, state: pyspiel.State) -> np.ndarray:
    """The action values that a search finds at a state."""
    policy.action_probabilities(state)
    assert policy.answer_was_searched
    return next(reversed(policy.results.values())).values


@pytest.mark.parametrize(("game_string", "depth"), [*zip(GAMES, (1, 3), strict=True)])
def test_games_that_stop_early_tell_the_same_by_exact_values(game_string, depth, monkeypatch):
    """Less is left to luck than in games that are played to the end, so fewer games do."""
    tree = GameTree.from_game(game_string)
    blueprint = Blueprint(tree.game)
    config = MirrorDescentConfig(depth=depth, num_rollouts=2_000, budget=100)
    values = values_of(tree, blueprint)
    monkeypatch.setattr(MirrorDescentSource, "_network_values", lambda *_: values)
    policy = MirrorDescentPolicy(tree.game, blueprint, config)
    for actions in GAMES[game_string]:
        state = state_after(tree.game, actions)
        expected = exact_values(tree, blueprint, state)
        np.testing.assert_allclose(searched_values(policy, state), expected, atol=0.03)


@pytest.mark.parametrize(("actions", "player"), [((), 0), ((3,), 1)])
def test_games_stop_at_the_next_decision_of_who_searches(actions, player, monkeypatch):
    """In Goofspiel both bid in turn; after two moves, or one, the player bids again."""
    game = GameTree.from_game(next(iter(GAMES))).game
    state = state_after(game, actions)
    for depth, bids in ((1, 1), (2, 1), (3, 2)):
        asked = []

        def values(states, who, asked=asked):
            asked.append((who, set(game.rules.current_player(states).tolist())))
            bids_made = game.rules.round_index(states)
            return bids_made.numpy() / 10

        config = MirrorDescentConfig(depth=depth, num_rollouts=20)
        monkeypatch.setattr(MirrorDescentSource, "_network_values", lambda *_, v=values: v)
        policy = MirrorDescentPolicy(game, Blueprint(game), config)
        in_utility_ranges = searched_values(policy, state)
        assert in_utility_ranges == pytest.approx(bids / 10 / 2)
        assert asked == [(player, {player})]


def test_values_are_those_of_the_network_in_utility_units():
    game = GameTree.from_game("python_leduc").game
    network = PolicyNetwork(num_features(game), game.num_distinct_actions(), (8,))
    parameters = network.initial_parameters(seed=1)
    state = state_after(game, (0, 3))
    found = []
    for unit in (1.0, 13.0):
        blueprint = NetworkPolicy(game, network, parameters, value_unit=unit)
        config = MirrorDescentConfig(depth=1, num_rollouts=50)
        policy = MirrorDescentPolicy(game, blueprint, config)
        values = policy.source._network_values(blueprint)(state.batch, 0)
        seen = torch.from_numpy(features(state, 0))[None]
        outputs = network.values(parameters, seen).numpy()
        np.testing.assert_allclose(values, unit * outputs, rtol=1e-5)
        found.append(searched_values(policy, state))
    assert not np.allclose(*found)
    with pytest.raises(ValueError, match="depth=1 asks what the network says"):
        MirrorDescentPolicy(game, blueprint.act, config)


def test_where_nothing_can_be_won_the_blueprint_is_played():
    game = pyspiel.load_game("python_leduc")
    game.rules.min_utility = game.rules.max_utility = 0.0
    game.rules.returns = lambda state: torch.zeros(state.batch_size, dtype=torch.float64)
    policy = MirrorDescentPolicy(game, UniformPolicy(game, [0, 1]), MirrorDescentConfig())
    found = policy.action_probabilities(state_after(game, (0, 1)))
    assert found == pytest.approx({1: 0.5, 2: 0.5})


def test_a_step_by_hand():
    values, policy = np.array([0.0, 0.25, -0.25]), np.array([0.5, 0.2, 0.3])
    for settings, expected in (
        ({"stepsize": 1e-12}, policy),
        ({"stepsize": 2.0}, policy * np.exp([0.0, 0.5, -0.5])),
        ({"stepsize": 2.0, "temperature": 0.5}, (policy * np.exp([0.0, 0.5, -0.5])) ** 0.5),
        ({"stepsize": 1e6}, np.array([0.0, 1.0, 0.0])),
    ):
        found = mirror_descent_step(policy, values, **settings)
        np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-9)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda tensors, legal: -legal.float(),
            r"returns \[-0\.0, -1\.0, -1\.0\] where the actions \[1, 2\] are legal",
        ),
        (lambda tensors, legal: legal.float() / 10, "return a distribution over legal actions"),
        (lambda tensors, legal: legal[:, 1:].float(), r"returns the shape \[\d+, \d+\]"),
        (lambda tensors, legal: legal * float("nan"), r"the blueprint's function returns \[nan"),
    ],
)
def test_blueprints_answer_by_distributions(function, message):
    game = pyspiel.load_game("python_leduc")
    policy = MirrorDescentPolicy(game, function, MirrorDescentConfig(num_rollouts=20))
    state = state_after(game, (0, 1))
    with pytest.raises(ValueError, match=message):
        policy.action_probabilities(state)
