"""Experiments as they are declared: run by name, made once, with the verdict at the top."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from experiments import study as papers_study
from experiments.paper import PAPERS
from experiments.study import (
    MET,
    NOT_MET,
    OPEN,
    PARTLY,
    Experiment,
    Study,
    by_name,
    run,
    sign_of_difference,
    verdict,
)
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.distributed import LocalProcesses


@dataclasses.dataclass(frozen=True)
class Settings:
    seeds: tuple[int, ...] = (1, 2)
    scale: int = 10
    unused: str = "x"


class Squares(Study[Settings]):
    """Squares of the seeds."""


def square(seed: int) -> int:
    return seed * seed


def compute(study: Squares) -> list[int]:
    seeds = study.settings.seeds
    return study.workspace.parts([(f"{seed}", {"seed": seed}) for seed in seeds], square, seeds)


def render(study: Squares, found: list[int]) -> Report:
    rows = [
        {"seed": seed, "square": n} for seed, n in zip(study.settings.seeds, found, strict=True)
    ]
    titles = {"seed": "seed", "square": "square"}
    held = verdict({f"{n}": n < study.settings.scale for n in found})
    return Report("Squares", [], {"Squares": Table(rows, titles)}, verdict=held)


EXPERIMENTS = by_name(
    Experiment("squares", "Squares", "number", "below 10.", compute, render, ("seeds", "scale")),
    Experiment("others", "Others", "number", "", compute, render),
)


@pytest.mark.parametrize(
    ("seeds", "held"),
    [
        ((1, 2), MET),
        ((2, 4), f"{PARTLY}: 1 of 2 parts hold; not: 16"),
        ((4, 5), NOT_MET),
        ((), ""),
    ],
)
def test_a_report_begins_with_the_verdict(
    seeds: tuple[int, ...], held: str, tmp_path: Path
) -> None:
    study = Squares(Settings(seeds), Workspace(tmp_path / "work"))
    first, second = run(EXPERIMENTS, study, tmp_path / "out")
    told = f"**Verdict:** {held or 'see the tables'}. The paper: below 10."
    assert first.read_text().split("\n\n")[1] == told
    told = f"**Verdict:** {held or 'none'}; the paper has no such experiment."
    assert second.read_text().split("\n\n")[1] == told
    content = json.loads(first.with_suffix(".json").read_text())
    assert content["settings"] == {"seeds": list(seeds), "scale": 10}
    assert (content["metric"], content["claim"]) == ("number", "below 10.")
    assert content["reused"] == []
    others = json.loads(second.with_suffix(".json").read_text())
    assert others["settings"] == {"seeds": list(seeds), "scale": 10, "unused": "x"}
    # Both experiments have the same parts here.
    assert others["reused"] == [str(seed) for seed in seeds]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"a": None}, OPEN),
        ({"a": True, "b": None}, "partly met: 1 of 2 parts hold; open: b"),
        ({"a": False, "b": None}, "not met: 0 of 2 parts hold; not: a; open: b"),
        ({"a": True, **dict.fromkeys("bcdefg", False)},
         "partly met: 1 of 7 parts hold; not: b, c, d, e, 2 more"),
    ],
)  # fmt: skip
def test_a_verdict_names_the_parts_that_do_not_hold(
    parts: dict[str, bool | None], expected: str
) -> None:
    assert verdict(parts) == expected


@pytest.mark.parametrize(
    ("first", "second", "sign"),
    [([1.0, 2.0], [2.0, 3.1], -1), ([2.0, 3.1], [1.0, 2.0], 1), ([1, 5], [2, 3], 0), ([1], [2], 0)],
)
def test_differences_are_told_from_0_by_their_interval(
    first: list[float], second: list[float], sign: int
) -> None:
    assert sign_of_difference(first, second) == sign


def test_unknown_names_are_refused_before_anything_runs(tmp_path: Path) -> None:
    study = Squares(Settings(), Workspace(tmp_path / "work"))
    with pytest.raises(ValueError, match="experiment 'cubes' must be one of squares, others"):
        run(EXPERIMENTS, study, tmp_path / "out", ["squares", "cubes"])
    assert list(tmp_path.iterdir()) == []


def test_workers_find_the_papers() -> None:
    """They are not installed, and workers do not start in `run/`; of Ray's, `test_distributed`."""
    workspace = Workspace("nowhere", LocalProcesses(1))
    found: dict[int, str] = {}
    workspace.for_each(papers_study.verdict, [{"a": True}, {"a": False}], found.__setitem__)
    assert found == {0: MET, 1: NOT_MET}


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_every_paper_is_declared_completely(paper: papers_study.Any) -> None:
    assert paper.experiments
    for name, experiment in paper.experiments.items():
        assert name == experiment.name
        assert experiment.title
        assert experiment.metric
        assert not experiment.claim or experiment.claim.endswith(".")
    settings = paper.settings(next(iter(paper.domains), None), [])
    known = {field.name for field in dataclasses.fields(settings)}
    for experiment in paper.experiments.values():
        assert set(experiment.uses) <= known
        assert json.dumps(experiment.settings(settings))
