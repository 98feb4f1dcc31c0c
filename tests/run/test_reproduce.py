"""`run/reproduce.py` as users start it, at small sizes."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from experiments import scoreboard
from tests.run.scripts import run_script

RESULTS = Path(__file__).parents[2] / "results"

GOOFSPIEL_3 = "game=python_goofspiel_ii(num_cards=3,points_order=descending)"
GOOFSPIEL_4 = "game=python_goofspiel_ii(num_cards=4,points_order=descending)"
NETWORK = "network=runs/particle/self_play/network.safetensors"
TINY_DL_CFR = (
    "data.game=kuhn_poker",
    "data.depth_limit=1 moves",
    "num_shards=1",
    "data.shard_size=20",
    "training.num_epochs=1",
    "num_layers=1",
    "num_units=4",
    "seeds=3",
)
KUHN_SEPOT = (
    "games=kuhn_poker",
    "seeds=3",
    "num_steps=4",
    "steps_per_evaluation=2",
    "limits=1 moves",
    "iterations=10",
    "learner.batch_size=4",
    "learner.hidden_sizes=4",
)


def reproduce(
    directory: Path, paper: str, only: str, *settings: str, more: tuple[str, ...] = ()
) -> tuple[int, str, str]:
    """Runs an experiment of a paper: exit code, output, errors."""
    flags = (f"--paper={paper}", f"--only={only}", *(f"--set={each}" for each in settings), *more)
    return run_script("reproduce.py", *flags, directory=directory)


def content_of(directory: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "results" / f"{name}.json").read_text())
    return found


def test_dl_cfr(tmp_path: Path) -> None:
    places = ("--run_dir=work", "--output=results")
    code, output, errors = reproduce(tmp_path, "dl_cfr", "left_out", *TINY_DL_CFR, more=places)
    assert code == 0, errors
    assert output == "results/left_out.md\n"
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        "left_out.md",
        "left_out.json",
        "left_out.png",
    }
    text = (tmp_path / "results" / "left_out.md").read_text()
    assert "`kuhn_poker()`, depth limit 1 moves" in text
    assert text.count("| seed 3 |") == 2


def test_particle(tmp_path: Path) -> None:
    for experiment, settings, rows in (
        ("linear_targets", ("linear_steps=20", "seeds=0", "dimension=3"), 4),
        ("public_states", ("num_cards=4",), 4),
    ):
        code, output, errors = reproduce(tmp_path, "particle", experiment, *settings)
        assert code == 0, errors
        assert f"results/particle/{experiment}.md" in output
        results = content_of(tmp_path, f"particle/{experiment}")
        [table] = results["tables"].values()
        assert len(table) == rows
        report = (tmp_path / "results" / "particle" / f"{experiment}.md").read_text()
        assert results["title"] in report
        assert report.count("\n|") == rows + 2
    picture = tmp_path / "results" / "particle" / "linear_targets.png"
    assert picture.stat().st_size > 1000


@pytest.mark.slow
def test_figures_go_on_where_they_were_stopped(tmp_path: Path) -> None:
    tiny = (
        GOOFSPIEL_4, "num_samples=300", "training.num_epochs=1", "particle.base=4", "width=1",
        "particle.regression_width=1", "seeds=0",
    )  # fmt: skip
    for experiment, settings in (
        ("architectures", ("depth_limit=1 rounds", "iterations=5")),
        ("fractions", ("depth_limit=2 rounds", "played=1", "fractions=0,1")),
    ):
        for start in range(2):
            places = (f"--run_dir={experiment}", "--output=results")
            code, output, errors = reproduce(
                tmp_path, "particle", experiment, *tiny, *settings, more=places
            )
            assert code == 0, errors
            assert f"results/{experiment}.md" in output
            assert bool(content_of(tmp_path, experiment)["reused"]) == bool(start)
        assert (tmp_path / "results" / f"{experiment}.png").stat().st_size > 10_000


def test_responses(tmp_path: Path) -> None:
    settings = ("games=kuhn", "models=uniform", "players=1", "gadgets=joint", "parameters=0.2,0.8")
    code, output, errors = reproduce(tmp_path, "responses", "frontier", *settings)
    assert code == 0, errors
    assert output == "results/responses/frontier.md\n"
    content = content_of(tmp_path, "responses/frontier")
    joint = [row for row in content["tables"]["All points"] if row["method"] == "CDRNR, joint"]
    assert [row["parameter"] for row in joint] == [0.2, 0.8]
    assert {row["player"] for row in joint} == {1}
    picture = tmp_path / "results" / "responses" / "frontier-kuhn-uniform-1.png"
    assert picture.stat().st_size > 10_000
    assert list((tmp_path / "runs" / "responses" / "parts").glob("*.json"))


@pytest.mark.slow
def test_sepot_goes_on_where_it_was_stopped_also_by_another_process(tmp_path: Path) -> None:
    for start, engine in enumerate(("processes", "in_process")):
        code, output, errors = reproduce(
            tmp_path, "sepot", "curves", *KUHN_SEPOT, more=(f"--engine={engine}",)
        )
        assert code == 0, errors
        assert "results/sepot/curves.md" in output
        results = content_of(tmp_path, "sepot/curves")
        assert len(results["reused"]) == 4 * start
        assert [row["step"] for row in results["tables"]["All points"]] == [2, 4] * 2


@pytest.mark.parametrize(("commits", "anew"), [([], False), (["0" * 40, "1" * 40], True)])
def test_old_rows_take_nothing_of_other_commits(
    commits: list[str], anew: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("reproduce")
    [row] = [row for row in scoreboard.MANIFEST if row.name == "responses/gadgets"]
    why = ("parts of several commits",) if commits else ("no headline",)
    found = scoreboard.State(scoreboard.OLD, why, {})
    opened = []

    def refuse(place: str, _engine: object, *, only_own: bool) -> None:
        opened.append((place, only_own))
        raise RuntimeError("opened")

    monkeypatch.setattr(scoreboard, "open_rows", lambda *_: [row])
    monkeypatch.setattr(scoreboard, "state", lambda *_: found)
    monkeypatch.setattr(module.script, "open_workspace", refuse)
    with pytest.raises(RuntimeError, match="opened"):
        module.main(all=True)
    assert opened == [("runs/responses", anew)]


def test_what_there_is_is_listed(tmp_path: Path) -> None:
    code, output, _ = run_script("reproduce.py", "--list", "--paper=dl_cfr", "--set=seeds=7")
    assert code == 0
    assert "checkpoints     Loss against trunk exploitability" in output
    assert "domains: goofspiel, oshi_zumo, leduc" in output
    settings, end = json.JSONDecoder().raw_decode(output, output.index("{"))
    assert settings["seeds"] == [7]
    # What of the manifest has no current report follows, of this paper alone.
    expected = [row.name for row in scoreboard.open_rows(RESULTS) if row.paper == "dl_cfr"]
    assert [line.split(": ")[0] for line in output[end:].split("\n")[1:-1]] == expected


@pytest.mark.parametrize(
    ("paper", "only", "settings", "more", "message"),
    [
        ("dl_cfr", "left_out", TINY_DL_CFR, (), "or --run_dir and --output"),
        ("dl_cfr", "left_out", ("data.depth_limit=1 plies",), ("--domain=leduc",),
         "data.depth_limit: a domain has its own game and depth limit"),
        ("dl_cfr", "left_out", (), ("--domain=chess",), "must be one of: goofspiel, oshi_zumo"),
        ("dl_cfr", "figure", (), ("--domain=leduc",), "'figure' must be one of checkpoints"),
        ("particle", "architectures", (), (), "take a domain, or set game"),
        ("particle", "architectures", (GOOFSPIEL_3,), ("--domain=leduc",),
         "game: a domain has its own game and depth limit"),
        ("particle", "architectures", ("game=kuhn_poker", "depth_limit=9 moves"), (),
         "0 public states at 9 moves"),
        ("responses", "frontier", ("parameters=2",), (), "between 0 and 1"),
        ("responses", "frontier", ("players=3",), (), "must be 0, 1 or both"),
        ("sepot", "position", KUHN_SEPOT, (), "use games=battleships_5x5"),
        ("sepot", "curves", (*KUHN_SEPOT, "num_steps=0"), (), "num_steps=0 must be at least 1"),
        ("sepot", "curves", (*KUHN_SEPOT, "limits=1 rounds"), (), "has no rounds"),
        ("sepot", "curves", ("seed=3",), (), "there is no setting 'seed'; there are games, seeds"),
    ],
)  # fmt: skip
def test_wrong_input_is_told_and_leaves_nothing(
    paper: str, only: str, settings: tuple[str, ...], more: tuple[str, ...], message: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    code, _, errors = reproduce(tmp_path, paper, only, *settings, more=more)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
