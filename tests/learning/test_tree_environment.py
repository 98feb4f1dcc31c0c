"""Tables of a compiled game, against the tree."""

import numpy as np
import pytest
import torch

from spiel_dl.learning.table_self_play import TableSelfPlay
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.tree import GameTree


def uniform(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    del observation
    return legal / legal.sum(dim=1, keepdim=True).clamp(min=1)


def test_rows_of_infosets_are_those_of_the_tree() -> None:
    tree = GameTree.from_game("leduc_poker")
    environment = TreeEnvironment(tree, 100)
    played = TableSelfPlay(environment, 8).play(uniform)
    rows = played.infoset[played.valid]
    assert torch.equal(environment.infoset_tensors[rows], played.observation[played.valid])
    assert torch.equal(environment.infoset_legal[rows], played.legal[played.valid])
    assert (rows < tree.num_infosets(0)).equal(played.player[played.valid] == 0)


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "python_leduc"])
def test_tables_say_what_the_states_say(game: str) -> None:
    """At every history: who moves, what is legal, what is known, what comes after a move."""
    tree = GameTree.from_game(game)
    environment = TreeEnvironment(tree, 1)
    num_actions = tree.game.num_distinct_actions()
    for history in range(0, tree.num_histories, 7):
        state, row = tree.state(history), int(environment.row[history])
        assert bool(environment.is_over[history]) == state.is_terminal()
        assert environment.player[history] == state.current_player()
        if state.is_terminal():
            assert environment.utility[history].item() == pytest.approx(state.returns()[0])
        legal = state.legal_actions() if state.current_player() >= 0 else []
        assert environment.infoset_legal[row].nonzero()[:, 0].tolist() == legal
        if state.current_player() >= 0:
            known = state.information_state_tensor(state.current_player())
            np.testing.assert_allclose(environment.infoset_tensors[row].numpy(), known)
        for action in range(num_actions):
            after = int(environment.successor[history * num_actions + action])
            if action in legal:
                assert (int(tree.parent[after]), int(tree.action[after])) == (history, action)
            else:
                assert after == history


def test_games_that_are_over_wait() -> None:
    environment = TreeEnvironment(GameTree.from_game("kuhn_poker"), 50, seed=2)
    finished = torch.zeros(50, dtype=torch.int64)
    returns = torch.zeros(50)
    for _ in range(6):
        ends = environment.step(torch.zeros(50, dtype=torch.int64))
        finished += ends.finished
        returns += ends.returns
    # Both pass, and the higher card wins 1; each game ends once.
    assert finished.eq(1).all()
    assert set(returns.tolist()) == {1.0, -1.0}
    assert not environment.legal_actions().any()
    assert environment.current_player().eq(-4).all()
    environment.restart()
    assert environment.current_player().eq(0).all()
