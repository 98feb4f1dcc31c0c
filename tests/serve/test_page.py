"""The page in a browser: whole games are played by clicks on it."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import browser
from tests.browser import Tab

pytestmark = browser.needs_browser
SCRIPT = Path(__file__).parents[2] / "run" / "serve.py"
IDLE = "document.body?.dataset.busy === 'no' && document.body.dataset.looking !== 'yes'"


@contextlib.contextmanager
def served(*flags: str) -> Iterator[str]:
    """The address of a server that runs as a person would run it."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "--port=0", "--num_workers=1", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
    yield found[0]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == ""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served("--seconds=300") as found:
        yield found


@pytest.fixture(scope="module")
def tab(address: str) -> Iterator[Tab]:
    with browser.open_tab() as opened:
        opened.go(address)
        yield opened
        assert opened.errors == []


def begin(tab: Tab, game: str, policy: str, iterations: int = 50) -> None:
    tab.value("location.hash = ''")
    tab.wait(f"{IDLE} && document.body.dataset.page === 'setup' && at('policy').value")
    tab.type("#game", game)
    tab.type("#policy", policy)
    tab.value(f"document.querySelector('#option-effort').value = {iterations}")
    tab.click("#begin")
    tab.wait("document.body.dataset.page === 'game' || !at('error').hidden")
    settle(tab)


def settle(tab: Tab) -> None:
    """Waits until the page waits for the person, and nothing went wrong."""
    tab.wait(IDLE)
    assert tab.value("document.querySelector('#error').hidden"), tab.value(
        "document.querySelector('#error').textContent"
    )


def play_to_the_end(tab: Tab, clickable: str = "#board [data-action]") -> int:
    """Clicks on the first action until the game is over: how many clicks it took."""
    clicks = 0
    while not tab.value("game.result"):
        tab.click(clickable)
        clicks += 1
        assert clicks < 100
        # A click on a tile may mean two actions; then it is asked which.
        if tab.value("document.querySelector('#which button') !== null && !game.result"):
            tab.click("#which button")
        settle(tab)
    return clicks


@pytest.mark.parametrize(
    ("game", "policy", "drawn"),
    [
        ("python_leduc", "rnad:leduc", ".card"),
        ("goofspiel_4_descending", "uniform", "button.card"),
        ("battleships_2x2", "rnad:battleships_2x2", ".grid .cell"),
        ("python_dark_hex(num_rows=2,num_cols=2)", "uniform", ".hex .cell"),
        ("kuhn_poker", "resolving:exact", ".card"),
        ("tic_tac_toe", "uniform", "pre"),
    ],
)
def test_a_whole_game_by_clicks(tab: Tab, game: str, policy: str, drawn: str) -> None:
    begin(tab, game, policy)
    assert tab.value(f"document.querySelector('#board {drawn}') !== null")
    assert play_to_the_end(tab) >= 1
    text = tab.value("document.querySelector('#board').innerText")
    assert re.search(r"You win|You lose|A draw", text)
    # What the opponent thought, with its ranges and the worth of its actions, once it is asked for.
    assert tab.value("at('insight').hidden")
    if game == "tic_tac_toe":  # It hides nothing, and is too large to be looked at.
        assert tab.value("document.querySelector('#reveal') === null")
        return
    tab.click("#thoughts")
    settle(tab)
    thoughts = tab.value("document.querySelector('#insight').innerText")
    assert "undefined" not in thoughts
    assert policy in thoughts
    assert tab.value("document.querySelectorAll('#insight table').length") == 2
    assert tab.value("document.querySelector('#insight .utilities') !== null")


def test_back_and_on_and_reveal_and_another_policy(tab: Tab) -> None:
    begin(tab, "kuhn_poker", "cfr+:50")
    play_to_the_end(tab)
    count = tab.value("game.count")
    tab.click("[title='to the beginning']")
    settle(tab)
    tab.click("#thoughts")
    settle(tab)
    assert tab.value("shown.at") == 0
    assert "in your place" in tab.value("document.querySelector('#insight').innerText")
    tab.click(".look summary")
    tab.type("#other", "equilibrium")
    tab.type("#compared", "uniform")
    tab.click("#look")
    settle(tab)
    text = tab.value("document.querySelector('#insight').innerText")
    assert "What equilibrium would do" in text
    assert "differs by" in text
    tab.click("#reveal")
    settle(tab)
    assert "What was hidden" in tab.value("document.querySelector('#board').innerText")
    tab.click("#back")
    settle(tab)
    assert tab.value("game.count") < count
    assert tab.value("game.turn") == "you"


