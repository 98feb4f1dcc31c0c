"""The page of a public tree, as text and as a browser shows it."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import re
from pathlib import Path
from typing import Any

import pytest

from spiel_dl import ArrayPolicy, DepthLimit, GameTree
from spiel_dl.play import public_tree_page
from spiel_dl.play.public_tree_view import PublicTreeView, view_public_tree
from tests import browser
from tests.pages import ROOT

NASTY = "</script><script>document.title='broken'</script><b id=\"x\">&amp;'"


class Page(html.parser.HTMLParser):
    """A page's tags, and the texts behind each."""

    def __init__(self, source: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.texts.append((self.tags[-1][0], data))

    def text(self, tag: str) -> str:
        return "".join(data for of, data in self.texts if of == tag)

    def selected(self) -> list[dict[str, str | None]]:
        return [
            attributes for _, attributes in self.tags if attributes.get("aria-selected") == "true"
        ]


def kuhn_view() -> PublicTreeView:
    tree = GameTree.from_game("kuhn_poker")
    return view_public_tree(tree, ArrayPolicy.uniform(tree), DepthLimit(moves=3), "uniform")


def nasty_view() -> dict[str, Any]:
    """A view whose every text tries to break out of where it stands."""
    view = kuhn_view()
    data = dataclasses.replace(view, game=NASTY, policy=NASTY).to_json()
    for state in data["public_states"]:
        state["name"], state["observation"] = NASTY, [NASTY]
        for infoset in (infoset for own in state["infosets"] for infoset in own):
            infoset["string"] = infoset["own"] = NASTY
            for action in infoset["actions"]:
                action["name"] = NASTY
    return data


def test_the_page_stands_alone_and_holds_the_numbers(tmp_path: Path) -> None:
    view = kuhn_view()
    path = tmp_path / "pages" / "kuhn.html"
    public_tree_page.write(path, view.to_json())
    source = path.read_text(encoding="utf-8")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", source)
    page = Page(source)
    assert not any(attributes.get("src") or tag == "link" for tag, attributes in page.tags)
    assert page.text("title").startswith("kuhn_poker(): uniform, 3 moves, NashConv 0.9167")
    data = re.search(r'id="data">(.*?)</script>', source, re.DOTALL)
    assert json.loads(data[1]) == json.loads(json.dumps(view.to_json()))


def test_texts_are_never_markup() -> None:
    source = public_tree_page.render(nasty_view())
    page = Page(source)
    assert page.text("h1").strip() == NASTY
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not any(tag == "b" for tag, _ in page.tags)


def test_numbers_that_json_cannot_hold_are_refused() -> None:
    data = kuhn_view().to_json()
    data["public_states"][0]["reach"] = float("nan")
    with pytest.raises(ValueError, match="not JSON compliant"):
        public_tree_page.render(data)


@browser.needs_browser
def test_a_browser_shows_the_selected_public_state(tmp_path: Path) -> None:
    path = tmp_path / "kuhn.html"
    public_tree_page.write(path, kuhn_view().to_json())
    start, bet = Page(browser.dump(path)), Page(browser.dump(path, "#state-4"))
    # Before the cards are dealt there is nothing to be seen.
    assert start.text("h2") == "Public state 2: chance: hidden"
    assert "acts" in start.text("dt")
    assert "player 0" in start.text("dd")
    assert bet.text("h2") == "Public state 4: player 0: Bet"
    assert [chosen["data-state"] for chosen in start.selected()] == ["2"]
    assert [chosen["data-state"] for chosen in bet.selected()] == ["4"]
    assert [chosen["tabindex"] for chosen in bet.selected()] == ["0"]
    # Ranges of player 0 (1/2 each) and the strategies of player 1.
    assert bet.text("h3").startswith("Player 0")
    assert "Player 1, to act" in bet.text("h3")
    strategies = [a["aria-label"] for tag, a in bet.tags if a.get("class") == "stack"]
    assert strategies == ["Pass 50%, Bet 50%"] * 3
    widths = [a["style"] for tag, a in bet.tags if tag == "i" and a.get("style") == "width: 50%;"]
    assert len(widths) == 3


@browser.needs_browser
def test_a_browser_runs_no_text_of_a_game(tmp_path: Path) -> None:
    path = tmp_path / "nasty.html"
    public_tree_page.write(path, nasty_view())
    page = Page(browser.dump(path, "#state-4"))
    assert page.text("title") != "broken"
    assert not any(tag == "b" for tag, _ in page.tags)
    assert page.text("h2") == f"Public state 4: {NASTY}"


def test_pages_to_try_are_those_that_are_made_now() -> None:
    """`docs/try.md` has the commands that make them anew."""
    templates = ROOT / "spiel_dl" / "play" / "templates"
    pages = sorted((ROOT / "docs" / "try").glob("*.html"))
    assert [page.stem for page in pages] == ["goofspiel", "leduc", "river"]
    trees = ("page.css", "tables.js", "public_tree.js", "public_tree_page.js")
    poker = ("page.css", "poker.css", "tables.js", "poker.js", "poker_play.js")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert len(text) < 1_000_000
        for name in poker if page.stem == "river" else trees:
            assert (templates / name).read_text(encoding="utf-8").strip() in text
        assert f'href="try/{page.name}"' in (ROOT / "docs" / "try.md").read_text(encoding="utf-8")
