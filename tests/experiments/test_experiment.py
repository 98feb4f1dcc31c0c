"""Experiments as they are declared: made once, with the verdict at the top."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from experiments.experiment import Experiment, Row, Study, run
from experiments.manifest import MANIFEST
from experiments.sepot import position
from experiments.settings import Checked
from experiments.verdicts import (
    CONTRADICTS,
    FAILS,
    OPEN,
    PARTLY,
    REPRODUCED,
    SMALLER,
    Judgement,
    Tables,
    at_most,
    is_less,
    qualified,
    verdict,
)
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import Workspace


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    seeds: tuple[int, ...] = (1, 2)
    scale: int = 10


Squares = Study[Settings]


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
    return Report("Squares", [], {"Squares": Table(rows, titles)})


def judge(tables: Tables) -> Judgement:
    numbers = [row["square"] for row in tables["Squares"]]
    return Judgement(verdict({f"{n}": n < 10 for n in numbers}), f"at most {max(numbers)}")


SQUARES = Experiment(
    name="squares",
    title="Squares",
    metric="number",
    claim="below 10.",
    study=Squares,
    compute=compute,
    render=render,
    judge=judge,
)
OTHERS = dataclasses.replace(SQUARES, name="others", claim="")


@pytest.mark.parametrize(
    ("seeds", "held"),
    [
        ((1, 2), REPRODUCED),
        ((2, 4), f"{PARTLY}: 1 of 2 parts hold; not: 16"),
        ((4, 5), FAILS),
    ],
)
def test_a_report_begins_with_the_verdict(
    seeds: tuple[int, ...], held: str, tmp_path: Path
) -> None:
    study = Squares(Settings(seeds), Workspace(tmp_path / "work"))
    first, second = (run(each, study, tmp_path / "out") for each in (SQUARES, OTHERS))
    first_line = f"**Verdict:** {held}. The paper: below 10."
    assert first.read_text().split("\n\n")[1] == first_line
    first_line = f"**Verdict:** {held}; the paper has no such experiment."
    assert second.read_text().split("\n\n")[1] == first_line
    content = json.loads(first.with_suffix(".json").read_text())
    assert content["settings"] == {"seeds": list(seeds), "scale": 10}
    assert (content["metric"], content["claim"]) == ("number", "below 10.")
    assert content["headline"] == f"at most {seeds[-1] ** 2}"
    assert content["reused"] == []
    # Both experiments have the same parts here.
    others = json.loads(second.with_suffix(".json").read_text())
    assert others["reused"] == [str(seed) for seed in seeds]


def test_a_report_without_verdict_says_so() -> None:
    assert SQUARES.in_words("") == "see the tables. The paper: below 10."
    assert OTHERS.in_words("") == "none; the paper has no such experiment."


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"a": None}, OPEN),
        ({"a": True, "b": None}, "partly: 1 of 2 parts hold; open: b"),
        ({"a": False, "b": None}, "does not hold: 0 of 2 parts hold; not: a; open: b"),
        ({"a": True, **dict.fromkeys("bcdefg", False)},
         "partly: 1 of 7 parts hold; not: b, c, d, e, 2 more"),
    ],
)  # fmt: skip
def test_a_verdict_names_the_parts_that_do_not_hold(
    parts: dict[str, bool | None], expected: str
) -> None:
    assert verdict(parts) == expected


def test_what_fails_is_a_contradiction_only_if_nothing_else_is_to_blame() -> None:
    failed = verdict({"a": False, "b": False})
    assert qualified(failed, cut="two seeds") == f"{SMALLER} (two seeds)"
    assert qualified(failed, checked="an LP") == f"{CONTRADICTS} (checked by an LP)"
    assert qualified(failed).startswith(f"{OPEN}: no second implementation")
    partly = verdict({"a": False, "b": True})
    assert qualified(partly, cut="two seeds") == partly
    goals = Row(SQUARES, "squares", Settings())
    assert (goals.verdict(failed), goals.verdict(REPRODUCED)) == ("not met", "met")
    assert dataclasses.replace(goals, place="Figure 1", short_of="x").verdict(failed) == (
        f"{SMALLER} (x)"
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1.0, 2.0], [2.0, 3.1], True),
        ([2.0, 3.1], [1.0, 2.0], False),
        ([1, 5], [2, 3], None),
        ([1], [2], None),
    ],
)
def test_differences_are_told_from_0_by_their_interval(
    first: list[float], second: list[float], expected: bool | None
) -> None:
    assert is_less(first, second) is expected


@pytest.mark.parametrize(
    ("values", "expected"), [([1.0, 1.1], True), ([1.0, 2.0], None), ([2.3, 2.4], False)]
)
def test_a_goal_inside_the_interval_is_open_from_both_sides(
    values: list[float], expected: bool | None
) -> None:
    for goal in (1.9, 1.4) if expected is None else (1.7,):
        assert at_most(values, goal) is expected


def test_inputs_are_all_that_is_declared() -> None:
    row = Row(SQUARES, "a", Settings())
    for same in (Row(SQUARES, "b", Settings(), "Figure 1", 7), Row(SQUARES, "a", Settings((1, 2)))):
        assert same.inputs == row.inputs
    later = dataclasses.replace(SQUARES, version=2)
    for other in (
        Row(SQUARES, "a", Settings((2, 1))),
        Row(SQUARES, "a", Settings(scale=11)),
        Row(OTHERS, "a", Settings()),
        Row(later, "a", Settings()),
    ):
        assert other.inputs != row.inputs


def test_inputs_are_trained_networks_too(tmp_path: Path) -> None:
    settings = position.Settings(("leduc",), network=f"{tmp_path}/{{game}}.safetensors")
    row, network = Row(position.POSITION, "a", settings), tmp_path / "leduc.safetensors"
    network.write_bytes(b"one")
    before = row.inputs
    network.write_bytes(b"another")
    assert row.inputs != before


def test_every_experiment_is_declared_completely() -> None:
    for row in MANIFEST:
        experiment = row.experiment
        assert experiment.title
        assert experiment.metric
        assert not experiment.claim or experiment.claim.endswith(".")
        assert row.minutes > 0
        study = experiment.study(row.settings, Workspace("nowhere"))
        assert study.settings.__class__ is row.settings.__class__
    names = [row.name for row in MANIFEST]
    assert len(set(names)) == len(names)
