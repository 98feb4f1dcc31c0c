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
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.experiment import Experiment, Row
from experiments.sepot import study as sepot_study
from experiments.sepot.evaluation import compiled, judge, tabulated
from experiments.sepot.study import TrainedGame
from experiments.settings import as_json, check_least
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions import training
from spiel_dl.value_functions.base import ValueFunction
from spiel_dl.value_functions.config import TrainingConfig
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import random_ranges, value_ranges
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves
from spiel_dl.value_functions.positional import PositionalNetwork

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
    "error": "mean abs. error of the networks in validation (utility)",
    "exploitability_0": "player 0's exploitability",
    "exploitability_1": "player 1's exploitability",
}


@dataclasses.dataclass(frozen=True)
class Values:
    """How values are distilled.

    Attributes:
      num_strategies: random trunk strategies; each leaf public state is a sample.
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
        check_least(self, num_strategies=2)


@dataclasses.dataclass(frozen=True)
class Settings(sepot_study.Trained):
    """Policy networks, and value networks.

    Attributes:
      values: how values are distilled.
    """

    values: Values = dataclasses.field(default_factory=Values)


Study = sepot_study.TrainedStudy[Settings]
Game = TrainedGame[Settings]


class Item(NamedTuple):
    """What is measured at once: one network of policies, with one critic and depth limit.

    Attributes:
      study: of the game; its workspace keeps the value networks.
      depth_limit: of searches, and of the leaves that are valued.
      seed: of the policy network and of the value networks.
      critic: "exact" or "learned".
      checkpoint: of the policy network, and of its critic if that is learned.
    """

    study: Game
    depth_limit: DepthLimit
    seed: int
    critic: str
    checkpoint: str

    @property
    def name(self) -> str:
        """That of the part, and of the value networks' folder."""
        num_steps = self.study.settings.num_steps
        return file_name("distilled", self.depth_limit, "seed", self.seed, self.critic, num_steps)

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the part."""
        return {
            "game": self.study.game,
            "seed": self.seed,
            "transformations": self.study.transformations,
            "critic": self.critic,
            "depth_limit": str(self.depth_limit),
            "iterations": self.study.settings.iterations,
            "config": as_json(self.study.settings.values),
        }

    def folder(self, player: int) -> str:
        """Where a player's value network learns, in the workspace."""
        return f"distilled/{self.name}/player-{player}"


def _compute(study: Study) -> list[dict[str, Any]]:
    """NashConv with the distilled network, beside the search that it was distilled from."""
    return [row for each in study.games() for row in _rows(each)]


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    values, games = study.settings.values, study.games()
    left_out = [
        f"{limit} in {each.name}"
        for each in games
        for limit in each.limits
        if not _looks_far_enough(each.game, limit)
    ]
    return Report(
        DISTILLED_VALUES.title,
        [
            "NashConv is in utility units, and is the sum of the players' exploitabilities. All "
            "searches go in blocks: a trunk down to the depth limit, and from there on to the end.",
            f"{values.num_strategies:,} random trunk strategies, networks of "
            f"{values.num_layers} layers of {values.num_units} units, "
            f"{values.training.num_epochs} epochs.",
            *(f"{each.describe()}." for each in games),
            *([f"{_LEFT_OUT}: {', '.join(left_out)}."] if left_out else []),
        ],
        {"All policies": Table(rows, _TITLES)},
        headline=_headline(rows),
    )


def _headline(rows: Sequence[Mapping[str, Any]]) -> str:
    """Means over seeds, of every game, depth limit and kind of critic."""
    groups: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in rows:
        group = groups.setdefault((row["game"], row["limit"], row["critic"]), {})
        group.setdefault(row["policy"], []).append(row["nash_conv"])
    return "; ".join(
        f"{game}, {limit}, {critic} critic: "
        + ", ".join(f"{policy} {statistics.fmean(found):.3g}" for policy, found in group.items())
        for (game, limit, critic), group in groups.items()
    )


