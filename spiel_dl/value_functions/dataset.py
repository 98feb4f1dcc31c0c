"""Training data for value functions, by value solving.

Kovařík et al. (2021), "Experimental Setup". For a random strategy of both players in the trunk:

  1. Its ranges at the leaves, scaled to sum 1 in each leaf public state.
  2. All subgames are solved with these ranges by predictive CFR+ (`ExactValue`; the paper: CFR+).
  3. Each player's counterfactual best-response values against the other's average strategy are
     the targets. They are optimal also in infosets that the trunk strategy never reaches.

A dataset is a run directory: `config.json` says how it was made, and each file `*.safetensors` is a
*shard* of some trunk strategies. A leaf public state of one trunk strategy is one sample.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tqdm

from spiel_dl.runs import distributed, tensor_files
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.base import ValueFunction, Values, normalize_ranges
from spiel_dl.value_functions.exact import ExactValue
from spiel_dl.value_functions.random_strategies import random_strategy

_KIND = "value_shard"
_ARRAYS = ("range_0", "range_1", "mass_0", "mass_1", "cfv_0", "cfv_1", "gap")


@dataclasses.dataclass(frozen=True)
class DatasetConfig:
    """Says what a dataset holds, apart from how much of it.

    Attributes:
      game: the game string.
      depth_limit: where the trunk ends.
      seed: of the trunk strategies.
      shard_size: trunk strategies per shard.
      max_iterations: iterations of predictive CFR+ per trunk strategy, at most.
      tolerance: stop earlier once the gap of every subgame is at most this, in utility units.
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
        if self.shard_size < 1 or self.seed < 0:
            raise ValueError(
                f"shard_size={self.shard_size} must be positive and seed={self.seed} not negative"
            )
        if not (self.max_iterations > 0 and self.tolerance > 0):
            raise ValueError(
                f"max_iterations={self.max_iterations} and tolerance={self.tolerance} must be "
                "positive"
            )
        shares = (self.pure_share, self.near_pure_share)
        if min(shares) < 0 or sum(shares) > 1:
            raise ValueError(
                f"pure_share={shares[0]} and near_pure_share={shares[1]} must not be negative, and "
                "not exceed 1 together"
            )

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return dataclasses.asdict(self)

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
        except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(
                f"{directory} holds no dataset ({error}); make one with run/generate_data.py"
            ) from None


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Ranges and values of n trunk strategies at the leaves of one trunk.

    Attributes:
      trunk: the trunk.
      ranges: for each player, float32 [n, L_p], summing to 1 in each leaf public state.
      masses: for each player, float32 [n, P], what its ranges summed to before they were scaled. A
        cfv at the ranges before is the one kept here times the opponent's mass.
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
    def load(directory: str | os.PathLike[str], names: Iterable[str] = ("*",)) -> Dataset:
        """The shards of a dataset, ordered by name.

        Args:
          directory: where the dataset lives.
          names: of the shards, or patterns of them, as for `Path.glob`.

        Raises:
          ValueError: if the directory holds no dataset, no such shards, or shards of something
            else.
        """
        config = DatasetConfig.read(directory)
        patterns = [f"{name}.safetensors" for name in names]
        paths = sorted({path for pattern in patterns for path in Path(directory).glob(pattern)})
        if not paths:
            raise ValueError(
                f"{directory} has no shards yet called {patterns}; make some with "
                "run/generate_data.py"
            )
        trunk = _trunk(config.game, config.depth_limit)
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
        trunks = {(str(d.trunk.tree.game), str(d.trunk.depth_limit)) for d in datasets}
        if len(trunks) > 1:
            raise ValueError(f"join datasets of one game and depth limit, not of {sorted(trunks)}")
        arrays = [dataset.to_arrays() for dataset in datasets]
        return Dataset._concatenate(datasets[0].trunk, arrays)

    @staticmethod
    def _concatenate(trunk: Trunk, parts: Sequence[dict[str, np.ndarray]]) -> Dataset:
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in _ARRAYS}
        return Dataset.of_arrays(trunk, arrays)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """What `of_arrays` takes."""
        columns = (*self.ranges, *self.masses, *self.cfvs, self.gaps)
        return dict(zip(_ARRAYS, columns, strict=True))

    @staticmethod
    def of_arrays(trunk: Trunk, arrays: dict[str, np.ndarray]) -> Dataset:
        """What `solve_ranges` made, as a dataset in memory."""
        return Dataset(
            trunk,
            (arrays["range_0"], arrays["range_1"]),
            (arrays["mass_0"], arrays["mass_1"]),
            (arrays["cfv_0"], arrays["cfv_1"]),
            arrays["gap"],
        )


