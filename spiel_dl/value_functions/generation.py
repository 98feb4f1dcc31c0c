"""Makes training data for value functions, by value solving.

Kovařík et al. (2021), "Experimental Setup". For a random strategy of both players in the trunk:

  1. Its ranges at the leaves are scaled to sum 1 in each leaf public state.
  2. All subgames are solved with these ranges by predictive CFR+ (`ExactValue`; the paper: CFR+).
  3. Each player's counterfactual best-response values against the other's average strategy are
     the targets. They are optimal also in infosets that the trunk strategy never reaches.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import tqdm

from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.system import distributed
from spiel_dl.system.run_directory import RunDirectory, hold
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.base import (
    ValueFunction,
    Values,
    bind_checked,
    check_leaves,
    check_ranges,
    evaluate_checked,
    normalize_ranges,
)
from spiel_dl.value_functions.dataset import DatasetConfig, save_shard
from spiel_dl.value_functions.exact import ExactValue
from spiel_dl.value_functions.random_strategies import random_strategy

_RANDOM = "random-"


def generate(
    directory: RunDirectory,
    config: DatasetConfig,
    num_shards: int,
    *,
    engine: distributed.Engine = distributed.IN_PROCESS,
    show_progress: bool = True,
) -> None:
    """Makes the shards that a dataset does not have yet.

    A shard's contents depend on the config and its number alone. It is written completely or not at
    all.

    Args:
      directory: the dataset's directory.
      config: how the dataset is made.
      num_shards: the number of shards of random trunk strategies to reach.
      engine: the processes that solve. Shards are written by this process, and do not depend on it.
      show_progress: show a progress bar on standard error.

    Raises:
      ValueError: if the game cannot be compiled or cut, or ends above the depth limit, if there are
        more shards already; or as the engine says.
      WorkerDiedError: as `distributed.for_each` does; finished shards stay.
    """
    check(config)
    shards = directory.path.glob(f"{_RANDOM}*.safetensors")
    numbers = [int(path.stem[len(_RANDOM) :]) for path in shards]
    num_existing = max(numbers, default=-1) + 1
    if num_existing > num_shards:
        raise ValueError(
            f"{directory.path} has {num_existing} shards already, more than the {num_shards} asked "
            f"for; ask for {num_existing} or more"
        )
    directory.record_start()
    num_states = config.trunk().leaves.num_public_states
    missing = [i for i in range(num_shards) if not _shard_path(directory, i).exists()]
    shard_samples = config.shard_size * num_states
    with tqdm.tqdm(
        total=num_shards * shard_samples,
        initial=(num_shards - len(missing)) * shard_samples,
        unit="sample",
        unit_scale=True,
        disable=None if show_progress else True,
    ) as progress:

        def write(number: int, arrays: dict[str, np.ndarray]) -> None:
            path = _shard_path(directory, missing[number])
            save_shard(path, config, arrays)
            progress.update(shard_samples)

        solve = functools.partial(solve_shard, config)
        distributed.for_each(solve, missing, write, engine)


def check(config: DatasetConfig) -> None:
    """Raises a ValueError if the trunk has no leaves, so that there are no samples to make."""
    check_leaves(config.trunk().leaves)


def solve_shard(config: DatasetConfig, shard: int) -> dict[str, np.ndarray]:
    """The arrays of one shard of random trunk strategies, as `solve_ranges` returns them."""
    trunk = config.trunk()
    first = shard * config.shard_size
    ranges = random_ranges(trunk, config, range(first, first + config.shard_size))
    return solve_ranges(trunk.leaves, ranges, config)


def add_ranges(directory: str | os.PathLike[str], name: str, ranges: Values) -> None:
    """Solves given ranges, and adds them to a dataset as one more shard.

    Args:
      directory: the dataset's directory.
      name: the name of the shard; an earlier one of that name is replaced.
      ranges: for each player, float [n, L_p], of any scale.

    Raises:
      ValueError: if the directory holds no dataset, if the name is not made of letters, digits,
        `-` and `_` or is one of a random shard, if a range is not one for the leaves, or if another
        process adds to the dataset.
    """
    if not re.fullmatch(r"[\w-]+", name) or name.startswith(_RANDOM):
        raise ValueError(
            f"name={name!r} must be made of letters, digits, - and _, and not begin with random-"
        )
    config = DatasetConfig.read(directory)
    leaves = config.trunk().leaves
    if not len(ranges[0]) or len(ranges[0]) != len(ranges[1]):
        shapes = f"{ranges[0].shape} and {ranges[1].shape}"
        raise ValueError(f"the ranges have shapes {shapes}; give at least one row of both players")
    for pair in zip(*ranges, strict=True):
        check_ranges(leaves, *pair)
    # Another run in the directory would take the file that is being written for a leftover.
    lock = hold(directory)
    path = Path(directory) / f"{name}.safetensors"
    save_shard(path, config, solve_ranges(leaves, ranges, config))
    del lock


def random_trunk_strategies(trunk: Trunk, config: DatasetConfig, index: int) -> Values:
    """Both players' random trunk strategies of a number.

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
    """The ranges of the random trunk strategies numbered `indices`: float64 [n, L_p] each."""
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
    """The arrays of a shard: given ranges, and their values by a value function.

    Args:
      leaves: the leaves.
      ranges: for each player, float [n, L_p], of any scale.
      function: the value function.

    Returns:
      range_0, range_1, cfv_0 and cfv_1, float32 [n, L_p], mass_0 and mass_1, float32 [n, P], and
      gap, float32 [n], as in `Dataset`. The values are those at exactly the float32 ranges.
    """
    leaf_values = bind_checked(function, leaves)
    scaled, masses = [], []
    for player in (0, 1):
        normalised, mass = normalize_ranges(leaves, player, ranges[player])
        scaled.append(normalised.astype(np.float32))
        masses.append(mass.astype(np.float32))
    values, gaps = [], []
    for pair in zip(*scaled, strict=True):
        range_0, range_1 = (row.astype(np.float64) for row in pair)
        values.append(evaluate_checked(leaf_values, (0, 1), range_0, range_1))
        gap = leaves.sum_by_public_state(0, range_0 * values[-1][0])
        gap += leaves.sum_by_public_state(1, range_1 * values[-1][1])
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


def shard_name(shard: int) -> str:
    """The name of a shard of random trunk strategies, as `Dataset.load` takes it."""
    return f"{_RANDOM}{shard:05d}"


def _shard_path(directory: RunDirectory, shard: int) -> Path:
    return directory.path / f"{shard_name(shard)}.safetensors"
