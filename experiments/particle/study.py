"""What the particle paper's experiments share: domains, sizes of networks, and their training.

Šustr et al. (2021), appendix F. The paper draws another training set for each of its 10 runs; here
runs differ in the networks' parameters and in the order of the samples, and share one set.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments import study as papers_study
from experiments.dl_cfr import study as dl_cfr_study
from experiments.dl_cfr.study import TrainedNetwork
from experiments.settings import as_json, check_least
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlayConfig
from spiel_dl.runs.on_policy import OnPolicyConfig
from spiel_dl.tree.depth_limit import DepthLimit, default_depth_limit
from spiel_dl.tree.from_openspiel import load_turn_based
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
SIZES = ("num_layers", "width", "particle", "perfect_recall", "conditional")
"""Settings that say how large networks are."""
TRAINED = (
    "game", "depth_limit", "num_samples", "training", "iterations", "seeds", "device", *SIZES
)  # fmt: skip
"""Settings that networks trained on data depend on, and what is measured of them."""
_SHARD_SIZE = 100
_DATA_ITERATIONS = 100
_TRUNK_ITERATIONS = 1000
_LEARNING_RATE = 1e-3


def _on_policy() -> OnPolicyConfig:
    default = OnPolicyConfig()
    first = dataclasses.replace(default.first, learning_rate=_LEARNING_RATE)
    return dataclasses.replace(default, first=first)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Sizes of a study, and what its experiments vary. The networks' are the paper's (appendix F).

    Attributes:
      game: the game string; None: Goofspiel with 13 cards in self_play and match.
      depth_limit: where the trunk ends whose leaves the networks value, or how deep searches look;
        None: one round, or two moves in games without rounds.
      num_samples: size of the training set.
      training: how networks are trained, but for the loss, which is the squared error.
      seeds: of networks, random choices and linear targets; the first is that of self_play.
      iterations: of DL-CFR+; None: 1000 in a trunk, as `play` says in a search.
      device: where networks compute.
      num_layers: hidden layers of the positional network.
      width: units in each of them, as a multiple of its inputs.
      particle: sizes of the particle network.
      perfect_recall: whether the particle network's features remember what was seen before.
      conditional: whether the particle network's values are those of infosets that are reached.
      on_policy: on_policy: rounds and trainings.
      played: fractions: how deep the equilibrium is played, in the unit of the depth limit; search
        looks from there down to that limit.
      fractions: fractions: of the histories that the equilibrium reaches there; at least one.
      num_draws: fractions: random choices of histories for each network.
      equilibrium_iterations: fractions: of CFR+ of the whole game.
      dimension: linear_targets: n.
      linear_steps: linear_targets: steps of Adam.
      linear_learning_rate: linear_targets: Adam's at the first step.
      num_cards: public_states: cards of Goofspiel.
      play: self_play, match: how to search; self_play: how to learn, too, but for the seed and over
        how many games the learning rate falls, which are the first seed and all of them.
      num_games: self_play, match: games, of each opponent.
      network: match: the file of the network that plays; self_play: of one to go on with, or None
        for a new one.
      search_iterations: iterations, values: in each search of a network that has learned.
      learned_games: values: games of self-play of the networks that are compared.
    """

    game: str | None = None
    depth_limit: DepthLimit | None = None
    num_samples: int = 9_000
    training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(learning_rate=_LEARNING_RATE)
    )
    seeds: tuple[int, ...] = tuple(range(10))
    iterations: int | None = None
    device: str = "cpu"
    num_layers: int = 4
    width: float = 5.0
    particle: ParticleSizes = dataclasses.field(default_factory=ParticleSizes)
    perfect_recall: bool = True
    conditional: bool = False
    on_policy: OnPolicyConfig = dataclasses.field(default_factory=_on_policy)
    played: int = 2
    fractions: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
    num_draws: int = 1
    equilibrium_iterations: int = 10_000
    dimension: int = 10
    linear_steps: int = 20_000
    linear_learning_rate: float = 1e-2
    num_cards: int = 13
    play: ParticleSelfPlayConfig = dataclasses.field(default_factory=ParticleSelfPlayConfig)
    num_games: int = 100
    network: str | None = None
    search_iterations: tuple[int, ...] = (20, 100, 1000)
    learned_games: tuple[int, ...] = (150, 600)

    def __post_init__(self) -> None:
        if not 0 < self.width < math.inf:
            raise ValueError(f"width={self.width} must be positive and finite")
        if not self.seeds:
            raise ValueError(f"seeds={self.seeds} must not be empty")
        for name in ("search_iterations", "learned_games"):
            if not getattr(self, name):
                raise ValueError(f"{name}={getattr(self, name)} must not be empty")
        if not self.fractions or not all(0 <= fraction <= 1 for fraction in self.fractions):
            raise ValueError(f"fractions={self.fractions} must be numbers from 0 to 1")
        if self.network and [getattr(self, name) for name in SIZES] != list(_default_sizes()):
            raise ValueError(
                f"{', '.join(SIZES)} must be the defaults: a network has its own sizes"
            )
        positive = (
            "num_layers", "played", "num_draws", "equilibrium_iterations", "num_cards", "num_games",
            "search_iterations", "learned_games",
        )  # fmt: skip
        check_least(self, **dict.fromkeys(positive, 1))

    @property
    def sizes(self) -> str:
        """The sizes of both networks, short, for files."""
        numbers = [self.num_layers, self.width, *dataclasses.astuple(self.particle)]
        recall = "perfect" if self.perfect_recall else "imperfect"
        name = "-".join([recall, *(f"{number:g}" for number in numbers)])
        return f"{name}-conditional" if self.conditional else name


