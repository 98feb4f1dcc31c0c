"""Builds the site: lays out its pages, and has Sphinx render them. Every warning is an error.

`python docs/hooks/build_site.py` writes build/site, or the folder that is named behind it. The
pages are those of docs/, every report of results/, CONTRIBUTING.md, and the notebooks.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import sphinx.cmd.build
from api_pages import room_page, rooms, summary
from pages import ROOT, expand, notebook_page

_NOTEBOOKS = ("notebooks/from_game_to_search", "notebooks/from_hand_to_turn")
_KINDS = (".md", ".png", ".svg", ".json")
# The sidebar: groups of pages, which may be named otherwise than their headings.
NAVIGATION = {
    "Start": [
        "Install <how_to/install>",
        "Concepts <concepts>",
        "Scoreboard <scoreboard>",
        "Try without installing <try>",
        "Play on a page <serve>",
    ],
    "Algorithms": [
        "CFR and its variants <algorithms/cfr>",
        "DL-CFR and value networks <algorithms/dl_cfr>",
        "Continual resolving, gadgets, safety <algorithms/continual_resolving>",
        "Responses to a model <algorithms/responses>",
        "R-NaD, MMD and PPO <algorithms/rnad>",
        "SePoT and search below samples <algorithms/sepot>",
        "Games too large to list <algorithms/large_games>",
        "Hold'em, with all hands <poker>",
    ],
    "How to": [
        "Use the scripts <how_to/scripts>",
        "Train, and the model zoo <how_to/train>",
        "Which search to take <how_to/which_search>",
        "Write your own game <how_to/own_game>",
        "Write your own value function <how_to/own_value_function>",
        "Write your own search <how_to/own_search>",
        "Use the games as environments <how_to/environments>",
        f"From a game string to search <{_NOTEBOOKS[0]}>",
        f"From a hand history to a solved turn <{_NOTEBOOKS[1]}>",
        "Modules and names <api>",
    ],
    "Evidence": [
        "Measured <measured>",
        "Results <results>",
        "Where we differ from the papers <deviations>",
        "Wishes of OpenSpiel's users <wishes>",
        "Contributing <contributing>",
    ],
}


def lay_out(folder: Path) -> None:
    """Writes all pages and pictures into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    docs, results = ROOT / "docs", ROOT / "results"
    sources = {path.relative_to(docs): path for path in docs.rglob("*")}
    sources |= {path.relative_to(ROOT): path for path in results.rglob("*")}
    sources[Path("contributing.md")] = ROOT / "CONTRIBUTING.md"
    for name, path in sources.items():
        if path.suffix == ".md":
            _write(folder / name, expand(path.read_text("utf-8"), depth=len(name.parts) - 1))
        elif path.suffix in _KINDS:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    for name in _NOTEBOOKS:
        _write(folder / f"{name}.md", notebook_page(docs / f"{name}.ipynb"))
    for name, module in rooms().items():
        _write(folder / "api" / f"{name}.md", room_page(module))
        _append(folder / "api.md", f"- [{module.path}](api/{name}.md): {summary(module)}\n")
    _append(
        folder / "api.md",
        _contents([*(f"api/{name}" for name in rooms()), "Index <genindex>"], ":hidden:"),
    )
    for caption, entries in NAVIGATION.items():
        _append(folder / "index.md", _contents(entries, ":hidden:", f":caption: {caption}"))


def _contents(entries: list[str], *options: str) -> str:
    """A table of contents, of which the sidebar is made, as a directive of Sphinx."""
    return "\n".join(["\n\n```{toctree}", *options, "", *entries, "```\n"])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def main(site: Path) -> int:
    """Builds the site; returns the exit status, 0 if there is no warning."""
    pages = ROOT / "build" / "pages"
    lay_out(pages)
    shutil.rmtree(site, ignore_errors=True)
    cache = ROOT / "build" / "doctrees"
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]
    status: int = sphinx.cmd.build.main(
        [*options, "-c", str(ROOT / "docs"), "-d", str(cache), str(pages), str(site)]
    )
    # Whole pages of their own, which Sphinx would offer as files to be kept.
    shutil.copytree(ROOT / "docs" / "try", site / "try")
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"))
