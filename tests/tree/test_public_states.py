"""Public states against a naive union-find in plain Python, and against hand-drawn trees."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Hashable

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.sequence_form_lp import solve_zero_sum_game
from spiel_dl.solvers import linear_program
from spiel_dl.tree import DepthLimit, GameTree, PublicStates, cut, public_states
from spiel_dl.tree.pieces import ROOT, Pieces
from tests import reference, tiny_games
from tests.reference import state_after

GAMES = [
    "kuhn_poker",
    "python_kuhn_poker",
    "leduc_poker",
    "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
    "goofspiel(num_cards=3,imp_info=True,points_order=random)",
    "goofspiel(num_cards=4,imp_info=True,points_order=descending)",
    "pig(players=2,winscore=2,horizon=3)",
    "matrix_rps",
]
EFG_FILES = sorted(path.stem for path in (reference.DATA / "efg").glob("*.efg"))


@pytest.mark.parametrize("name", [*GAMES, *EFG_FILES])
def test_common_knowledge_is_that_of_a_naive_union_find(name: str) -> None:
    game = reference.efg_game(name) if name in EFG_FILES else pyspiel.load_game(name)
    nodes = reference.walk(game)
    tree = GameTree.from_game(game)
    found = public_states.common_knowledge(tree)
    assert partition(found.of_history) == reference.common_knowledge(nodes)
    assert_valid(tree, found)
    assert_augmented_infosets_are_what_players_know(tree, nodes)


def assert_augmented_infosets_are_what_players_know(
    tree: GameTree, nodes: list[reference.Node]
) -> None:
    augmented = public_states.augmented_infosets(tree)
    assert augmented.dtype == np.int32
    for player in (0, 1):
        groups: dict[Hashable, set[int]] = collections.defaultdict(set)
        for i, node in enumerate(nodes):
            if node.player != pyspiel.PlayerId.TERMINAL:
                groups[len(node.history), node.known[player]].add(i)
        assert partition(augmented[player]) == {frozenset(group) for group in groups.values()}
        first = [int(np.flatnonzero(augmented[player] == i)[0]) for i in range(len(groups))]
        assert first == sorted(first), "not numbered in the order of the first history"


def test_kuhn_poker_by_hand() -> None:
    """Root, first card, second card; then passed, bet; then passed and bet."""
    tree = GameTree.from_game("kuhn_poker")
    found = tree.public_states
    assert found.num_public_states == tree.num_public_states == 6
    assert found.parent.tolist() == [-1, 0, 1, 2, 2, 3]
    assert found.depth.tolist() == [0, 1, 2, 3, 3, 4]
    # Three cards; six deals; then in each state the same six deals.
    assert [len(found.histories(i)) for i in range(6)] == [1, 3, 6, 6, 6, 6]
    for player in (0, 1):
        sizes = [len(set(found.augmented_infoset[player, found.histories(i)])) for i in range(6)]
        # Player 1 has no card yet when the first one is dealt.
        assert sizes == ([1, 3, 3, 3, 3, 3] if player == 0 else [1, 1, 3, 3, 3, 3])


def test_slack_twice_by_hand() -> None:
    """A game whose idle players are shown what they cannot know; see tests/data/efg.

    Numbered breadth first: 0 root, 2 chance behind In, 3 and 4 see_a and see_b, 5 and 6 at_a and
    at_b, 8 and 10 after E; 1, 7, 9 and 11 to 14 are terminal.
    """
    tree = GameTree.from_game(reference.efg_game("slack_twice"))
    assert not tree.idle_keys_valid
    found = tree.public_states
    # Player 0 has not moved at 3 and 4, so it cannot tell a from b there; at 5 and 6 it can.
    assert found.of_history.tolist() == [0, -1, 1, 2, 2, 3, 4, -1, 5, -1, 6, -1, -1, -1, -1]
    assert found.parent.tolist() == [-1, 0, 1, 2, 2, 3, 4]
    augmented = found.augmented_infoset
    assert augmented[0, 3] == augmented[0, 4]
    assert augmented[1, 3] != augmented[1, 4]
    assert augmented[1, 5] != augmented[1, 6], "player 1 remembers that it saw a, or b"


@pytest.mark.parametrize("name", EFG_FILES)
def test_public_states_are_the_same_in_a_wrapper(name: str) -> None:
    file = reference.DATA / "efg" / f"{name}.efg"
    bare = GameTree.from_game(reference.efg_game(name))
    wrapped = GameTree.from_game(f"misere(game=cached_tree(game=efg_game(filename={file})))")
    assert not wrapped.idle_keys_valid
    assert wrapped.public_states.of_history.tolist() == bare.public_states.of_history.tolist()
    np.testing.assert_array_equal(
        wrapped.public_states.augmented_infoset, bare.public_states.augmented_infoset
    )


def test_a_subgame_of_a_file_is_not_told_what_its_movers_know() -> None:
    """slack_twice after In: histories 1 and 2 are see_a and see_b, 3 and 4 at_a and at_b."""
    file = reference.DATA / "efg" / "slack_twice.efg"
    tree = GameTree.from_game(f"start_at(game=efg_game(filename={file}),history=1 )")
    assert tree.player.tolist()[:5] == [-1, 1, 1, 0, 0]
    assert not tree.idle_keys_valid
    assert tree.public_states.of_history.tolist()[:5] == [0, 1, 1, 2, 3]


def test_a_game_that_is_over_at_once() -> None:
    utility = 0.5
    faults = {("current_player", ()): -4, ("returns", ()): [utility, -utility]}
    tree = GameTree.from_game(tiny_games.Faulty(faults))
    assert tree.num_histories == tree.is_terminal.sum() == 1
    assert tree.num_public_states == 0
    assert tree.public_states.of_history.tolist() == [-1]
    assert public_states.augmented_infosets(tree).tolist() == [[-1], [-1]]
    trunk = cut(tree, DepthLimit(plies=1))
    assert trunk.leaves.num_public_states == 0
    assert Pieces(tree, DepthLimit(moves=1), "block").of_history.tolist() == [ROOT]
    value, _, *policies = solve_zero_sum_game(tree)
    assert value == utility
    solver = CFRPlusSolver(tree)
    solver.run(3)
    for policy in (*policies, solver.average_policy()):
        assert nash_conv(tree, policy) == 0.0
    assert linear_program.solve(tree.sequence_form).value == utility
    assert linear_program.solve(trunk.sequence_form).value == utility


def test_indices_out_of_range_are_refused() -> None:
    tree = GameTree.from_game("kuhn_poker")
    found = tree.public_states
    for message, ask in (
        ("history=-1 must be from 0 to 57", lambda: tree.state(-1)),
        ("history=58 must be from 0 to 57", lambda: tree.state(58)),
        ("infoset=-1 must be from 0 to 5", lambda: tree.infoset_string(0, -1)),
        ("infoset=6 must be from 0 to 5", lambda: tree.legal_actions(1, 6)),
        ("public_state=-1 must be from 0 to 5", lambda: found.histories(-1)),
        ("public_state=6 must be from 0 to 5", lambda: found.histories(6)),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


def test_without_a_public_clock_depths_are_joined() -> None:
    tree = GameTree.from_game(pyspiel.load_efg_game(tiny_games.NO_CLOCK))
    assert tree.infoset.tolist()[:6] == [-1, 0, 0, 1, 1, 0]
    assert tree.depth[[1, 5]].tolist() == [1, 2], "player 1's infoset spans two depths"
    found = tree.public_states
    # Player 1 joins 1 and 5. Their parents 0 and 2 must then be one public state, as it is a tree.
    assert found.of_history.tolist() == [0, 1, 0, 2, 2, 1, *[-1] * 6]
    assert found.parent.tolist() == [-1, 0, 1]
    assert found.depth.tolist() == [0, 1, 2]
    assert_valid(tree, found)


@pytest.mark.parametrize("idle_answer", [None, "no news", pyspiel.SpielError, ValueError])
def test_a_game_that_tells_idle_players_nothing_still_has_public_states(
    idle_answer: str | type[Exception] | None,
) -> None:
    game = tiny_games.HiddenMoves(tells="information_state", idle_answer=idle_answer)
    tree = GameTree.from_game(game)
    # Player 1 knows nothing of player 0's move, so each level is one public state.
    assert tree.public_states.of_history.tolist() == [0, 1, 1, 2, 2, 2, 2, *[-1] * 8]
    augmented = tree.public_states.augmented_infoset
    assert len(set(augmented[0, 1:3])) == 2, "player 0 remembers its own move while it waits"
    assert len(set(augmented[1, 3:7])) == 2


def test_public_tensors_may_be_as_fine_as_common_knowledge_or_coarser() -> None:
    tree = GameTree.from_game("kuhn_poker")
    closure = public_states.common_knowledge(tree)
    renamed = with_public_key(tree, 1000 - 7 * closure.of_history.astype(np.int64))
    found = renamed.public_states
    np.testing.assert_array_equal(found.of_history, closure.of_history)
    np.testing.assert_array_equal(found.parent, closure.parent)
    by_depth = with_public_key(tree, tree.depth.astype(np.int64))
    coarse = public_states.of_tree(by_depth)
    assert coarse.parent.tolist() == [-1, 0, 1, 2, 3]
    assert_valid(by_depth, coarse)
    np.testing.assert_array_equal(
        public_states.common_knowledge(by_depth).of_history, closure.of_history
    )


def test_a_public_tensor_that_tells_a_card_is_refused() -> None:
    tree = GameTree.from_game("kuhn_poker")
    card = np.array([tree.state(h).history()[0] if h else -1 for h in range(tree.num_histories)])
    leaking = with_public_key(tree, 10 * tree.depth.astype(np.int64) + card)
    with pytest.raises(ValueError, match=r"kuhn_poker.*infoset of player 1 lies in two public"):
        public_states.of_tree(leaking)


@pytest.mark.parametrize(
    ("here", "there"), [(4, 5), (0, 5)], ids=["two parents", "a parent of the root"]
)
def test_public_tensors_that_do_not_form_a_tree_are_refused(here: int, there: int) -> None:
    """Gives two public states of Kuhn one name: bet and passed-bet, or the root and passed-bet."""
    tree = GameTree.from_game("kuhn_poker")
    names = public_states.common_knowledge(tree).of_history.astype(np.int64)
    joined = with_public_key(tree, np.where(names == there, here, names))
    with pytest.raises(ValueError, match=r"kuhn_poker.*do not form a tree"):
        public_states.of_tree(joined)


def assert_valid(tree: GameTree, found: PublicStates) -> None:
    """Holds public states against the definition, one history at a time."""
    inner = [h for h in range(tree.num_histories) if not tree.is_terminal[h]]
    assert np.flatnonzero(found.of_history >= 0).tolist() == inner
    for player in (0, 1):
        home: dict[int, int] = {}
        for history in inner:
            infoset = int(found.augmented_infoset[player, history])
            assert home.setdefault(infoset, found.of_history[history]) == found.of_history[history]
    parents = {int(found.of_history[0]): -1}
    for history in inner[1:]:
        child = int(found.of_history[history])
        parent = int(found.of_history[tree.parent[history]])
        if child != parent:
            assert parents.setdefault(child, parent) == parent
    assert found.parent.tolist() == [parents[i] for i in range(found.num_public_states)]
    members = [found.histories(i).tolist() for i in range(found.num_public_states)]
    assert sorted(h for group in members for h in group) == inner
    for i, group in enumerate(members):
        assert group == sorted(group)
        assert {int(found.of_history[h]) for h in group} == {i}
        assert found.depth[i] == min(tree.depth[h] for h in group)
    firsts = [group[0] for group in members]
    assert firsts == sorted(firsts), "not numbered in the order of the first history"


def partition(ids: np.ndarray) -> set[frozenset[int]]:
    """The sets of positions with equal ids; -1 is no id."""
    groups: dict[int, set[int]] = collections.defaultdict(set)
    for position, identifier in enumerate(ids.tolist()):
        if identifier >= 0:
            groups[identifier].add(position)
    return {frozenset(group) for group in groups.values()}


def with_public_key(tree: GameTree, public_key: np.ndarray) -> GameTree:
    """The same tree, as if its game had public tensors."""
    return dataclasses.replace(tree, public_key=public_key)


def test_consistent_histories_of_a_state() -> None:
    """After two calls in Leduc, 6 * 5 deals of the private cards are possible."""
    game = pyspiel.load_game("python_leduc")
    state = state_after(game, (0, 3, 1, 1))
    found = public_states.consistent_histories(state)
    assert found.complete
    assert len(found.actions) == 6 * 5
    assert [0, 3, 1, 1] in found.actions.tolist()
    assert found.chance_reach.tolist() == pytest.approx([1 / 30] * 30)
    assert not public_states.consistent_histories(state, limit=10).complete


@pytest.mark.parametrize("order", ["descending", "random"])
def test_public_states_behind_one_that_is_too_large_are_not_tried(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error for them is the same as if they had been tried."""
    game = pyspiel.load_game(f"python_goofspiel_ii(num_cards=5,points_order={order})")
    generator, limit = np.random.default_rng(1), 60
    reconstruction = public_states.Reconstruction(game, limit)
    listed, tried, direct = [], [], game.rules.consistent_histories

    def counted(public_tensor, most):
        tried.append(public_tensor)
        return direct(public_tensor, most)

    monkeypatch.setattr(game.rules, "consistent_histories", counted)
    for _ in range(8):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                public = game.rules.public_tensor(state.batch)[0]
                found = reconstruction.histories(public)
                expected = direct(public, limit)
                assert found.complete == expected.complete
                assert torch.equal(found.actions, expected.actions)
                listed.append(found.complete)
            state.apply_action(int(generator.choice(state.legal_actions())))
    assert len(tried) < len(listed) - 10
    assert sum(listed) > 8
