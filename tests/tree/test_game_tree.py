"""`GameTree` against a recursive walk of OpenSpiel's states, and the games it must refuse."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable

import numpy as np
import pyspiel
import pytest

from spiel_dl.tree import GameTree, game_tree
from spiel_dl.tree.information_states import information_string_function
from tests import reference, tiny_games

TINY_BATTLESHIP = (
    "battleship(board_width=2,board_height=1,ship_sizes=[1],ship_values=[1],num_shots=2,"
    "allow_repeated_shots=False,loss_multiplier={})"
)
PIG = "pig(players=2,winscore=2,horizon=3)"
GAMES = [
    "kuhn_poker",
    "leduc_poker",
    "python_kuhn_poker",
    PIG,
    "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
    "goofspiel(num_cards=3,imp_info=True,points_order=random)",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True,points_order=random))",
    "matrix_rps",
    "oshi_zumo(coins=2,size=1,horizon=3)",
    TINY_BATTLESHIP.format("1.0"),
    "fig2_biased_matching_pennies.efg",
    "fig3_coin_game.efg",
    "slack_twice.efg",
]


def load(name: str) -> pyspiel.Game:
    """An OpenSpiel game by its string, or a file of tests/data/efg."""
    if name.endswith(".efg"):
        return reference.efg_game(name.removesuffix(".efg"))
    return pyspiel.load_game(name)


@pytest.mark.parametrize("key", reference.KEYS)
def test_counts_are_the_reference_numbers(key: str) -> None:
    expected = reference.VALUES[key]
    tree = GameTree.from_game(expected["game"])
    assert tree.num_histories == expected["histories"]
    assert tree.is_terminal.sum() == expected["terminals"]
    assert [tree.num_infosets(player) for player in (0, 1)] == expected["infosets"]
    sequences = [treeplex.num_sequences for treeplex in tree.treeplexes]
    assert sequences == expected["sequences_with_empty"]


@pytest.mark.parametrize("name", GAMES)
def test_trees_are_those_of_a_plain_walk(name: str) -> None:
    game = load(name)
    nodes = reference.walk(game)
    # The string is what users pass; an efg_game is passed as an object here.
    tree = GameTree.from_game(game if name.endswith(".efg") else name)
    assert histories_of(tree) == [node.history for node in nodes]
    position = {node.history: i for i, node in enumerate(nodes)}
    assert tree.parent.tolist() == [-1] + [position[node.history[:-1]] for node in nodes[1:]]
    assert tree.depth.tolist() == [len(node.history) for node in nodes]
    assert tree.player.tolist() == [node.player for node in nodes]
    assert tree.move_number.tolist() == [node.moves for node in nodes]
    np.testing.assert_allclose(
        tree.chance_reach, [node.chance_reach for node in nodes], rtol=1e-14, atol=0
    )
    np.testing.assert_array_equal(tree.utility, [node.utility for node in nodes])
    assert tree.num_children.tolist() == [len(node.legal) for node in nodes]
    for i, node in enumerate(nodes):
        if node.legal:
            first = int(tree.first_child[i])
            assert tree.parent[first : first + len(node.legal)].tolist() == [i] * len(node.legal)
    for depth, (start, end) in enumerate(itertools.pairwise(tree.level_starts)):
        assert (tree.depth[start:end] == depth).all()
    assert tree.level_starts[-1] == tree.num_histories
    utilities = [node.utility for node in nodes if not node.legal]
    assert tree.utility_range == max(utilities) - min(utilities)
    assert_infosets_and_sequences_are_those_of(tree, nodes)


def assert_infosets_and_sequences_are_those_of(tree: GameTree, nodes: list[reference.Node]) -> None:
    """Infosets are numbered by their first history, sequences infoset by infoset."""
    for player in (0, 1):
        infosets: dict[Hashable, int] = {}
        sequences: dict[tuple[Hashable, int] | None, int] = {None: 0}
        parents, first_histories, num_actions, actions = [], [], [], [-1]
        infoset_of_node = []
        for i, node in enumerate(nodes):
            if node.player != player:
                continue
            known = node.known[player]
            if known not in infosets:
                infosets[known] = len(infosets)
                first_histories.append(i)
                parents.append(sequences[last(node, player)])
                num_actions.append(len(node.legal))
                actions.extend(node.legal)
                for action in node.legal:
                    sequences[known, action] = len(sequences)
            infoset_of_node.append(infosets[known])
        assert tree.infoset[tree.player == player].tolist() == infoset_of_node
        assert tree.sequence[player].tolist() == [sequences[last(node, player)] for node in nodes]
        assert tree.first_history[player].tolist() == first_histories
        assert tree.sequence_action[player].tolist() == actions
        treeplex = tree.treeplexes[player]
        assert treeplex.parent_sequence.tolist() == parents
        assert treeplex.num_actions.tolist() == num_actions
        assert treeplex.num_root_sequences == 1
    assert (tree.infoset[tree.player < 0] == -1).all()


@pytest.mark.parametrize("name", [name for name in GAMES if name != "leduc_poker"])
def test_states_and_infosets_are_found_by_each_other(name: str) -> None:
    tree = GameTree.from_game(load(name))
    for history in range(tree.num_histories):
        state = tree.state(history)
        assert state.current_player() == tree.player[history]
        assert state.is_terminal() == tree.is_terminal[history]
        player = int(tree.player[history])
        if player < 0:
            continue
        infoset = int(tree.infoset[history])
        assert tree.find_infoset(state, player) == infoset
        assert tree.legal_actions(player, infoset).tolist() == state.legal_actions()
        if tree.game.get_type().provides_information_state_string:
            assert tree.infoset_string(player, infoset) == state.information_state_string(player)


@pytest.mark.parametrize(
    "original",
    [
        pyspiel.load_game("goofspiel(num_cards=3,imp_info=True)"),
        pyspiel.load_game("repeated_game(stage_game=matrix_rps(),num_repetitions=2)"),
        pyspiel.load_game("markov_soccer(horizon=2)"),
        tiny_games.MovesAlone(0),
        tiny_games.MovesAlone(1),
    ],
    ids=str,
)
def test_states_of_the_simultaneous_original_are_found(original: pyspiel.Game) -> None:
    tree = GameTree.from_game(original)
    found: tuple[dict[int, str], dict[int, str]] = ({}, {})
    information_string = information_string_function(original)
    states = [original.new_initial_state()]
    while states:
        state = states.pop()
        if state.is_simultaneous_node():
            legal = [state.legal_actions(player) for player in (0, 1)]
            for player in (0, 1):
                if legal[player]:
                    infoset = tree.find_infoset(state, player)
                    assert tree.legal_actions(player, infoset).tolist() == legal[player]
                    string = information_string(state, player)
                    assert found[player].setdefault(infoset, string) == string
            for joint_move in itertools.product(*(each or [-1] for each in legal)):
                states.append(state.clone())
                states[-1].apply_actions(list(joint_move))
        else:
            states.extend(state.child(action) for action in state.legal_actions())
    assert [len(infosets) for infosets in found] == [tree.num_infosets(p) for p in (0, 1)]


def test_a_state_without_an_infoset_is_refused() -> None:
    tree = GameTree.from_game("kuhn_poker")
    deal = tree.game.new_initial_state().child(0).child(1)
    assert tree.find_infoset(deal, 0) == 0
    with pytest.raises(ValueError, match=r"player 1 has no infoset in kuhn_poker.*turn"):
        tree.find_infoset(deal, 1)
    foreign = pyspiel.load_game("leduc_poker").new_initial_state().child(0).child(1)
    with pytest.raises(ValueError, match=r"another game"):
        tree.find_infoset(foreign, 0)


@pytest.mark.parametrize(
    ("game_string", "message"),
    [
        ("kuhn_poker(players=3)", r"kuhn_poker\(players=3\): 3 player\(s\); only two-player"),
        ("matrix_pd", r"matrix_pd.*not zero-sum.*\[0, 0\] are \[5\.0, 5\.0\]"),
        (TINY_BATTLESHIP.format("2.0"), r"battleship.*not zero-sum.*-2\.0"),
        ("bridge_uncontested_bidding", r"SAMPLED_STOCHASTIC.*explicit chance nodes"),
        ("python_iterated_prisoners_dilemma", r"neither information_state_string nor observation"),
        ("liars_dice_ir(numdice=1,dice_sides=3)", r"imperfect recall\. Player 0's infoset 'P0 1 "),
        ("dark_hex_ir(board_size=2)", r"imperfect recall\. Player 1's infoset.*different own past"),
        ("no_such_game", r"no game 'no_such_game'; did you mean"),
        ("kuhn", "did you mean 'kuhn_poker'"),
        ("kuhn_poker(cards=3)", r"'kuhn_poker\(cards=3\)': Unknown parameter 'cards'.*players"),
        ("kuhn_poker(", r"cannot load the game 'kuhn_poker\('"),
    ],
)
def test_games_that_cannot_be_solved_are_refused(game_string: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
        GameTree.from_game(game_string, max_histories=20_000)


@pytest.mark.parametrize("actions_of_1", [((0, 1), (0,)), ((0,), (0, 1)), ((0, 1), (0, 2))])
def test_legal_actions_that_tell_hidden_things_are_refused(
    actions_of_1: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    game = tiny_games.HiddenMoves(actions_of_1=actions_of_1)
    with pytest.raises(ValueError, match=r"legal actions differ .* player 1's infoset"):
        GameTree.from_game(game)


def test_returns_that_sum_to_0_but_for_rounding_are_accepted() -> None:
    paid, rounded = 3e9, float(np.nextafter(-3e9, -np.inf))
    tree = GameTree.from_game(pyspiel.create_matrix_game([[paid]], [[rounded]]))
    assert tree.utility[-1] == paid


def test_small_utilities_sum_to_0_as_exactly() -> None:
    game = pyspiel.create_matrix_game([[3e-10, 0], [0, 1e-10]], [[1e-10, 0], [0, 3e-10]])
    with pytest.raises(ValueError, match="not zero-sum"):
        GameTree.from_game(game)


def test_a_general_sum_type_that_is_zero_sum_in_fact_is_accepted() -> None:
    game = tiny_games.HiddenMoves()
    assert game.get_type().utility == pyspiel.GameType.Utility.GENERAL_SUM
    tree = GameTree.from_game(game)
    # Player 0 wins by the guess 0 if the first two moves agree, by 1 if they differ.
    assert tree.utility[tree.is_terminal].tolist() == [1, -1, -1, 1, -1, 1, 1, -1]


def histories_of(tree: GameTree) -> list[tuple[int, ...]]:
    """The action sequence of every history."""
    histories: list[tuple[int, ...]] = [()]
    for parent, action in zip(tree.parent[1:].tolist(), tree.action[1:].tolist(), strict=True):
        histories.append((*histories[parent], action))
    assert tree.action[0] == -1
    return histories


def last(node: reference.Node, player: int) -> tuple[Hashable, int] | None:
    """A player's last decision; None if it has not acted."""
    return node.past[player][-1] if node.past[player] else None


def test_tensors_that_show_what_is_hidden_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = GameTree.from_game("kuhn_poker")

    def opponents_card(state: pyspiel.State, player: int) -> np.ndarray:
        return np.array([state.history()[1 - player]], np.float32)

    monkeypatch.setattr(game_tree, "features", opponents_card)
    with pytest.raises(ValueError, match=r"player 0's tensors differ .* would see what is hidden"):
        tree.features(0)
