"""The paper's experiments on a tiny game: right numbers, written down; and one change at a time."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from experiments.dl_cfr import additional, isolated, left_out
from experiments.dl_cfr import ranges as dl_cfr_ranges
from experiments.dl_cfr.additional import AMOUNT, LOSSES, SIZE
from experiments.dl_cfr.checkpoints import CHECKPOINTS
from experiments.dl_cfr.isolated import (
    DECLARED,
    ISOLATED,
    NO_PURE,
    TOGETHER,
    UNSCALED,
    UnscaledNetwork,
)
from experiments.dl_cfr.ranges import RANGES, solver_ranges
from experiments.dl_cfr.study import GOOFSPIEL, LEDUC, OSHI_ZUMO, Trained, TrainedStudy
from experiments.experiment import Experiment, run
from spiel_dl.algorithms.dl_cfr import DLCFRSolver, evaluated_ranges
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.runs.dl_cfr_run import METRIC
from spiel_dl.runs.workspace import Workspace
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import ExactValue
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.validation import UNNORMALISED
from tests.made_up_values import MadeUpValue

LIMIT = DepthLimit(rounds=1)
LEFT_OUT = left_out.ROWS[0].experiment
DATA = DatasetConfig(
    "python_goofspiel_ii(num_cards=3,points_order=descending)", LIMIT, shard_size=40, tolerance=1e-3
)
TRAINED = {
    "num_shards": 2,
    "num_layers": 2,
    "num_units": 16,
    "num_iterations": 20,
    "seeds": (0, 1),
    "training": TrainingConfig(num_epochs=3, batch_size=32),
}
SETTINGS = {
    CHECKPOINTS: Trained(DATA, **TRAINED),
    LEFT_OUT: left_out.Settings(DATA, **TRAINED, every_state=2, paper_left_out_linf=2.6),
    RANGES: Trained(DATA, **TRAINED),
    LOSSES: Trained(DATA, **TRAINED),
    AMOUNT: additional.AmountSettings(DATA, **TRAINED, amounts=(10, 20)),
    SIZE: additional.SizeSettings(DATA, **TRAINED, layers=(1, 2), units=(8, 16)),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which all experiments have been made."""
    path = tmp_path_factory.mktemp("study")
    for experiment in SETTINGS:
        run(experiment, study(path / "work", experiment), path / "results")
    return path


def study(path: Path, experiment: Experiment, **changes: object) -> TrainedStudy:
    settings = dataclasses.replace(SETTINGS[experiment], **changes)
    return experiment.study(settings, Workspace(path))


def read(path: Path, name: str) -> dict:
    """A report, its two tables as `summary` and `rows`."""
    content = json.loads((path / "results" / f"{name}.json").read_text())
    tables = content["tables"]
    return {**content, "summary": tables["Summary"], "rows": tables["All numbers"]}


@pytest.mark.parametrize(
    ("data", "histories", "infosets", "states"),
    # Histories and infosets per player: Table 2, recovered by counting (the paper rounds them).
    # Leduc by hand: a round has 87 nodes, 29 ends by a call and 15 decisions of each player, so
    # 1 + 9 * 87 + 29 * 24 * 87 histories and 3 * 15 + 29 * 9 * 15 infosets.
    [(GOOFSPIEL, 55_731, 4_974, 27), (OSHI_ZUMO, 19_305, 1_580, 79), (LEDUC, 61_336, 3_960, 87)],
)
def test_domains_have_the_papers_sizes(
    data: DatasetConfig, histories: int, infosets: int, states: int
) -> None:
    tree = GameTree.from_game(data.game)
    assert tree.num_histories == histories
    assert [tree.num_infosets(player) for player in (0, 1)] == [infosets, infosets]
    assert cut(tree, data.depth_limit).leaves.num_public_states == states


def test_every_report_is_complete(finished: Path) -> None:
    for name in (experiment.name for experiment in SETTINGS):
        content = read(finished, name)
        assert content["settings"]["num_iterations"] == 20
        assert content["commits_of_parts"]
        assert content["wall_clock_seconds"] > 0
        assert content["environment"]["command"]
        text = (finished / "results" / f"{name}.md").read_text()
        game = str(study(finished / "work", CHECKPOINTS).trunk.tree.game)
        for words in (game, "depth limit 1 rounds", "commit", "Wall-clock", "the paper"):
            assert words.lower() in text.lower(), (name, words)
        assert (finished / "results" / f"{name}.png").stat().st_size > 10_000
        assert len(content["rows"]) == text.count("\n| ") - len(content["summary"]) - 4


