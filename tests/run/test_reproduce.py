"""`run/reproduce.py` as users start it, at small sizes."""

from __future__ import annotations

import importlib
import json
import unittest.mock
from pathlib import Path

import pytest

from experiments import experiment, ledger, scoreboard
from spiel_dl.system.distributed import IN_PROCESS
from spiel_dl.system.workers import WorkerDiedError
from tests.run.scripts import run_script

TINY_DL_CFR = (
    "data.game=kuhn_poker",
    "data.depth_limit=1 moves",
    "num_shards=1",
    "data.shard_size=20",
    "training.num_epochs=1",
    "num_layers=1",
    "num_units=4",
    "seeds=3",
    "every_state=1",
)


def reproduce(
    directory: Path, row: str, *settings: str, more: tuple[str, ...] = ()
) -> tuple[int, str, str]:
    """Runs a row with other settings: exit code, output, errors."""
    words = (f"--only={row}", "--output=results", *(f"--set={each}" for each in settings), *more)
    return run_script("reproduce.py", *words, directory=directory)


def test_dl_cfr(tmp_path: Path) -> None:
    more = ("--run_dir=work",)
    found = reproduce(tmp_path, "dl_cfr/leduc/left_out", *TINY_DL_CFR, more=more)
    assert found[:2] == (0, "results/left_out.md\n"), found[2]
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        "left_out.md",
        "left_out.json",
        "left_out.png",
    }
    text = (tmp_path / "results" / "left_out.md").read_text()
    assert "`kuhn_poker()`, depth limit 1 moves" in text
    assert text.count("| seed 3 |") == 2
    again = reproduce(tmp_path, "dl_cfr/leduc/left_out", more=(*more, "--noresume"))
    assert (again[0], "work exists" in again[2]) == (1, True)


def test_particle(tmp_path: Path) -> None:
    settings = ("linear_steps=20", "seeds=0", "dimension=3")
    code, _, errors = reproduce(tmp_path, "particle/linear_targets/linear_targets", *settings)
    assert code == 0, errors
    content = json.loads((tmp_path / "results" / "linear_targets.json").read_text())
    [table] = content["tables"].values()
    assert len(table) == 4
    assert (tmp_path / "results" / "linear_targets.png").stat().st_size > 1000
    assert list((tmp_path / "results" / "parts").glob("*.json"))


@pytest.mark.parametrize(("word", "anew"), [(ledger.MISSING, False), (ledger.OLD, True)])
def test_old_rows_take_nothing_of_other_commits(
    word: str, anew: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("reproduce")
    [row] = scoreboard.chosen_rows(["responses/gadgets"])
    found = ledger.State(word, (), {}, {})
    opened = []

    def refuse(place: str, _engine: object, *, only_own: bool) -> None:
        opened.append((place, only_own))
        raise RuntimeError("opened")

    monkeypatch.setattr(scoreboard, "open_rows", lambda *_: [row])
    monkeypatch.setattr(ledger, "state", lambda *_: found)
    monkeypatch.setattr(module.script, "open_workspace", refuse)
    with pytest.raises(RuntimeError, match="opened"):
        module.main(all=True)
    assert opened == [("runs/responses", anew)]


def test_rows_are_run_though_others_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("reproduce")
    rows = scoreboard.chosen_rows(["responses/gadgets", "responses/local", "responses/poker"])
    errors = [WorkerDiedError("killed"), ImportError("install it"), ValueError("no game")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scoreboard, "open_rows", lambda *_: rows)
    monkeypatch.setattr(scoreboard, "write_pages", lambda *_: None)
    monkeypatch.setattr(module._WORKERS, "build", lambda: IN_PROCESS)
    monkeypatch.setattr(experiment, "run", unittest.mock.Mock(side_effect=errors))
    with pytest.raises(ValueError, match="some rows could not be run") as raised:
        module.main(all=True)
    for row, error in zip(rows, errors, strict=True):
        assert f"{row.name}: {error}" in str(raised.value)


def test_rows_are_listed_and_of_one_its_settings(tmp_path: Path) -> None:
    code, output, _ = run_script("reproduce.py", "--list", directory=tmp_path)
    assert code == 0
    assert "dl_cfr/leduc/checkpoints" in output
    assert output.count("missing") == len(scoreboard.MANIFEST), "there is no results/ here"
    only = "--only=dl_cfr/leduc/checkpoints"
    _, output, _ = run_script("reproduce.py", "--list", only, "--set=seeds=7", directory=tmp_path)
    assert json.loads(output[output.index("{") :])["seeds"] == [7]


@pytest.mark.parametrize(
    ("row", "settings", "message"),
    [
        ("particle/leduc/architectures", ("game=kuhn_poker", "depth_limit=9 moves"),
         "0 public states at 9 moves"),
        ("sepot/battleships_5x5/position", ("games=kuhn_poker",), "use games=battleships_5x5"),
        ("sepot/leduc/cfvs", ("games=kuhn_poker", "limits=1 rounds"), "has no rounds"),
    ],
)  # fmt: skip
def test_wrong_input_is_told_and_leaves_nothing(
    row: str, settings: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    code, _, errors = reproduce(tmp_path, row, *settings)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
