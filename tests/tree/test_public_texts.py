"""Names of public states."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl.tree import GameTree
from spiel_dl.tree.public_texts import PublicText, in_order, public_text, step_names

GOOFSPIEL = "goofspiel(num_cards=3,imp_info=True,points_order=descending)"
PYTHON_GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=descending)"


def describe(game: str | pyspiel.Game) -> tuple[GameTree, dict[int, PublicText], dict[int, str]]:
    tree = GameTree.from_game(game)
    texts = {state: public_text(tree, state) for state in range(tree.num_public_states)}
    return tree, texts, step_names(tree, texts)


def test_a_bidding_round_is_told_by_what_everybody_sees() -> None:
    """Three cards, the three outcomes of the first round: 1 wins, 0 wins, or a draw."""
    tree, texts, names = describe(PYTHON_GOOFSPIEL)
    round_one = [s for s in names if tree.public_states.parent[s] == 1]
    assert {names[state] for state in round_one} == {
        "player 1: hidden \u00b7 Points: 0 0",
        "player 1: hidden \u00b7 Points: 0 3",
        "player 1: hidden \u00b7 Points: 3 0",
    }
    assert (names[0], names[1]) == ("start", "player 0: hidden")
    assert "Point cards: 3 2" in texts[round_one[0]].observation
    won = next(state for state in round_one if "3 0" in names[state])
    assert [text.own for text in texts[won].infosets[0]] == [
        "Your hand: 1 3; your bid 2",
        "Your hand: 1 2; your bid 3",
    ]


def test_cards_are_private_and_bets_public() -> None:
    _, texts, names = describe("leduc_poker")
    assert (names[1], names[3]) == ("chance: hidden", "player 0: Call")
    assert texts[0].observation == ("Round 1", "Pot: 2", "Money: 99 99")
    assert "Round1: 1" in texts[3].observation
    assert not any("Private" in part for part in texts[3].observation)
    assert [text.own for text in texts[3].infosets[0]] == [f"Private: {card}" for card in range(6)]
    card = next(s for s, name in names.items() if name == "chance: 5")
    assert "Public: 5" in texts[card].observation


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", GOOFSPIEL, PYTHON_GOOFSPIEL])
def test_texts_tell_apart_what_is_different_and_reveal_nothing_private(game: str) -> None:
    tree, texts, names = describe(game)
    partition = tree.public_states
    siblings = [(int(partition.parent[state]), name) for state, name in names.items()]
    assert len(set(siblings)) == len(siblings)
    for state, text in texts.items():
        histories = partition.histories(state)
        for player in (0, 1):
            of_history = partition.augmented_infoset[player, histories]
            infosets = np.unique(of_history)
            assert len(text.infosets[player]) == len(infosets)
            assert len({called.own for called in text.infosets[player]}) == len(infosets)
            for infoset, called in zip(infosets, text.infosets[player], strict=True):
                # Not only the first history of an infoset says so.
                history = int(histories[of_history == infoset][-1])
                string = tree.state(history).information_state_string(player)
                assert called.string == string
        if not hasattr(tree.game, "rules"):
            strings = [" ".join(s.string.split()) for own in text.infosets for s in own]
            assert all(part in s for part in text.observation for s in strings)


def test_where_a_game_is_silent_the_own_past_is_told() -> None:
    """efg_game's strings are wrong for who does not act, so they are not shown for it."""
    tree, texts, _ = describe(pyspiel.load_efg_game(pyspiel.get_kuhn_poker_efg_data()))
    idle = [
        called.string
        for state, text in texts.items()
        for player in (0, 1)
        for called in text.infosets[player]
        if player not in tree.player[tree.public_states.histories(state)]
    ]
    assert "has not acted yet" in idle
    assert all(string == "has not acted yet" or "; then " in string for string in idle)


def test_siblings_are_ordered_by_actions() -> None:
    tree, _, names = describe("leduc_poker")
    ordered = in_order(tree, reversed(range(tree.num_public_states)))
    assert [names[state] for state in ordered[:5]] == [
        "start", "chance: hidden", "chance: hidden", "player 0: Call", "player 0: Raise",
    ]  # fmt: skip
    call = next(state for state in ordered if names[state] == "player 1: Call")
    dealt = [names[state] for state in ordered if tree.public_states.parent[state] == call]
    assert dealt == [f"chance: {card}" for card in range(6)]
    assert sorted(ordered) == list(range(tree.num_public_states))
    place = {state: at for at, state in enumerate(ordered)}
    assert all(place[int(tree.public_states.parent[s])] < place[s] for s in ordered[1:])
