"""The conformance suite finds what is wrong with broken games."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import types
from typing import Any

import pyspiel
import pytest
import torch

from spiel_dl.games import registry
from spiel_dl.games.goofspiel_ii import GoofspielIIRules, GoofspielIIState
from spiel_dl.games.openspiel import RulesGame
from spiel_dl.games.registration import Registration
from spiel_dl.games.rules import ConsistentHistories
from tests.games import conformance, openspiel_conformance


class _HidesWhoBids(GoofspielIIRules):
    """Player 0's bid leaves no trace in the public tensor."""

    def public_tensor(self, state: Any, perfect_recall: bool = True) -> torch.Tensor:
        tensor = super().public_tensor(state, perfect_recall)
        if perfect_recall:
            start = self.num_turns * self.num_cards
            tensor[:, start : start + self.num_turns] = 0
        return tensor


class _ForgetsPointCards(GoofspielIIRules):
    """Takes the public bits of the first point card away once the second one is turned up."""

    def public_tensor(self, state: Any, perfect_recall: bool = True) -> torch.Tensor:
        tensor = super().public_tensor(state, perfect_recall)
        if perfect_recall:
            second = tensor[:, self.num_cards : 2 * self.num_cards].any(dim=1, keepdim=True)
            tensor[:, : self.num_cards] *= ~second
        return tensor


class _ForgetsBids(GoofspielIIRules):
    """A player does not know its own first bid."""

    def private_tensor(self, state: Any, player: int, perfect_recall: bool = True) -> torch.Tensor:
        tensor = super().private_tensor(state, player, perfect_recall)
        if perfect_recall:
            tensor[:, : self.num_cards] = 0
        return tensor


class _CodesForgetBids(GoofspielIIRules):
    """A player's code lacks the first bid that its tensor shows."""

    def private_code(self, state: GoofspielIIState, player: int) -> torch.Tensor:
        return super().private_code(state, player)[:, 1:]


class _MakesTensorsOnTheHost(GoofspielIIRules):
    """Says who moves by a tensor that is on the CPU, wherever the states are."""

    def current_player(self, state: Any) -> torch.Tensor:
        return super().current_player(state) + torch.zeros(state.batch_size, dtype=torch.int8)


class _AppliesOnTheHost(GoofspielIIRules):
    """Looks at an action's value."""

    def apply(self, state: Any, action: torch.Tensor) -> Any:
        return super().apply(state, action + torch.arange(len(action)) * 0)


class _AnswersOnTheHost(GoofspielIIRules):
    """Makes a fresh tensor, on the CPU."""

    def round_index(self, state: Any) -> torch.Tensor:
        if state.device.type == "meta":
            return torch.zeros(state.batch_size, dtype=torch.int16)
        return super().round_index(state)


class _ForgetsChance(GoofspielIIRules):
    """Half of the time no point card is turned up."""

    def chance_probabilities(self, state: Any) -> torch.Tensor:
        return super().chance_probabilities(state) / 2


class _PaysEarly(GoofspielIIRules):
    """Every state has returns."""

    def returns(self, state: Any) -> torch.Tensor:
        return torch.ones_like(super().returns(state))


class _PaysLess(GoofspielIIRules):
    """The announced bounds are not attained."""

    def returns(self, state: Any) -> torch.Tensor:
        return super().returns(state) / 2


class _LooksAtValues(GoofspielIIRules):
    """Reads a value on the host."""

    def apply(self, state: Any, action: torch.Tensor) -> GoofspielIIState:
        assert not bool((action < 0).any())
        return super().apply(state, action)


class _MixesRows(GoofspielIIRules):
    """The remaining cards of a row depend on the whole batch."""

    def apply(self, state: Any, action: torch.Tensor) -> GoofspielIIState:
        after = super().apply(state, action)
        same_length = after.step == after.step[:1]
        remaining = after.remaining & same_length.unsqueeze(1)
        return dataclasses.replace(after, remaining=remaining)


class _OverlooksAHistory(GoofspielIIRules):
    """Reconstruction leaves one history out of every larger public state."""

    def consistent_histories(
        self, public_tensor: torch.Tensor, limit: int = 1_000_000
    ) -> ConsistentHistories:
        found = super().consistent_histories(public_tensor, limit)
        kept = slice(0, max(1, found.num_seen - 1))
        rows = torch.arange(found.num_seen)[kept]
        return ConsistentHistories(
            True, len(rows), found.states.take(rows), found.actions[kept], found.chance_reach[kept]
        )


class _AnnouncesLongGames(GoofspielIIRules):
    """The announced length is never reached."""

    def __init__(self, num_cards: int):
        super().__init__(num_cards)
        self.max_game_length += 1


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (_HidesWhoBids, "adds no public bit"),
        (_ForgetsPointCards, "takes a public bit away"),
        (_ForgetsBids, "has different pasts"),
        (_CodesForgetBids, "codes and tensors differ"),
        (_ForgetsChance, "Not equal to tolerance"),
        (_PaysEarly, "returns before the end"),
        (_PaysLess, "max_utility is not attained"),
        (_LooksAtValues, "apply makes tensors elsewhere .* make every tensor on state.device"),
        (_MakesTensorsOnTheHost, "current_player makes tensors elsewhere"),
        (_AppliesOnTheHost, "apply makes tensors elsewhere"),
        (_AnswersOnTheHost, "round_index does not answer on state.device"),
        (_MixesRows, "depends on its batch"),
        (_OverlooksAHistory, "other histories than"),
        (_AnnouncesLongGames, "max_game_length is not attained"),
    ],
)
def test_broken_rules_are_found_out(broken: type[GoofspielIIRules], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        conformance.check_rules(broken(3))


def test_too_large_games_are_refused() -> None:
    with pytest.raises(AssertionError, match="more than 100 histories"):
        conformance.check_rules(GoofspielIIRules(3), max_histories=100)


class _WideIds(GoofspielIIRules):
    def current_player(self, state: Any) -> torch.Tensor:
        return super().current_player(state).to(torch.int64)


class _ShortReturns(GoofspielIIRules):
    def returns(self, state: Any) -> torch.Tensor:
        return super().returns(state).float()


class _OtherPieces(GoofspielIIRules):
    """Pieces say two columns more than the tensor has."""

    def public_pieces(self, perfect_recall: bool) -> dict[str, tuple[int, ...]]:
        return {**super().public_pieces(perfect_recall), "more": (2,)}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (_WideIds, r"current_player must be int8, not torch\.int64"),
        (_ShortReturns, r"returns must be float64, not torch\.float32"),
        (_OtherPieces, r"public_tensor has (\d+) columns, public_pieces say \d+, with"),
    ],
)
def test_outside_pytest_errors_have_a_text(broken: type[GoofspielIIRules], message: str) -> None:
    with pytest.raises(AssertionError) as raised:
        conformance.check_rules(broken(3))
    # Pytest itself adds to it what is compared.
    assert re.match(message, str(raised.value))


@pytest.mark.parametrize("module", [conformance, openspiel_conformance])
def test_every_property_is_told(module: types.ModuleType) -> None:
    tree = ast.parse(inspect.getsource(module))
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert asserts
    assert [node.lineno for node in asserts if node.msg is None] == []


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
