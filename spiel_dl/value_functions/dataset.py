"""Datasets: training data for value functions, in memory and in files.

A dataset is a run directory: `config.json` says how it was made, and each file `*.safetensors` is a
*shard* of some trunk strategies. A leaf public state of one trunk strategy is one sample.
`value_functions.generation` makes datasets.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spiel_dl.system import tensor_files
from spiel_dl.system.parameters import check_types
from spiel_dl.tree.counts import check_counts
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import is_same_game
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.base import Values

_KIND = "value_shard"
_ARRAYS = ("range_0", "range_1", "mass_0", "mass_1", "cfv_0", "cfv_1", "gap")


@dataclasses.dataclass(frozen=True)
class DatasetConfig:
    """The configuration of a dataset, apart from its size.

    Attributes:
      game: the game string.
      depth_limit: where the trunk ends.
      seed: seed of the trunk strategies.
      shard_size: trunk strategies per shard.
      max_iterations: iterations of predictive CFR+ per trunk strategy, at most.
      tolerance: stop earlier once the gap of every subgame is at most this share of the game's
        largest utility.
      pure_share: share of the infosets where a trunk strategy is pure.
      near_pure_share: share of the infosets where it is nearly so.
    """

    game: str
    depth_limit: DepthLimit
    seed: int = 0
    shard_size: int = 100
    max_iterations: int = 1000
    tolerance: float = 1e-4
    pure_share: float = 0.2
    near_pure_share: float = 0.2

    def __post_init__(self) -> None:
        check_types(self)
        check_counts(self, 1, "shard_size", "max_iterations")
        check_counts(self, 0, "seed")
        if not 0 < self.tolerance < math.inf:
            raise ValueError(f"tolerance={self.tolerance} must be positive and finite")
        shares = (self.pure_share, self.near_pure_share)
        if not (min(shares) >= 0 and sum(shares) <= 1):
            raise ValueError(
                f"pure_share={shares[0]} and near_pure_share={shares[1]} must not be negative, and "
                "not exceed 1 together"
            )

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON can hold them."""
        return dataclasses.asdict(self)

    def trunk(self) -> Trunk:
        """The dataset's trunk; the same object for the same game and depth limit.

        Raises:
          ValueError: if the game cannot be compiled, or not be cut there.
        """
        return _trunk(self.game, self.depth_limit)

    @staticmethod
    def read(directory: str | os.PathLike[str]) -> DatasetConfig:
        """The config of a dataset on disk.

        Raises:
          ValueError: if the directory holds no dataset.
        """
        path = Path(directory) / "config.json"
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            return DatasetConfig(**{**fields, "depth_limit": DepthLimit(**fields["depth_limit"])})
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{directory} holds no dataset ({error}); make one with run/generate_data.py"
            ) from None


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Ranges and values of n trunk strategies at the leaves of one trunk.

    Attributes:
      trunk: the trunk.
      ranges: for each player, float32 [n, L_p], summing to 1 in each leaf public state.
      masses: for each player, float32 [n, P], the sums of its ranges before they were scaled. A cfv
        at the unscaled ranges is the one in `cfvs` times the opponent's mass.
      cfvs: for each player, float32 [n, L_p], the values at these ranges, in its utility.
      gaps: float32 [n], the largest gap among a strategy's subgames, in utility units: how far its
        values, weighted by the ranges, may be from optimal. See `ExactValue`.
    """

    trunk: Trunk
    ranges: Values
    masses: Values
    cfvs: Values
    gaps: np.ndarray

    def __post_init__(self) -> None:
        leaves, rows = self.trunk.leaves, self.num_strategies
        self._check("gaps", self.gaps, (rows,))
        for player in (0, 1):
            width = leaves.num_infosets(player)
            self._check(f"ranges[{player}]", self.ranges[player], (rows, width))
            self._check(f"masses[{player}]", self.masses[player], (rows, leaves.num_public_states))
            self._check(f"cfvs[{player}]", self.cfvs[player], (rows, width))

    @staticmethod
    def _check(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(
                f"{name} must be finite numbers of shape {shape}; got shape {array.shape}; make "
                "the dataset again"
            )

    @property
    def num_strategies(self) -> int:
        """The number n of trunk strategies."""
        return len(self.ranges[0])

    @property
    def num_samples(self) -> int:
        """The number of samples: leaf public states of all trunk strategies."""
        return self.num_strategies * self.trunk.leaves.num_public_states

    @staticmethod
    def load(directory: str | os.PathLike[str], names: str | Iterable[str] = "*") -> Dataset:
        """The shards of a dataset, ordered by name.

        Args:
          directory: where the dataset lives.
          names: one or several names of shards, or patterns of them, as for `Path.glob`.

        Raises:
          ValueError: if the directory holds no dataset, shards of something else, or no shard of
            one of the names.
        """
        config = DatasetConfig.read(directory)
        patterns = [
            f"{name}.safetensors" for name in ([names] if isinstance(names, str) else names)
        ]
        found = {pattern: list(Path(directory).glob(pattern)) for pattern in patterns}
        missing = [pattern for pattern in patterns if not found[pattern]]
        if missing or not patterns:
            raise ValueError(
                f"{directory} has no shards yet called {missing}; make some with "
                "run/generate_data.py"
            )
        paths = sorted({path for each in found.values() for path in each})
        trunk = config.trunk()
        shards = []
        for path in paths:
            arrays, header = tensor_files.load(path)
            if header != _header(config):
                raise ValueError(f"{path} is no shard of {_header(config)}, it says {header}")
            if set(arrays) != set(_ARRAYS):
                raise ValueError(
                    f"{path} holds {sorted(arrays)}, not {sorted(_ARRAYS)}; make it again"
                )
            shards.append(arrays)
        return Dataset._concatenate(trunk, shards)

    @staticmethod
    def join(datasets: Sequence[Dataset]) -> Dataset:
        """All trunk strategies of several datasets of one game and depth limit, in their order.

        Raises:
          ValueError: if there are none, or if they are of several games or depth limits.
        """
        if not datasets:
            raise ValueError("there are no datasets to join; give at least one")
        first = datasets[0].trunk
        for other in (dataset.trunk for dataset in datasets):
            is_same = is_same_game(first.tree.game, other.tree.game)
            if not is_same or first.depth_limit != other.depth_limit:
                raise ValueError(
                    f"a dataset is of {other.tree.game} and {other.depth_limit}, but the first one "
                    f"of {first.tree.game} and {first.depth_limit}; join datasets of one game and "
                    "depth limit"
                )
        arrays = [dataset.to_arrays() for dataset in datasets]
        return Dataset._concatenate(first, arrays)

    @staticmethod
    def _concatenate(trunk: Trunk, parts: Sequence[dict[str, np.ndarray]]) -> Dataset:
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in _ARRAYS}
        return Dataset.of_arrays(trunk, arrays)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, as `of_arrays` takes them."""
        columns = (*self.ranges, *self.masses, *self.cfvs, self.gaps)
        return dict(zip(_ARRAYS, columns, strict=True))

    @staticmethod
    def of_arrays(trunk: Trunk, arrays: dict[str, np.ndarray]) -> Dataset:
        """A dataset of the arrays that `to_arrays` or `solve_ranges` returned."""
        return Dataset(
            trunk,
            (arrays["range_0"], arrays["range_1"]),
            (arrays["mass_0"], arrays["mass_1"]),
            (arrays["cfv_0"], arrays["cfv_1"]),
            arrays["gap"],
        )


def save_shard(
    path: str | os.PathLike[str], config: DatasetConfig, arrays: dict[str, np.ndarray]
) -> None:
    """Writes the arrays of `Dataset.to_arrays` as one shard, completely or not at all."""
    tensor_files.save(path, arrays, _header(config))


@functools.lru_cache(maxsize=4)
def _trunk(game: str, depth_limit: DepthLimit) -> Trunk:
    """The trunk of a config, cached: each process makes many shards of one trunk."""
    return cut(GameTree.from_game(game), depth_limit)


def _header(config: DatasetConfig) -> dict[str, Any]:
    limit = dataclasses.asdict(config.depth_limit)
    return {"kind": _KIND, "game": config.game, "depth_limit": limit}
