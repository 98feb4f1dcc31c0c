"""Factored Oshi-Zumo beside its list of histories, and beside OpenSpiel's own numbers."""

import random

import numpy as np
import pytest

import spiel_dl as dl
from spiel_dl.factored.families import factored_game


def test_infosets_of_10_coins_are_openspiels() -> None:
    game, generator = factored_game("oshi_zumo(coins=10,min_bid=1)"), random.Random(0)
    strings: dict[tuple[int, int], str] = {}
    for _ in range(50):
        state = game.game.new_initial_state()
        while not state.is_terminal():
            player = state.current_player()
            infoset, text = game.find_infoset(state, player), state.information_state_string(player)
            assert strings.setdefault((player, infoset), text) == text
            assert game.infoset_string(player, infoset) == text
            assert game.legal_actions(player, infoset).tolist() == state.legal_actions()
            state.apply_action(generator.choice(state.legal_actions()))


def test_the_uniform_policy_of_10_coins_by_backward_induction() -> None:
    # The uniform policy depends on coins and location alone, so a best response need not see more.
    game = factored_game("oshi_zumo(coins=10,min_bid=1)")
    found = _responses(10)
    np.testing.assert_allclose(dl.nash_conv(game, dl.ArrayPolicy.uniform(game)), 2 * found[1])
    assert dl.expected_value(game, dl.ArrayPolicy.uniform(game)) == pytest.approx(
        found[0], abs=1e-12
    )


def _responses(coins: int) -> tuple[float, float]:
    """Player 0's value where both bid uniformly, and of its best response; by the rules."""
    values: dict[tuple[int, int, int], tuple[float, float]] = {}

    def of(own: int, others: int, place: int) -> tuple[float, float]:
        if abs(place) > 3 or own == others == 0:
            return float(np.sign(place)), float(np.sign(place))
        if (own, others, place) not in values:
            bids = range(min(own, 1), own + 1), range(min(others, 1), others + 1)
            rows = np.array(
                [
                    [of(own - a, others - b, place + (a > b) - (a < b)) for b in bids[1]]
                    for a in bids[0]
                ]
            )
            means = rows.mean(axis=1)
            values[own, others, place] = float(means[:, 0].mean()), float(means[:, 1].max())
        return values[own, others, place]

    return of(coins, coins, 0)
