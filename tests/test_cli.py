"""The console script, as far as it starts none of the scripts, which have tests of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from spiel_dl import cli
from tests.pages import ROOT


def start(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "spiel_dl", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_every_command_is_a_script_and_is_told() -> None:
    lines = cli.help_text().splitlines()[2:]
    assert len(lines) == len(cli.COMMANDS)
    for name, line in zip(cli.COMMANDS, lines, strict=True):
        assert (ROOT / "run" / f"{name}.py").exists()
        word, _, summary = line.strip().partition("  ")
        assert word == name.replace("_", "-")
        assert summary.strip().endswith(".")


def test_help_is_quick_and_a_wrong_word_is_told() -> None:
    helped, wrong = start("--help"), start("solv")
    assert helped.returncode == 0
    assert "head-to-head" in helped.stdout
    assert (wrong.returncode, wrong.stdout) == (1, "")
    message = "error: no command 'solv'; did you mean solve? spiel-dl --help lists all\n"
    assert wrong.stderr == message


def test_what_needs_a_clone_says_how_it_is_run() -> None:
    message = start("reproduce").stderr
    assert "python run/reproduce.py" in message
    assert "Traceback" not in message
    assert "make bench" in start("bench").stderr


def test_examples_of_a_command_are_commands() -> None:
    helped = start("solve", "--help")
    assert helped.returncode == 0
    assert "  spiel-dl solve --game=" in helped.stdout
    assert "python run/" not in helped.stdout


def test_a_command_is_its_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started = []
    monkeypatch.setattr(sys, "argv", ["spiel-dl", "head-to-head", "--game=kuhn_poker"])
    monkeypatch.setattr(cli.runpy, "run_module", lambda name, **_: started.append((name, sys.argv)))
    cli.main()
    assert started == [
        ("spiel_dl.commands.head_to_head", ["spiel-dl head-to-head", "--game=kuhn_poker"])
    ]
    monkeypatch.setattr(sys, "argv", ["spiel-dl", "--version"])
    cli.main()
    assert capsys.readouterr().out.strip() == cli.version()
