"""The server's addresses: whole games, and what is asked wrongly."""

from __future__ import annotations

import concurrent.futures
import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from spiel_dl.serve import app
from spiel_dl.serve.app import Settings, make_app
from spiel_dl.serve.pool import Pool, TooLongError

HOSTS = ("testserver",)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    settings = Settings(hosts=HOSTS, num_workers=1, seconds=120.0)
    with TestClient(make_app(settings)) as opened:
        yield opened


def begin(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post("/api/games", json={"game": "kuhn_poker", "policy": "uniform", **body})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def post(client: TestClient, game: dict[str, Any], what: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/api/games/{game['key']}/{what}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def play(client: TestClient, game: dict[str, Any]) -> dict[str, Any]:
    """Plays the first action until the game is over."""
    while game["turn"] != "over":
        if game["turn"] == "you":
            game = post(client, game, "move", action=game["actions"][0]["id"], count=game["count"])
        else:
            game = post(client, game, "answer")
    return game


@pytest.mark.parametrize(
    ("name", "policy", "seat"),
    [
        ("kuhn_poker", "resolving:exact", 0),
        ("kuhn_poker", "cdbr:uniform", 1),
        ("goofspiel(num_cards=3,imp_info=True,points_order=descending)", "cfr+:20", 1),
        ("tic_tac_toe", "highest", 0),
        ("leduc", "rnad:leduc", 1),
    ],
)
def test_a_whole_game(client: TestClient, name: str, policy: str, seat: int) -> None:
    game = begin(client, game=name, policy=policy, seat=seat, options={"effort": "30"})
    assert game["seat"] == seat
    game = play(client, game)
    assert sum(game["result"]) == 0
    assert game["turns"][-1] == "over"
    for moment, turn in enumerate(game["turns"][:-1]):
        seen = client.get(f"/api/games/{game['key']}?at={moment}").json()
        assert (seen["at"], seen["turn"]) == (moment, turn)
        assert seen["result"] is None
        assert seen["actions"] == []  # Nobody can play in the past.
        insight = post(client, game, "analysis", at=moment)
        mover = seat if turn == "you" else 1 - seat
        assert insight["player"] == mover
        assert insight["policy"] == policy


def test_a_step_back_and_on(client: TestClient) -> None:
    game = play(client, begin(client, policy="cfr+:20"))
    moment = game["turns"].index("you")
    game = post(client, game, "back", at=moment)
    assert (game["turn"], game["count"]) == ("you", moment + 1)
    assert play(client, game)["result"] is not None


def test_nothing_hidden_is_told_before_it_is_asked_for(client: TestClient) -> None:
    game = play(client, begin(client, game="leduc", policy="uniform"))
    body = json.dumps(game)
    assert game["all"] is None
    assert "history" not in body
    assert "seed" not in body
    shown = post(client, game, "reveal")
    assert shown["revealed"] is True
    assert "player 1" in shown["all"]["text"].lower() or "P1" in shown["all"]["text"]
    marked = [
        [row["is_actual"] for row in own]
        for own in post(client, shown, "analysis", at=0)["state"]["infosets"]
    ]
    assert [sum(own) for own in marked] == [1, 1]


def test_the_public_tree(client: TestClient) -> None:
    body = {"game": "kuhn_poker", "policy": "cfr+:20"}
    seen, waiting = 0, [0]
    while waiting:
        number = waiting.pop()
        found = client.post("/api/branch", json=body | {"number": number}).json()
        assert found["state"]["number"] == number
        assert found["num_below_left_out"] == 0
        seen += 1
        waiting += [each["number"] for each in found["below"]]
    assert seen == found["num_public_states"]


def test_the_menu_offers_what_can_be_played(client: TestClient) -> None:
    menu = client.get("/api/menu").json()
    for each in menu["games"]:
        offered = {other["name"] for other in each["opponents"] if not other["reason"]}
        assert "uniform" in offered
        if "13" in each["name"] or "5x5" in each["name"] or "goofspiel_8" in each["name"]:
            continue
        for policy in offered - {"resolving:exact", "cdbr:uniform", "equilibrium"}:
            game = begin(client, game=each["name"], policy=policy)
            assert game["asked"] == {"game": each["name"], "policy": policy}


def test_an_opponent_can_be_replaced(client: TestClient) -> None:
    game = begin(client, policy="cdbr:uniform")
    assert game["blueprint"] == "uniform"
    changed = post(client, game, "opponent", policy="uniform")
    assert (changed["opponent"], changed["blueprint"]) == ("uniform", None)
    assert play(client, changed)["result"] is not None


def test_who_asks_for_an_answer_while_another_does_gets_the_same(client: TestClient) -> None:
    game = begin(client, game="leduc", policy="uniform", seat=1)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: post(client, game, "answer"), range(4)))
    assert all(each == found[0] for each in found)
    assert found[0]["turn"] == "you"


def test_a_policy_that_searches_from_what_it_knows_is_looked_at_in_the_end(
    client: TestClient,
) -> None:
    body = {"game": "goofspiel_8_descending", "policy": "klss:rnad:goofspiel_8_descending"}
    game = begin(client, **body, seat=1, options={"effort": "5", "budget": "20"})
    game = post(client, game, "answer")
    hidden = post(client, game, "analysis", at=game["turns"].index("opponent"))
    assert hidden["state"] is None
    assert hidden["how"].endswith("is over, or all is revealed.")
    game = post(client, play(client, game), "analysis", at=0)
    assert game["state"] is not None


def test_pages_and_their_files(client: TestClient) -> None:
    for path in app._FILES:
        answer = client.get(path)
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        # Nothing is loaded from elsewhere; the only other address is SVG's name.
        assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")


