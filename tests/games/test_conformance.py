"""Games keep their contracts, and the conformance suite finds what is wrong with broken ones."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import pyspiel
import pytest
import torch

from spiel_dl.games import registry
from spiel_dl.games.battleships import BattleshipsRules
from spiel_dl.games.goofspiel_ii import GoofspielIIRules, GoofspielIIState
from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.leduc import LeducRules
from spiel_dl.games.liars_dice import LiarsDiceRules
from spiel_dl.games.openspiel import RulesGame
from spiel_dl.games.oshi_zumo_ii import OshiZumoIIRules
from spiel_dl.games.phantom import abrupt_dark_hex, dark_hex
from spiel_dl.games.registration import Registration
from spiel_dl.games.rules import ConsistentHistories, Rules
from tests.games import conformance

RULES = [
    GoofspielIIRules(3, "random"),
    GoofspielIIRules(3, forced_last_round=True, returns_type="point_difference"),
    GoofspielIIRules(5, "ascending", num_turns=2),
    GoofspielIIRules(3, "descending", num_turns=2),
    LeducRules(num_ranks=2, deal_ranks=True, max_raises=1, bet_sizes="[1;2]"),
    LeducRules(num_ranks=3, num_suits=1, max_raises=0, bet_sizes="[1;3]", ante=2),
    LeducRules(num_ranks=3, num_suits=1, deal_ranks=True, max_raises=0),
    OshiZumoIIRules(7, 2, 1),
    OshiZumoIIRules(5, 2, 0, optimal_endgame=False),
    BattleshipsRules(2, 1, "[1]", True, "ship_values", "[3]", 2),
    BattleshipsRules(3, 1, "[2;1]"),
    BattleshipsRules(2, 1, "[1]"),
    LiarsDiceRules(1, 3, "reset-quantity"),
    abrupt_dark_hex(2, 2),
    dark_hex(2, 2),
    HoldemRules(
        3, 2, 2, "", "[0;2]", "[3.0;3.0]", "[1.0;1.0]", range_0="44;32s", range_1="42s;33:0.5"
    ),
]
GAMES = [
    "python_goofspiel_ii(num_cards=4)",
    "python_leduc(deal_ranks=true,bet_sizes=[2;4],raise_sizes=[2;4],max_raises=2)",
    "python_oshi_zumo_ii",
    "python_battleships(board_width=3,board_height=2,ship_sizes=[2;1],num_shots=3)",
    "python_liars_dice(numdice=2,dice_sides=3)",
    "python_abrupt_dark_hex(num_rows=2,num_cols=2)",
    "python_dark_hex(num_rows=2,num_cols=2)",
    "python_holdem(board=QsJh2h4d,board_cards=[0;1],range_0=AA;KQs)",
]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: type(rules).__name__)
def test_rules_keep_their_contract(rules: Rules) -> None:
    conformance.check_rules(rules)


@pytest.mark.parametrize("game", GAMES)
def test_openspiel_games_keep_their_contract(game: str) -> None:
    conformance.check_openspiel_game(pyspiel.load_game(game), num_walks=3)


def _broken(method: str, spoil: Callable[..., Any]) -> type[GoofspielIIRules]:
    """Goofspiel with one method replaced by a function of the rules, its result and its arguments.

    Tensors of observations with perfect recall alone are spoiled.
    """
    right = getattr(GoofspielIIRules, method)

    @functools.wraps(right)
    def wrong(self: GoofspielIIRules, *question: Any, **named: Any) -> Any:
        answer = right(self, *question, **named)
        recalls = named.get("perfect_recall", question[-1])
        return answer if recalls is False else spoil(self, answer, *question)

    return type("Broken", (GoofspielIIRules,), {method: wrong})


def _without(columns: slice) -> Callable[..., torch.Tensor]:
    def spoil(rules: GoofspielIIRules, tensor: torch.Tensor, *_: Any) -> torch.Tensor:
        return torch.index_fill(tensor, 1, torch.arange(tensor.shape[1])[columns], 0)

    return spoil


def _forget_point_cards(rules: GoofspielIIRules, tensor: torch.Tensor, *_: Any) -> torch.Tensor:
    """Removes the public bits of the first point card when the second one is turned up."""
    second = tensor[:, rules.num_cards : 2 * rules.num_cards].any(dim=1, keepdim=True)
    return torch.cat([tensor[:, : rules.num_cards] * ~second, tensor[:, rules.num_cards :]], dim=1)


def _mix_rows(_: Any, after: GoofspielIIState, *__: Any) -> GoofspielIIState:
    """The remaining cards of a row depend on the whole batch."""
    same_length = after.step == after.step[:1]
    return dataclasses.replace(after, remaining=after.remaining & same_length.unsqueeze(1))


def _look_at_values(_: Any, after: GoofspielIIState, state: Any, action: torch.Tensor) -> Any:
    assert not bool((action < 0).any())
    return after


def _overlook_a_history(_: Any, found: ConsistentHistories, *__: Any) -> ConsistentHistories:
    """Reconstruction leaves one history out of every larger public state."""
    rows = torch.arange(max(1, found.states.batch_size - 1))
    return ConsistentHistories(
        True, found.states.take(rows), found.actions[rows], found.chance_reach[rows]
    )


def _peek(_: Any, seen: torch.Tensor, state: GoofspielIIState, *__: Any) -> torch.Tensor:
    """The first number shows the opponent's hand of player 0."""
    return torch.cat([state.remaining[:, 3:4].float(), seen[:, 1:]], dim=1)


