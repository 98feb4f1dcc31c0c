"""Endgames of hold'em on the server: what is taken, solved, kept and shown."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from spiel_dl.serve import poker, poker_solving
from spiel_dl.serve.app import Settings, make_app

BODY = {
    "board": "QsJh2h4d5c",
    "pot": 20,
    "stack": 90,
    "range_0": "QQ+, A5s-A2s:0.5",
    "range_1": "JJ, AQ",
    "bets": "50%, allin",
}


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    poker_solving._solved_spots.clear()


def test_a_spot_is_solved_step_by_step_and_looked_at() -> None:
    spot = poker.spot(BODY)
    told = poker_solving.check(spot)
    assert told["ranges"][0]["cells"]["AA"] == 1
    assert told["infosets"] > 100
    with pytest.raises(ValueError, match="not kept any more; solve it again"):
        poker_solving.see(spot, ())
    told = [poker_solving.solve_further(spot), poker_solving.solve_further(spot)]
    assert told[1]["iterations"] > told[0]["iterations"] >= 1
    # How far one step comes hangs on the machine.
    while told[-1]["percent"] >= 1:
        told.append(poker_solving.solve_further(spot))
        assert len(told) < 100
    assert told[-1]["percent"] >= 0
    assert poker_solving.see(spot, ())["actions"][1]["name"] == "Bet 10"
    kept = poker_solving._solved_spots[spot].solution
    poker_solving.see(spot, (2,))
    assert poker_solving._solved_spots[spot].solution is kept
    poker_solving.solve_further(spot)
    assert poker_solving._solved_spots[spot].solution is None


def test_old_spots_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    spots = [poker.spot(BODY | {"pot": pot}) for pot in (20, 21, 22)]
    size = poker_solving.check(spots[0])["gigabytes"]
    monkeypatch.setattr(poker_solving, "_MAX_GIGABYTES", 2.5 * size)
    monkeypatch.setattr(poker_solving, "_SECONDS", 0.001)
    for spot in (spots[0], spots[1], spots[0], spots[2]):
        poker_solving.solve_further(spot)
    assert list(poker_solving._solved_spots) == [spots[0], spots[2]]


def test_what_is_too_large_is_told_before_it_is_made() -> None:
    flop = poker.spot(BODY | {"board": "QsJh2h", "range_0": "", "range_1": ""})
    with pytest.raises(ValueError, match=r"needs about [\d.]+ GB, and 2 are allowed here"):
        poker_solving.check(flop)
    with pytest.raises(ValueError, match="allowed here"):
        poker_solving.solve_further(flop)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("pot", "many", "pot must be a number of chips"),
        ("pot", True, "pot must be a number of chips"),
        ("stack", 0, "stack must be a number of chips, more than 0"),
        ("stack", 1e300, "stack must be a number of chips"),
        ("stack", 10**400, "stack must be a number of chips"),
        ("board", None, "board must be a text"),
        ("range_0", "A" * 7001, "range_0 must be a text of at most 7000"),
        ("range_1", "AKx", "'AKx' is no part of a range here"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        poker_solving.check(poker.spot(BODY | {field: value}))


def test_the_addresses() -> None:
    settings = Settings(hosts=("testserver",), num_workers=1, seconds=120.0)
    with TestClient(make_app(settings)) as client:
        for path in poker.FILES:
            assert client.get(path).status_code == 200
        assert client.post("/api/poker/check", json=BODY).json()["infosets"] > 100
        wrong = client.post("/api/poker/check", json=BODY | {"range_0": "AKx"})
        assert wrong.status_code == 400
        assert wrong.json()["error"].startswith("'AKx' is no part of a range here")
        unknown = client.post("/api/poker/solve", json=BODY | {"path": []})
        assert "unknown fields path" in unknown.json()["error"]
        assert client.post("/api/poker/solve", json=BODY).json()["iterations"] >= 1
        found = client.post("/api/poker/see", json=BODY | {"path": [2]}).json()
        assert [each["name"] for each in found["actions"]] == [
            "Fold",
            "Call 10",
            "Raise to 30",
            "All-in 90",
        ]
        for path in (None, [-1], ["1"], [True], [1] * 101):
            answer = client.post("/api/poker/see", json=BODY | {"path": path})
            assert "path must be a list" in answer.json()["error"]
        answer = client.post("/api/poker/see", json=BODY | {"path": [0]})
        assert "no legal action" in answer.json()["error"]
