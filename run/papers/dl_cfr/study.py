"""What the experiments with DL-CFR share: domains, data, trained networks, and how to report.

A study is about one game and depth limit. Its working directory holds all that is expensive, and
what is finished there is not done again:

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
from typing import Any

from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.jobs.dl_cfr_run import METRIC, measure_trunk
from spiel_dl.jobs.on_policy import OnPolicyConfig
from spiel_dl.runs.distributed import IN_PROCESS, Engine
from spiel_dl.runs.parts import Parts
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions import training
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import generate
from spiel_dl.value_functions.network_files import load_network
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import TrainingConfig
from spiel_dl.value_functions.value_network import ValueNetwork


@dataclasses.dataclass(frozen=True)
class Domain:
    """A game and depth limit of the experiments of Kovařík et al. (2021), Table 2.

    Attributes:
      game: the game string.
      depth_limit: where the trunk ends.
      paper_left_out_linf: the paper's L∞ error in public states that were left out of training.
    """

    game: str
    depth_limit: DepthLimit
    paper_left_out_linf: float


DOMAINS = {
    "goofspiel": Domain(
        "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=true)",
        DepthLimit(rounds=3),
        2.6,
    ),
    "oshi_zumo": Domain(
        "python_oshi_zumo_ii(coins=8,min_bid=1,start_location=3,optimal_endgame=true)",
        DepthLimit(rounds=4),
        0.1,
    ),
    # "2nd" in Table 2: the network values the second betting round.
    "leduc": Domain(
        "python_leduc(deal_ranks=true,bet_sizes=[2;4],raise_sizes=[2;4],max_raises=2)",
        DepthLimit(rounds=1),
        0.08,
    ),
}


@dataclasses.dataclass(frozen=True)
class StudyConfig:
    """The sizes of a study.

    Attributes:
      data: what the dataset holds; its game and depth limit are the study's.
      num_shards: how many shards of it.
      training: how networks are trained; the study's seeds take the place of its seed.
      num_layers: hidden layers of a network, where an experiment does not vary them.
      num_units: units in each of them, likewise.
      num_iterations: iterations of DL-CFR+ and of CFR+.
      seeds: of the networks.
      device: where networks are trained and evaluated.
    """

    data: DatasetConfig
    num_shards: int
    training: TrainingConfig = dataclasses.field(default_factory=TrainingConfig)
    num_layers: int = 5
    num_units: int = 400
    num_iterations: int = 1000
    seeds: tuple[int, ...] = (0, 1)
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not self.seeds or self.num_iterations < 1 or self.num_shards < 1:
            raise ValueError(
                f"seeds={self.seeds} must not be empty, num_iterations={self.num_iterations} and "
                f"num_shards={self.num_shards} must be positive"
            )

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        nested = {"data": self.data.to_json(), "training": self.training.to_json()}
        return {**dataclasses.asdict(self), **nested}


@dataclasses.dataclass(frozen=True)
class Choices:
    """What the experiments vary.

    Attributes:
      every_state: leave out every so-manyth leaf public state, from the first on.
      amounts: numbers of trunk strategies to train on; empty: all, a half, a quarter, an eighth and
        a sixteenth of what there is.
      layers: numbers of hidden layers, at the study's number of units.
      units: numbers of units, at the study's number of layers.
      paper_left_out_linf: the paper's L∞ error in left-out public states, if it has one.
      on_policy: rounds and trainings on policy; the study's iterations and seeds take the place
        of its own.
      exact_resolving: resolve with the optimal value function too.
      exact_tolerance: of the experiment with the optimal value function: gap of its subgames, in
        utility units.
    """

    every_state: int = 1
    amounts: tuple[int, ...] = ()
    layers: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    units: tuple[int, ...] = (50, 100, 200, 300, 400, 500)
    paper_left_out_linf: float | None = None
    on_policy: OnPolicyConfig = dataclasses.field(default_factory=OnPolicyConfig)
    exact_resolving: bool = True
    exact_tolerance: float = 0.01

    def __post_init__(self) -> None:
        numbers = (self.every_state, *self.amounts, *self.layers, *self.units)
        if min(numbers) < 1:
            raise ValueError(f"{self}: all numbers must be positive")


@dataclasses.dataclass(frozen=True)
class TrainedNetwork:
    """A network that was trained in a study.

    Attributes:
      directory: its run directory.
      metrics: all lines of its training's metrics.
    """

    directory: Path
    metrics: Sequence[Mapping[str, Any]]

    @property
    def path(self) -> Path:
        """The file of the network as training left it."""
        return self.directory / training.NETWORK_FILE


class Study:
    """Makes what experiments ask for, once.

    Attributes:
      config: its sizes.
      directory: its working directory.
      parts: what is finished of the smaller results.
      reused: names of networks, rounds of training on policy and parts that were finished already
        when they were asked for.
      show_progress: show progress bars on standard error.
    """

    def __init__(
        self,
        config: StudyConfig,
        directory: str | os.PathLike[str],
        *,
        engine: Engine = IN_PROCESS,
        show_progress: bool = True,
    ):
        """Describes a study; nothing is made before it is asked for.

        Args:
          config: its sizes.
          directory: its working directory; that of an earlier start with the same sizes goes on.
          engine: who makes data. No result depends on it.
          show_progress: show progress bars on standard error.
        """
        self.config = config
        self.directory = Path(directory)
        self.parts = Parts(self.directory / "parts")
        self.reused = self.parts.reused
        self._networks: dict[str, TrainedNetwork] = {}
        self._engine = engine
        self.show_progress = show_progress

    @functools.cached_property
    def dataset(self) -> Dataset:
        """The data, made as far as it is missing.

        Raises:
          ValueError: if the directory holds other data, or if the game cannot be cut there.
        """
        config = self.config
        directory = RunDirectory(self.directory / "data", config.data.to_json(), resume=True)
        generate(
            directory,
            config.data,
            config.num_shards,
            engine=self._engine,
            show_progress=self.show_progress,
        )
        return Dataset.load(directory.path)

    @property
    def trunk(self) -> Trunk:
        """The trunk."""
        return self.dataset.trunk

    def settings(self, *unused: str, **chosen: Any) -> dict[str, Any]:
        """What a result of the study depends on, as JSON can hold it.

        Args:
          *unused: entries of the config that it does not depend on.
          **chosen: what else it depends on.
        """
        config = self.config.to_json()
        return {name: value for name, value in config.items() if name not in unused} | chosen

    def train(
        self,
        seed: int,
        *,
        num_layers: int | None = None,
        num_units: int | None = None,
        **changes: Any,
    ) -> TrainedNetwork:
        """Trains a network, or finds the one that was trained already.

        Args:
          seed: of parameters and batches.
          num_layers: hidden layers; None: the study's.
          num_units: units in each of them; None: the study's.
          **changes: to the study's `TrainingConfig`. With any change, no early networks are kept.

        Raises:
          ValueError: as `training.train` does, and if the working directory holds networks that
            were trained with other settings.
        """
        config = self.config
        layers, units = num_layers or config.num_layers, num_units or config.num_units
        name = f"layers-{layers}-units-{units}-seed-{seed}"
        name += "".join(f"-{key}-{_slug(value)}" for key, value in sorted(changes.items()))
        if changes or (layers, units) != (config.num_layers, config.num_units):
            changes["networks_per_decade"] = 0
        if name not in self._networks:
            settings = dataclasses.replace(config.training, seed=seed, **changes)
            network = PositionalNetwork(layers, units, seed=seed, device=config.device)
            self._networks[name] = self.train_network(name, network, settings)
        return self._networks[name]

    def train_network(
        self, name: str, network: ValueNetwork, settings: TrainingConfig
    ) -> TrainedNetwork:
        """Trains a network of any kind, or finds the one that was trained already.

        Args:
          name: of its run directory.
          network: untrained; it is bound to the trunk's leaves.
          settings: how to train it.

        Raises:
          ValueError: as `train` does.
        """
        network.initialize(self.trunk.leaves)
        identity = {
            "num_strategies": self.dataset.num_strategies,
            "network": network.header(),
            "training": settings.to_json(),
        }
        path = self.directory / "networks" / name
        directory = RunDirectory(path, identity, resume=True)
        if (path / training.NETWORK_FILE).exists():
            self.reused.add(name)
        else:
            training.train(
                network, self.dataset, directory, settings, show_progress=self.show_progress
            )
        return TrainedNetwork(path, directory.read_metrics())

    def load_network(self, path: str | os.PathLike[str]) -> ValueNetwork:
        """A network's file, bound to the trunk's leaves."""
        network = load_network(path, self.config.device)
        network.initialize(self.trunk.leaves)
        return network

    def solver(self, value_function: ValueFunction) -> DLCFRSolver:
        """A fresh DL-CFR+ on the trunk."""
        return DLCFRSolver(self.trunk.tree, value_function, self.config.data.depth_limit)

    def exploitability(self, path: Path) -> float:
        """Normalised trunk exploitability of DL-CFR+ with a network's file."""
        return self.measure(path)[METRIC]

    def measure(self, path: Path, times: int = 1) -> dict[str, float]:
        """What `measure_trunk` says of DL-CFR+ with a network's file.

        Args:
          path: the network's file.
          times: run so many times the study's iterations.
        """

        def measure() -> dict[str, float]:
            solver = self.solver(self.load_network(path))
            solver.run(times * self.config.num_iterations)
            return measure_trunk(solver.trunk, solver.average_policy())

        longer = f"-{times}-times" if times > 1 else ""
        name = f"trunk-{path.parent.name}-{path.stem}{longer}"
        measured: dict[str, float] = self.part(name, measure)
        return measured

    def reference_exploitability(self) -> float:
        """Normalised trunk exploitability of CFR+ of the whole game, after as many iterations."""
        return self.measure_reference()[METRIC]

    def measure_reference(self) -> dict[str, float]:
        """What `measure_trunk` says of CFR+ of the whole game, after as many iterations."""

        def measure() -> dict[str, float]:
            solver = CFRPlusSolver(self.trunk.tree)
            solver.run(self.config.num_iterations)
            return measure_trunk(self.trunk, solver.average_policy())

        measured: dict[str, float] = self.part("trunk-cfr_plus", measure)
        return measured

    def part(self, name: str, compute: Callable[[], Any], **settings: Any) -> Any:
        """A result that JSON can hold, from its file if there is one.

        Args:
          name: of the file.
          compute: computes the result.
          **settings: what it depends on besides the numbers of iterations and of strategies.

        Raises:
          ValueError: if the file is one of other settings.
        """
        settings = {
            "num_iterations": self.config.num_iterations,
            "num_strategies": self.dataset.num_strategies,
            **settings,
        }
        return self.parts.get(name, settings, compute)


def _slug(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)