GAME = "/api/games/KEY"
LONG = "x" * 600
BODIES = ["{", "[1, 2]", "[" * 10_000, "\xff\xfe", "x" * 20_000]
GAMES: list[Any] = [
    7, "", "   ", LONG, "kuhn\x00poker", "no_such_game", "kuhn_poker(", "kuhn_poker(players=3)",
    "goofspiel(num_cards=-3)", "matrix_pd", "efg_game(filename=/etc/passwd)",
    "python_leduc(num_ranks=0)",
]  # fmt: skip
POLICIES: list[Any] = [
    "nobody", "cfr:", "cfr:-1", "/etc/passwd", "resolving:/etc/passwd", "sepot:/etc",
    "abd:0.5:/etc/passwd", "onnx:/etc/passwd", "solved:../../etc",
    "cdrnr:x:uniform", "rnr:2:uniform", "rnad:leduc", ["uniform"],
]  # fmt: skip
KUHN = {"game": "kuhn_poker", "policy": "uniform"}
OTHERS: list[tuple[str, Any]] = [
    ("/api/games", {}),
    ("/api/games", {"game": "kuhn_poker"}),
    *(("/api/games", KUHN | {"seat": seat}) for seat in (2, True, "0")),
    ("/api/games", KUHN | {"policy": "cdbr:uniform", "options": {"effort": "0"}}),
    ("/api/games", KUHN | {"options": {"effort": 30}}),
    ("/api/games", KUHN | {"options": {"temperature": "\n"}}),
    ("/api/games", KUHN | {"options": {"colour": "red"}}),
    ("/api/games", KUHN | {"policy": "resolving:exact", "options": {"depth_limit": "1 feet"}}),
    ("/api/games", KUHN | {"policy": "resolving:exact", "options": {"depth_limit": "1 rounds"}}),
    ("/api/games", KUHN | {"colour": "red"}),
    (f"{GAME}/move", {}),
    *((f"{GAME}/move", {"action": action}) for action in (77, -1, 0.5, 10**30)),
    (f"{GAME}/move", {"action": 0, "count": 99}),
    (f"{GAME}/move", {"action": 0, "seat": 1}),
    (f"{GAME}/answer", {"x": 1}),
    *((f"{GAME}/back", body) for body in ({"at": 9}, {"at": -1}, {})),
    *((f"{GAME}/analysis", {"at": at}) for at in (9, None)),
    (f"{GAME}/analysis", {"at": 0, "policy": "nobody"}),
    (f"{GAME}/analysis", {"at": 0, "policy": "uniform", "compared": "/etc"}),
    (f"{GAME}/reveal", {"now": True}),
    ("/api/games/nothing/move", {"action": 0}),
    *(("/api/branch", KUHN | {"number": number}) for number in (10_000, "x")),
    ("/api/branch", KUHN | {"game": "chess"}),
    ("/api/nowhere", {}),
]
WRONG: list[tuple[str, str, Any]] = [
    *(("/api/games", text, None) for text in BODIES),
    *(("/api/games", "", KUHN | {"game": game}) for game in GAMES),
    *(("/api/games", "", KUHN | {"policy": policy}) for policy in POLICIES),
    *((path, "", body) for path, body in OTHERS),
]


@pytest.mark.parametrize(("path", "text", "body"), WRONG)
def test_what_is_asked_wrongly(client: TestClient, path: str, text: str, body: Any) -> None:
    key = begin(client)["key"] if "KEY" in path else ""
    content = text.encode("latin-1") if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    answer = client.post(path.replace("KEY", key), content=content, headers=headers)
    assert 400 <= answer.status_code < 500, answer.text
    [(name, sentence)] = answer.json().items()
    assert name == "error"
    assert 10 < len(sentence) <= 400
    assert "\n" not in sentence
    assert "Traceback" not in sentence


def test_other_ways_to_ask_wrongly(client: TestClient) -> None:
    key = begin(client)["key"]
    for path in (f"/api/games/{key}?at=x", f"/api/games/{key}?at=99", "/api/games/unknown"):
        assert 400 <= client.get(path).status_code < 500
    # Forms and texts can be sent by pages of other sites.
    plain = client.post("/api/games", content=b"{}", headers={"content-type": "text/plain"})
    assert plain.status_code == 400
    wrong = client.put("/api/games")
    assert wrong.status_code == 405
    assert wrong.json() == {"error": "there is nothing to PUT at this address"}
    # A name that another site has made to lead here.
    assert client.get("/api/menu", headers={"host": "elsewhere.example"}).status_code == 400


def test_errors_do_not_say_where_files_lie() -> None:
    body = app._sentence("/home/me/zoo/leduc.safetensors is torn, see runs/a or http://x.org/y/z")
    assert body == "leduc.safetensors is torn, see runs/a or http://x.org/y/z"


def test_errors_can_be_sent_whatever_was_asked() -> None:
    client = TestClient(make_app(Settings(hosts=HOSTS)))  # Its workers are not started.
    content, headers = b'{"\\ud800": 1}', {"content-type": "application/json"}
    answer = client.post("/api/games", content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("unknown fields ?; known are game,")


def test_games_can_be_left(client: TestClient) -> None:
    key = begin(client)["key"]
    assert client.delete(f"/api/games/{key}").status_code == 200
    assert client.get(f"/api/games/{key}").status_code == 404


def test_what_takes_too_long_is_told(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it is stopped is tested of the pool, and of the page."""

    async def run(*_: Any, **__: Any) -> None:
        raise TooLongError("this took longer than 3 seconds")

    monkeypatch.setattr(Pool, "run", run)
    answer = client.post("/api/games", json=KUHN)
    assert (answer.status_code, answer.json()["error"]) == (504, "this took longer than 3 seconds")
