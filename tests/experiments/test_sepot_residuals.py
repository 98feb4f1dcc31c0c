"""Residuals of critics: none of right values, and what is wrong shows in its own round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyspiel
import pytest
import torch

from experiments.sepot.residuals import Valued, residuals
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.tree.from_openspiel import load_turn_based


class Exact(Valued):
    """Values by a walk through the game, wrong by a number in one round."""

    wrong = (0, 0.0)

    def values(self, states: Sequence[pyspiel.State]) -> np.ndarray:
        """As `Valued`."""
        number, error = self.wrong
        shift = [error * (_round(state) == number) for state in states]
        return np.stack([self._value(state) for state in states]) + np.reshape(shift, (-1, 1, 1))

    def _value(self, state: pyspiel.State) -> np.ndarray:
        if state.is_terminal():
            return np.repeat(np.array(state.returns())[:, None], len(self.transformations), 1)
        if state.is_chance_node():
            return sum(
                likely * self._value(state.child(action))
                for action, likely in state.chance_outcomes()
            )
        mover = state.current_player()
        tensor = torch.tensor([state.information_state_tensor(mover)])
        mask = torch.tensor([state.legal_actions_mask()], dtype=torch.bool)
        with torch.inference_mode():
            policy = self.act(tensor, mask).double()
        rows = self.transformations.apply(policy, mask)[:, 0].numpy()
        found = np.zeros((2, len(rows)))
        for action in state.legal_actions():
            child = self._value(state.child(action))
            found[mover] += rows[0, action] * child[mover]
            found[1 - mover] += rows[:, action] * child[1 - mover]
        return found


def _round(state: pyspiel.State) -> int:
    return int(state.get_game().rules.round_index(state.batch)[0])


def test_what_is_wrong_shows_where_it_is_and_a_round_before() -> None:
    game = load_turn_based("python_goofspiel_ii(num_cards=3,points_order=random)")
    network = PolicyNetwork(game.information_state_tensor_size(), 3, (8,))
    policy = NetworkPolicy(game, network, 5.0 * network.initial_parameters(0))
    valued = Exact(policy.act, None, pure_transformations(3))
    assert [row["round"] for row in residuals(game, valued, 4, 0)] == [1, 2]
    # Utilities are from -1 to 1. The last card is played without a choice.
    for wrong, expected in (
        ((0, 0.0), [0.0, 0.0]),
        ((0, 0.2), [0.1, 0.0]),
        ((1, 0.2), [0.1, 0.1]),
    ):
        valued.wrong = wrong
        rows = residuals(game, valued, 4, 0)
        assert rows[1]["histories"] == 4
        for name in ("identity", "all"):
            assert [row[name] for row in rows] == pytest.approx(expected, abs=1e-6)
