"""Domains, data, trained networks and reports that the experiments with DL-CFR share.

A study has one game and depth limit. Its workspace keeps:

data/      the dataset
networks/  one run directory per trained network
parts/     one JSON file per smaller result
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from experiments import experiment
from experiments.settings import Checked
from experiments.verdicts import grouped
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE, measure_trunk
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.parameters import Positive, Seed
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions import training
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import generate, shard_name
from spiel_dl.value_functions.network_files import load_network
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.validation import ERROR_TITLES, UNNORMALISED
from spiel_dl.value_functions.value_network import ValueNetwork

BOUNDS = {
    METRIC: 0.01,
    UNNORMALISED + "huber": 0.001,
    UNNORMALISED + "l1": 0.01,
    UNNORMALISED + "linf": 0.1,
    UNNORMALISED + "linf_mean": 0.1,
}
"""The bounds that the paper's networks meet ("Main Experiments"), by metric."""
ALL_ERRORS = {
    **{UNNORMALISED + name: f"{title}, unnormalised" for name, title in ERROR_TITLES.items()},
    **{name: f"{title}, normalised" for name, title in ERROR_TITLES.items()},
}
"""Titles of errors in both units."""
Rows = list[dict[str, Any]]
OUTCOME = {METRIC: METRIC_TITLE, **ALL_ERRORS, "step": "steps", "seconds": "seconds"}
"""The metrics of a trained network, with titles."""
HUBER = UNNORMALISED + "huber"


def in_unit(name: str, value: float, unit: float) -> float:
    """A metric in the paper's unit of errors; small Huber losses are squares."""
    power = {METRIC: 0, HUBER: 2}.get(name, 1)
    return value * unit**power


PAPER_LINF = (UNNORMALISED + "linf", UNNORMALISED + "linf_mean")
"""Both readings of the paper's L∞: the largest error of all, or the mean over samples of the
largest error in each. Our errors are over possible positions; the paper may have taken all outputs.
Its ranges are reach probabilities, so its errors compare with the unnormalised ones."""
SUMMARY, ALL_NUMBERS = "Summary", "All numbers"
"""The headings of both tables of every report."""
# Table 2. In Leduc, the network values the second betting round ("2nd"). Goofspiel is about
# points: errors of 2.6 (left-out public states) cannot be where utilities are from -1 to 1, and
# the paper normalises exploitability.
_GOOFSPIEL = "num_cards=5,points_order=descending,forced_last_round=true"
GOOFSPIEL = DatasetConfig(
    f"python_goofspiel_ii({_GOOFSPIEL},returns_type=point_difference)", DepthLimit(rounds=3)
)
GOOFSPIEL_UNIT = 2.0
"""The authors' library pays the difference of points; ours pays half of it."""
GOOFSPIEL_WIN_LOSS = DatasetConfig(f"python_goofspiel_ii({_GOOFSPIEL})", DepthLimit(rounds=3))
"""Our own domain: utilities are 1, 0 and -1, not differences of points."""
OSHI_ZUMO = DatasetConfig(
    "python_oshi_zumo_ii(coins=8,min_bid=1,start_location=3,optimal_endgame=true)",
    DepthLimit(rounds=4),
)
LEDUC = DatasetConfig(
    "python_leduc(deal_ranks=true,bet_sizes=[2;4],raise_sizes=[2;4],max_raises=2)",
    DepthLimit(rounds=1),
)
FORTY_EPOCHS = TrainingConfig(networks_per_decade=8, num_epochs=40)
"""Training on random data with 40 epochs; our default is 100."""
THREE_SEEDS, FIVE_SEEDS = (0, 1, 2), (0, 1, 2, 3, 4)
DOMAINS = {"goofspiel": GOOFSPIEL, "oshi_zumo": OSHI_ZUMO, "leduc": LEDUC}
NARROW = 200
"""Units of a layer, the least of the paper's 200 to 500, in a quarter of the time that 400 take. In
Goofspiel networks of 400 have a third of the validation error (`ranges`, 40 epochs as well)."""


