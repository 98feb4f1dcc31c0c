"""One change at a time, and a network of ranges as they are."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from experiments.dl_cfr import isolated
from experiments.dl_cfr.as_printed import UnscaledNetwork
from experiments.dl_cfr.isolated import DECLARED, ISOLATED, NO_PURE, TOGETHER, UNSCALED
from experiments.verdicts import FAILS, REPRODUCED
from spiel_dl.runs.dl_cfr_run import METRIC
from spiel_dl.runs.workspace import Workspace
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.experiments.test_dl_cfr_experiments import DATA, TRAINED


def study(path: Path, **changes: object) -> isolated.Study:
    settings = isolated.Settings(DATA, **{**TRAINED, **changes})
    return isolated.Study(settings, Workspace(path))


def test_a_network_of_ranges_as_they_are(tmp_path: Path) -> None:
    """With the same parameters it answers as the other one where ranges sum to 1."""
    dataset = study(tmp_path).dataset
    leaves = dataset.trunk.leaves
    network, other = UnscaledNetwork(2, 16), PositionalNetwork(2, 16)
    for each in (network, other):
        each.initialize(leaves)
    ranges = [dataset.ranges[player][0].astype(np.float64) for player in (0, 1)]
    found = network.bind(leaves).evaluate(*ranges)
    for one, two in zip(found, other.bind(leaves).evaluate(*ranges), strict=True):
        assert one == pytest.approx(two, abs=1e-6)
    # It is not homogeneous: that is what it has to learn. An opponent who never comes gives 0.
    halved = network.bind(leaves).evaluate(ranges[0], 0.5 * ranges[1])[0]
    assert np.abs(halved - 0.5 * found[0]).max() > 1e-6
    assert not network.bind(leaves).evaluate(ranges[0], 0.0 * ranges[1])[0].any()
    # What it learns from are cfvs at these ranges.
    samples = network.samples(dataset)
    numbers = samples.numbers(np.arange(5), np.arange(samples.num_states))
    _, targets, possible = samples.batch(numbers)
    _, scaled, _ = other.samples(dataset).batch(numbers)
    masses = other.samples(dataset).opponent_masses(numbers)
    assert targets[possible].numpy() == pytest.approx((scaled * masses)[possible].numpy(), abs=1e-5)
    assert (samples.opponent_masses(numbers) == 1).all()


def test_each_change_is_made_alone_and_then_together(tmp_path: Path) -> None:
    own = study(tmp_path, changes=(NO_PURE, UNSCALED), together=(NO_PURE, UNSCALED), seeds=(0,))
    rows = ISOLATED.compute(own)
    assert [row["change"] for row in rows] == [DECLARED, NO_PURE, UNSCALED, TOGETHER]
    assert len({row[METRIC] for row in rows}) == 4
    pure = [isolated.CHANGES[name](own.settings).data.pure_share for name in (NO_PURE, UNSCALED)]
    assert pure == [0.0, own.settings.data.pure_share]
    assert "as they are" in ISOLATED.report(own).notes[1]
    with pytest.raises(ValueError, match="no change 'other'"):
        dataclasses.replace(own.settings, changes=("other",))


def test_the_best_change_is_held_to_the_bound() -> None:
    rows = [
        {"change": change, METRIC: value}
        for change, values in ((DECLARED, (0.02, 0.03)), (NO_PURE, (0.008, 0.01)))
        for value in values
    ]
    judge = ISOLATED.judge
    found = judge({"All numbers": rows})
    assert found.verdict == REPRODUCED
    assert found.headline.startswith("no pure strategies: 0.009 ")
    assert judge({"All numbers": rows[:2]}).verdict == FAILS
