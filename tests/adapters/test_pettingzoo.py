"""PettingZoo's own test of environments, and OpenSpiel's states behind them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test

from spiel_dl.adapters.pettingzoo import aec_environment
from spiel_dl.games.features import features
from tests.tiny_games import HiddenMoves


@pytest.mark.parametrize("game", ["kuhn_poker", "goofspiel(imp_info=True,num_cards=3)"])
@pytest.mark.filterwarnings("ignore")
def test_it_passes_pettingzoos_own_test(game: str) -> None:
    api_test(aec_environment(game, seed=1), num_cycles=50)


def test_a_game_of_kuhn_poker() -> None:
    environment = aec_environment("kuhn_poker", seed=3)
    environment.reset(seed=0)
    played = environment.openspiel_state.clone()
    assert environment.agent_selection == "player_0"
    for agent, action in (("player_0", 0), ("player_1", 1), ("player_0", 1)):
        observed = environment.observe(agent)
        player = int(agent[-1])
        np.testing.assert_array_equal(observed["observation"], features(played, player))
        assert observed["action_mask"].tolist() == [1, 1]
        assert environment.observe(f"player_{1 - player}")["action_mask"].tolist() == [0, 0]
        environment.step(action)
        played.apply_action(action)
    assert environment.rewards == dict(zip(("player_0", "player_1"), played.returns(), strict=True))
    assert all(environment.terminations.values())


def test_a_game_that_is_over_when_it_begins() -> None:
    environment = aec_environment("start_at(game=kuhn_poker(),history=0;1;0;0)", seed=0)
    environment.reset()
    rewards = []
    for _ in environment.agent_iter():
        rewards.append(environment.last()[1])
        environment.step(None)
    assert rewards == [-1.0, 1.0]


def test_bad_input_is_refused() -> None:
    environment = aec_environment("kuhn_poker", seed=0)
    environment.reset()
    with pytest.raises(ValueError, match="action 7 is not legal for player_0"):
        environment.step(7)
    with pytest.raises(ValueError, match="a network sees nothing of it"):
        aec_environment(HiddenMoves())
