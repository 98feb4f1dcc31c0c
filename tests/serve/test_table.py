"""The page's data depend only on the observations of the person's player."""

from __future__ import annotations

import collections
import json
from typing import Any

import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl.play import registry
from spiel_dl.serve import table, thinking
from spiel_dl.serve.table import Place
from spiel_dl.serve.thinking import Player
from tests.games.openspiel_conformance import all_states

GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=descending)"
BATTLESHIPS = "python_battleships(board_width=2,board_height=1,ship_sizes=[1])"
LEDUC = "python_leduc(num_ranks=3,num_suits=1)"


def same_to_the_person(game: str, seat: int) -> list[list[Place]]:
    """Histories that a player cannot tell apart, in groups of several."""
    groups = collections.defaultdict(list)
    for state in all_states(table.loaded(game)):
        if state.is_chance_node():
            continue
        # What it has seen all the way, and what it won in the end.
        won = state.returns()[seat] if state.is_terminal() else None
        groups[_seen(state, seat), won].append(Place(game, tuple(state.history()), seat))
    return [group for group in groups.values() if len(group) > 1]


def _seen(state: pyspiel.State, seat: int) -> str:
    if hasattr(state.get_game(), "rules"):
        strings: list[str] = state.get_game().rules.information_state_strings(state.batch, seat)
        return strings[0]
    return f"{state.information_state_string(seat)}"


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", ["kuhn_poker", GOOFSPIEL, BATTLESHIPS])
def test_what_is_seen_tells_nothing_hidden(game: str, seat: int) -> None:
    groups = same_to_the_person(game, seat)
    assert groups
    for group in groups[:50]:
        screens = {json.dumps(table.see(place), sort_keys=True) for place in group[:6]}
        assert len(screens) == 1
    # The comparison can fail: what is revealed differs.
    revealed = [
        {json.dumps(table.see(place._replace(revealed=True))) for place in group[:6]}
        for group in groups[:20]
    ]
    assert any(len(each) > 1 for each in revealed)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("game", "policy"),
    [
        ("kuhn_poker", "resolving:exact"),
        ("kuhn_poker", "cdbr:uniform"),
        (GOOFSPIEL, "resolving:exact"),
        (LEDUC, "cdrnr:0.5:uniform"),
    ],
)
def test_what_was_thought_tells_nothing_hidden(game: str, policy: str, seat: int) -> None:
    player = Player(policy, tuple(registry.select_options({"effort": 20}, policy).items()))
    for group in same_to_the_person(game, seat)[:8]:
        moments = [table.moments(place) for place in group[:4]]
        for at, (_, turn) in enumerate(moments[0]):
            if turn == "over":
                continue
            screens = {
                json.dumps(thinking.analyse(place, each[at][0], player, Player("uniform")))
                for place, each in zip(group[:4], moments, strict=True)
            }
            assert len(screens) == 1, (group[:4], at)


class _Silent(openspiel_policy.Policy):
    """A policy without answers."""

    def action_probabilities(self, state: pyspiel.State, player_id: int | None = None) -> Any:
        raise KeyError(state.information_state_string())


def test_what_a_policy_has_no_answer_for_stays_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = _Silent(table.loaded("leduc_poker"), [0, 1])
    monkeypatch.setattr(registry, "load_policy", lambda name, game, **options: silent)
    thinking._watched.cache_clear()
    with pytest.raises(ValueError, match=r"^silent has no valid answer here; choose another opp"):
        thinking.answer(Place("leduc_poker", (0, 3), 1), Player("silent"), 0)
    thinking._watched.cache_clear()


def test_a_game_without_chance_outcomes_is_refused() -> None:
    with pytest.raises(ValueError, match="a chance node has no outcomes; choose another game"):
        table.play_chance(Place("goofspiel(num_cards=0)", (), 0), 0)


def test_luck_is_settled_by_the_seed() -> None:
    deals = {table.begin("leduc_poker", 0, seed)[0].history for seed in range(40)}
    assert len(deals) > 10
    assert table.begin("leduc_poker", 0, 7) == table.begin("leduc_poker", 0, 7)


def test_moves() -> None:
    place, _ = table.begin("kuhn_poker", 0, 3)
    assert [turn for _, turn in table.moments(place)] == ["you"]
    moved = table.move(place, 1, 3)
    assert moved.history == (*place.history, 1)
    with pytest.raises(ValueError, match="not your turn"):
        table.move(moved, 1, 3)
    with pytest.raises(ValueError, match="action 5 is not legal"):
        table.move(place, 5, 3)
    assert table.back_to(moved, 0) == place
    with pytest.raises(ValueError, match="no moment 4"):
        table.see(moved, 4)


def test_why_kuhn_poker_ended() -> None:
    """Player 0 has the jack and player 1 the queen; 0 is pass and 1 is bet."""
    screens = {
        moves: [table.see(Place("kuhn_poker", (0, 1, *moves), seat))["why"] for seat in (0, 1)]
        for moves in ((1, 0), (0, 1, 0), (0, 0), (1, 1))
    }
    own, other = "You passed on a bet", "Your opponent passed on a bet"
    assert [text.partition(",")[0] for text in screens[1, 0]] == [other, own]
    assert [text.partition(",")[0] for text in screens[0, 1, 0]] == [own, other]
    assert {*screens[0, 0], *screens[1, 1]} == {"The higher card won the showdown."}