def test_a_game_is_there_again_after_the_page_was_loaded_anew(tab: Tab, address: str) -> None:
    begin(tab, "kuhn_poker", "uniform")
    key = tab.value("game.key")
    tab.go(f"{address}/#game={key}")
    tab.send("Page.reload")
    tab.wait("typeof game !== 'undefined' && game !== null")
    settle(tab)
    assert tab.value("game.key") == key
    # The form asks for the same game again.
    assert tab.value("at('game').value") == "kuhn_poker"
    assert tab.value("at('policy').value") == "uniform"


def test_the_address_says_what_is_shown(tab: Tab, address: str) -> None:
    keys = []
    for game in ("kuhn_poker", "leduc"):
        begin(tab, game, "uniform")
        keys.append(tab.value("game.key"))
    tab.value("history.go(-2)")
    tab.wait(f"game?.key === '{keys[0]}' && document.body.dataset.page === 'game'")
    settle(tab)
    assert "kuhn_poker" in tab.value("at('board').textContent")
    assert tab.value("at('game').value") == "kuhn_poker"
    tab.value("history.back()")
    tab.wait("document.body.dataset.page === 'setup'")
    tab.value("history.go(3)")
    tab.wait(f"game?.key === '{keys[1]}' && document.body.dataset.page === 'game'")
    settle(tab)
    tab.go(f"{address}/#game=nothing")
    tab.wait("!at('error').hidden")
    assert "not there any more" in tab.value("at('error').textContent")
    tab.errors[:] = [error for error in tab.errors if "404" not in error]


