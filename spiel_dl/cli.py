"""`spiel-dl COMMAND`: the scripts of `run/`, wherever the package is installed.

A command does what its script does, with the same flags; `spiel-dl solve --help` lists them.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib.util
import runpy
import sys
from pathlib import Path

_PACKAGE = "spiel_dl.commands"
# A command's module in `run/`; on the command line, dashes may stand for its underscores.
COMMANDS = (
    "solve",
    "play",
    "show",
    "serve",
    "head_to_head",
    "train",
    "publish",
    "dl_cfr",
    "generate_data",
    "train_value_network",
    "train_on_policy",
    "large_games",
)
_ELSEWHERE = {
    "reproduce": "it runs the papers' experiments, in a clone: python run/reproduce.py",
    "bench": "benchmarks are run in a clone: make bench",
    "test": "tests are run in a clone: make test",
    "demo": "it is run in a clone: make demo",
}
"""What a person may take for a command, and how to run it."""
_HELP = ("", "help", "-h", "--help", "-?")


def main() -> None:
    """Runs the command that the first word names; without one, lists all."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    name = word.replace("-", "_")
    if word in _HELP:
        # Who reads it may stop early, as in `spiel-dl | head`.
        with contextlib.suppress(BrokenPipeError):
            print(help_text(), flush=True)
    elif word == "--version":
        print(version())
    elif name in COMMANDS:
        sys.argv[:2] = [f"spiel-dl {word}"]
        runpy.run_module(f"{_PACKAGE}.{name}", run_name="__main__", alter_sys=True)
    elif name in _ELSEWHERE:
        sys.exit(f"error: {word} is no command of the installed package; {_ELSEWHERE[name]}")
    else:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {_typed(near[0])}? " if near else ""
        sys.exit(f"error: no command {word!r}; {hint}spiel-dl --help lists all")


def version() -> str:
    """The version that is installed."""
    from importlib.metadata import version as installed

    return installed("spiel_dl")


def help_text() -> str:
    """All commands, and what each does."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {_typed(name):{width}}{_summary(name)}" for name in COMMANDS]
    usage = "spiel-dl COMMAND [--FLAG=VALUE ...]; spiel-dl COMMAND --help lists its flags."
    return "\n".join([usage, "", *lines])


def _typed(name: str) -> str:
    return name.replace("_", "-")


def _summary(name: str) -> str:
    """The first sentence of a command's script, which is not imported: that would take seconds."""
    found = importlib.util.find_spec(f"{_PACKAGE}.{name}")
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{_PACKAGE} has no module {name}")
    text = ast.get_docstring(ast.parse(Path(found.origin).read_text(encoding="utf-8")))
    return (text or "").partition("\n\n")[0].replace("\n", " ")
