"""Search by reconstruction against the same search on the compiled game."""

from __future__ import annotations

import functools

import pyspiel
import pytest

from spiel_dl import DepthLimit, Effort
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import action_values, paper_transformations
from tests import reference
from tests.reference import state_after
from tests.trees import compiled
from tests.untrained_blueprints import Blueprint, RecognisingCritic, exact_critic

LEDUC = "python_leduc(num_ranks=2,num_suits=2)"
GAMES = [
    ("python_goofspiel_ii(num_cards=4,points_order=descending)", DepthLimit(rounds=1)),
    ("python_goofspiel_ii(num_cards=3,points_order=random)", DepthLimit(rounds=2)),
    (LEDUC, DepthLimit(rounds=1)),
]
# Levels of one ply, in which chance may act, too.
IN_PLIES = [
    (LEDUC, DepthLimit(plies=2)),
    (LEDUC, DepthLimit(plies=3)),
    ("python_goofspiel_ii(num_cards=3,points_order=random)", DepthLimit(plies=3)),
]
# Some of each game's searches are larger.
BOUNDS = dict(zip((game for game, _ in GAMES), (80, 150, 200), strict=True))
CONFIGS = {
    "defaults": {},
    "as printed": {"given_cfvs": "critic", "refinement": "none"},
    "transformations": {"given_cfvs": "transformations"},
    "from the second level on": {"first_level": 1},
    "within a bound": {"max_histories": None},
    "without a gadget": {"gadget": "unsafe"},
}


@functools.cache
def blueprint_of(game: str) -> Blueprint:
    return Blueprint(compiled(game).game)


@pytest.mark.parametrize(
    ("game", "limit", "settings"),
    [
        *((*game, settings) for game in GAMES for settings in CONFIGS.values()),
        *((*game, {}) for game in IN_PLIES),
    ],
)
def test_reconstruction_finds_what_the_compiled_game_says(game, limit, settings):
    tree = compiled(game)
    if "max_histories" in settings:
        settings = {"max_histories": BOUNDS[game]}
    blueprint = blueprint_of(game)
    policy = blueprint.tabulate(tree)
    transformations = paper_transformations(action_values(tree.game))
    critic = ExactCritic(tree, policy.strategies, transformations)
    config = SearchConfig(effort=Effort(iterations=50), **settings)
    expected = SePoTPolicy(tree, policy, critic, limit, config=config)
    found = SePoTPlayPolicy(tree.game, blueprint, RecognisingCritic(critic), limit, config=config)
    differs = False
    for state in reference.decisions(tree.game, num_games=3, seed=2):
        first, second = (p.action_probabilities(state) for p in (found, expected))
        assert first == pytest.approx(second, abs=1e-5)
        differs |= first != pytest.approx(policy.action_probabilities(state), abs=1e-2)
    assert differs
    assert found.num_searches > 0


def test_a_bound_is_on_all_that_a_search_looks_at():
    """Four cards, one round: 1 + 4 + 16 histories, and after a draw 4 + 12 + 36, 3 rounds left.

    Where the limit cuts, histories are the look-ahead's as well.
    """
    game = pyspiel.load_game(GAMES[0][0])
    tree, blueprint = compiled(GAMES[0][0]), Blueprint(game)
    critic = exact_critic(tree, blueprint)
    drawn = state_after(game, (2, 2))
    for bound, searched in ((20, 0), (21, 1), (51, 1), (52, 2)):
        config = SearchConfig(max_histories=bound, effort=Effort(iterations=5))
        found = SePoTPlayPolicy(game, blueprint, critic, DepthLimit(rounds=1), config=config)
        num_answers_searched = 0
        for state in (game.new_initial_state(), drawn):
            found.action_probabilities(state)
            num_answers_searched += found.answer_was_searched
        left_out = [block for block in found.results.values() if not len(block.infoset_keys)]
        assert found.num_searches == num_answers_searched == searched == 2 - len(left_out)
        expected = blueprint.tabulate(tree).action_probabilities(drawn)
        is_blueprint = found.action_probabilities(drawn) == pytest.approx(expected)
        assert is_blueprint == (searched < 2) != found.answer_was_searched


def test_levels_in_which_only_the_opponent_acts_are_not_searched():
    game = pyspiel.load_game(
        "python_battleships(board_width=2,board_height=1,ship_sizes=[1],num_shots=2)"
    )
    tree, blueprint = compiled(str(game)), Blueprint(game)
    config, limit = SearchConfig(effort=Effort(iterations=5)), DepthLimit(moves=1)
    found = SePoTPlayPolicy(game, blueprint, exact_critic(tree, blueprint), limit, config=config)
    state, num_decisions = game.new_initial_state(), 0
    while not state.is_terminal():
        if state.current_player() == 0 and len(state.legal_actions()) > 1:
            found.action_probabilities(state)
            assert found.answer_was_searched
            num_decisions += 1
        state.apply_action(state.legal_actions()[0])
    assert found.num_searches == num_decisions > 1