@pytest.mark.parametrize("num_times", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_clicks_never_break_a_game(tab: Tab, num_times: int) -> None:
    """Double clicks, reloads, steps back, a second tab: in the end the game can be played on."""
    luck, games = random.Random(0), ["leduc", "kuhn_poker", "goofspiel_4_descending"]
    begin(tab, "leduc", "mmd:leduc")
    with tab.beside(tab.value("location.href")) as second:
        for _ in range(num_times):
            if tab.value("game.result !== null"):
                begin(tab, luck.choice(games), "uniform")
            what = luck.choice(["double"] * 5 + ["reload", "back", "second"])
            if what == "double":
                tab.click("#board [data-action]", times=2)
            elif what == "reload":
                tab.click("#board [data-action]")
                tab.send("Page.reload")
                tab.wait(f"{IDLE} && typeof game !== 'undefined' && game")
            elif what == "back" and tab.value("game.count > 1"):
                tab.click("[title='to the beginning']")
                tab.wait(IDLE)
                tab.click("#back", times=2)
            elif what == "second":
                in_both(tab, second, luck)
            settle(tab)
            is_over, turn = tab.value("[game.result !== null, game.turn]")
            assert is_over or turn == "you"
            assert is_over or tab.value("document.querySelector('#board [data-action]') !== null")
        assert second.errors == []
    # The browser tells of each answer 409, after which the page asks what there is.
    tab.errors[:] = [error for error in tab.errors if "409" not in error]


def in_both(first: Tab, second: Tab, luck: random.Random) -> None:
    """Moves in two tabs of one game, at about the same time; both show the same in the end."""
    second.value(f"location.hash = {first.value('location.hash')!r}")
    second.wait(
        f"{IDLE} && typeof game !== 'undefined' && game?.key === {first.value('game.key')!r}"
    )
    for each in luck.sample([first, second], 2):
        if each.value("document.querySelector('#board [data-action]') !== null"):
            each.click("#board [data-action]")
    for each in (first, second, first):
        settle(each)
    second.wait(f"{IDLE} && game.count === {first.value('game.count')}", seconds=20)
    second.errors[:] = [error for error in second.errors if "409" not in error]


def test_the_public_tree_opens_as_one_looks(tab: Tab) -> None:
    tab.click("#to-tree")
    tab.wait("document.body.dataset.page === 'setup-tree'")
    tab.type("#game", "kuhn_poker")
    tab.type("#policy", "cfr+:50")
    tab.click("#begin")
    tab.wait("document.querySelectorAll('#tree [role=treeitem]').length > 1")
    settle(tab)
    before = tab.value("document.querySelectorAll('#tree [role=treeitem]').length")
    tab.click("#tree [role=group] [role=treeitem][aria-expanded=false] .turn")
    tab.wait(f"document.querySelectorAll('#tree [role=treeitem]').length > {before}")
    tab.click("#tree [role=group] [role=group] .row")
    tab.wait("document.querySelector('#detail h2').textContent.includes('state 2: chance: hidden')")
    tab.click("#detail p a")
    tab.wait("document.querySelector('#detail h2').textContent.includes('player 0: Pass')")
    assert tab.value("document.querySelectorAll('#detail table').length") == 2
    # It goes on to open after one has looked at another page.
    tab.click("#to-setup")
    tab.wait("document.body.dataset.page === 'setup'")
    tab.value("history.back()")
    tab.wait("document.body.dataset.page === 'tree'")
    before = tab.value("document.querySelectorAll('#tree [role=treeitem]').length")
    tab.click("#tree [role=group] [role=treeitem][aria-expanded=false] .turn")
    tab.wait(f"document.querySelectorAll('#tree [role=treeitem]').length > {before}")


@pytest.mark.parametrize(
    ("game", "policy"),
    [
        ("kuhn_poker", "resolving:exact"),
        ("leduc", "mmd:leduc"),
        ("battleships_2x2", "uniform"),
        ("python_dark_hex(num_rows=2,num_cols=2)", "uniform"),
        ("tic_tac_toe", "uniform"),
    ],
)
def test_games_are_there_for_everybody(tab: Tab, game: str, policy: str) -> None:
    begin(tab, game, policy)
    if policy != "uniform":
        tab.click("#thoughts")
        settle(tab)
    assert findings(tab) == []
    # By the keyboard alone; the focus stays on the board.
    tab.value("document.querySelector('#board [data-action]').focus()")
    tab.press("Enter")
    if tab.value("at('which').firstChild !== null"):
        tab.press("Enter")
    settle(tab)
    assert tab.value("game.count > 1 && at('board').contains(document.activeElement)")


def test_other_pages_are_there_for_everybody(tab: Tab, address: str) -> None:
    tab.value("location.hash = ''")
    tab.wait("document.body.dataset.page === 'setup'")
    assert findings(tab) == []
    tab.go(f"{address}/#tree&game=kuhn_poker&policy=cfr%2B%3A50&state-2")
    tab.wait("document.querySelectorAll('#tree [role=treeitem]').length > 1")
    tab.wait("document.querySelector('#detail h2')?.textContent.includes('state 2')")
    assert findings(tab) == []


def findings(tab: Tab) -> list[str]:
    """The findings of axe in a page, in light and dark mode."""
    axe = pytest.importorskip("axe_core_python")
    found: list[str] = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        tab.send("Emulation.setEmulatedMedia", features=features)
        tab.value(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
        script = "axe.run().then((found) => found.violations.map((each) => each.id + ': ' +"
        script += " each.nodes.map((node) => node.html).join(' ')))"
        found += tab.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )["result"]["value"]
    return found


def test_the_board_comes_first_on_a_phone(tab: Tab) -> None:
    begin(tab, "leduc", "uniform")
    tab.send(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=844,
        deviceScaleFactor=1,
        mobile=True,
    )
    try:
        place = "document.querySelector('#board [data-action]').getBoundingClientRect().bottom"
        assert tab.value(place) < 500
        assert tab.value("document.documentElement.scrollWidth <= 390")
    finally:
        tab.send("Emulation.clearDeviceMetricsOverride")


def test_games_are_found_and_opponents_say_why_not(tab: Tab) -> None:
    tab.value("location.hash = ''")
    tab.wait("document.body.dataset.page === 'setup'")
    tab.value("(at('search').value = 'HEX', at('search').dispatchEvent(new Event('input')))")
    names = "[...document.querySelectorAll('.game:not([hidden])')].map((e) => e.dataset.game)"
    assert tab.value(names) == ["dark_hex_3x3", "abrupt_dark_hex_3x3"]
    tab.click(".game[data-game=dark_hex_3x3]")
    assert tab.value("at('game').value") == "dark_hex_3x3"
    closed = tab.value("document.querySelector('[data-policy=equilibrium]').innerText")
    assert "Not here: it lists the whole game" in closed
    assert tab.value("document.querySelector('[data-policy=equilibrium]').disabled")
    tab.value("(at('search').value = '', at('search').dispatchEvent(new Event('input')))")
    tab.click(".game[data-game=leduc]")
    assert "no critic" in tab.value(
        "document.querySelector('[data-policy=\"sepot:mmd:leduc\"]').innerText"
    )


@pytest.mark.slow
def test_who_thinks_for_too_long_is_asked_again_or_replaced(tab: Tab) -> None:
    with served("--seconds=3") as address, tab.beside(address) as tab:
        tab.wait(f"{IDLE} && at('policy').value")
        tab.type("#game", "kuhn_poker")
        tab.type("#policy", "resolving:exact")
        tab.value("at('option-effort').value = 100000")
        tab.value("at('seat').value = '1'")  # The opponent begins.
        tab.click("#begin")
        tab.wait("document.querySelector('#again')")
        assert "This took longer than 3 seconds" in tab.value("at('error').textContent")
        begun = time.monotonic()
        tab.click("#again")
        tab.wait(f"!({IDLE})")
        tab.wait(f"{IDLE} && document.querySelector('#again')")
        # What it takes to start a process anew, and 3 seconds.
        assert time.monotonic() - begun < 60
        tab.click("#other-one")
        tab.wait(f"{IDLE} && game.turn === 'you'")
        assert tab.value("[game.opponent, at('error').hidden]") == ["uniform", True]
        play_to_the_end(tab)