def _default_sizes() -> Iterator[Any]:
    default = Settings()
    return (getattr(default, name) for name in SIZES)


def _domain(
    game: str, depth_limit: DepthLimit, num_samples: int, num_epochs: int, played: int = 2
) -> Settings:
    training = TrainingConfig(num_epochs=num_epochs, learning_rate=_LEARNING_RATE)
    return Settings(game, depth_limit, num_samples, training, played=played)


# Appendix F and section 6. The paper's depths in Leduc, 5 and 3, count both deals of private cards.
DOMAINS = {
    "leduc": _domain("python_leduc", DepthLimit(moves=3), 54_000, 155, played=1),
    "goofspiel": _domain(
        "python_goofspiel_ii(num_cards=5,points_order=descending)", DepthLimit(rounds=2), 9_000, 932
    ),
}
"""The paper's games, depth limits and training sets."""


class Study(papers_study.Study[Settings]):
    """Makes what experiments ask for, once."""

    def trunk_study(self, num_iterations: int = _TRUNK_ITERATIONS) -> dl_cfr_study.Study:
        """The study of the networks that are trained on data.

        Args:
          num_iterations: of DL-CFR+, unless the settings say how many.

        Raises:
          ValueError: if no game was given, if it cannot be cut at the depth limit or ends above it,
            or if a number is not positive.
        """
        return self._trunk_study(self.settings.iterations or num_iterations)

    @functools.cache  # noqa: B019  (a study lives as long as its program)
    def _trunk_study(self, num_iterations: int) -> dl_cfr_study.Study:
        settings = self.settings
        if settings.game is None:
            raise ValueError("no game was given; take a domain, or set game and depth_limit")
        tree = GameTree.from_game(settings.game)
        limit = settings.depth_limit or default_depth_limit(tree.game)
        num_states = cut(tree, limit).leaves.num_public_states
        if not num_states or settings.num_samples < 1:
            raise ValueError(
                f"{tree.game} has {num_states} public states at {limit} and num_samples="
                f"{settings.num_samples}; both must be positive"
            )
        num_strategies, num_shards = -(-settings.num_samples // num_states), 1
        share, seed = settings.training.validation_share, settings.training.split_seed
        while len(split_strategies(num_shards * _SHARD_SIZE, share, seed)[0]) < num_strategies:
            num_shards += 1
        config = dl_cfr_study.Settings(
            DatasetConfig(
                str(tree.game), limit, shard_size=_SHARD_SIZE, max_iterations=_DATA_ITERATIONS
            ),
            num_shards,
            dataclasses.replace(settings.training, max_strategies=num_strategies, loss="l2"),
            num_iterations=num_iterations,
            seeds=settings.seeds,
            device=settings.device,
            on_policy=settings.on_policy,
        )
        return dl_cfr_study.Study(config, self.workspace)

    def train(self, trunk: dl_cfr_study.Study, kind: str, seed: int) -> TrainedNetwork:
        """The network of a kind, POSITIONAL or PARTICLE, and a seed, trained on data."""
        config = dataclasses.replace(trunk.settings.training, seed=seed)
        name, network = self.network_name(kind, seed), self.make_network(trunk, kind, seed)
        return trunk.train_network(name, network, config)

    def train_in_rounds(self, trunk: dl_cfr_study.Study, kind: str, seed: int) -> TrainedNetwork:
        """The same, trained on policy."""
        config = trunk.settings.on_policy.with_trainings(seed=seed)
        name, network = self.network_name(kind, seed), self.make_network(trunk, kind, seed)
        return trunk.train_in_rounds(name, network, config)

    def make_network(self, trunk: dl_cfr_study.Study, kind: str, seed: int) -> ValueNetwork:
        """The untrained network of a kind and a seed."""
        settings = self.settings
        if kind == PARTICLE:
            return self.make_particle_network(seed)
        num_inputs = PositionalLayout.of_leaves(trunk.trunk.leaves).num_inputs
        num_units = max(1, round(settings.width * num_inputs))
        return PositionalNetwork(
            settings.num_layers, num_units, layer_norm=False, seed=seed, device=settings.device
        )

    def make_particle_network(self, seed: int) -> ParticleNetwork:
        """An untrained particle network."""
        settings = self.settings
        return ParticleNetwork(
            settings.particle,
            InfostateFeatures(settings.perfect_recall),
            conditional=settings.conditional,
            seed=seed,
            device=settings.device,
        )

    def network_name(self, kind: str, seed: int) -> str:
        """That of a network's run directory."""
        return f"{kind}-{self.settings.sizes}-seed-{seed}"

    def game_and_play(
        self, seed: int | None = None
    ) -> tuple[str, DepthLimit, ParticleSelfPlayConfig]:
        """The complete game string of self-play and matches, how deep, and how it is played.

        Args:
          seed: of self-play; None: the first.
        """
        settings = self.settings
        game = settings.game or "python_goofspiel_ii(num_cards=13,points_order=descending)"
        loaded = load_turn_based(game)
        limit = settings.depth_limit or default_depth_limit(loaded)
        play = dataclasses.replace(
            settings.play,
            iterations=settings.iterations or settings.play.iterations,
            decay_steps=settings.num_games,
            seed=settings.seeds[0] if seed is None else seed,
        )
        return str(loaded), limit, play


def data_settings(trunk: dl_cfr_study.Study) -> dict[str, Any]:
    """The data and the loss of networks, as JSON can hold it."""
    told = as_json(trunk.settings)
    data = {name: told[name] for name in dl_cfr_study.DATA}
    return {**data, "loss": trunk.settings.training.loss}


def spread(nash_convs: Sequence[float]) -> dict[str, Any]:
    """How trunks' NashConv differs between networks of one kind."""
    return {
        NASH_CONV: float(np.mean(nash_convs)),
        "deviation": papers_study.deviation(nash_convs),
        "smallest": min(nash_convs),
        "largest": max(nash_convs),
        "by network": list(nash_convs),
    }
