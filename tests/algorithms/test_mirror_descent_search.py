"""Mirror-descent search against exact action values of the blueprint, and by hand."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import IDENTITY, PolicyTransformations
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree import GameTree
from tests.untrained_blueprints import Blueprint

GAMES = {
    "python_goofspiel_ii(num_cards=4,points_order=descending)": [(), (3, 2, 1), (3, 2, 0, 1)],
    "python_leduc": [(0, 3, 1, 1, 4)],
}


def exact_values(tree: GameTree, blueprint: Blueprint, history: int, player: int) -> np.ndarray:
    """What each action is worth in the infoset of a history: float64 [A], in utility ranges."""
    policy = blueprint.tabulate(tree)
    transformations = PolicyTransformations([IDENTITY])
    critic = ExactCritic(tree, policy.strategies, transformations)
    values = critic.values(tree, np.arange(tree.num_histories), player)[:, 0]
    plan = realization_plan(tree.treeplexes[1 - player], policy.strategies[1 - player])
    infoset = tree.infoset[history]
    members = np.flatnonzero((tree.player == player) & (tree.infoset == infoset))
    weight = plan[tree.sequence[1 - player, members]] * tree.chance_reach[members]
    num_actions = tree.treeplexes[player].num_actions[infoset]
    children = tree.first_child[members][:, None] + np.arange(num_actions)
    return weight @ values[children] / weight.sum() / tree.utility_range


@pytest.mark.parametrize(("game_string", "num_rollouts"), [(game, 8_000) for game in GAMES])
def test_action_values_are_those_of_the_blueprint(game_string, num_rollouts):
    tree = GameTree.from_game(game_string)
    blueprint = Blueprint(tree.game)
    table = blueprint.tabulate(tree)
    config = MirrorDescentConfig(stepsize=3.0, num_rollouts=num_rollouts, budget=100)
    policy = MirrorDescentPolicy(tree.game, blueprint, config)
    for actions in GAMES[game_string]:
        state = tree.game.new_initial_state()
        for action in actions:
            state.apply_action(action)
        player = state.current_player()
        history = int(tree.first_history[player][tree.find_infoset(state, player)])
        values = exact_values(tree, blueprint, history, player)
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
    config = MirrorDescentConfig(num_rollouts=15_000, budget=100)
    policy = MirrorDescentPolicy(tree.game, blueprint, config)
    policy.action_probabilities(state)
    [found] = policy.kept.values()
    history = int(tree.first_history[0][tree.find_infoset(state, 0)])
    np.testing.assert_allclose(found.values, exact_values(tree, blueprint, history, 0), atol=0.02)


def test_a_step_by_hand():
    game = GameTree.from_game("python_leduc").game
    values, policy = np.array([0.0, 0.25, -0.25]), np.array([0.5, 0.2, 0.3])
    for settings, expected in (
        ({"stepsize": 1e-12}, policy),
        ({"stepsize": 2.0}, policy * np.exp([0.0, 0.5, -0.5])),
        ({"stepsize": 2.0, "magnet": 0.5}, (policy * np.exp([0.0, 0.5, -0.5])) ** 0.5),
        ({"stepsize": 1e6}, np.array([0.0, 1.0, 0.0])),
    ):
        searched = MirrorDescentPolicy(game, Blueprint(game), MirrorDescentConfig(**settings))
        found = searched.source._stepped(policy, values)
        np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-9)


def test_errors():
    for settings in (
        {"stepsize": 0},
        {"stepsize": np.inf},
        {"stepsize": np.nan},
        {"magnet": -1},
        {"magnet": np.inf},
        {"num_rollouts": 0},
        {"budget": 0},
    ):
        [(name, value)] = settings.items()
        with pytest.raises(ValueError, match=f"{name}={value}"):
            MirrorDescentConfig(**settings)
    with pytest.raises(ValueError, match="has no Rules"):
        MirrorDescentPolicy("kuhn_poker", lambda observation, legal: legal)


@pytest.mark.parametrize(
    ("function", "told"),
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
def test_blueprints_answer_by_distributions(function, told):
    game = pyspiel.load_game("python_leduc")
    policy = MirrorDescentPolicy(game, function, MirrorDescentConfig(num_rollouts=20))
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match=told):
        policy.action_probabilities(state)