@dataclasses.dataclass(frozen=True)
class Trained(Checked):
    """Data, and networks that are trained on it.

    Attributes:
      data: the dataset's configuration: random ranges and their values.
      num_shards: how many shards of it.
      num_layers: hidden layers of a network, where an experiment does not vary them.
      num_units: units in each of them, likewise.
      num_iterations: iterations of DL-CFR+ and of CFR+.
      seeds: of the networks.
      device: where networks are trained and evaluated.
      training: how; the seeds take the place of its seed.
    """

    data: DatasetConfig
    num_shards: Positive = 40
    num_layers: Positive = 5
    num_units: Positive = 400
    num_iterations: Positive = 1000
    seeds: tuple[Seed, ...] = (0, 1)
    device: str = "cpu"
    training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(networks_per_decade=8)
    )

    def chosen(self) -> str:
        """What the paper does not give, or gives as a span."""
        data = f"{self.num_shards * self.data.shard_size:,} strategies"
        layers = f"{self.num_layers} layers of {self.num_units} units"
        return f"{self.training.num_epochs} epochs of {data}, {layers}"


AnyTrained = TypeVar("AnyTrained", bound=Trained)


@dataclasses.dataclass(frozen=True)
class TrainedNetwork:
    """A trained network of a study.

    Attributes:
      directory: its run directory.
      metrics: all lines of its training's metrics.
    """

    directory: Path
    metrics: Sequence[Mapping[str, Any]]

    @property
    def path(self) -> Path:
        """The file of the network at the end of training."""
        return self.directory / training.NETWORK_FILE


