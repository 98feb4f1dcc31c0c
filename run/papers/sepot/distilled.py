"""A value network distilled from the critic: Kubíček et al. (2023), end of section 4.3.

The paper names this way and does not go it. For each player who searches:

  1. Random trunk strategies give ranges at the leaves of the first search.
  2. `MultiValuedStates` say the cfvs: the player follows its blueprint, and its opponent picks the
     best of the transformations (equation 3). The critic is asked once per leaf.
  3. A network learns them, by `value_functions.training`.
  4. Continual resolving with the network plays the game.

It is held against three others that look as deep: the policy network alone; the usual search, whose
opponents learn what to pick by regret matching; and continual resolving with the very values that
the network has learned, which tells the error of distillation from that of everything else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from papers.report import Report
from papers.sepot.evaluation import compiled, judge, tabulated
from papers.sepot.study import Study
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.parts import file_name
from spiel_dl.runs.reports import Table
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions import training
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import random_ranges, value_ranges
from spiel_dl.value_functions.multi_valued import MultiValuedStates
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import TrainingConfig

ALONE, USUAL = "network alone", "search, regret matching at the leaves"
STATELESS, DISTILLED = "resolving, equation 3", "resolving, distilled network"
_EXACT, _LEARNED = "exact", "learned"
_LEFT_OUT = "Left out, because they leave nothing to value or do not reach the end in two searches"
_TITLES = {
    "game": "game",
    "limit": "depth limit",
    "seed": "seed",
    "critic": "critic",
    "policy": "policy",
    "nash_conv": "NashConv (utility)",
    "exploitability_0": "player 0's exploitability",
    "exploitability_1": "player 1's exploitability",
    "error": "mean abs. error of the networks in validation (utility)",
}


@dataclasses.dataclass(frozen=True)
class DistilledConfig:
    """How values are distilled.

    Attributes:
      num_strategies: random trunk strategies; each leaf public state of one is a sample.
      num_layers: hidden layers of a value network.
      num_units: units in each.
      training: how it is trained; the study's seeds take the place of its seed.
    """

    num_strategies: int = 2000
    num_layers: int = 3
    num_units: int = 200
    training: TrainingConfig = dataclasses.field(
        default_factory=lambda: TrainingConfig(num_epochs=50, networks_per_decade=0)
    )

    def __post_init__(self) -> None:
        if self.num_strategies < 2:
            raise ValueError(f"num_strategies={self.num_strategies} must be at least 2")

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return {**dataclasses.asdict(self), "training": self.training.to_json()}


class Item(NamedTuple):
    """What is measured at once: one network of policies, with one critic and depth limit.

    Attributes:
      game: game string.
      checkpoint: file of a learner with a critic.
      seed: of the value networks.
      transformations: those of the critic, by name.
      critic: "exact" or "learned".
      depth_limit: of searches, and of the leaves that are valued.
      iterations: of CFR+.
      directory: where value networks are kept.
      config: how values are distilled.
    """

    game: str
    checkpoint: str
    seed: int
    transformations: str
    critic: str
    depth_limit: DepthLimit
    iterations: int
    directory: str
    config: DistilledConfig


def distilled(studies: Sequence[Study], config: DistilledConfig) -> Report:
    """NashConv with the distilled network, beside the search that it was distilled from."""
    rows, left_out = [], []
    for study in studies:
        rows += _rows(study, config)
        limits = [limit for limit in study.limits if not _looks_far_enough(study.game, limit)]
        left_out += [f"{limit} in {study.config.game}" for limit in limits]
    return Report(
        "distilled",
        "A value network distilled from the critic",
        [
            "NashConv is in utility units, and is the sum of the players' exploitabilities. All "
            "searches go in blocks: a trunk down to the depth limit, and from there on to the end.",
            f"{config.num_strategies:,} random trunk strategies, networks of {config.num_layers} "
            f"layers of {config.num_units} units, {config.training.num_epochs} epochs.",
            *(f"{study.config.game} is `{study.game}`." for study in studies),
            *([f"{_LEFT_OUT}: {', '.join(left_out)}."] if left_out else []),
        ],
        {"All policies": Table(rows, _TITLES)},
    )


def measure(item: Item) -> list[dict[str, Any]]:
    """What all four policies come to, in the order of this module; for `distributed.map`.

    Raises:
      ValueError: if the second search would have leaves of its own, which the network does not
        value.
    """
    torch.set_num_threads(1)
    tree = compiled(item.game)
    trunk = cut(tree, item.depth_limit)
    _check_reach(trunk)
    trained = checkpoints.load(item.checkpoint, tree)
    blueprint = tabulated(tree, trained.blueprint)
    critic: Critic = trained.critic
    if item.critic == _EXACT:
        transformations = transformations_by_name(item.transformations, tree.game)
        critic = ExactCritic(tree, blueprint.strategies, transformations)
    functions = [multi_valued_states(tree, critic, player) for player in (0, 1)]
    networks, errors = [], []
    for player in (0, 1):
        network, error = _distil(item, trunk, functions[player], player)
        networks.append(network)
        errors.append(error)
    config = SearchConfig(scheme="block", effort=Effort(item.iterations))
    usual = SePoTPolicy(tree, blueprint, critic, item.depth_limit, config=config).to_array_policy()
    found = {
        ALONE: blueprint,
        USUAL: usual,
        STATELESS: resolved(tree, functions, item.depth_limit, item.iterations),
        DISTILLED: resolved(tree, networks, item.depth_limit, item.iterations),
    }
    rows: list[dict[str, Any]] = [
        {"policy": name, **judge(tree, policy)} for name, policy in found.items()
    ]
    rows[-1]["error"] = float(np.mean(errors))
    return rows


def multi_valued_states(tree: GameTree, critic: Critic, player: int) -> MultiValuedStates:
    """The value function of a player who searches, by a critic."""

    def utilities(leaves: LeafSet) -> np.ndarray:
        return critic.values(tree, leaves.histories, player)[:, None, :]

    return MultiValuedStates(player, utilities)


def distilled_dataset(
    trunk: Trunk, function: ValueFunction, data: DatasetConfig, num_strategies: int
) -> Dataset:
    """Random ranges at a trunk's leaves, valued by any value function.

    Args:
      trunk: the trunk.
      function: says the values.
      data: how random trunk strategies are drawn.
      num_strategies: how many.
    """
    ranges = random_ranges(trunk, data, range(num_strategies))
    arrays = value_ranges(trunk.leaves, ranges, function)
    return Dataset.of_arrays(trunk, arrays)


def resolved(
    tree: GameTree, functions: Sequence[ValueFunction], limit: DepthLimit, iterations: int
) -> ArrayPolicy:
    """Continual resolving in which each player has a value function of its own."""
    strategies = []
    for player in (0, 1):
        policy = ContinualResolvingPolicy(tree, functions[player], limit, effort=Effort(iterations))
        strategies.append(policy.to_array_policy().strategies[player])
    return ArrayPolicy(tree, (strategies[0], strategies[1]))


def _rows(study: Study, config: DistilledConfig) -> list[dict[str, Any]]:
    study.train()
    items, named = [], []
    for limit in study.limits:
        if not _looks_far_enough(study.game, limit):
            continue
        for seed in study.config.seeds:
            for critic in (_EXACT, _LEARNED):
                name = file_name("distilled", limit, "seed", seed, critic, study.config.num_steps)
                checkpoint = str(study.checkpoint(seed, study.config.num_steps))
                item = Item(
                    study.game,
                    checkpoint,
                    seed,
                    study.transformations,
                    critic,
                    limit,
                    study.config.iterations,
                    str(study.directory / "distilled" / name),
                    config,
                )
                settings = {**item._asdict(), "depth_limit": str(limit), "config": config.to_json()}
                del settings["checkpoint"], settings["directory"]
                items.append(item)
                named.append((name, settings))
    if not items:
        raise ValueError(
            f"in {study.game}, none of the limits {', '.join(map(str, study.limits))} leaves "
            "anything to value and reaches the end in two searches; give another --rounds"
        )
    found = study.results(named, measure, items, "distil")
    return [
        {
            "game": study.config.game,
            "limit": str(item.depth_limit),
            "seed": item.seed,
            "critic": item.critic,
            **row,
        }
        for item, rows in zip(items, found, strict=True)
        for row in rows
    ]


def _distil(
    item: Item, trunk: Trunk, function: ValueFunction, player: int
) -> tuple[PositionalNetwork, float]:
    """Trains one player's network; also its mean absolute error in validation."""
    data = DatasetConfig(item.game, item.depth_limit, seed=item.seed)
    dataset = distilled_dataset(trunk, function, data, item.config.num_strategies)
    config = dataclasses.replace(item.config.training, seed=item.seed)
    network = PositionalNetwork(item.config.num_layers, item.config.num_units, seed=item.seed)
    network.initialize(trunk.leaves)
    path = Path(item.directory) / f"player-{player}"
    identity = {"distilled": item.config.to_json(), "seed": item.seed, "critic": item.critic}
    directory = RunDirectory(path, identity, resume=True)
    last = training.train(network, dataset, directory, config, show_progress=False)
    return network, float(last["l1"])


def _looks_far_enough(game: str, limit: DepthLimit) -> bool:
    trunk = cut(compiled(game), limit)
    return bool(trunk.leaves.num_public_states) and not _has_leaves_below(trunk)


def _check_reach(trunk: Trunk) -> None:
    if not trunk.leaves.num_public_states or _has_leaves_below(trunk):
        raise ValueError(
            f"a depth limit of {trunk.depth_limit} in {trunk.tree.game} must leave something to "
            "value, and reach the end of the game in two searches"
        )


def _has_leaves_below(trunk: Trunk) -> bool:
    """Whether searches from the leaves have leaves themselves."""
    states = trunk.leaves.public_states.tolist()
    return bool(cut(trunk.tree, trunk.depth_limit, states).leaves.num_public_states)
