"""Domains, sizes of networks and training that the particle paper's experiments share.

Šustr et al. (2021), appendix F. The paper draws a new training set for each of its 10 runs; runs
that share one (`data_per_seed=False`) differ in initial parameters and the order of samples.

Goofspiel has utilities 1, 0 and -1 here: uniform play then has 0.419, the paper's 0.42 (Figure 4);
with differences of points as utilities it has 0.382.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, TypeVar

from experiments import experiment
from experiments.dl_cfr.study import Trained, TrainedNetwork, TrainedStudy
from experiments.settings import Checked, as_json
from spiel_dl.system.parameters import Positive, Seed
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.positional import PositionalLayout, PositionalNetwork
from spiel_dl.value_functions.training import split_strategies
from spiel_dl.value_functions.value_network import ValueNetwork

POSITIONAL, PARTICLE = "positional", "particle"
_SHARD_SIZE = 100
_DATA_ITERATIONS = 100
_LEARNING_RATE = 1e-3


@dataclasses.dataclass(frozen=True)
class Sizes(Checked):
    """The networks; the paper's are the defaults (appendix F).

    Attributes:
      num_layers: hidden layers of the positional network.
      width: units in each of them, as a multiple of its inputs.
      particle: sizes of the particle network.
      perfect_recall: whether the particle network's features include earlier observations.
      conditional: whether the particle network's values are conditional on reaching the infoset.
    """

    num_layers: Positive = 4
    width: float = 5.0
    particle: ParticleSizes = dataclasses.field(default_factory=ParticleSizes)
    perfect_recall: bool = True
    conditional: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.width < math.inf:
            raise ValueError(f"width={self.width} must be positive and finite")

    def __str__(self) -> str:
        """A short text for file names."""
        numbers = [self.num_layers, self.width, *dataclasses.astuple(self.particle)]
        recall = "perfect" if self.perfect_recall else "imperfect"
        name = "-".join([recall, *(f"{number:g}" for number in numbers)])
        return f"{name}-conditional" if self.conditional else name


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """Networks that are trained on data.

    Attributes:
      game: the game string.
      depth_limit: where the trunk ends whose leaves the networks value.
      num_samples: size of the training set.
      training: the training configuration, except for the loss, which is the squared error.
      seeds: of networks and random choices.
      iterations: of DL-CFR+.
      device: where networks compute.
      sizes: of networks.
      data_per_seed: whether each seed has a training set of its own, as in the paper.
    """

    game: str
    depth_limit: DepthLimit
    num_samples: Positive
    training: TrainingConfig
    seeds: tuple[Seed, ...] = tuple(range(10))
    iterations: Positive = 100
    device: str = "cpu"
    sizes: Sizes = dataclasses.field(default_factory=Sizes)
    data_per_seed: bool = False


def training_of(num_epochs: int) -> TrainingConfig:
    """The paper's training configuration with so many epochs."""
    return TrainingConfig(num_epochs=num_epochs, learning_rate=_LEARNING_RATE)


# Appendix F. The paper's depths in Leduc, 5 and 3, count both deals of private cards.
LEDUC = ("python_leduc", DepthLimit(moves=3), 54_000)
GOOFSPIEL = (
    "python_goofspiel_ii(num_cards=5,points_order=descending)",
    DepthLimit(rounds=2),
    9_000,
)
"""The paper's games, depth limits and numbers of samples."""
TEN_SEEDS = tuple(range(10))
FEWER = "three seeds of ten; 40 % of the paper's epochs"

AnySettings = TypeVar("AnySettings", bound=Settings)


class Study(experiment.Study[AnySettings]):
    """Trains the networks of both kinds on the same data."""

    @functools.cache  # noqa: B019  (a study lives as long as its program)
    def trunk_study(self, seed: int | None = None) -> TrainedStudy[Trained]:
        """The study with the training data; with `data_per_seed`, the seed's own.

        Raises:
          ValueError: if the game cannot be cut at the depth limit or ends above it.
        """
        settings = self.settings
        tree, limit = GameTree.from_game(settings.game), settings.depth_limit
        num_states = cut(tree, limit).leaves.num_public_states
        if not num_states:
            raise ValueError(f"{tree.game} has 0 public states at {limit}; give another limit")
        num_strategies, num_shards = -(-settings.num_samples // num_states), 1
        share = settings.training.validation_share
        while len(split_strategies(num_shards * _SHARD_SIZE, share)[0]) < num_strategies:
            num_shards += 1
        data_seed = seed if seed is not None and settings.data_per_seed else 0
        config = Trained(
            DatasetConfig(
                str(tree.game),
                limit,
                seed=data_seed,
                shard_size=_SHARD_SIZE,
                max_iterations=_DATA_ITERATIONS,
            ),
            num_shards,
            num_iterations=settings.iterations,
            seeds=settings.seeds,
            device=settings.device,
            training=dataclasses.replace(
                settings.training, max_strategies=num_strategies, loss="l2"
            ),
        )
        if not settings.data_per_seed:
            return TrainedStudy(config, self.workspace)
        return TrainedStudy(config, self.workspace.within(f"data-seed-{data_seed}"))

    def train(self, trunk: TrainedStudy[Trained], kind: str, seed: int) -> TrainedNetwork:
        """The network of a kind, POSITIONAL or PARTICLE, and a seed, trained on data."""
        config = dataclasses.replace(trunk.settings.training, seed=seed)
        name = f"{kind}-{self.settings.sizes}-seed-{seed}"
        return trunk.train_network(name, self._network(trunk, kind, seed), config)

    def _network(self, trunk: TrainedStudy[Trained], kind: str, seed: int) -> ValueNetwork:
        """The untrained network of a kind and a seed."""
        sizes, device = self.settings.sizes, self.settings.device
        if kind == PARTICLE:
            return ParticleNetwork(
                sizes.particle,
                InfostateFeatures(sizes.perfect_recall),
                conditional=sizes.conditional,
                seed=seed,
                device=device,
            )
        num_inputs = PositionalLayout.of_leaves(trunk.trunk.leaves).num_inputs
        num_units = max(1, round(sizes.width * num_inputs))
        return PositionalNetwork(
            sizes.num_layers, num_units, layer_norm=False, seed=seed, device=device
        )


def data_settings(trunk: TrainedStudy[Trained]) -> dict[str, Any]:
    """The data and the loss of networks as JSON."""
    settings = as_json(trunk.settings)
    data = {name: settings[name] for name in ("data", "num_shards", "num_iterations")}
    return {**data, "loss": trunk.settings.training.loss}
