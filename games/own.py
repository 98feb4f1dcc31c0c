"""Imports users' modules, which register their own games and policies, by name or by file."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_VARIABLE = "SPIEL_DL_IMPORT"


def import_modules(modules: Sequence[str]) -> None:
    """Imports modules that register games, in this process and in those that it starts later.

    Args:
      modules: for each, its name, which may be that of a module in the current directory, or the
        path of its file, which ends in .py.

    Raises:
      ValueError: if there is no such module, if another one has the name of a file, or if a module
        cannot be imported.
    """
    for module in modules:
        _import(module)
    earlier = _modules_of_environment()
    # `spiel_dl/__init__.py` imports them in started processes, before these are sent a game.
    paths = [os.path.abspath(module) if _is_file(module) else module for module in modules]
    if paths:
        os.environ[_VARIABLE] = os.pathsep.join(dict.fromkeys([*earlier, *paths]))


def import_those_of_parent() -> None:
    """Imports the modules that the parent process imported by `import_modules`."""
    for module in _modules_of_environment():
        _import(module)


def is_same_function(first: Callable[..., object], second: Callable[..., object]) -> bool:
    """Whether functions have the same module and name; a module may be imported twice."""
    names = [(each.__module__, getattr(each, "__qualname__", "")) for each in (first, second)]
    return names[0] == names[1]


def _modules_of_environment() -> list[str]:
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
        imported = importlib.import_module(name)
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
    if file and not (imported.__file__ and file.samefile(imported.__file__)):
        where = imported.__file__ or "Python's own"
        raise ValueError(
            f"modules={module}: another module is called {name}, too ({where}); rename the file"
        )
