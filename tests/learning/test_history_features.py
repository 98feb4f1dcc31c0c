"""Inputs of critics: whole histories, the same in every environment."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spiel_dl.games.features import features, num_features
from spiel_dl.learning import history_features
from spiel_dl.tree import GameTree
from tests.learning.learner_checks import uniform
from tests.learning.test_sources import self_play_by
from tests.tiny_games import HiddenMoves

CONVERTED = "goofspiel(num_cards=3,imp_info=True,points_order=random)"
GAMES = ["kuhn_poker", "python_goofspiel_ii(num_cards=3,points_order=random)", CONVERTED]
KINDS = [(g, k) for g in GAMES for k in ("tree", "states", "rules") if k != "rules" or "_ii" in g]


@pytest.mark.parametrize("game", [*GAMES, "leduc_poker"])
def test_they_tell_histories_apart_that_some_player_tells_apart(game: str) -> None:
    """In converted games that takes what player 0 has chosen and player 1 cannot see."""
    tree = GameTree.from_game(game)
    acting = np.flatnonzero(tree.player >= 0)
    rows = history_features.of_tree(tree, acting).numpy()
    pairs = tree.infoset_key[:, acting].T
    assert len(np.unique(rows, axis=0)) == len(np.unique(pairs, axis=0))
    if game == CONVERTED:
        size = num_features(tree.game)
        assert len(np.unique(rows[:, : 2 * size], axis=0)) < len(np.unique(pairs, axis=0))


@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_self_play_records_the_history_before_every_move(game: str, kind: str) -> None:
    tree = GameTree.from_game(game)
    self_play = self_play_by(kind, game, batch_size=50, num_steps=6, seed=0)
    assert self_play.play(uniform).histories is None
    size = self_play.record_histories()
    played = self_play.play(uniform)
    recorded = played.histories.at_moves(played.histories.rows)
    observation = played.observations.at_moves(played.observations.rows)
    assert recorded.shape == (6, 50, size)
    acting = np.flatnonzero(tree.player >= 0)
    history_of = {}
    for history, row in zip(acting, history_features.of_tree(tree, acting).numpy(), strict=True):
        history_of.setdefault(row.tobytes(), []).append(int(history))
    for column in range(50):
        before: list[int] = []
        for t in range(int(played.valid[:, column].sum())):
            found = history_of[recorded[t, column].numpy().tobytes()]
            state = tree.state(found[0])
            mover = int(played.player[t, column])
            assert state.current_player() == mover
            assert features(state, mover).tolist() == observation[t, column].tolist()
            if before:
                moves = [ancestor_move(tree, history, before) for history in found]
                assert int(played.action[t - 1, column]) in moves
            before = found


def ancestor_move(tree: GameTree, history: int, earlier: list[int]) -> int | None:
    """The action after one of some earlier histories on the way to a history."""
    while history > 0:
        if int(tree.parent[history]) in earlier:
            return int(tree.action[history])
        history = int(tree.parent[history])
    return None


def test_recording_changes_nothing_else() -> None:
    first, second = (self_play_by("tree", "kuhn_poker", 40, 3, seed=0) for _ in "ab")
    second.record_histories()
    for mine, theirs in zip(first.play(uniform)[1:7], second.play(uniform)[1:7], strict=True):
        assert torch.equal(mine, theirs)


def test_games_without_tensors_are_refused() -> None:
    tree = GameTree.from_game(HiddenMoves())
    with pytest.raises(ValueError, match="a network sees nothing of it"):
        history_features.of_tree(tree, np.flatnonzero(tree.player >= 0))