DISTILLED_VALUES = Experiment(
    name="distilled",
    title="A value network distilled from the critic",
    metric="NashConv (utility)",
    claim="",
    study=Study,
    compute=_compute,
    render=_report,
)
ROWS = (
    Row(
        DISTILLED_VALUES,
        "sepot",
        Settings(("leduc", "goofspiel_5_descending")),
        "section 4.3",
        60,
        "networks of 20,000 learner steps",
        paper="no such experiment; values may be distilled",
    ),
)


def measure(item: Item) -> list[dict[str, Any]]:
    """What all four policies come to, in the order of this module; for `distributed.map`.

    Raises:
      ValueError: if the second search would have leaves of its own, which the network does not
        value.
    """
    study, tree = item.study, compiled(item.study.game)
    trunk = cut(tree, item.depth_limit)
    _check_reach(trunk)
    blueprint = tabulated(tree, checkpoints.load_blueprint(item.checkpoint, tree))
    if item.critic == _EXACT:
        transformations = transformations_by_name(study.transformations, tree.game)
        critic: Critic = ExactCritic(tree, blueprint.strategies, transformations)
    else:
        critic = checkpoints.load(item.checkpoint, tree).critic
    functions = [MultiValuedStates(critic, player) for player in (0, 1)]
    networks, errors = [], []
    for player in (0, 1):
        network, error = _distil(item, trunk, functions[player], player)
        networks.append(network)
        errors.append(error)
    iterations = study.settings.iterations
    config = SearchConfig(scheme="block", effort=Effort(iterations))
    usual = SePoTPolicy(tree, blueprint, critic, item.depth_limit, config=config).to_array_policy()
    found = {
        ALONE: blueprint,
        USUAL: usual,
        STATELESS: resolved(tree, functions, item.depth_limit, iterations),
        DISTILLED: resolved(tree, networks, item.depth_limit, iterations),
    }
    rows: list[dict[str, Any]] = [
        {"policy": name, **judge(tree, policy)} for name, policy in found.items()
    ]
    rows[-1]["error"] = float(np.mean(errors))
    return rows


@dataclasses.dataclass(frozen=True)
class MultiValuedStates(ValueFunction):
    """The value function of a player who searches, by a critic."""

    critic: Critic
    player: int

    def bind(self, leaves: LeafSet) -> MultiValuedLeaves:
        """See `ValueFunction`."""
        values = self.critic.values(leaves.tree, leaves.histories, self.player)
        return MultiValuedLeaves(leaves, self.player, values)


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


def _rows(study: Game) -> list[dict[str, Any]]:
    study.train()
    items = [
        Item(study, limit, seed, kind, str(study.checkpoint(seed)))
        for limit in study.limits
        if _looks_far_enough(study.game, limit)
        for seed in study.settings.seeds
        for kind in (_EXACT, _LEARNED)
    ]
    if not items:
        raise ValueError(
            f"in {study.game}, none of the limits {', '.join(map(str, study.limits))} leaves "
            "anything to value and reaches the end in two searches; give other limits"
        )
    named = [(item.name, item.settings) for item in items]
    found = study.workspace.parts(named, measure, items, f"{study.name}: distil")
    for item in items:
        for player in (0, 1):
            study.workspace.note_run(item.folder(player))
    return [
        {
            "game": study.name,
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
    values = item.study.settings.values
    data = DatasetConfig(item.study.game, item.depth_limit, seed=item.seed)
    dataset = distilled_dataset(trunk, function, data, values.num_strategies)
    config = dataclasses.replace(values.training, seed=item.seed)
    network = PositionalNetwork(values.num_layers, values.num_units, seed=item.seed)
    network.initialize(trunk.leaves)
    identity = {name: value for name, value in item.settings.items() if name != "iterations"}
    directory = item.study.workspace.run_directory(item.folder(player), identity)
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