def test_checkpoints_are_those_of_training_and_judged_by_dl_cfr(finished: Path) -> None:
    rows = read(finished, "checkpoints")["rows"]
    assert [row["step"] for row in rows if row["network"] == "seed 0"] == [1, 2, 3, 6, 10, 18, 21]
    folder = finished / "work" / "networks" / "layers-2-units-16-seed-1-kept-4"
    network = PositionalNetwork.load(folder / "network-step-00000006.safetensors")
    solver = DLCFRSolver(DATA.game, network, LIMIT)
    solver.run(20)
    nash_conv = trunk_losses(solver.trunk, solver.average_policy()).nash_conv
    [row] = [row for row in rows if (row["network"], row["step"]) == ("seed 1", 6)]
    assert row[METRIC] == pytest.approx(nash_conv / 2, abs=1e-9)  # The largest utility is 1.
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").open()]
    [line] = [line for line in lines if line["step"] == 6]
    assert {name: row[name] for name in ("huber", "linf_mean")} == {
        name: line[name] for name in ("huber", "linf_mean")
    }


def test_left_out_states_and_the_papers_number(finished: Path) -> None:
    content = read(finished, "left_out")
    labels = [(row["network"], row["state"]) for row in content["rows"]]
    assert labels == [("seed 0", 0), ("seed 0", 2), ("seed 1", 0), ("seed 1", 2)]
    folder = finished / "work" / "networks" / "layers-2-units-16-seed-1-left_out_states-2-kept-0"
    last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert content["rows"][3]["linf"] == last["left_out_linf"] != last["linf"]
    largest = max(row[UNNORMALISED + "linf"] for row in content["rows"])
    [line] = [line for line in content["summary"] if line["largest"] == largest]
    assert line["paper"] == 2.6
    assert not list(folder.glob("network-step-*")), "early networks would fill the disk"


def test_amounts_take_as_many_steps(finished: Path) -> None:
    rows = read(finished, "amount")["rows"]
    assert [row["samples"] for row in rows] == [60, 30, 60, 30]
    # 71 strategies of 3 states are 7 batches of 32 an epoch; 60 samples are 2, 30 are 1.
    assert [row["step"] for row in rows[:2]] == [3 * 4 * 2, 3 * 7 * 1]


def test_losses_differ_in_nothing_else(finished: Path) -> None:
    content = read(finished, "losses")
    found = {(row["network"], row["loss"]): row for row in content["rows"]}
    assert {loss for _, loss in found} == {"huber", "l1", "l2", "linf"}
    assert len({row["step"] for row in found.values()}) == 1
    # The Huber network is that of the other experiments.
    rows = read(finished, "checkpoints")["rows"]
    last = [row for row in rows if row["network"] == "seed 0"][-1]
    assert found["seed 0", "huber"]["l1"] == last["l1"]
    assert found["seed 0", "linf"]["l1"] != last["l1"]


def test_sizes_vary_one_at_a_time(finished: Path) -> None:
    rows = read(finished, "size")["rows"][:4]
    assert [(row["layers"], row["units"]) for row in rows] == [(1, 16), (2, 16), (2, 8), (2, 16)]
    header = PositionalNetwork.load(
        finished / "work" / "networks" / "layers-2-units-16-seed-0-kept-4" / "network.safetensors"
    ).header()
    inputs, outputs = (header["domain"][f"number of {what}"] for what in ("inputs", "outputs"))
    # Weights and biases of three linear layers, scales and shifts of two normalisations.
    by_hand = inputs * 16 + 16 + 16 * 16 + 16 + 16 * outputs + outputs + 4 * 16
    assert rows[1]["parameters"] == rows[3]["parameters"] == by_hand


def test_networks_that_differ_in_how_many_are_kept_share_a_folder(finished: Path) -> None:
    """As those of a domain's experiments do."""
    few = dataclasses.replace(TRAINED["training"], networks_per_decade=1)
    numbers = []
    for each, sizes in (
        (study(finished / "work", LOSSES), {}),
        (study(finished / "work", LOSSES, training=few), {}),
        (study(finished / "work", SIZE, num_layers=1), {"num_layers": 2}),
    ):
        trained = each.train(0, **sizes)
        kept = list(trained.directory.glob("network-step-*"))
        assert len(kept) == sum("network" in line for line in trained.metrics)
        numbers.append(len(kept))
    assert numbers == [7, 3, 0]


def test_what_cannot_be_done_is_told_before_it_is_begun(finished: Path) -> None:
    networks = sorted((finished / "work" / "networks").iterdir())
    none_kept = dataclasses.replace(TRAINED["training"], networks_per_decade=0)
    for experiment, changes, message in (
        (CHECKPOINTS, {"training": none_kept}, "networks_per_decade=0 keeps no networks"),
        (AMOUNT, {"amounts": (10, 1000)}, r"amounts=\(10, 1000\), but there are 71 trunk"),
    ):
        with pytest.raises(ValueError, match=message):
            experiment.compute(study(finished / "work", experiment, **changes))
    assert sorted((finished / "work" / "networks").iterdir()) == networks