class TrainedStudy(experiment.Study[AnyTrained]):
    """Makes data, trains networks and measures them, each once, on first use."""

    def __init__(self, settings: AnyTrained, workspace: Workspace):
        """Makes a study with the complete game string; everything is computed on first use.

        Raises:
          ValueError: if there is no such game.
        """
        game = str(load_turn_based(settings.data.game))
        data = dataclasses.replace(settings.data, game=game)
        super().__init__(dataclasses.replace(settings, data=data), workspace)

    @functools.cached_property
    def dataset(self) -> Dataset:
        """The data; missing shards are generated.

        Raises:
          ValueError: if the directory holds other data, or if the game cannot be cut there.
        """
        data, workspace, number = self.settings.data, self.workspace, self.settings.num_shards
        directory = workspace.run_directory("data", data.to_json())
        shown = workspace.show_progress
        generate(directory, data, number, engine=workspace.engine, show_progress=shown)
        return Dataset.load(directory.path, [shard_name(each) for each in range(number)])

    @property
    def trunk(self) -> Trunk:
        """The trunk."""
        return self.settings.data.trunk()

    @property
    def num_strategies(self) -> int:
        """Trunk strategies in the data."""
        return self.settings.num_shards * self.settings.data.shard_size

    def train_network(
        self, name: str, network: ValueNetwork, config: TrainingConfig
    ) -> TrainedNetwork:
        """Trains a network of any kind, or returns the one that was trained before.

        Args:
          name: the run directory's name.
          network: untrained; its parameters are initialised here.
          config: the training configuration.

        Raises:
          ValueError: as `train` does.
        """
        network.initialize(self.trunk.leaves)
        identity = {
            "num_strategies": self.num_strategies,
            "network": network.header(),
            "training": config.to_json(),
        }
        directory = self.workspace.run_directory(f"networks/{name}", identity)
        if (directory.path / training.NETWORK_FILE).exists():
            self.workspace.note_reused(name)
        else:
            shown = self.workspace.show_progress
            training.train(network, self.dataset, directory, config, show_progress=shown)
        return TrainedNetwork(directory.path, directory.read_metrics())

    def load_network(self, path: str | os.PathLike[str]) -> ValueNetwork:
        """Loads a network and initialises it for the trunk's leaves."""
        network = load_network(path, self.settings.device)
        network.initialize(self.trunk.leaves)
        return network

    def solver(self, value_function: ValueFunction) -> DLCFRSolver:
        """A fresh DL-CFR+ on the trunk."""
        return DLCFRSolver(self.trunk.tree, value_function, self.settings.data.depth_limit)

    def measure(self, path: Path) -> dict[str, float]:
        """`measure_trunk` of DL-CFR+ with a network's file."""

        def measure() -> dict[str, float]:
            return self._measure_after(self.solver(self.load_network(path)))

        measured: dict[str, float] = self.part(f"trunk-{path.parent.name}-{path.stem}", measure)
        return measured

    def measure_reference(self) -> dict[str, float]:
        """`measure_trunk` of CFR+ on the whole game, after as many iterations."""
        return self._measure_after(CFRPlusSolver(self.trunk.tree))

    def _measure_after(self, solver: DLCFRSolver | CFRPlusSolver) -> dict[str, float]:
        solver.run(self.settings.num_iterations)
        return measure_trunk(self.trunk, solver.average_policy())

    def part(self, name: str, compute: Callable[[], Any]) -> Any:
        """A part of the workspace that depends on the numbers of iterations and strategies."""
        sizes = {
            "num_iterations": self.settings.num_iterations,
            "num_strategies": self.num_strategies,
        }
        return self.workspace.part(name, sizes, compute)

    def level(self, values: Mapping[str, float]) -> dict[str, Mapping[str, float]]:
        """The horizontal line of a picture for CFR+ on the whole game."""
        return {f"CFR+, {self.settings.num_iterations:,} iterations": values}

    def report(
        self,
        notes: Sequence[str],
        summary: Table,
        table: Table,
        panels: Sequence[Panel],
        group: str,
        *,
        levels: Mapping[str, Mapping[str, float]] | None = None,
        joined: bool = True,
        settings: Mapping[str, Any] | None = None,
    ) -> Report:
        """A report with a summary, all numbers, and a picture of them.

        Args:
          notes: further paragraphs.
          summary: main results beside the paper's numbers.
          table: all numbers.
          panels: the picture's panels, of the rows of `table` that have every panel's x.
          group: the entry of a row that names its curve.
          levels: horizontal lines of the picture.
          joined: join the points of a curve.
          settings: further inputs besides the experiment's settings.
        """
        data = self.settings.data
        game, limit = self.trunk.tree.game, f"depth limit {data.depth_limit}"
        seeds = ", ".join(map(str, self.settings.seeds))
        identity = f"`{game}`, {limit}; data of seed {data.seed}, networks of seeds {seeds}."
        complete_rows = [row for row in table.rows if all(panel.x in row for panel in panels)]
        groups = {str(name): rows for name, rows in grouped(complete_rows, group).items()}
        picture = Picture("", f"{game}, {limit}", panels, groups, levels or {}, joined)
        return Report(
            "",
            [identity, *notes],
            {SUMMARY: summary, ALL_NUMBERS: table},
            [picture],
            more={"settings": dict(settings or {})},
        )

    def train(
        self,
        seed: int,
        *,
        num_layers: int | None = None,
        num_units: int | None = None,
        **changes: Any,
    ) -> TrainedNetwork:
        """Trains a positional network, or returns the one that was trained before.

        Args:
          seed: of parameters and batches.
          num_layers: hidden layers; None: the study's.
          num_units: units in each of them; None: the study's.
          **changes: to the study's `TrainingConfig`. With any change, no early networks are kept.

        Raises:
          ValueError: as `training.train` does, and if the workspace holds networks that were
            trained with other settings.
        """
        settings = self.settings
        layers, units = num_layers or settings.num_layers, num_units or settings.num_units
        name = f"layers-{layers}-units-{units}-seed-{seed}"
        name += "".join(f"-{key}-{_slug(value)}" for key, value in sorted(changes.items()))
        if changes or (layers, units) != (settings.num_layers, settings.num_units):
            changes["networks_per_decade"] = 0
        config = dataclasses.replace(settings.training, seed=seed, **changes)
        # Experiments of one folder share networks, and differ in how many are kept.
        name += f"-kept-{config.networks_per_decade}"
        network = PositionalNetwork(layers, units, seed=seed, device=settings.device)
        return self.train_network(name, network, config)


def check_kept(config: TrainingConfig) -> None:
    """Raises a ValueError if no networks are kept while training."""
    if not config.networks_per_decade:
        raise ValueError(
            "networks_per_decade=0 keeps no networks to compare; use a positive number"
        )


def _slug(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


def errors_of(line: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """The validation errors in a metrics line, without their prefix."""
    return {name: line[prefix + name] for name in ALL_ERRORS}


def outcome(study: TrainedStudy[Any], trained: TrainedNetwork) -> dict[str, float]:
    """The metrics of `OUTCOME` for a trained network."""
    last = trained.metrics[-1]
    numbers = {name: last[name] for name in OUTCOME if name in last}
    return {METRIC: study.measure(trained.path)[METRIC], **numbers}


def error_panels(x: str, x_title: str, x_scale: str) -> list[Panel]:
    """A panel of each error over the varied quantity."""
    return [Panel(x, name, x_title, title, x_scale) for name, title in ALL_ERRORS.items()]


def figure_panels(x: str, x_title: str) -> Sequence[Panel]:
    """Panels of errors and exploitability over the varied quantity."""
    return [*error_panels(x, x_title, "log"), Panel(x, METRIC, x_title, METRIC_TITLE)]
