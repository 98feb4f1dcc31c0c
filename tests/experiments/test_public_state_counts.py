"""Counts of histories and infosets against enumerated games and the paper's table."""

import itertools

import numpy as np
import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from experiments.particle import public_states
from spiel_dl.tree.public_states import consistent_histories
from tests.reference import state_after


@pytest.mark.parametrize("num_cards", [1, 3, 4, 5])
def test_all_sequences_of_bids(num_cards):
    """Every pair of bid sequences, by hand."""
    for depth in range(num_cards + 1):
        histories, infosets = {}, {}
        for bids in itertools.product(itertools.permutations(range(num_cards), depth), repeat=2):
            outcome = np.sign(np.subtract(*bids))
            name = tuple(outcome.tolist())
            histories[name] = histories.get(name, 0) + 1
            infosets.setdefault(name, set()).add(bids[0])
        for name, count in histories.items():
            numbers = [name.count(result) for result in (1, 0, -1)]
            assert public_states.count_histories(num_cards, *numbers) == count
            assert public_states.count_infosets(num_cards, *numbers) == len(infosets[name])


def test_impossible_outcomes():
    """Nobody wins all rounds with all cards: the lowest one loses or draws."""
    assert public_states.count_histories(4, 4, 0, 0) == 0
    assert public_states.count_infosets(4, 4, 0, 0) == 0


def test_the_games_own_public_states():
    """Three rounds of 13 cards: won, drawn and won by player 0."""
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=13,points_order=descending)")
    state = state_after(game, (5, 3, 2, 2, 12, 11))
    found = consistent_histories(state)
    assert found.complete
    bids = found.states.played[:, [0, 1, 2]].numpy()
    assert len(bids) == public_states.count_histories(13, 2, 1, 0)
    assert len(np.unique(bids, axis=0)) == public_states.count_infosets(13, 2, 1, 0)


def test_table_1():
    """The paper's row of bounds, to the digits it prints; the lemma holds for the counts."""
    rows = list(public_states.largest_public_states(13))
    histories = "1 78 5148 283140 1.3e7 4.6e8 1.3e10 2.7e11 4.0e12 4.0e13 2.4e14 7.3e14 7.3e14"
    infosets = "2 17.66 144 1064 7139 42834 2.2e5 1.0e6 4.0e6 1.3e7 3.1e7 5.4e7 5.4e7"
    for row, bound, bound_2 in zip(rows, histories.split(), infosets.split(), strict=True):
        assert row["histories, at least"] == pytest.approx(float(bound), rel=0.04)
        assert row["infosets, at least"] == pytest.approx(float(bound_2), rel=0.04)
        assert row["histories, exactly"] >= row["histories, at least"]
        assert row["infosets, exactly"] >= row["infosets, at least"]
    # After one round, a draw leaves both players all 13 bids.
    assert (rows[1]["histories, exactly"], rows[1]["infosets, exactly"]) == (78, 26)
