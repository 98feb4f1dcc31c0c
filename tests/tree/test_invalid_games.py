"""Games that break OpenSpiel's rules are refused, and the refusal names the history."""

from __future__ import annotations

import re

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


@pytest.mark.parametrize(
    ("method", "actions", "answer", "message"),
    [
        ("chance_outcomes", (), [(0, 0.5), (1, 0.4)], "probabilities must be .* sum to 1"),
        ("chance_outcomes", (), [(0, 1.5), (1, -0.5)], "probabilities must be at least 0"),
        ("chance_outcomes", (), [(0, 0.5), (1, NAN)], "probabilities must be"),
        ("chance_outcomes", (), [], "probabilities must be"),
        ("chance_outcomes", (), [(0, 0.5), (0, 0.5)], r"\[0, 0\]; none may be twice"),
        ("legal_actions", (1,), [1, 0, 1], r"\[1, 0, 1\]; none may be twice"),
        ("legal_actions", (0,), [], "has no legal actions for player 0"),
        ("legal_actions", (0,), [0, 2**40], "must be from 0 to 2147483647"),
        ("legal_actions", (0,), [-3, 0], "must be from 0 to 2147483647"),
        ("legal_actions", (0,), [0, 2**70], "raises RuntimeError"),
        ("legal_actions", (0,), KeyError("deck"), "raises KeyError: 'deck'"),
        ("returns", (1, 0), [1.0], r"returns \[1.0\], which must be 2 finite numbers"),
        ("returns", (1, 0), [1.0, -1.0, 0.0], "must be 2 finite numbers"),
        ("returns", (0, 1), [NAN, NAN], "must be 2 finite numbers"),
        ("returns", (0, 1), [float("inf"), -float("inf")], "must be 2 finite numbers"),
        ("returns", (0, 1), ZeroDivisionError("pot"), "raises ZeroDivisionError: pot"),
        ("apply_action", (1, 1), IndexError("board"), "raises IndexError: board"),
        ("current_player", (1,), 2, "is player 2's; only 0, 1, chance"),
        ("current_player", (1,), -5, "is player -5's; only 0, 1, chance"),
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


class FaultyLeduc(LeducRules):
    """Leduc with three cards of two suits where one answer is wrong."""

    def __init__(self, fault: str):
        super().__init__(num_ranks=2)
        self._fault = fault

    def legal_actions(self, state: LeducState) -> torch.Tensor:
        legal = super().legal_actions(state)
        if self._fault == "stuck":
            # In the first player's first move when it has the third card.
            legal &= ~self._is_third_card(state)[:, None]
        return legal

    def chance_probabilities(self, state: LeducState) -> torch.Tensor:
        probability = super().chance_probabilities(state)
        where = self._is_third_card(state)
        if self._fault == "less":
            probability[where] *= 0.9
        if self._fault == "nan":
            probability[where] = NAN
        if self._fault == "negative":
            probability[where, :2] += torch.tensor([-1.0, 1.0], dtype=torch.float64)
        return probability

    def returns(self, state: LeducState) -> torch.Tensor:
        utility = super().returns(state)
        if self._fault == "nan returns":
            utility[self._is_third_card(state) & (utility != 0)] = NAN
        return utility

    def apply(self, state: LeducState, action: torch.Tensor) -> LeducState:
        if self._fault == "raises" and self._is_third_card(state).any():
            raise KeyError("deck")
        return super().apply(state, action)

    def _is_third_card(self, state: LeducState) -> torch.Tensor:
        return self.private_tensor(state, 0)[:, 2] > 0


@pytest.mark.parametrize(
    ("fault", "actions", "message"),
    [
        ("stuck", [2, 0], "has no legal actions or chance outcomes"),
        ("less", [2], "which must be at least 0 and sum to 1"),
        ("nan", [2], "which must be at least 0 and sum to 1"),
        ("negative", [2], "which must be at least 0 and sum to 1"),
        ("nan returns", [2, 0, 2, 0], "returns nan, which must be finite"),
        ("raises", [2], "raises KeyError: 'deck'"),
    ],
)
def test_a_fault_of_rules_is_named(fault: str, actions: list[int], message: str) -> None:
    registration = Registration("faulty_leduc", "Faulty", {}, lambda: FaultyLeduc(fault), True)
    game = RulesGame(registration)
    pattern = re.escape(f"the state after the actions {actions} ") + ".*" + message
    with pytest.raises(InvalidGameError, match=pattern):
        GameTree.from_game(game)
