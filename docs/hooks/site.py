"""What MkDocs calls while it builds the site."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import PurePosixPath
from typing import Any

import latex2mathml.converter
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pages import ROOT, expand, notebook_page, reports, title_of

_SOURCES = ROOT / "build" / "api"
_NOTEBOOK = "notebooks/from_game_to_search"
_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_startup(**_: Any) -> None:
    """Makes the folder of the sources, which mkdocstrings looks for before `on_config`."""
    _SOURCES.mkdir(parents=True, exist_ok=True)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts the sources where their docstrings are read, and all reports into the navigation."""
    shutil.rmtree(_SOURCES, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "spiel_dl", _SOURCES / "spiel_dl", ignore=ignored)
    shutil.copytree(ROOT / "games", _SOURCES / "spiel_dl" / "games", ignore=ignored)
    entries: list[Any] = config.nav or []
    for entry in entries:
        if "Results" in entry:
            for report in reports():
                _add_to_navigation(entry["Results"], report.parts[1:-1], report)
    entries.append({"Contributing": "contributing.md"})
    return config


def _add_to_navigation(entries: list[Any], folders: tuple[str, ...], report: PurePosixPath) -> None:
    """Adds a report below its folders."""
    if not folders:
        entries.append({title_of(report): str(report)})
        return
    for entry in entries:
        if isinstance(entry, dict) and folders[0] in entry:
            _add_to_navigation(entry[folders[0]], folders[1:], report)
            return
    entries.append({folders[0]: []})
    _add_to_navigation(entries[-1][folders[0]], folders[1:], report)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds reports, their pictures, the notebook, and CONTRIBUTING.md."""
    for path in sorted((ROOT / "results").rglob("*")):
        if path.suffix in (".md", ".png"):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    notebook = ROOT / "docs" / f"{_NOTEBOOK}.ipynb"
    files.append(File.generated(config, f"{_NOTEBOOK}.md", content=notebook_page(notebook)))
    contributing = ROOT / "CONTRIBUTING.md"
    files.append(File.generated(config, "contributing.md", abs_src_path=str(contributing)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Puts in what comments ask for."""
    return expand(markdown, depth=page.file.src_uri.count("/"))


def on_page_content(content: str, **_: Any) -> str:
    """Makes MathML of formulas, which browsers show without any script."""

    def inline(match: re.Match[str]) -> str:
        return latex2mathml.converter.convert(html.unescape(match[1]))

    def display(match: re.Match[str]) -> str:
        return latex2mathml.converter.convert(html.unescape(match[1]), display="block")

    return _DISPLAY.sub(display, _INLINE.sub(inline, content))
