"""Games in memory: how many, and for how long."""

from __future__ import annotations

import pytest

from spiel_dl.serve.sessions import Sessions, UnknownGameError
from spiel_dl.serve.table import Place
from spiel_dl.serve.thinking import Player

PLACE, OPPONENT = Place("kuhn_poker()", (), 0), Player("uniform")


def test_the_one_that_was_not_looked_at_for_longest_goes_first() -> None:
    sessions = Sessions(max_games=2, max_age=100.0, now=lambda: 0.0)
    first, second = (sessions.add(PLACE, OPPONENT, 0, {}) for _ in range(2))
    assert sessions.find(first.key) is first
    third = sessions.add(PLACE, OPPONENT, 0, {})
    assert len(sessions) == 2
    assert sessions.find(first.key) is first
    assert sessions.find(third.key) is third
    with pytest.raises(UnknownGameError, match="begin another"):
        sessions.find(second.key)


def test_old_games_are_forgotten() -> None:
    now = [0.0]
    sessions = Sessions(max_games=10, max_age=5.0, now=lambda: now[0])
    old, kept = (sessions.add(PLACE, OPPONENT, 0, {}) for _ in range(2))
    now[0] = 4.0
    sessions.find(kept.key)
    now[0] = 6.0
    assert sessions.find(kept.key) is kept
    with pytest.raises(UnknownGameError):
        sessions.find(old.key)
    sessions.remove(kept.key)
    sessions.remove(kept.key)
    assert len(sessions) == 0


def test_keys_cannot_be_guessed() -> None:
    sessions = Sessions(max_games=100, max_age=5.0)
    keys = {sessions.add(PLACE, OPPONENT, 0, {}).key for _ in range(100)}
    assert len(keys) == 100
    assert min(map(len, keys)) >= 22
