"""The page in a browser: whole games are played by clicks on it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import browser
from tests.browser import Tab

pytestmark = browser.needs_browser
SCRIPT = Path(__file__).parents[2] / "run" / "serve.py"
IDLE = "document.body.dataset.busy === 'no'"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server that runs as a person would run it."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "--port=0", "--seconds=300"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
    assert found is not None
    yield found[0]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == ""


@pytest.fixture(scope="module")
def tab(address: str) -> Iterator[Tab]:
    with browser.open_tab() as opened:
        opened.go(address)
        yield opened
        assert opened.errors == []


def begin(tab: Tab, game: str, policy: str, iterations: int = 50) -> None:
    tab.wait(f"{IDLE} && document.querySelector('#policy').value")
    tab.type("#game", game)
    tab.type("#policy", policy)
    tab.value(f"document.querySelector('#option-effort').value = {iterations}")
    tab.click("#begin")
    tab.wait("document.querySelector('#begin')")
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
        ("kuhn_poker", "resolving:exact", "pre"),
    ],
)
def test_a_whole_game_by_clicks(tab: Tab, game: str, policy: str, drawn: str) -> None:
    begin(tab, game, policy)
    assert tab.value(f"document.querySelector('#board {drawn}') !== null")
    assert play_to_the_end(tab) >= 1
    text = tab.value("document.querySelector('#board').innerText")
    assert re.search(r"You win|You lose|A draw", text)
    # What the opponent thought, with its ranges and the worth of its actions.
    thoughts = tab.value("document.querySelector('#insight').innerText")
    assert policy in thoughts
    assert tab.value("document.querySelectorAll('#insight table').length") == 2
    assert tab.value("document.querySelector('#insight .utilities') !== null")


def test_back_and_on_and_reveal_and_another_policy(tab: Tab) -> None:
    begin(tab, "kuhn_poker", "cfr+:50")
    play_to_the_end(tab)
    count = tab.value("game.count")
    tab.click("[aria-label='to the beginning']")
    settle(tab)
    assert tab.value("shown.at") == 0
    assert "in your place" in tab.value("document.querySelector('#insight').innerText")
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


def test_the_public_tree_opens_as_one_looks(tab: Tab) -> None:
    tab.click("#tab-tree")
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
    # It goes on to open after one has looked at the other tab.
    tab.click("#tab-play")
    tab.click("#tab-tree")
    before = tab.value("document.querySelectorAll('#tree [role=treeitem]').length")
    tab.click("#tree [role=group] [role=treeitem][aria-expanded=false] .turn")
    tab.wait(f"document.querySelectorAll('#tree [role=treeitem]').length > {before}")
    tab.click("#tab-play")
