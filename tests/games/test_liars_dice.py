"""python_liars_dice against OpenSpiel's liars_dice."""

from __future__ import annotations

import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games.liars_dice import LiarsDiceRules
from tests.games import twins


def _games(parameters: str) -> tuple[pyspiel.Game, pyspiel.Game]:
    return (
        pyspiel.load_game(f"python_liars_dice({parameters})"),
        pyspiel.load_game(f"liars_dice({parameters})"),
    )


@pytest.mark.parametrize("parameters", ["dice_sides=2", "dice_sides=3,bidding_rule=reset-quantity"])
def test_equals_the_twin_at_every_history(parameters: str) -> None:
    ours, twin = _games(parameters)
    assert ours.num_distinct_actions() == twin.num_distinct_actions()
    assert ours.max_chance_outcomes() == twin.max_chance_outcomes()
    assert ours.max_game_length() == twin.max_game_length()
    assert ours.max_chance_nodes_in_history() == twin.max_chance_nodes_in_history()
    # The twin shows a player its dice one by one, and out of order as long as one is missing.
    count = twins.assert_same_game(
        ours, twin, lambda state: () if state.is_chance_node() else (0, 1)
    )
    assert count > 50


@pytest.mark.parametrize(
    "parameters", ["numdice=2,dice_sides=5", "numdice=3,bidding_rule=reset-quantity", ""]
)
def test_equals_the_twin_in_random_playthroughs(parameters: str) -> None:
    ours, twin = _games(parameters)
    twins.assert_same_random_games(ours, twin, 15)
    bids = range(twin.num_distinct_actions())
    state, twin_state = ours.new_initial_state(), twin.new_initial_state()
    names = [[each.action_to_string(0, bid) for bid in bids] for each in (state, twin_state)]
    assert names[0] == names[1]


def test_a_batch_of_hands_is_judged() -> None:
    """Two 3 and a wild 5: three of 3, and not four; player 0 bids, player 1 calls."""
    rules = LiarsDiceRules(2, 5)
    state = rules.initial_state(2)
    for die in (2, 4, 2, 0):
        state = rules.apply(state, torch.full((2,), die))
    bids = [rules.num_sides * (quantity - 1) + 2 for quantity in (3, 4)]
    state = rules.apply(state, torch.tensor(bids))
    state = rules.apply(state, torch.full((2,), rules.num_bids))
    assert rules.returns(state).tolist() == [1.0, -1.0]