def generate(
    directory: RunDirectory,
    config: DatasetConfig,
    num_shards: int,
    *,
    engine: distributed.Engine = distributed.IN_PROCESS,
    show_progress: bool = True,
) -> None:
    """Makes the shards that a dataset does not have yet.

    What a shard holds depends on the config and on its number alone. A shard is written completely
    or not at all.

    Args:
      directory: where the dataset lives.
      config: what it holds.
      num_shards: how many shards of random trunk strategies it has in the end.
      engine: who solves. The files are written here, and do not depend on it.
      show_progress: show a progress bar on standard error.

    Raises:
      ValueError: if the game cannot be compiled or cut, or ends above the depth limit; or as the
        engine says.
      WorkerDiedError: as `distributed.for_each` does; what is finished stays.
    """
    trunk = _trunk(config.game, config.depth_limit)
    num_states = trunk.leaves.num_public_states
    if not num_states:
        raise ValueError(
            f"{config.game} ends above a depth limit of {config.depth_limit}, so there is nothing "
            "to value; choose a smaller limit"
        )
    missing = [i for i in range(num_shards) if not _shard_path(directory.path, i).exists()]
    samples = config.shard_size * num_states
    with tqdm.tqdm(
        total=num_shards * samples,
        initial=(num_shards - len(missing)) * samples,
        unit="sample",
        unit_scale=True,
        disable=not show_progress,
    ) as progress:

        def write(number: int, arrays: dict[str, np.ndarray]) -> None:
            path = _shard_path(directory.path, missing[number])
            tensor_files.save(path, arrays, _header(config))
            progress.update(samples)

        solve = functools.partial(solve_shard, config)
        distributed.for_each(solve, missing, write, engine)


def solve_shard(config: DatasetConfig, shard: int) -> dict[str, np.ndarray]:
    """The arrays of one shard of random trunk strategies, as `solve_ranges` returns them."""
    trunk = _trunk(config.game, config.depth_limit)
    first = shard * config.shard_size
    ranges = random_ranges(trunk, config, range(first, first + config.shard_size))
    return solve_ranges(trunk.leaves, ranges, config)


def add_ranges(directory: str | os.PathLike[str], name: str, ranges: Values) -> None:
    """Solves ranges that come from elsewhere, and adds them to a dataset as one more shard.

    Args:
      directory: where the dataset lives.
      name: of the shard; an earlier one of that name is replaced.
      ranges: for each player, float [n, L_p], of any scale.

    Raises:
      ValueError: if the directory holds no dataset, if the name is not made of letters, digits,
        `-` and `_` or is one of a random shard, or if a range is not one for the leaves.
    """
    if not re.fullmatch(r"[\w-]+", name) or name.startswith("random-"):
        raise ValueError(
            f"name={name!r} must be made of letters, digits, - and _, and not begin with random-"
        )
    config = DatasetConfig.read(directory)
    leaves = _trunk(config.game, config.depth_limit).leaves
    for player in (0, 1):
        expected = (len(ranges[0]), leaves.num_infosets(player))
        valid = ranges[player].shape == expected and len(ranges[0]) > 0
        if not valid or not np.isfinite(ranges[player]).all() or (ranges[player] < 0).any():
            raise ValueError(
                f"ranges[{player}] must be finite numbers >= 0 of shape {expected}, at least one "
                f"row; got shape {ranges[player].shape}"
            )
    path = Path(directory) / f"{name}.safetensors"
    tensor_files.save(path, solve_ranges(leaves, ranges, config), _header(config))


