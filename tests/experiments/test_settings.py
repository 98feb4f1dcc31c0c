"""Settings: parsed from the command line, written as JSON, and errors."""

from __future__ import annotations

import dataclasses

import pytest

from experiments import scoreboard
from experiments.settings import as_json, changed
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.config import TrainingConfig


@dataclasses.dataclass(frozen=True)
class Example:
    training: TrainingConfig = dataclasses.field(default_factory=TrainingConfig)
    limits: tuple[DepthLimit, ...] = ()
    seeds: tuple[int, ...] = (0,)
    network: str | None = "file"
    share: float | None = None
    is_exact: bool = True
    count: int = 1


def test_every_kind_of_entry_can_be_changed() -> None:
    found = Example()
    for change in (
        "training.num_epochs=5",
        "training.max_strategies=7",
        "limits=1 rounds, 2 moves",
        "seeds=3,1",
        "network=None",
        "share=0.5",
        "is_exact=false",
        "count=2",
    ):
        found = changed(found, change)
    training = dataclasses.replace(TrainingConfig(), num_epochs=5, max_strategies=7)
    limits = (DepthLimit(rounds=1), DepthLimit(moves=2))
    assert found == Example(training, limits, (3, 1), None, 0.5, False, 2)
    assert changed(found, "seeds=").seeds == ()
    assert changed(found, "network=a=b").network == "a=b"


def test_they_are_shown_as_json() -> None:
    settings = as_json(Example(limits=(DepthLimit(rounds=1),)))
    assert settings["limits"] == ["1 rounds"]
    assert settings["seeds"] == [0]
    assert settings["training"] == TrainingConfig().to_json()
    assert settings["share"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("count", "'count' must be name=value"),
        ("counts=1", "no setting 'counts'; there are training, limits"),
        ("training.epochs=1", "no setting 'training.epochs'; there are num_epochs"),
        ("count=one", "count='one' must be of the kind int"),
        ("is_exact=maybe", "is_exact='maybe' must be of the kind bool"),
        ("limits=2 hours", "limits='2 hours' must be of the kind a depth limit"),
        ("training.num_epochs=0", "num_epochs=0 must be at least 1"),
    ],
)
def test_what_is_wrong_is_told(change: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        changed(Example(), change)


@pytest.mark.parametrize(
    ("row", "change", "message"),
    [
        ("learners/leduc/strength", "presets=", r"presets=\(\) must not be empty"),
        ("learners/leduc/strength", "algorithms=", r"algorithms=\(\) must not be empty"),
        ("learners/battleships_3x3/opponents", "num_games=1", "num_games=1 must be at least 2"),
        ("particle/leduc_fractions/fractions", "fractions=", r"fractions=\(\) must not be empty"),
        ("responses/full_trunk/frontier", "players=", r"players=\(\) must not be empty"),
        ("responses/full_trunk/frontier", "players=3", r"players=\(3,\) must be between 0 and 1"),
        ("responses/full_trunk/frontier", "sweep.bounds=", r"bounds=\(\) must not be empty"),
        (
            "particle/leduc/architectures",
            "sizes.width=inf",
            "width=inf must be positive and finite",
        ),
    ],
)
def test_what_an_experiment_cannot_do_without_is_refused(
    row: str, change: str, message: str
) -> None:
    [found] = scoreboard.chosen_rows((row,))
    with pytest.raises(ValueError, match=message):
        changed(found.settings, change)
