"""The page of poker in a browser: a spot is typed by hand, solved, explored, and played."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import browser
from tests.browser import Tab
from tests.serve.test_page import SCRIPT, findings, served

pytestmark = browser.needs_browser
IDLE = "document.body?.dataset.busy === 'no'"
CURRENT = "#line li[aria-current]"


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with served("--seconds=300") as address, browser.open_tab() as opened:
        opened.go(f"{address}/poker")
        opened.wait("document.querySelector('#range-grid-1 [data-cell]')")
        yield opened
        assert opened.errors == []


def fill(tab: Tab, **fields: str) -> None:
    for name, text in fields.items():
        tab.type(f"#{name.replace('_', '-')}", text)


def solve(tab: Tab) -> None:
    tab.click("#solve")
    shown = "[...document.querySelectorAll('#solution, #error')].some((each) => !each.hidden)"
    tab.wait(f"{IDLE} && {shown}")


def step(tab: Tab, number: int, end: str = CURRENT) -> None:
    before = tab.value("view.now().path.length")
    tab.click(f"{end} [data-step='{number}']")
    tab.wait(f"view.now().path.length !== {before}")


def open_spot(tab: Tab) -> None:
    if not tab.value("document.querySelector('#spot').open"):
        tab.click("#spot summary")


def play_one(tab: Tab) -> str:
    """Plays a hand, calling always: what the page says at its end."""
    shown = "document.querySelector('#play .result, #play .choices button')"
    tab.wait(shown)
    while tab.value("document.querySelector('#play .result') === null"):
        count = tab.value("document.querySelectorAll('#play li').length")
        tab.click("#play .choices [data-step='1']")
        tab.wait(f"document.querySelectorAll('#play li').length > {count}")
        tab.wait(shown)
    return str(tab.value("document.querySelector('#play').innerText"))


def test_a_river_is_typed_solved_explored_and_played(tab: Tab) -> None:
    fill(tab, board_text="Ks9h3h4d8c", pot="30", stack="60", bets="50%, allin", target="0.5")
    fill(tab, range_0="99+, AK, KQ, A5s-A2s, QJs", range_1="22+, AT+, KQ, QTs:0.5")
    # A click on a cell takes a hand out of the range.
    tab.wait("document.querySelector('#range-grid-0 [data-cell=QJs]').classList.contains('held')")
    tab.click("#range-grid-0 [data-cell=QJs]")
    tab.wait("!document.querySelector('#range-grid-0 [data-cell=QJs]').classList.contains('held')")
    assert tab.value("document.querySelector('#range-0').value").endswith(", QJs:0")
    assert findings(tab) == []
    solve(tab)
    assert tab.value("document.querySelector('#error').hidden")
    assert "% of the pot" in tab.value("document.querySelector('#quality').textContent")
    # The tree: player 0 checks, player 1 bets.
    assert tab.value("view.now().player") == 0
    step(tab, 1)
    step(tab, 2)
    assert tab.value("view.now().actions.map((each) => each.name)") == [
        "Fold",
        "Call 15",
        "Raise to 45",
        "All-in 60",
    ]
    # The grid: the cell is as its hands say, and a click lists them.
    tab.click("#grid [data-cell=KQs]")
    tab.wait("document.querySelector('#hands caption')?.textContent === 'OOP, KQs'")
    hands = tab.value("view.now().sides[0].hands.KQs.filter((each) => each.reach > 0).length")
    assert tab.value("document.querySelectorAll('#hands tbody tr').length") == hands > 0
    label = tab.value("document.querySelector('#grid [data-cell=KQs]').getAttribute('aria-label')")
    assert "KQs" in label
    assert "Call 15" in label
    fill_of = "document.querySelector('#grid [data-cell=KQs] i').style.background"
    assert "linear-gradient" in tab.value(fill_of)
    for mode in ("weight", "equity", "value"):
        tab.click(f"#modes [data-value={mode}]")
        assert tab.value("document.querySelector('#grid .held small') !== null")
    tab.click("#seats [data-value='1']")
    assert "IP" in tab.value("document.querySelector('#grid').getAttribute('aria-label')")
    # By keys: back, and another action; the address says where one is.
    tab.value("document.activeElement.blur()")
    tab.press("Backspace")
    tab.wait("view.now().path.length === 1")
    assert tab.value("location.hash").endswith("path=1")
    tab.press("1")
    tab.wait("view.now().player === -4")
    assert "Showdown" in tab.value("document.querySelector('#line').innerText")
    tab.value("history.back()")
    tab.wait("view.now().path.length === 1")
    tab.value("document.querySelector('#grid [tabindex=\"0\"]').focus()")
    tab.press("ArrowRight")
    assert tab.value("document.activeElement.dataset.cell") in ("AKs", "KJs", "AQs", "KTs")
    assert findings(tab) == []
    # A hand against the solution.
    tab.click("#begin-play")
    text = play_one(tab)
    assert "Solution: " in text
    assert "chips" in text
    assert findings(tab) == []
    tab.click("#next-hand")
    assert "Hands: 2." in play_one(tab)
    tab.click("#end-play")
    assert tab.value("!document.querySelector('#look').hidden")


def test_a_turn_deals_its_river(tab: Tab) -> None:
    open_spot(tab)
    fill(tab, board_text="Ks9h3h4d", pot="30", stack="60", bets="allin", target="5")
    fill(tab, range_0="KK, QJs", range_1="AK, 77")
    solve(tab)
    step(tab, 1)
    step(tab, 1)
    assert tab.value(f"document.querySelectorAll('{CURRENT} .deck button').length") == 48
    assert ", EV OOP " in tab.value(f"document.querySelector('{CURRENT} .deck button').title")
    step(tab, 24)  # 8c
    assert tab.value("view.now().board.join(' ')") == "Ks 9h 3h 4d 8c"
    assert tab.value("view.now().player") == 0
    assert findings(tab) == []
    tab.click("#begin-play")
    assert "Dealt" in play_one(tab)
    tab.click("#end-play")


def test_a_wrong_range_gets_a_sentence(tab: Tab) -> None:
    open_spot(tab)
    fill(tab, range_0="KK, AKx")
    tab.wait("!document.querySelector('#error').hidden")
    solve(tab)
    assert "is no part of a range here" in tab.value("document.querySelector('#error').innerText")
    assert tab.value("document.querySelector('#solution').hidden")
    fill(tab, range_0="KK, AK")
    tab.wait("document.querySelector('#error').hidden")
    # The browser tells of each answer 400.
    tab.errors[:] = [error for error in tab.errors if "400" not in error]


def test_one_may_stop_and_look_at_what_there_is(tab: Tab) -> None:
    open_spot(tab)
    fill(tab, board_text="Ks9h3h4d8c", target="0.0000001", range_0="", range_1="")
    tab.click("#solve")
    tab.wait("document.querySelector('#status').textContent.includes('iterations')")
    tab.click("#stop")
    tab.wait(f"{IDLE} && !document.querySelector('#solution').hidden")
    assert tab.value("view.now().player") == 0


def test_it_fits_on_a_phone(tab: Tab) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    tab.send("Emulation.setDeviceMetricsOverride", **size)
    try:
        assert tab.value("document.documentElement.scrollWidth <= 390")
        assert tab.value("document.querySelector('#grid').getBoundingClientRect().width <= 380")
    finally:
        tab.send("Emulation.clearDeviceMetricsOverride")


@pytest.mark.slow
def test_a_solved_river_is_a_page_of_its_own(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "river.html"
    command = [sys.executable, str(SCRIPT.with_name("solve.py")), "--poker=Ks9h3h4d8c", "--pot=30"]
    command += ["--stack=60", "--range_0=KK,QJs", "--range_1=AK,77", "--bets=allin"]
    command += ["--solver=lcfr", "--iterations=50", f"--page={path}", f"--run_dir={tmp_path}/run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(path) in done.stdout
    with tab.beside(path.as_uri()) as tab:
        tab.wait("document.querySelector('#grid [data-cell]')")
        step(tab, 2)
        assert "% of the pot, after 50" in tab.value("document.querySelector('#quality').innerText")
        assert findings(tab) == []
        tab.click("#begin-play")
        assert "chips" in play_one(tab)
        assert tab.errors == []
