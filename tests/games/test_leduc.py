"""python_leduc against OpenSpiel's leduc_poker, the papers' counts and a plain Python player."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pyspiel
import pytest
import torch
from open_spiel.python.observation import make_observation

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games.leduc import CALL, FOLD, LeducRules
from spiel_dl.games.rules import CHANCE_PLAYER
from tests.games import enumeration, twins
from tests.games.openspiel_conformance import possible_actions


def test_equals_leduc_poker_at_every_history() -> None:
    ours, twin = pyspiel.load_game("python_leduc"), pyspiel.load_game("leduc_poker")
    assert ours.num_distinct_actions() == twin.num_distinct_actions()
    assert ours.max_chance_outcomes() == twin.max_chance_outcomes()
    assert ours.max_utility() == twin.max_utility() == 13
    assert ours.max_game_length() == twin.max_game_length()

    def players(state: pyspiel.State) -> tuple[int, ...]:
        # The twin does not show a player whether the other has a card yet, and shows who won.
        return () if state.is_chance_node() or state.is_terminal() else (0, 1)

    assert twins.assert_same_game(ours, twin, players) == 9457


def test_observation_shows_what_the_twin_shows() -> None:
    ours, twin = pyspiel.load_game("python_leduc"), pyspiel.load_game("leduc_poker")
    observer = make_observation(ours)
    generator = random.Random(0)
    for _ in range(50):
        state, twin_state = ours.new_initial_state(), twin.new_initial_state()
        while not state.is_terminal():
            action = generator.choice(possible_actions(state))
            state.apply_action(action)
            twin_state.apply_action(action)
            if state.is_chance_node():
                continue
            for player in (0, 1):
                observer.set_from(state, player)
                pieces = observer.dict
                contributions = [np.flatnonzero(line).item() for line in pieces["contributions"]]
                shown = [
                    np.eye(2)[player],
                    pieces["private_card"],
                    pieces["public_card"],
                    contributions,
                ]
                np.testing.assert_array_equal(
                    np.concatenate(shown), twin_state.observation_tensor(player)
                )
                to_move = np.eye(3)[max(state.current_player(), -1)][:2]
                np.testing.assert_array_equal(pieces["current_player"], to_move)


def test_counts_of_deals_by_ranks() -> None:
    # A round has 15 nodes, of which 5 are calls that end it, and 3 decisions of each player;
    # there are 9 deals of two ranks and 24 of three.
    expected = (1 + 9 * 15 + 5 * 24 * 15, 3 * 3 + 5 * 9 * 3, 144)
    assert enumeration.count(LeducRules(deal_ranks=True)) == expected


def _rank_triples(rules: LeducRules) -> dict[tuple[int, ...], float]:
    """Chance's reach of (rank 0, rank 1, public rank), when nobody bets."""
    suits = 1 if rules.deal_ranks else rules.num_suits
    reaches: dict[tuple[int, ...], float] = {}
    states, reach = rules.initial_state(), torch.ones(1, dtype=torch.float64)
    while bool((states.cards < 0).any()):
        if rules.current_player(states)[0] == CHANCE_PLAYER:
            parent, action, probability = rules.successors(states)
            states, reach = rules.apply(states.take(parent), action), reach[parent] * probability
        else:
            states = rules.apply(states, torch.full((states.batch_size,), CALL))
    for cards, weight in zip((states.cards // suits).tolist(), reach.tolist(), strict=True):
        reaches[tuple(cards)] = reaches.get(tuple(cards), 0.0) + weight
    return reaches


@pytest.mark.parametrize(("num_ranks", "num_suits"), [(3, 2), (4, 1)])
def test_ranks_have_the_chances_of_the_cards_they_merge(num_ranks: int, num_suits: int) -> None:
    deck = [rank for rank in range(num_ranks) for _ in range(num_suits)]
    deals = list(itertools.permutations(deck, 3))
    expected = {triple: float(Fraction(deals.count(triple), len(deals))) for triple in deals}
    for deal_ranks in (False, True):
        rules = LeducRules(num_ranks, num_suits, deal_ranks)
        assert _rank_triples(rules) == pytest.approx(expected, rel=1e-14)


class _Hand:
    """A hand of Leduc in plain Python, for any parameters; deals ranks or cards."""

    def __init__(self, rules: LeducRules, bets: list[int], raises: list[int]):
        self.rules, self.sizes = rules, (bets, raises)
        self.ranks: list[int] = []
        self.stakes = [rules.ante, rules.ante]
        self.rounds: list[list[int]] = [[]]
        self.loser: int | None = None

    def is_chance(self) -> bool:
        return len(self.ranks) < (2 if len(self.rounds) == 1 else 3)

    def over(self) -> bool:
        return self.loser is not None or len(self.rounds) == 3

    def legal(self) -> list[int]:
        wagers = sum(action > CALL for action in self.rounds[-1])
        facing = self.stakes[0] != self.stakes[1]
        legal = [FOLD, CALL] if facing else [CALL]
        if wagers <= self.rules.max_raises:
            legal += [2 + index for index in range(len(self.sizes[facing]))]
        return legal

    def deal(self, outcome: int) -> None:
        if not self.rules.deal_ranks:
            self.ranks.append(outcome // self.rules.num_suits)
        elif self.ranks:
            self.ranks.append(outcome)
        else:
            self.ranks += divmod(outcome, self.rules.num_ranks)

    def act(self, action: int) -> None:
        actions = self.rounds[-1]
        player = len(actions) % 2
        facing = self.stakes[0] != self.stakes[1]
        actions.append(action)
        if action == FOLD:
            self.loser = player
            return
        self.stakes[player] = self.stakes[1 - player]
        if action > CALL:
            self.stakes[player] += self.sizes[facing][action - 2] * len(self.rounds)
        elif len(actions) > 1:
            self.rounds.append([])

    def returns(self) -> float:
        if self.loser is not None:
            return float(self.stakes[1] if self.loser == 1 else -self.stakes[0])
        first, second, public = self.ranks
        mine, yours = (first == public, first), (second == public, second)
        return float(self.stakes[0] * ((mine > yours) - (mine < yours)))


@pytest.mark.parametrize(
    ("parameters", "bets", "raises"),
    [
        ({"deal_ranks": True, "max_raises": 2}, [2, 4], [2, 4]),
        ({"num_ranks": 2, "num_suits": 3, "max_raises": 3, "ante": 5}, [1], [3, 4, 9]),
        ({"num_ranks": 5, "num_suits": 1, "max_raises": 0}, [1, 2, 3], []),
        ({"num_ranks": 2, "num_suits": 2, "deal_ranks": True, "max_raises": 1}, [7, 8], [3]),
    ],
)
def test_random_hands_equal_plain_python(
    parameters: dict[str, int], bets: list[int], raises: list[int]
) -> None:
    def as_text(sizes: list[int]) -> str:
        return f"[{';'.join(map(str, sizes))}]"

    rules = LeducRules(bet_sizes=as_text(bets), raise_sizes=as_text(raises), **parameters)
    generator = random.Random(1)
    outcomes = set()
    for _ in range(80):
        hand, state = _Hand(rules, bets, raises), rules.initial_state()
        while not hand.over():
            if hand.is_chance():
                choices = rules.chance_probabilities(state)[0].nonzero()[:, 0].tolist()
                choice = generator.choice(choices)
                hand.deal(choice)
            else:
                assert rules.current_player(state).item() == len(hand.rounds[-1]) % 2
                assert rules.legal_actions(state)[0].nonzero()[:, 0].tolist() == hand.legal()
                choice = generator.choice(hand.legal())
                hand.act(choice)
            state = rules.apply(state, torch.tensor([choice]))
            assert state.contributions[0].tolist() == hand.stakes
        assert rules.current_player(state).item() == pyspiel.PlayerId.TERMINAL
        assert rules.returns(state).item() == hand.returns()
        outcomes.add((hand.loser, np.sign(hand.returns())))
    # Both fold, both win showdowns; ties need equal ranks.
    assert {(0, -1), (1, 1), (None, 1), (None, -1)} <= outcomes


def test_reconstruction_refuses_impossible_public_tensors() -> None:
    rules = LeducRules()
    size = rules.public_size(perfect_recall=True)
    fold_first = rules.public_tensor(enumeration.play(rules, [0, 1]))[0]
    fold_first[rules.num_deals + FOLD] = 1
    late_action = torch.zeros(size)
    late_action[-1] = 1
    two_actions = rules.public_tensor(enumeration.play(rules, [0, 1, CALL]))[0]
    two_actions[rules.num_deals + 2] = 1
    second_deal_only = torch.zeros(size)
    second_deal_only[1] = 1
    for public in (fold_first, late_action, two_actions, second_deal_only, torch.ones(size)):
        with pytest.raises(ValueError, match="no history has this public tensor"):
            rules.consistent_histories(public)


def test_round_index_counts_betting_rounds_that_are_over() -> None:
    rules = LeducRules()
    lines = {
        (): 0,
        (0, 1, 2): 0,
        (0, 1, 2, FOLD): 1,
        (0, 1, CALL, CALL): 1,
        (0, 1, CALL, CALL, 2, 2): 1,
        (0, 1, CALL, CALL, 2, 2, FOLD): 2,
        (0, 1, CALL, CALL, 2, CALL, CALL): 2,
    }
    for line, rounds in lines.items():
        assert rules.round_index(enumeration.play(rules, line)).item() == rounds


def test_public_tensor_is_the_sequence_of_actions_and_the_public_card() -> None:
    rules = LeducRules(deal_ranks=True, bet_sizes="[2;4]", raise_sizes="[2;4]", max_raises=2)
    tensor = rules.public_tensor(enumeration.play(rules, [5, CALL, 3, 2, CALL, 1, 2]))[0]
    pieces = dict(
        zip(
            rules.public_pieces(perfect_recall=True),
            tensor.split([1, 5 * 4, 3, 5 * 4]),
            strict=True,
        )
    )
    assert pieces["deals"].tolist() == [1]
    assert pieces["first_round"].view(5, 4).nonzero().tolist() == [[0, 1], [1, 3], [2, 2], [3, 1]]
    assert pieces["public_card"].tolist() == [0, 1, 0]
    assert pieces["second_round"].view(5, 4).nonzero().tolist() == [[0, 2]]
