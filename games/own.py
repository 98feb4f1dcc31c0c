"""A person's own games and policies: modules that make them known, imported by name or by file."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_VARIABLE = "SPIEL_DL_IMPORT"


def import_modules(modules: Sequence[str]) -> None:
    """Imports modules that register games, here and in all processes that this one starts later.

    Args:
      modules: for each, its name, which is also looked for in the current directory, or the path of
        its file, which ends in .py.

    Raises:
      ValueError: if there is no such module, if another one has the name of a file, or if a module
        cannot be imported.
    """
    for module in modules:
        _import(module)
    known = _of_environment()
    # Processes that are started find them by `spiel_dl/__init__.py`, before they are sent a game.
    named = [os.path.abspath(each) if _is_file(each) else each for each in modules]
    if named:
        os.environ[_VARIABLE] = os.pathsep.join(dict.fromkeys([*known, *named]))


def import_those_of_parent() -> None:
    """Imports what `import_modules` imported in the process that started this one."""
    for module in _of_environment():
        _import(module)


def is_same_function(first: Callable[..., object], second: Callable[..., object]) -> bool:
    """Whether functions are one, as far as their places tell: modules may be imported twice."""
    places = [(each.__module__, getattr(each, "__qualname__", "")) for each in (first, second)]
    return places[0] == places[1]


def _of_environment() -> list[str]:
    return [each for each in os.environ.get(_VARIABLE, "").split(os.pathsep) if each]


def _is_file(module: str) -> bool:
    return module.endswith(".py")


def _import(module: str) -> None:
    file = Path(module).absolute() if _is_file(module) else None
    if file and not file.is_file():
        raise ValueError(f"modules={module}: there is no such file; give a module's path or name")
    name = file.stem if file else module
    folder = str(file.parent if file else Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        found = importlib.import_module(name)
    except Exception as error:  # Whatever the module does.
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise ValueError(
                f"modules={module}: there is no such module here nor on PYTHONPATH; give its "
                "name, or the path of its file, which ends in .py"
            ) from error
        raise ValueError(
            f"modules={module} cannot be imported: {type(error).__name__}: {error}; `python -c "
            f"'import {name}'` in {folder} says where"
        ) from error
    if file and not (found.__file__ and file.samefile(found.__file__)):
        where = found.__file__ or "Python's own"
        raise ValueError(
            f"modules={module}: another module is called {name}, too ({where}); rename the file"
        )
