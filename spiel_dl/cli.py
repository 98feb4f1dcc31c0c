"""`spiel-dl COMMAND`: the scripts of `run/` as commands of the installed package.

A command has the flags of its script; `spiel-dl solve --help` lists them.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import runpy
import sys
from pathlib import Path

from spiel_dl.system.messages import did_you_mean

_PACKAGE = "spiel_dl.commands"
# Modules in `run/`; on the command line, dashes may replace underscores.
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
_NOT_COMMANDS = {
    "reproduce": "it runs the papers' experiments, in a clone: python run/reproduce.py",
    "bench": "benchmarks are run in a clone: make bench",
    "test": "tests are run in a clone: make test",
    "demo": "it is run in a clone: make demo",
}
"""Tasks that are no commands, and how to run them."""
_HELP = ("", "help", "-h", "--help", "-?")


def main() -> None:
    """Runs the command named by the first argument; without one, lists all commands."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    name = word.replace("-", "_")
    if word in _HELP:
        # The output may be closed early, as in `spiel-dl | head`.
        with contextlib.suppress(BrokenPipeError):
            print(help_text(), flush=True)
    elif word == "--version":
        print(version())
    elif name in COMMANDS:
        sys.argv[:2] = [f"spiel-dl {word}"]
        try:
            runpy.run_module(f"{_PACKAGE}.{name}", run_name="__main__", alter_sys=True)
        except KeyboardInterrupt:  # while it is imported
            sys.exit("error: interrupted before it began")
    elif name in _NOT_COMMANDS:
        sys.exit(f"error: {word} is no command of the installed package; {_NOT_COMMANDS[name]}")
    else:
        question = did_you_mean(_with_dashes(word), [_with_dashes(each) for each in COMMANDS])
        sys.exit(f"error: no command {word!r}{question or ';'} spiel-dl --help lists all")


def version() -> str:
    """The installed version."""
    from importlib.metadata import version as installed

    return installed("spiel_dl")


def help_text() -> str:
    """The help text: all commands with their summaries."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {_with_dashes(name):{width}}{_summary(name)}" for name in COMMANDS]
    usage = "spiel-dl COMMAND [--FLAG=VALUE ...]; spiel-dl COMMAND --help lists its flags."
    return "\n".join([usage, "", *lines])


def _with_dashes(name: str) -> str:
    return name.replace("_", "-")


def _summary(name: str) -> str:
    """The first sentence of a script, which is parsed because importing it would take seconds."""
    spec = importlib.util.find_spec(f"{_PACKAGE}.{name}")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{_PACKAGE} has no module {name}")
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    return (text or "").partition("\n\n")[0].replace("\n", " ")