def _count_a_hidden_card(_: Any, rounds: torch.Tensor, state: GoofspielIIState) -> torch.Tensor:
    return rounds + (~state.remaining[:, 3]).to(rounds.dtype)


def _on_the_host(_: Any, answer: torch.Tensor, state: Any) -> torch.Tensor:
    """A fresh tensor on the CPU."""
    return torch.zeros(state.batch_size, dtype=torch.int16) if answer.is_meta else answer


class _AnnouncesLongGames(GoofspielIIRules):
    """The announced length is never reached."""

    def __init__(self, num_cards: int):
        super().__init__(num_cards)
        self.max_game_length += 1


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        # Of three cards and turns: 9 bits of point cards, then whether player 0 has bid.
        (_broken("public_tensor", _without(slice(9, 12))), "adds no public bit"),
        (_broken("public_tensor", _forget_point_cards), "takes a public bit away"),
        (_broken("private_tensor", _without(slice(3))), "has different pasts"),
        (_broken("private_code", lambda _, code, *__: code[:, 1:]), "codes and tensors differ"),
        (_broken("chance_probabilities", lambda _, p, __: p / 2), "Not equal to tolerance"),
        (_broken("returns", lambda _, u, __: torch.ones_like(u)), "returns before the end"),
        (_broken("returns", lambda _, u, __: u / 2), "max_utility=1.0 is not attained, but 0.5 is"),
        (
            _broken("apply", _look_at_values),
            "apply makes tensors elsewhere .* make every tensor on state.device",
        ),
        (
            _broken("current_player", lambda _, who, s: who + torch.zeros(len(who)).to(who.dtype)),
            "current_player makes tensors elsewhere",
        ),
        (_broken("round_index", _on_the_host), "round_index does not answer on state.device"),
        (_broken("round_index", _count_a_hidden_card), "round_index differs within a public state"),
        (_broken("apply", _mix_rows), "depends on its batch"),
        (_broken("consistent_histories", _overlook_a_history), "other histories than"),
        (_AnnouncesLongGames, "max_game_length is not attained"),
        (_broken("current_player", lambda _, who, __: who.long()), "current_player must be int8"),
        (_broken("returns", lambda _, u, __: u.float()), "returns must be float64"),
        (_broken("features", _peek), "player 0 sees what is hidden"),
        (_broken("features", lambda _, seen, *__: seen[:, 1:]), "feature_pieces say"),
        (_broken("features", lambda _, seen, *__: 2 * seen), "scaled to about"),
    ],
)
def test_broken_rules_are_found_out(broken: type[GoofspielIIRules], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        conformance.check_rules(broken(3))


class _OtherPieces(GoofspielIIRules):
    """Pieces that have two columns more than the tensor."""

    def public_pieces(self, perfect_recall: bool) -> dict[str, tuple[int, ...]]:
        return {**super().public_pieces(perfect_recall), "more": (2,)}


def test_games_whose_pieces_do_not_fit_are_not_made() -> None:
    registration = Registration("no_name", "", {"num_cards": 3}, _OtherPieces, True)
    with pytest.raises(ValueError, match=r"public_tensor has \d+ columns .* public_pieces say \d+"):
        RulesGame(registration)


def test_what_a_registration_says_of_chance_is_held_to_the_rules() -> None:
    def rules(num_cards: int) -> GoofspielIIRules:
        return GoofspielIIRules(num_cards)

    registration = Registration("python_luckless", "", {"num_cards": 3}, rules, False)
    registry.register(registration)
    with pytest.raises(AssertionError, match="has_chance of the Registration must say whether"):
        conformance.check_openspiel_game(pyspiel.load_game("python_luckless"))