def test_rank_correlation_by_hand(finished: Path) -> None:
    """Spearman's, from the ranks' differences: 1 - 6 * sum(d^2) / (n * (n^2 - 1)), without ties."""
    content = read(finished, "checkpoints")
    rows = content["rows"]
    ranks = [np.argsort(np.argsort([row[name] for row in rows])) for name in ("l1", METRIC)]
    assert len({row[METRIC] for row in rows}) == len(rows)
    n = len(rows)
    expected = 1 - 6 * ((ranks[0] - ranks[1]) ** 2).sum() / (n * (n * n - 1))
    [line] = [line for line in content["summary"] if line["what"] == "L1 (mean), normalised"]
    assert line["correlation"] == pytest.approx(expected)
    assert line["seed 1"] == rows[-1]["l1"]


def test_cfr_d_asks_for_what_dl_cfr_with_optimal_values_does(finished: Path) -> None:
    content = read(finished, "ranges")
    iterations = [row["iteration"] for row in content["rows"] if row["source"] == "CFR-D"]
    assert iterations == [1, 2, 3, 4, 6, 7, 10, 13, 18, 20]
    solver = DLCFRSolver(DATA.game, ExactValue(1e-3, 1000), LIMIT)
    ranges = solver_ranges(solver, iterations)
    leaves = solver.trunk.leaves
    masses = [leaves.sum_by_public_state(player, ranges[player]) for player in (0, 1)]
    reached = ((masses[0] > 0) & (masses[1] > 0)).mean(axis=1)
    found = [row for row in content["rows"] if row["source"] == "CFR-D"]
    assert [row["reached"] for row in found] == pytest.approx(reached.tolist())
    assert found[0]["entropy"] == pytest.approx(1), "the first iteration plays uniformly"
    assert max(row["largest"] for row in found) > 0.5


def isolated_study(path: Path, **changes: object) -> isolated.Study:
    settings = isolated.Settings(DATA, **{**TRAINED, **changes})
    return isolated.Study(settings, Workspace(path))


def test_a_network_of_ranges_as_they_are(tmp_path: Path) -> None:
    """With the same parameters it answers as the other one where ranges sum to 1."""
    dataset = isolated_study(tmp_path).dataset
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
    own = isolated_study(
        tmp_path, changes=(NO_PURE, UNSCALED), together=(NO_PURE, UNSCALED), seeds=(0,)
    )
    rows = ISOLATED.compute(own)
    assert [row["change"] for row in rows] == [DECLARED, NO_PURE, UNSCALED, TOGETHER]
    assert len({row[METRIC] for row in rows}) == 4
    pure = [isolated.CHANGES[name](own.settings).data.pure_share for name in (NO_PURE, UNSCALED)]
    assert pure == [0.0, own.settings.data.pure_share]
    assert "as they are" in ISOLATED.report(own).notes[1]
    with pytest.raises(ValueError, match=r"changes=\('other',\) must be one of no pure strategies"):
        dataclasses.replace(own.settings, changes=("other",))


def test_range_statistics_by_hand() -> None:
    """One leaf public state of two infosets of player 0 and one of player 1, and a second like it.

    Kuhn poker after one move: passing or betting, each with three cards on either side.
    """
    leaves = cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves
    assert [leaves.num_infosets(player) for player in (0, 1)] == [6, 6]
    ranges = (np.array([[3.0, 0, 0, 0, 0, 0]]), np.array([[1.0, 1, 1, 0, 0, 0]]))
    uniform = np.full(6, 1 / 3)
    pure = np.array([0.0, 1, 0, 0, 1, 0])
    known = (np.stack([uniform, pure]), np.stack([uniform, uniform]))
    [found] = dl_cfr_ranges.range_statistics(leaves, ranges, known)
    assert found["reached"] == 0.5  # Neither player reaches the second public state.
    assert found["entropy"] == pytest.approx((0 + 1) / 2)
    assert found["largest"] == pytest.approx((1 + 1 / 3) / 2)
    # Player 0: (1, 0, 0) against the mean (1/6, 4/6, 1/6); player 1 is at its mean.
    assert found["distance_to_mean"] == pytest.approx((5 / 6 + 0) / 2)
    # The nearest pair is the uniform one: (2/3 + 0) / 2; the other is at (1 + 0) / 2.
    assert found["distance_to_nearest"] == pytest.approx((2 / 3 + 0) / 2)


@pytest.mark.parametrize("alternating", [True, False])
def test_evaluated_ranges_are_all_that_the_value_function_gets(alternating: bool) -> None:
    ranges = []

    def record(range_0: np.ndarray, range_1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ranges.append((range_0.copy(), range_1.copy()))
        return -range_0, range_1

    tree = GameTree.from_game(DATA.game)
    solver = DLCFRSolver(tree, MadeUpValue(record), LIMIT, alternating_updates=alternating)
    found = evaluated_ranges(solver, [1, 2, 5])
    assert solver.iteration == 5
    each = 2 if alternating else 1
    assert len(ranges) == 5 * each
    kept = [pair for i in (0, 1, 4) for pair in ranges[each * i : each * (i + 1)]]
    for player in (0, 1):
        np.testing.assert_array_equal(found[player], np.stack([pair[player] for pair in kept]))
