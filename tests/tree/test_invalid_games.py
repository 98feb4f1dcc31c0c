"""Games that break OpenSpiel's rules are refused, and the refusal names the history."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyspiel
import pytest
import torch

from spiel_dl.games.leduc import LeducRules, LeducState
from spiel_dl.games.openspiel import RulesGame
from spiel_dl.games.registration import Registration
from spiel_dl.tree import GameTree
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.histories import InvalidGameError
from tests import tiny_games

NAN = float("nan")


def test_the_game_without_faults_is_compiled() -> None:
    tree = GameTree.from_game(tiny_games.Faulty())
    assert tree.num_histories == 7
    assert tree.utility.tolist() == [0, 0, 0, 1, -1, -1, 1]
    assert tree.idle_keys_valid


@pytest.mark.parametrize(
    ("method", "actions", "answer", "message"),
    [
        ("chance_outcomes", (), [(0, 0.5), (1, 0.4)], "probabilities must be .* sum to 1"),
        ("chance_outcomes", (), [(0, 1.5), (1, -0.5)], "probabilities must be at least 0"),
        ("chance_outcomes", (), [(0, 0.5), (1, NAN)], "probabilities must be"),
        ("chance_outcomes", (), [(0, 0.5), (0, 0.5)], r"\[0, 0\]; none may be twice"),
        ("legal_actions", (1,), [1, 0, 1], r"\[1, 0, 1\]; none may be twice"),
        ("legal_actions", (0,), [], "has no legal actions for player 0"),
        ("legal_actions", (0,), [0, 2], "must be from 0 to 1"),
        ("legal_actions", (0,), [0, 2**40], "must be from 0 to 1"),
        ("legal_actions", (0,), [0, 2**70], "raises RuntimeError"),
        ("legal_actions", (0,), KeyError("deck"), "raises KeyError: 'deck'"),
        ("returns", (1, 0), [1.0], r"returns \[1.0\], which must be 2 finite numbers"),
        ("returns", (0, 1), [NAN, NAN], "must be 2 finite numbers"),
        ("returns", (0, 1), [-1.5, 1.5], "beyond min_utility=-1.0 and max_utility=1.0"),
        ("apply_action", (1, 1), IndexError("board"), "raises IndexError: board"),
        ("current_player", (1,), 2, "is player 2's; only 0, 1, chance"),
        ("current_player", (1,), -2, "moves? at the same time.*declare the game as SIMULTANEOUS"),
        ("information_state_of_0", (1,), ValueError("whose?"), "raises ValueError: whose"),
        # Refusing to answer for player 1, who does not act, is allowed; other errors are not.
        ("information_state_of_1", (1,), KeyError("hand"), "raises KeyError: 'hand'"),
    ],
)
def test_a_state_with_a_fault_is_named(
    method: str, actions: tuple[int, ...], answer: object, message: str
) -> None:
    game = tiny_games.Faulty({(method, actions): answer})
    pattern = re.escape(f"the state after the actions {list(actions)} ") + ".*" + message
    with pytest.raises(InvalidGameError, match=pattern):
        GameTree.from_game(game)


@pytest.mark.parametrize("refusal", [pyspiel.SpielError, ValueError, NotImplementedError])
def test_a_game_may_refuse_to_answer_for_idle_players(refusal: type[Exception]) -> None:
    game = tiny_games.Faulty({("information_state_of_1", (1,)): refusal("not to move")})
    tree = GameTree.from_game(game)
    assert not tree.idle_keys_valid
    assert tree.num_histories == 7


@pytest.mark.parametrize(
    "game_string",
    [
        "cached_tree(game=matrix_rps())",
        "cached_tree(game=repeated_game(stage_game=matrix_rps(),num_repetitions=2))",
        "misere(game=cached_tree(game=matrix_rps()))",
    ],
)
def test_simultaneous_moves_in_a_sequential_game_are_refused(game_string: str) -> None:
    for load in (load_turn_based, GameTree.from_game):
        with pytest.raises(ValueError, match=r"same time.*leave cached_tree out of the game"):
            load(game_string)


def test_a_cached_sequential_game_is_the_game_itself() -> None:
    cached = GameTree.from_game("cached_tree(game=leduc_poker())")
    bare = GameTree.from_game("leduc_poker")
    assert cached.infoset.tolist() == bare.infoset.tolist()
    assert cached.public_states.of_history.tolist() == bare.public_states.of_history.tolist()


def faulty_leduc(method: str, spoil: Callable[..., object]) -> LeducRules:
    """Leduc with four cards and a wrong return value where player 0 has the third card."""
    right = getattr(LeducRules, method)

    def wrong(self: LeducRules, state: LeducState, *others: torch.Tensor) -> object:
        third = self.private_tensor(state, 0)[:, 2] > 0
        return spoil(right(self, state, *others), third)

    return type("FaultyLeduc", (LeducRules,), {method: wrong})(num_ranks=2)


@pytest.mark.parametrize(
    ("method", "spoil", "actions", "message"),
    [
        (
            "legal_actions",
            lambda legal, third: legal & ~third[:, None],
            [2, 0],
            "has no legal actions or chance outcomes",
        ),
        (
            "chance_probabilities",
            lambda chances, third: chances * torch.where(third, 0.9, 1.0)[:, None],
            [2],
            "which must be at least 0 and sum to 1",
        ),
        (
            "chance_probabilities",
            lambda chances, third: torch.where(third[:, None], NAN, chances),
            [2],
            "which must be at least 0 and sum to 1",
        ),
        (
            "returns",
            lambda utility, third: torch.where(third & (utility != 0), NAN, utility),
            [2, 0, 2, 0],
            "returns nan, which must be finite",
        ),
        (
            "returns",
            lambda utility, third: torch.where(third, 100 * utility, utility),
            [2, 0, 2, 0],
            r"returns -?\d+\.0, which must be from min_utility=-\d.* to max_utility=\d",
        ),
        ("apply", lambda after, third: {}["deck"] if third.any() else after, [2], "KeyError: 'dec"),
    ],
)
def test_a_fault_of_rules_is_named(
    method: str, spoil: Callable[..., object], actions: list[int], message: str
) -> None:
    rules = faulty_leduc(method, spoil)
    game = RulesGame(Registration("faulty_leduc", "Faulty", {}, lambda: rules, True))
    pattern = re.escape(f"the state after the actions {actions} ") + ".*" + message
    with pytest.raises(InvalidGameError, match=pattern):
        GameTree.from_game(game)


def test_rules_whose_games_are_longer_than_they_say_are_refused() -> None:
    rules = LeducRules(num_ranks=2)
    rules.max_game_length -= 1
    game = RulesGame(Registration("long_leduc", "Long", {}, lambda: rules, True))
    with pytest.raises(InvalidGameError, match=r"goes on after max_game_length=\d moves"):
        GameTree.from_game(game)
