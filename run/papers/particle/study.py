"""What the particle paper's experiments with trained networks share: domains, sizes, training.

Šustr et al. (2021), appendix F. The paper draws another training set for each of its 10 runs; in a
`Study` runs differ in the networks' parameters and in the order of the samples, and share one set.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from papers.dl_cfr.study import Study, StudyConfig, TrainedNetwork
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.positional import PositionalLayout, PositionalNetwork
from spiel_dl.value_functions.training import TrainingConfig, split_strategies
from spiel_dl.value_functions.value_network import ValueNetwork

POSITIONAL, PARTICLE = "positional", "particle"
NASH_CONV = "trunk_nash_conv"
NASH_CONV_TITLE = "trunk NashConv, in utility units"
SPREAD_COLUMNS = {
    NASH_CONV: f"{NASH_CONV_TITLE}, mean",
    "deviation": "standard deviation",
    "smallest": "smallest",
    "largest": "largest",
}
"""Titles of what `spread` says, for tables."""
LAYERS = ("num_layers", "num_units")
"""Entries of a study's config that `NetworkSizes` take the place of."""
_SHARD_SIZE = 100


class Domain(NamedTuple):
    """What a figure is about.

    Attributes:
      game: the game string.
      depth_limit: where the trunk ends whose leaves the networks value.
      num_samples: size of the training set.
      num_epochs: how often it is gone through.
    """

    game: str
    depth_limit: DepthLimit
    num_samples: int
    num_epochs: int


_GOOFSPIEL = "python_goofspiel_ii(num_cards=5,points_order=descending)"
# Appendix F and section 6. The paper's depth in Leduc counts both deals of private cards.
DOMAINS = {
    "leduc": Domain("python_leduc", DepthLimit(moves=3), 54_000, 155),
    "goofspiel": Domain(_GOOFSPIEL, DepthLimit(rounds=2), 9_000, 932),
}


@dataclasses.dataclass(frozen=True)
class NetworkSizes:
    """The sizes of both networks; the defaults are the paper's (appendix F).

    Attributes:
      num_layers: hidden layers of the positional network.
      width: units in each of them, as a multiple of its inputs.
      particle: of the particle network.
      perfect_recall: whether the particle network's features remember what was seen before.
      conditional: whether the particle network's values are those of infosets that are reached.
    """

    num_layers: int = 4
    width: float = 5.0
    particle: ParticleSizes = dataclasses.field(default_factory=ParticleSizes)
    perfect_recall: bool = True
    conditional: bool = False

    def __post_init__(self) -> None:
        if self.num_layers < 1 or not 0 < self.width < math.inf:
            raise ValueError(f"{self}: num_layers and width must be positive")

    @property
    def name(self) -> str:
        """Short, for files."""
        numbers = [self.num_layers, self.width, *dataclasses.astuple(self.particle)]
        recall = "perfect" if self.perfect_recall else "imperfect"
        name = "-".join([recall, *(f"{number:g}" for number in numbers)])
        return f"{name}-conditional" if self.conditional else name


def study_config(
    domain: Domain,
    training: TrainingConfig,
    *,
    seeds: tuple[int, ...],
    num_iterations: int,
    data_iterations: int = 100,
    device: str = "cpu",
) -> StudyConfig:
    """A study with a training set of a domain's size.

    Args:
      domain: game, depth limit, samples and epochs.
      training: how networks are trained otherwise.
      seeds: of the networks.
      num_iterations: of DL-CFR+ with a network.
      data_iterations: of CFR+ for each sample of the data, at most.
      device: where networks are trained and evaluated.

    Raises:
      ValueError: if the game cannot be cut there or ends above the limit, or if a number is not
        positive.
    """
    tree = GameTree.from_game(domain.game)
    num_states = cut(tree, domain.depth_limit).leaves.num_public_states
    if not num_states or domain.num_samples < 1:
        raise ValueError(
            f"{tree.game} has {num_states} public states at {domain.depth_limit} and num_samples="
            f"{domain.num_samples}; both must be positive"
        )
    num_strategies = -(-domain.num_samples // num_states)
    num_shards = 1
    share, seed = training.validation_share, training.split_seed
    while len(split_strategies(num_shards * _SHARD_SIZE, share, seed)[0]) < num_strategies:
        num_shards += 1
    data = DatasetConfig(
        str(tree.game),
        domain.depth_limit,
        shard_size=_SHARD_SIZE,
        max_iterations=data_iterations,
    )
    training = dataclasses.replace(
        training, num_epochs=domain.num_epochs, max_strategies=num_strategies, loss="l2"
    )
    return StudyConfig(
        data, num_shards, training, num_iterations=num_iterations, seeds=seeds, device=device
    )


def train(study: Study, kind: str, sizes: NetworkSizes, seed: int) -> TrainedNetwork:
    """The network of a kind, POSITIONAL or PARTICLE, and a seed, trained in a study.

    Raises:
      ValueError: as `Study.train_network` does.
    """
    settings = dataclasses.replace(study.config.training, seed=seed)
    network = make_network(study, kind, sizes, seed)
    return study.train_network(network_name(kind, sizes, seed), network, settings)


def make_network(study: Study, kind: str, sizes: NetworkSizes, seed: int) -> ValueNetwork:
    """The untrained network of a kind, POSITIONAL or PARTICLE, and a seed."""
    device = study.config.device
    if kind == PARTICLE:
        features = InfostateFeatures(sizes.perfect_recall)
        return ParticleNetwork(
            sizes.particle, features, conditional=sizes.conditional, seed=seed, device=device
        )
    num_inputs = PositionalLayout.of_leaves(study.trunk.leaves).num_inputs
    num_units = max(1, round(sizes.width * num_inputs))
    return PositionalNetwork(sizes.num_layers, num_units, seed=seed, device=device)


def spread(nash_convs: Sequence[float]) -> dict[str, Any]:
    """How trunks' NashConv differs between networks of one kind."""
    return {
        NASH_CONV: float(np.mean(nash_convs)),
        "deviation": float(np.std(nash_convs)),
        "smallest": min(nash_convs),
        "largest": max(nash_convs),
        "by network": list(nash_convs),
    }


def network_name(kind: str, sizes: NetworkSizes, seed: int) -> str:
    """That of a network's run directory."""
    return f"{kind}-{sizes.name}-seed-{seed}"
