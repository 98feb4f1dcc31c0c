"""Trees from rules against trees from walking OpenSpiel's states of the same games."""

import operator

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.tree import GameTree, from_openspiel, from_rules, public_states
from spiel_dl.tree.public_states import PublicStates

SMALL_GAMES = [
    "python_goofspiel_ii(num_cards=3,points_order=random,forced_last_round=True)",
    "python_goofspiel_ii(num_cards=4,points_order=descending)",
    "python_goofspiel_ii(num_cards=4,points_order=ascending,returns_type=point_difference)",
    "python_oshi_zumo_ii(coins=4,start_location=1)",
    "python_leduc",
    "python_leduc(deal_ranks=True)",
    "python_battleships(board_width=2,board_height=2,ship_sizes=[2])",
]
PAPER_GOOFSPIEL = "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=True)"


@pytest.mark.parametrize("game_string", SMALL_GAMES)
def test_equals_the_walk_over_states(game_string):
    game = pyspiel.load_game(game_string)
    ours = GameTree.from_game(game)
    walked = GameTree.from_histories(from_openspiel.enumerate_game(game, 10**6))
    for name in ("parent", "depth", "action", "player", "infoset", "sequence", "move_number"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(walked, name), err_msg=name)
    np.testing.assert_allclose(ours.chance_reach, walked.chance_reach, rtol=1e-15)
    np.testing.assert_array_equal(ours.utility, walked.utility)
    for player in (0, 1):
        for field in ("parent_sequence", "first_sequence", "num_actions"):
            np.testing.assert_array_equal(
                getattr(ours.treeplexes[player], field), getattr(walked.treeplexes[player], field)
            )
    # The walk knows strings only, so its public states are by common knowledge.
    assert_same_partition(
        public_states.common_knowledge(ours).of_history,
        public_states.common_knowledge(walked).of_history,
    )


def assert_same_partition(one: np.ndarray, other: np.ndarray) -> None:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    assert len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


def assert_coarsens(coarse: PublicStates, fine: PublicStates) -> None:
    pairs = set(zip(fine.of_history.tolist(), coarse.of_history.tolist(), strict=True))
    assert len(pairs) == len(set(fine.of_history.tolist()))


@pytest.mark.parametrize("game_string", [*SMALL_GAMES, PAPER_GOOFSPIEL])
def test_public_tensors_equal_or_coarsen_common_knowledge(game_string):
    tree = GameTree.from_game(game_string)
    by_tensor = public_states.by_public_tensor(tree)
    closure = public_states.common_knowledge(tree)
    public_states.check(tree, by_tensor)
    public_states.check(tree, closure)
    assert_coarsens(by_tensor, closure)
    assert tree.public_states.num_public_states == by_tensor.num_public_states


def test_goofspiel_5_has_few_public_tensors_and_many_closures():
    """3, 9, 27 public states by tensors and 7, 44, 248 by common knowledge after 1, 2, 3 rounds."""
    tree = GameTree.from_game(PAPER_GOOFSPIEL)
    for partition, expected in (
        (public_states.by_public_tensor(tree), [3, 9, 27]),
        (public_states.common_knowledge(tree), [7, 44, 248]),
    ):
        assert [int((partition.depth == 2 * rounds).sum()) for rounds in (1, 2, 3)] == expected


@pytest.mark.parametrize(
    ("game_string", "num_histories", "num_infosets"),
    [
        (PAPER_GOOFSPIEL, 55_731, 4_974),
        (
            "python_oshi_zumo_ii(coins=8,min_bid=1,start_location=3,optimal_endgame=True)",
            19_305,
            1_580,
        ),
        (
            "python_leduc(deal_ranks=True,bet_sizes=[2;4],raise_sizes=[2;4],max_raises=2)",
            61_336,
            3_960,
        ),
        ("python_leduc", 9_457, 468),
    ],
)
def test_sizes_of_the_papers_games(game_string, num_histories, num_infosets):
    """The games of the DL-CFR paper's Table 2, histories counted with the root."""
    tree = GameTree.from_game(game_string)
    assert tree.num_histories == num_histories
    assert [tree.num_infosets(player) for player in (0, 1)] == [num_infosets, num_infosets]


def test_sizes_of_battleships():
    tree = GameTree.from_game("python_battleships(board_width=2,board_height=2,ship_sizes=[2])")
    assert tree.num_histories == 12_373


def test_round_numbers_are_the_rules_own():
    tree = GameTree.from_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
    assert tree.round_number is not None
    inner = ~tree.is_terminal
    np.testing.assert_array_equal(tree.round_number[inner], tree.move_number[inner] // 2)


def test_too_many_histories_are_refused():
    game = pyspiel.load_game(PAPER_GOOFSPIEL)
    with pytest.raises(ValueError, match=r"max_histories=10,000 histories \(.* seen"):
        GameTree.from_game(game, max_histories=10_000)


def test_policies_answer_states_of_games_with_rules():
    from spiel_dl.algorithms.cfr import CFRPlusSolver

    game = pyspiel.load_game("python_leduc")
    solver = CFRPlusSolver(game)
    solver.run(20)
    policy = solver.average_policy()
    state = game.new_initial_state()
    for action in (0, 3, 1):
        state.apply_action(action)
    answer = policy.action_probabilities(state)
    assert list(answer) == state.legal_actions()
    infoset = solver.tree.find_infoset(state, 1)
    assert solver.tree.infoset_string(1, infoset) == state.information_state_string(1)
    np.testing.assert_array_equal(
        list(answer.values()), policy.strategies[1][solver.tree.treeplexes[1].sequences(infoset)]
    )
    with pytest.raises(ValueError, match="player 0 does not move"):
        policy.action_probabilities(state, player_id=0)


@pytest.mark.parametrize(
    ("game", "other", "actions"),
    [
        ("python_leduc", "python_leduc(num_ranks=4)", [0, 1]),
        ("python_leduc", "leduc_poker", [0, 1]),
        (
            "python_goofspiel_ii(num_cards=3,points_order=descending)",
            "python_goofspiel_ii(num_cards=3,points_order=ascending)",
            [],
        ),
    ],
)
def test_a_state_of_another_game_is_refused(game, other, actions):
    tree = GameTree.from_game(game)
    state = pyspiel.load_game(other).new_initial_state()
    for action in actions:
        state.apply_action(action)
    with pytest.raises(ValueError, match=r"the state is of .*, not of "):
        tree.find_infoset(state, 0)


def test_infoset_keys_are_sums_modulo_2_to_the_64():
    """By Python's integers, on boards of 100 tiles."""
    rules = pyspiel.load_game("python_battleships").rules
    environment = BatchedEnvironment(rules, batch_size=16, seed=0)
    for _ in range(20):
        environment.step(environment.sample_random_actions())
    keys = from_rules.InfosetKeys(rules)
    found = keys.of_level(environment.state)[0]
    for player in (0, 1):
        codes = torch.cat(
            [
                rules.public_code(environment.state),
                rules.private_code(environment.state, player),
            ],
            dim=1,
        ).tolist()
        weights = np.concatenate([keys._public.weights, keys._private.weights]).tolist()
        for row, key in zip(codes, found[player].tolist(), strict=True):
            assert (sum(map(operator.mul, weights, row)) - key) % 2**64 == 0
        assert len(set(found[player].tolist())) == 16
