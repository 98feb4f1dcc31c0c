"""Trees, and what is solved on them, can be pickled at any time."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.tree import DepthLimit, GameTree, cut
from tests import reference

SLACK_TWICE = f"efg_game(filename={reference.DATA / 'efg' / 'slack_twice.efg'})"
GAMES = [
    "kuhn_poker",
    "python_kuhn_poker",
    "python_liars_dice(dice_sides=2)",
    "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
    "hex(board_size=2)",
    SLACK_TWICE,
]


def ask_everything(tree: GameTree) -> list[Any]:
    """Calls all properties of a tree, which fills its caches."""
    answers: list[Any] = [tree.num_public_states, tree.sequence_form.payoffs.toarray().tolist()]
    for player in (0, 1):
        for infoset in range(tree.num_infosets(player)):
            state = tree.state(int(tree.first_history[player][infoset]))
            answers.append(tree.find_infoset(state, player))
            answers.append(tree.infoset_string(player, infoset))
            answers.append(tree.legal_actions(player, infoset).tolist())
    return answers


@pytest.mark.parametrize("game_string", GAMES)
def test_a_copy_answers_the_same_before_and_after_questions(game_string: str) -> None:
    tree = GameTree.from_game(game_string)
    fresh = pickle.loads(pickle.dumps(tree))
    answers = ask_everything(tree)
    used = pickle.loads(pickle.dumps(tree))
    for copy in (fresh, used):
        assert copy is not tree
        assert str(copy.game) == str(tree.game)
        assert ask_everything(copy) == answers


def test_a_trunk_is_pickled_with_its_leaves() -> None:
    trunk = cut(GameTree.from_game("leduc_poker"), DepthLimit(moves=2))
    before = trunk.leaves.num_public_states, trunk.leaves.subgames.payoffs.nnz
    copy = pickle.loads(pickle.dumps(trunk))
    assert (copy.leaves.num_public_states, copy.leaves.subgames.payoffs.nnz) == before


def test_another_process_finds_the_same_infosets(tmp_path: Path) -> None:
    """Python's hashes of strings differ between processes."""
    tree = GameTree.from_game("kuhn_poker")
    ask_everything(tree)
    path = tmp_path / "tree.pickle"
    path.write_bytes(pickle.dumps(tree))
    script = (
        "import pathlib, pickle, sys\n"
        "tree = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "for history in tree.first_history[1].tolist():\n"
        "    infoset = tree.find_infoset(tree.state(history), 1)\n"
        "    print(infoset, tree.infoset_string(1, infoset))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    )
    expected = [f"{i} {tree.infoset_string(1, i)}" for i in range(tree.num_infosets(1))]
    assert result.stdout.splitlines() == expected
