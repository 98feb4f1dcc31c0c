"""`ArrayPolicy`: what it answers, and its way to OpenSpiel's tables, to files, and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl import ArrayPolicy, GameTree, random_policy
from spiel_dl.algorithms import best_response, exploitability
from spiel_dl.system import tensor_files
from tests import reference, tiny_games
from tests.games.openspiel_conformance import all_states
from tests.reference import assert_same_policy

GOOFSPIEL_3 = "goofspiel(imp_info=True,num_cards=3,points_order=random)"
PIG = "pig(players=2,winscore=2,horizon=3)"
GAMES = ["python_kuhn_poker", GOOFSPIEL_3]


@pytest.mark.parametrize("name", [*GAMES, PIG])
def test_answers_are_distributions_over_all_legal_actions(name: str) -> None:
    game = reference.turn_based(pyspiel.load_game(name))
    tree = GameTree.from_game(game)
    policy = random_policy(tree, 0)
    num_answers = 0
    for state in all_states(game):
        if state.is_terminal() or state.is_chance_node():
            continue
        answer = policy.action_probabilities(state)
        assert answer == policy.action_probabilities(state, state.current_player())
        assert list(answer) == state.legal_actions()
        assert all(type(action) is int for action in answer)
        assert all(type(p) is float and p >= 0 for p in answer.values())
        assert sum(answer.values()) == pytest.approx(1.0, abs=1e-12)
        num_answers += 1
    assert num_answers == np.count_nonzero(tree.player >= 0)


@pytest.mark.parametrize("name", GAMES)
def test_to_tabular_and_back(name: str) -> None:
    tree = GameTree.from_game(name)
    policy = random_policy(tree, seed=1)
    tabular = policy.to_tabular()
    assert isinstance(tabular, openspiel_policy.TabularPolicy)
    for state in all_states(tree.game):
        if not state.is_terminal() and not state.is_chance_node():
            assert tabular.action_probabilities(state) == policy.action_probabilities(state)
    np.testing.assert_array_equal(
        (tabular.action_probability_array > 0), tabular.legal_actions_mask.astype(bool)
    )
    assert_same_policy(ArrayPolicy.from_policy(tree, tabular), policy)
    # A copy: writing to it changes nothing here.
    before = policy.strategies[0].copy()
    tabular.action_probability_array[:] = 0.0
    np.testing.assert_array_equal(policy.strategies[0], before)


@pytest.mark.parametrize("name", GAMES)
def test_to_pyspiel_and_back(name: str) -> None:
    tree = GameTree.from_game(name)
    policy = random_policy(tree, seed=2)
    table = policy.to_pyspiel()
    assert isinstance(table, pyspiel.TabularPolicy)
    assert len(table.policy_table()) == tree.num_infosets(0) + tree.num_infosets(1)
    assert_same_policy(ArrayPolicy.from_policy(tree, table), policy)
    assert pyspiel.nash_conv(tree.game, table) == pytest.approx(
        exploitability.nash_conv(tree, policy), abs=1e-12
    )


@pytest.mark.parametrize("convert", ["to_tabular", "to_pyspiel"])
def test_games_that_openspiels_tables_confuse_are_refused(
    convert: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = ArrayPolicy.uniform(GameTree.from_game(PIG))
    with pytest.raises(ValueError, match=r"pig.*no information state strings.*use this policy"):
        getattr(policy, convert)()
    monkeypatch.setattr(
        tiny_games.HiddenMovesState,
        "information_state_string",
        lambda state, player: f"own moves {state.actions[player::2]}",
    )
    tree = GameTree.from_game(tiny_games.HiddenMoves(tells="information_state"))
    with pytest.raises(ValueError, match=r"both players have an infoset called 'own moves \[\]'"):
        getattr(ArrayPolicy.uniform(tree), convert)()


@pytest.mark.parametrize("name", [GOOFSPIEL_3, PIG])
def test_save_and_load_is_exact(name: str, tmp_path: Path) -> None:
    policy = random_policy(GameTree.from_game(name), seed=4)
    path = tmp_path / "policy.safetensors"
    policy.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["policy.safetensors"]
    for loaded in (
        ArrayPolicy.load(path),
        ArrayPolicy.load(str(path), name),
        ArrayPolicy.load(path, policy.tree),
    ):
        assert str(loaded.tree.game) == str(policy.tree.game)
        assert_same_policy(loaded, policy)
    assert ArrayPolicy.load(path, policy.tree).tree is policy.tree


def test_a_policy_of_another_game_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    ArrayPolicy.uniform(GameTree.from_game("kuhn_poker")).save(path)
    with pytest.raises(ValueError, match=r"policy\.safetensors.*of kuhn_poker.*not of leduc_poker"):
        ArrayPolicy.load(path, "leduc_poker")


@pytest.mark.parametrize(
    ("names", "header", "message"),
    [
        (["strategy_0", "strategy_1"], {"kind": "solver", "game": "kuhn_poker()"}, "'solver'"),
        (["strategy_0"], {"kind": "policy", "game": "kuhn_poker()"}, "no policy"),
        (["strategy_0", "strategy_1"], {"kind": "policy"}, "no policy"),
        (["strategy_0", "strategy_1"], {"kind": "policy", "game": "kuhn_poker()"}, "13 sequences"),
    ],
    ids=["a checkpoint", "half", "nameless", "wrong length"],
)
def test_files_that_hold_no_policy_are_refused(
    names: list[str], header: dict[str, str], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "policy.safetensors"
    tensor_files.save(path, {name: np.ones(5) for name in names}, header)
    with pytest.raises(ValueError, match=message):
        ArrayPolicy.load(path)


def test_numbers_that_are_no_strategy_are_refused(tmp_path: Path) -> None:
    tree = GameTree.from_game("kuhn_poker")
    right = random_policy(tree, 0).strategies
    half_empty = right[1].copy()
    half_empty[0] = 0.5
    negative = right[1].copy()
    negative[1:3] = -0.25, 1.25
    for wrong, message in (
        (7 * right[1], "7.0 at the empty sequence"),
        (0 * right[1], "0.0 at the empty sequence"),
        (half_empty, "0.5 at the empty sequence"),
        (np.where(np.arange(13) > 0, 0.0, 1.0), r"infoset 0, \[0. 0.\], are not a distribution"),
        (np.where(np.arange(13) > 10, np.nan, right[1]), r"infoset 5, \[nan nan\]"),
        (np.where(np.arange(13) > 10, np.inf, right[1]), r"infoset 5, \[inf inf\]"),
        (negative, r"infoset 0, \[-0.25  1.25\]"),
    ):
        with pytest.raises(ValueError, match=f"player 1's strategy in kuhn_poker.*{message}"):
            ArrayPolicy(tree, (right[0], wrong))
        path = tmp_path / "policy.safetensors"
        arrays = {"strategy_0": right[0], "strategy_1": wrong}
        tensor_files.save(path, arrays, {"kind": "policy", "game": str(tree.game)})
        with pytest.raises(ValueError, match=rf"policy\.safetensors: player 1's.*{message}"):
            ArrayPolicy.load(path)
        # Written into a policy that was right before.
        policy = ArrayPolicy(tree, (right[0], right[1].copy()))
        policy.strategies[1][:] = wrong
        for measure in (
            lambda policy: exploitability.nash_conv(tree, policy),
            lambda policy: exploitability.expected_value(tree, policy),
            lambda policy: best_response.best_response_value(tree, policy, 0),
            lambda policy: best_response.best_response_policy(tree, policy, 0),
        ):
            with pytest.raises(ValueError, match=message):
                measure(policy)


def test_states_of_other_games_are_refused() -> None:
    goofspiel = "goofspiel(imp_info=True,num_cards=3,points_order=descending,returns_type={})"
    for own, other, at in (
        (goofspiel.format("win_loss"), goofspiel.format("point_difference"), ()),
        ("kuhn_poker", "kuhn_poker(players=3)", (0, 1, 2)),
        ("kuhn_poker", "python_kuhn_poker", (0, 1)),
    ):
        policy = ArrayPolicy.uniform(own)
        state = pyspiel.load_game(own).new_initial_state()
        foreign = pyspiel.load_game(other).new_initial_state()
        for action in at:
            foreign.apply_action(action)
            if state.is_chance_node():
                state.apply_action(action)
        for _ in range(2):  # What was accepted or refused before changes nothing.
            assert len(policy.action_probabilities(state, 0)) > 1
            with pytest.raises(ValueError, match=r"the state is of .* ask in states of that"):
                policy.action_probabilities(foreign, 0)
