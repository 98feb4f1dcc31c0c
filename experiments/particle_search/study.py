"""What the experiments on search below samples share: settings, games, and searches by name.

Blueprints are tables, and critics exact, so that no error of learning is to blame.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from open_spiel.python import policy as openspiel_policy

from experiments import experiment
from experiments.particle_search.recognising import RecognisingCritic
from experiments.settings import check_least
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.algorithms.sepot import ParticleConfig, SePoTPlayPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.presets import PRESETS
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.particles import rules_of

PARTICLE_SEPOT, KLSS, MMDS = "particle_sepot", "klss", "mmds"
METHODS: Mapping[str, str] = {
    PARTICLE_SEPOT: "particle SePoT",
    KLSS: "knowledge-limited, order 1",
    MMDS: "mirror-descent search",
}
"""Methods by name, and their names for people."""
MAX_KEPT = 1_000_000
"""Searches on the way are the same for many infosets, and all are kept."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Games, blueprints, and searches.

    Attributes:
      games: presets with `Rules` that are small enough to compile.
      blueprints: policies' names, see `play.registry`.
      shares: budgets, as shares of the game's largest public state.
      methods: of `METHODS`.
      iterations: of CFR+ in each search.
      stepsize: of mirror-descent search.
      num_rollouts: likewise.
      seeds: of what is drawn.
    """

    games: tuple[str, ...]
    blueprints: tuple[str, ...] = ("uniform", "random:1", "cfr:5", "cfr:20", "cfr:100")
    shares: tuple[float, ...] = (0.01, 0.1, 0.3, 1.0)
    methods: tuple[str, ...] = (PARTICLE_SEPOT, KLSS, MMDS)
    iterations: int = 100
    stepsize: float = 1.0
    num_rollouts: int = 100
    seeds: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        check_least(self, shares=0.0, iterations=1, num_rollouts=1)
        for method in self.methods:
            if method not in METHODS:
                raise ValueError(f"method {method!r} must be one of {', '.join(METHODS)}")
        for game in self.games:
            if game not in PRESETS:
                raise ValueError(f"game {game!r} must be one of {', '.join(PRESETS)}")


Study = experiment.Study[Settings]


@functools.lru_cache(maxsize=1)
def compiled(game: str) -> GameTree:
    """The compiled game of a preset's name."""
    return GameTree.from_game(PRESETS[game].game)


def blueprint_of(game: str, name: str) -> ArrayPolicy:
    """A blueprint of a preset's game."""
    return load_array_policy(name, compiled(game))


def budget_of(tree: GameTree, share: float) -> int:
    """How many histories a share of the largest public state is: at least 2."""
    sizes = np.bincount(tree.public_states.of_history[~tree.is_terminal])
    return max(2, math.ceil(share * int(sizes.max())))


def acting(tree: GameTree, table: ArrayPolicy) -> ActingPolicy:
    """A table as a policy of information state tensors."""
    rows: dict[bytes, np.ndarray] = {}
    for player, treeplex in enumerate(tree.treeplexes):
        policy = np.zeros((treeplex.num_infosets, tree.game.num_distinct_actions()))
        own = slice(treeplex.num_root_sequences, None)
        infoset, action = treeplex.infoset_of_sequence[own], tree.sequence_action[player][own]
        policy[infoset, action] = table.strategies[player][own]
        states = tree.states_of(tree.first_history[player])
        tensors = rules_of(tree.game).information_state_tensor(states, player)
        for row, tensor in zip(policy, tensors.numpy().astype(np.bool_), strict=True):
            rows[tensor.tobytes()] = row

    def act(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        del legal
        found = [rows[row.tobytes()] for row in observation.numpy().astype(np.bool_)]
        return torch.from_numpy(np.stack(found))

    return act


def searched(
    game: str, blueprint: str, method: str, budget: int, settings: Settings, seed: int
) -> openspiel_policy.Policy:
    """A search on top of a blueprint, in a compiled game."""
    tree = compiled(game)
    table = blueprint_of(game, blueprint)
    act = acting(tree, table)
    if method == MMDS:
        rollouts = settings.num_rollouts
        return MirrorDescentPolicy(
            tree.game,
            act,
            MirrorDescentConfig(
                stepsize=settings.stepsize, num_rollouts=rollouts, budget=budget, seed=seed
            ),
        )
    transformations = transformations_by_name(PRESETS[game].transformations, tree.game)
    critic = RecognisingCritic(ExactCritic(tree, table.strategies, transformations))
    order = None if method == PARTICLE_SEPOT else 1
    return SePoTPlayPolicy(
        tree.game,
        act,
        critic,
        DepthLimit(rounds=1),
        config=SearchConfig(effort=Effort(settings.iterations)),
        particles=ParticleConfig(budget=budget, seed=seed, order=order),
        max_kept=MAX_KEPT,
    )


def part_settings(settings: Settings, **case: Any) -> dict[str, Any]:
    """What a part depends on."""
    names = ("iterations", "stepsize", "num_rollouts")
    return {**case, **{name: getattr(settings, name) for name in names}}
