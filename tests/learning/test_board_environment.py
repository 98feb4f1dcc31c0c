"""Batches of phantom games beside OpenSpiel's states, move by move."""

import pyspiel
import pytest
import torch

from spiel_dl.factored.families import phantom_rules
from spiel_dl.learning.board_environment import BoardEnvironment
from spiel_dl.learning.environments import self_play_of
from spiel_dl.learning.state_environment import StateEnvironment

GAMES = [
    "phantom_ttt",
    "phantom_ttt(gameversion=abrupt)",
    "dark_hex(num_rows=3,num_cols=2)",
    "dark_hex(gameversion=adh,board_size=3)",
]


@pytest.mark.parametrize("name", GAMES)
def test_every_tensor_and_return_is_openspiels(name: str) -> None:
    game = pyspiel.load_game(name)
    rules = phantom_rules(game)
    assert rules is not None
    boards, states = BoardEnvironment(rules, 24), StateEnvironment(game, 24)
    generator = torch.Generator().manual_seed(1)
    failures = 0
    for _ in range(2):  # The second games after a restart.
        while (states.current_player() >= 0).any():
            before = states.current_player()
            for method in ("current_player", "legal_actions", "history_tensor"):
                assert torch.equal(getattr(boards, method)(), getattr(states, method)())
            for player in (None, 0, 1):
                expected = states.information_state_tensor(player)
                assert torch.equal(boards.information_state_tensor(player), expected)
            out = torch.ones_like(expected)
            boards.information_state_tensor(out=out)
            assert torch.equal(out, states.information_state_tensor())
            legal = states.legal_actions().double()
            legal[legal.sum(dim=1) == 0] = 1.0  # Games that are over get any action.
            action = torch.multinomial(legal, 1, generator=generator)[:, 0]
            found, expected_ends = boards.step(action), states.step(action)
            for one, other in zip(found, expected_ends, strict=True):
                assert torch.equal(one, other)
            failures += int((states.current_player() == before).sum())
        boards.restart()
        states.restart()
    assert failures > 0


def test_learners_play_many_boards_at_once() -> None:
    self_play = self_play_of("dark_hex", 4, max_tree_histories=0)
    assert isinstance(self_play.environment, BoardEnvironment)


@pytest.mark.parametrize("name", ["dark_hex(obstype=reveal-numturns)", "tic_tac_toe"])
def test_other_games_are_played_by_their_states(name: str) -> None:
    assert phantom_rules(pyspiel.load_game(name)) is None


def test_no_games_are_refused() -> None:
    rules = phantom_rules(pyspiel.load_game("phantom_ttt"))
    assert rules is not None
    with pytest.raises(ValueError, match="batch_size=0 plays nothing"):
        BoardEnvironment(rules, 0)
