"""SePoT in all public states of a level at once: the same policy as one search after another."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import pure_transformations, transformations_by_name
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions.random_strategies import random_strategy

EFFORT = Effort(iterations=30)
CONFIGS = {
    "defaults": SearchConfig(effort=EFFORT),
    "sliding": SearchConfig(scheme="sliding", effort=EFFORT),
    "below the root": SearchConfig(given_cfvs="critic", first_level=1, effort=EFFORT),
    "until a gap": SearchConfig(effort=Effort(iterations=100, tolerance=0.01)),
    "within a bound": SearchConfig(max_histories=40, effort=EFFORT),
}
GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=random)"


@pytest.mark.parametrize(
    ("game", "limit", "config"),
    [
        *(("kuhn_poker", DepthLimit(moves=2), config) for config in CONFIGS.values()),
        (GOOFSPIEL, DepthLimit(rounds=1), CONFIGS["defaults"]),
    ],
)
def test_all_at_once_is_one_after_another(
    game: str, limit: DepthLimit, config: SearchConfig
) -> None:
    tree = GameTree.from_game(game)
    generator = np.random.default_rng(3)
    first, second = (random_strategy(generator, t, 0.2, 0.2) for t in tree.treeplexes)
    blueprint = ArrayPolicy(tree, (first, second))
    transformations = pure_transformations(2)
    if game != "kuhn_poker":
        transformations = transformations_by_name("paper", tree.game)
    critic = ExactCritic(tree, blueprint.strategies, transformations)
    at_once = SePoTPolicy(tree, blueprint, critic, limit, config=config)
    found = at_once.to_array_policy()
    one_by_one = SePoTPolicy(tree, blueprint, critic, limit, config=config)
    for player in (0, 1):
        for infoset in range(tree.num_infosets(player)):
            state = tree.state(int(tree.first_history[player][infoset]))
            answer = list(one_by_one.action_probabilities(state, player).values())
            sequences = tree.treeplexes[player].sequences(infoset)
            np.testing.assert_allclose(answer, found.strategies[player][sequences], atol=1e-6)
    assert at_once.num_searches == one_by_one.num_searches > 1
    assert np.abs(found.strategies[0] - first).max() > 0.01
