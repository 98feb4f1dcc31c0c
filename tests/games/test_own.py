"""Games of a person's own, imported by name or by file, here and in processes that are started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspiel
import pytest

from spiel_dl.games.own import import_modules

GAME = """
from spiel_dl.games.leduc import LeducRules
from spiel_dl.games.registry import Registration, register

DEFAULTS = {{
    "num_ranks": 3, "num_suits": 2, "deal_ranks": False, "bet_sizes": "[2]", "raise_sizes": "[2]",
    "max_raises": 1, "ante": 1,
}}
register(Registration("{name}", "One's own", DEFAULTS, LeducRules, True))
"""


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each test runs in its folder; what it adds to the path and the environment goes."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("SPIEL_DL_IMPORT", "")
    monkeypatch.chdir(tmp_path)


def write(path: Path, name: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(GAME.format(name=name))


def test_modules_are_found_by_name_and_by_file_here_and_in_new_processes(tmp_path: Path) -> None:
    write(tmp_path / "own_by_name.py", "own_by_name")
    write(tmp_path / "folder" / "own_by_file.py", "own_by_file")
    import_modules(["own_by_name"])
    import_modules(["folder/own_by_file.py"])
    names = {"own_by_name", "own_by_file"}
    assert names <= set(pyspiel.registered_names())
    code = f"import pyspiel, spiel_dl; assert {names} <= set(pyspiel.registered_names())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd="/")


def test_what_cannot_be_imported_is_told(tmp_path: Path) -> None:
    (tmp_path / "own_broken.py").write_text("1 / 0\n")
    (tmp_path / "own_lacking.py").write_text("import own_absent\n")
    (tmp_path / "random.py").touch()
    for module, message in {
        "own_absent": "modules=own_absent: there is no such module here nor on PYTHONPATH",
        "json.own_absent": "modules=json.own_absent: there is no such module",
        "own_absent.py": "modules=own_absent.py: there is no such file",
        "own_broken": "modules=own_broken cannot be imported: ZeroDivisionError: division by zero",
        "own_lacking": "modules=own_lacking cannot be imported: ModuleNotFoundError: No module",
        "random.py": "modules=random.py: another module is called random, too",
    }.items():
        with pytest.raises(ValueError, match=message):
            import_modules([module])
    assert os.environ["SPIEL_DL_IMPORT"] == ""
