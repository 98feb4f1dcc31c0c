"""Documentation: every block of Python runs, commands have valid flags, names and links exist."""

from __future__ import annotations

import ast
import functools
import importlib.util
import itertools
import json
import pydoc
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from absl import app, flags

from spiel_dl.play.kinds import KINDS
from spiel_dl.runs.reports import MAX_COLUMNS
from tests.pages import PAGES, ROOT, name_of

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# Names in backticks, as pages and docstrings shorten them: without the package's own name.
ROOMS = (
    "adapters|algorithms|factored|games|learning|networks|play|policies|runs|search|serve|solvers|"
    "system|tree|value_functions"
)


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@functools.cache  # Griffe takes a second to read the package, and each hook remembers it.
def load_hook(name: str) -> types.ModuleType:
    path = ROOT / "docs" / "hooks" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(f"docs_{name}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(path.parent))  # of the hooks that it imports
    try:
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def run_blocks(name: str, sources: list[str]) -> types.ModuleType:
    """Runs blocks one after the other in a module of their own, which can be imported meanwhile."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    try:
        for number, source in enumerate(sources):
            exec(compile(source, f"{name}, block {number + 1}", "exec"), module.__dict__)
    finally:
        del sys.modules[name]
    return module


# Ten seconds of iterations in millions of infosets.
LONG = ROOT / "docs" / "algorithms" / "large_games.md"


@pytest.mark.docs
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] if page == LONG else [])
        for page in PAGES
        if blocks(page, "python")
    ],
)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with mock.patch.dict(KINDS):  # pages name kinds of policies of their own
        run_blocks(f"docs_page_{page.stem}", blocks(page, "python"))


@pytest.mark.docs
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    run_blocks("docs_notebook", ["".join(cell["source"]) for cell in code])


def commands(page: Path) -> Iterator[list[str]]:
    """The commands of a page's bash blocks, as words, with its own variables replaced."""
    for block in blocks(page, "bash"):
        variables: dict[str, str] = {}
        for line in block.replace("\\\n", " ").splitlines():
            for name, value in variables.items():
                line = line.replace(f"${name}", value)
            words = shlex.split(line, comments=True)
            assignment = re.fullmatch(r"(\w+)=(.*)", words[0]) if len(words) == 1 else None
            if assignment:
                variables[assignment[1]] = assignment[2]
            elif words:
                yield words


def commands_in_text(page: Path) -> Iterator[list[str]]:
    """The commands between backticks, such as those of tables; not those that only ask for help."""
    for command in re.findall(r"`(python run/[^`]+)`", page.read_text(encoding="utf-8")):
        words = shlex.split(command)
        if "--help" not in words:
            yield words


def commands_of_script(script: Path) -> Iterator[list[str]]:
    """The commands that a script's --help gives as examples."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    for command in re.findall(r"^ +(python run/.*)$", text.replace("\\\n", " "), re.MULTILINE):
        yield shlex.split(command)


SCRIPTS = sorted(
    {tuple(words) for page in PAGES for words in [*commands(page), *commands_in_text(page)]}
    | {
        tuple(words)
        for script in (ROOT / "run").glob("*.py")
        for words in commands_of_script(script)
    }
)


@pytest.mark.parametrize("words", SCRIPTS, ids=" ".join)
def test_commands_are_valid(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    if words[0] == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(words[1:]) <= set(targets)
    elif words[0] == "python":
        parse_flags(words[1:], monkeypatch)
    elif words[0] == "spiel-dl":
        script = f"run/{words[1].replace('-', '_')}.py"
        parse_flags((script, *words[2:]), monkeypatch)
    else:
        known = ("pip", "ray", "tensorboard", "export", "python3")
        assert words[0] in known, f"nothing checks the command {words}"


def parse_flags(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads a script as if it were started, but only parses its flags."""
    script = ROOT / arguments[0]
    parsed = []
    monkeypatch.setattr(app, "run", lambda *_, **__: parsed.append(flags.FLAGS(list(arguments))))
    monkeypatch.setattr(sys, "path", [str(script.parent), *sys.path])
    monkeypatch.setattr(sys, "argv", list(arguments))  # run/train.py looks at it first
    before = set(flags.FLAGS)
    modules = set(sys.modules)
    try:
        runpy.run_path(str(script), run_name="__main__")
        assert parsed == [[arguments[0]]], "words that are no flags"
    finally:
        for name in set(flags.FLAGS) - before:
            delattr(flags.FLAGS, name)
        for name in set(sys.modules) - modules:
            # Modules beside a script define flags when they are loaded.
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == script.parent:
                del sys.modules[name]
        flags.FLAGS.unparse_flags()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http", "#")):
            assert (page.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_exist(page: Path):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(rf"`(?:spiel_dl\.)?((?:{ROOMS})\.[\w.]+)`", text):
        assert pydoc.locate(f"spiel_dl.{name}") is not None, name
    for path in re.findall(r"`((?:run|tests|experiments|games|spiel_dl|docs)/[\w/.]*)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_comments_are_replaced(page: Path):
    text = page.read_text(encoding="utf-8")
    expanded = load_hook("pages").expand(text, depth=1)
    for comment in ("<!-- table", "<!-- command"):
        assert comment not in expanded, "a comment follows a link; see docs/hooks/pages.py"


def test_tables_come_with_commands():
    pages = load_hook("pages")
    report = next(r for r in pages.reports() if r.name == "solvers.md")
    text = pages.expand(f"[Solvers](../../{report}) <!-- table 1 -->", depth=1)
    assert "| leduc_poker |" in text
    assert "`python benchmarks/solvers.py" in text
    assert "2 cores" in text
    assert "(../results/benchmarks/solvers.md)" in text
    with pytest.raises(ValueError, match="no table 99"):
        pages.table_of(report, 99)


def test_every_report_is_listed_with_its_command():
    pages = load_hook("pages")
    text = "".join((ROOT / "docs" / name).read_text() for name in ("results.md", "scoreboard.md"))
    for report in pages.reports():
        assert f"](../{report})" in text, f"docs/results.md lacks {report}"
        assert re.search(r"\d+ cores?\b", pages.command_of(report))


def test_links_are_turned_for_the_site():
    expand = load_hook("pages").expand
    assert expand("[a](../results/a.png)", depth=0) == "[a](results/a.png)"
    assert expand("[a](../../results/a.md)", depth=1) == "[a](../results/a.md)"
    assert expand("[a](../notebooks/a.ipynb)", depth=1) == "[a](../notebooks/a.md)"
    assert expand("[a](docs/how_to/a.md#b)", depth=0) == "[a](how_to/a.md#b)"


def test_reports_name_no_place_of_one_machine():
    """A command with an absolute path would work only where it was run."""
    for report in [*(ROOT / "results").rglob("*.md"), *(ROOT / "results").rglob("*.json")]:
        text = report.read_text()
        for word in re.findall(r"(?:python |\"command\": )[^`\n]*", text):
            assert not re.search(r"[ =\"]/(?:\w+/)+", word), f"{report}: {word}"
        if report.suffix == ".json":
            assert not re.findall(r"\"(?:\w+:)*/(?:\w+/)+[^\"]*", text), report


def test_tables_of_reports_can_be_read():
    """More columns than eight are in the JSON file."""
    wide = {
        report.relative_to(ROOT).as_posix()
        for report in (ROOT / "results").rglob("*.md")
        for line in report.read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and line.count("|") > MAX_COLUMNS + 1
    }
    assert wide == set()


def test_api_pages_show_every_public_name_with_its_docstring():
    hook = load_hook("api_pages")
    for room in ("tree", "games"):
        page = hook.room_page(hook.rooms()[room])
        folder = ROOT / ("games" if room == "games" else f"spiel_dl/{room}")
        for path in folder.rglob("*.py"):
            for name, docstring in public_names(ast.parse(path.read_text(encoding="utf-8"))):
                assert re.search(rf"^`+{{py:\w+}} {name}\b", page, re.MULTILINE), f"{path}: {name}"
                assert docstring.splitlines()[0] in page, f"{path}: {name}"


def public_names(scope: ast.Module | ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The public functions, classes and methods that stand in a module, with their docstrings."""
    for node in scope.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.name, docstring
            if isinstance(node, ast.ClassDef):
                yield from public_names(node)


def test_every_page_is_in_the_sidebar():
    pytest.importorskip("sphinx")
    entries = [entry for group in load_hook("build_site").NAVIGATION.values() for entry in group]
    named = {entry.split("<")[1].rstrip(">") for entry in entries}
    own = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in PAGES[2:]}
    assert own - {"index"} <= named


@functools.cache
def pictures_drawn() -> dict[str, str]:
    return {name: draw() for name, draw in load_hook("pictures").PICTURES.items()}


def test_pictures_show_the_game_and_are_the_same_every_time():
    tree, ranges = pictures_drawn()["public_tree"], pictures_drawn()["ranges"]
    assert tree == load_hook("pictures").public_tree()
    # The root, after one and two deals, after Pass, Bet, and Pass Bet.
    assert len(set(re.findall(r'id="public-state-(\d+)"', tree))) == 6
    # Player 1 has seen nothing of player 0's card, so it comes with all its infosets.
    assert ranges.count("1.00") >= 6


def test_committed_pictures_are_those_that_are_drawn():
    for name, now in pictures_drawn().items():
        committed = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        texts, drawn = (re.findall(r">([^<>\n]+)</text>", each) for each in (committed, now))
        assert texts
        assert texts == drawn, "python docs/hooks/pictures.py draws it anew"


@pytest.mark.slow
def test_site_builds_without_warnings(tmp_path: Path):
    pytest.importorskip("sphinx")
    built = subprocess.run(
        [sys.executable, "docs/hooks/build_site.py", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "<math" in (tmp_path / "concepts.html").read_text(encoding="utf-8")
    assert "<table" in (tmp_path / "algorithms" / "dl_cfr.html").read_text(encoding="utf-8")
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(r"(?:src|<link[^>]* href)=\"(https?:[^\"]*)", page.read_text("utf-8"))
        assert not loaded, f"{page.name} asks other machines for {loaded}"
    # The search needs no server: its index is a script.
    assert (tmp_path / "searchindex.js").read_text(encoding="utf-8").startswith("Search.setIndex(")


def test_modules_with_slow_tests_are_listed():
    """With the day they last passed, because CI does not run them."""
    text = (ROOT / "tests" / "SLOW.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(tests/[\w/]+\.py)` \| \d{4}-\d\d-\d\d \|$", text, re.MULTILINE)
    marks = ("@pytest.mark.slow", "marks=pytest.mark.slow", "reference.KEYS")
    modules = sorted((ROOT / "tests").rglob("test_*.py"))
    marked = [m for m in modules if any(mark in m.read_text(encoding="utf-8") for mark in marks)]
    assert listed == sorted(module.relative_to(ROOT).as_posix() for module in marked)


def test_every_dependency_is_named():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    everything = itertools.chain(project["dependencies"], *extras)
    needed = {re.match(r"[\w-]+", each)[0] for each in everything} - {"spiel_dl"}
    page = (ROOT / "docs" / "how_to" / "install.md").read_text(encoding="utf-8")
    named = "".join(line for line in page.splitlines() if line.startswith("| "))
    assert {name for name in needed if not re.search(rf"\b{name}\b", named)} == set()