def random_trunk_strategies(trunk: Trunk, config: DatasetConfig, index: int) -> Values:
    """The random trunk strategy of a number, for both players.

    Returns:
      For each player, float64 [S_p], a behaviour strategy of the trunk's sequence form, as
      `random_strategy` makes it.
    """
    generator = np.random.default_rng([config.seed, index])
    shares = (config.pure_share, config.near_pure_share)
    treeplexes = trunk.sequence_form.treeplexes
    return (
        random_strategy(generator, treeplexes[0], *shares),
        random_strategy(generator, treeplexes[1], *shares),
    )


def random_ranges(trunk: Trunk, config: DatasetConfig, indices: Iterable[int]) -> Values:
    """The ranges of the random trunk strategies of n numbers: float64 [n, L_p] for each player."""
    pairs = [leaf_ranges(trunk, random_trunk_strategies(trunk, config, i)) for i in indices]
    range_0, range_1 = (np.stack(column) for column in zip(*pairs, strict=True))
    return range_0, range_1


def leaf_ranges(trunk: Trunk, strategies: Values) -> Values:
    """The ranges of trunk strategies (float64 [S_p]) at the leaves: float64 [L_p] each."""
    plans = [realization_plan(trunk.sequence_form.treeplexes[p], strategies[p]) for p in (0, 1)]
    sequences = trunk.leaves.sequences
    return plans[0][sequences[0]], plans[1][sequences[1]]


def solve_ranges(leaves: LeafSet, ranges: Values, config: DatasetConfig) -> dict[str, np.ndarray]:
    """`value_ranges` by the optimal value function.

    Raises:
      ValueError: if the config's iterations or tolerance are not positive.
    """
    return value_ranges(leaves, ranges, ExactValue(config.tolerance, config.max_iterations))


def value_ranges(leaves: LeafSet, ranges: Values, function: ValueFunction) -> dict[str, np.ndarray]:
    """The arrays of a shard, from ranges (float [n, L_p]) of any scale.

    Args:
      leaves: the leaves.
      ranges: for each player.
      function: says the values.

    Returns:
      range_0, range_1, cfv_0 and cfv_1, float32 [n, L_p], mass_0 and mass_1, float32 [n, P], and
      gap, float32 [n], as in `Dataset`. The values are those at exactly these float32 ranges.
    """
    leaf_values = function.bind(leaves)
    scaled, masses = [], []
    for player in (0, 1):
        normalised, mass = normalize_ranges(leaves, player, ranges[player])
        scaled.append(normalised.astype(np.float32))
        masses.append(mass.astype(np.float32))
    values, gaps = [], []
    for pair in zip(*scaled, strict=True):
        wide = [row.astype(np.float64) for row in pair]
        values.append(leaf_values.evaluate(wide[0], wide[1]))
        gap = leaves.sum_by_public_state(0, wide[0] * values[-1][0])
        gap += leaves.sum_by_public_state(1, wide[1] * values[-1][1])
        gaps.append(gap.max())
    cfv_0, cfv_1 = (np.stack(column).astype(np.float32) for column in zip(*values, strict=True))
    return {
        "range_0": scaled[0],
        "range_1": scaled[1],
        "mass_0": masses[0],
        "mass_1": masses[1],
        "cfv_0": cfv_0,
        "cfv_1": cfv_1,
        "gap": np.array(gaps, np.float32),
    }


@functools.lru_cache(maxsize=4)
def _trunk(game: str, depth_limit: DepthLimit) -> Trunk:
    """The trunk of a config. Shards come by the dozen, and each process needs it once."""
    return cut(GameTree.from_game(game), depth_limit)


def _shard_path(directory: str | os.PathLike[str], shard: int) -> Path:
    return Path(directory) / f"random-{shard:05d}.safetensors"


def _header(config: DatasetConfig) -> dict[str, Any]:
    limit = dataclasses.asdict(config.depth_limit)
    return {"kind": _KIND, "game": config.game, "depth_limit": limit}
