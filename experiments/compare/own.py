"""Our own algorithms, each with its defaults, but for networks that fit a processor."""

from __future__ import annotations

import time

import numpy as np
import torch

from experiments.compare.algorithm import Algorithm, ComparedGame, num_moves
from experiments.sepot.study import default_transformations
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.self_play import Trajectories
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import random_ranges, solve_ranges
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import TrainingConfig
from spiel_dl.value_functions.value_network import ValueNetwork

_PASSES = 2  # over the tree in an iteration of CFR: one for each player's update
_SHORT = 5e-3  # seconds; shorter stretches of iterations are doubled
# CFR+ for each sample. As many as `ExactValue` does before it first looks whether it may stop, so
# that the number of iterations, and with it that of environment steps, is known.
_DATA_ITERATIONS = 100


class CFRPlus(Algorithm):
    """Our CFR+; judged by its average policy."""

    def __init__(self, game: ComparedGame, seed: int):
        """Compiles the loop. There is nothing random, so the seed has no effect."""
        del seed
        self._solver = CFRPlusSolver(game.ours)
        self._solver.run(0)
        self._steps_per_iteration = _PASSES * num_moves(game.ours)
        self._stretch = 1

    def step(self) -> None:
        """Some iterations, so many that they take a few milliseconds."""
        start = time.perf_counter()
        self._solver.run(self._stretch)
        self.environment_steps = self._steps_per_iteration * self._solver.iteration
        if time.perf_counter() - start < _SHORT:
            self._stretch *= 2

    def policy(self) -> ArrayPolicy:
        """The average policy."""
        return self._solver.average_policy()


class DLCFR(Algorithm):
    """A value network, trained on ever more solved subgames; judged by continual resolving.

    Kovařík et al. (2021) make all data first and then train. Here a step makes the samples of some
    more random trunk strategies and goes on training, so that there is a policy at any time.
    """

    def __init__(
        self,
        game: ComparedGame,
        seed: int,
        network: ValueNetwork | None = None,
        *,
        strategies_per_step: int = 10,
        updates_per_step: int = 50,
        iterations: int = 1000,
    ):
        """Cuts the game and binds the network.

        Args:
          game: the game.
          seed: of trunk strategies, batches, and the default network.
          network: a fresh network; None: a `PositionalNetwork`.
          strategies_per_step: random trunk strategies whose subgames a step solves.
          updates_per_step: steps of Adam that follow.
          iterations: of CFR+ in each piece, when the game is resolved.

        Raises:
          ValueError: if the game ends above its depth limit.
        """
        self._tree, self._limit = game.ours, game.depth_limit
        self._trunk = cut(game.ours, game.depth_limit)
        self._network = network or PositionalNetwork(seed=seed)
        self._network.initialize(self._trunk.leaves)
        self._strategies_per_step = strategies_per_step
        self._updates_per_step = updates_per_step
        self._iterations = iterations
        self._data = DatasetConfig(
            str(game.ours.game), game.depth_limit, seed=seed, max_iterations=_DATA_ITERATIONS
        )
        self._training = TrainingConfig()
        self._generator = np.random.default_rng(seed)
        self._optimizer = torch.optim.Adam(
            self._network.module.parameters(), lr=self._training.learning_rate
        )
        self._dataset: Dataset | None = None
        below = num_moves(game.ours, self._trunk.extent.leaf_of_history >= 0)
        self._steps_per_strategy = _DATA_ITERATIONS * _PASSES * below

    def step(self) -> None:
        """More data, and some steps of Adam on all there is."""
        start = 0 if self._dataset is None else self._dataset.num_strategies
        indices = range(start, start + self._strategies_per_step)
        ranges = random_ranges(self._trunk, self._data, indices)
        solved = solve_ranges(self._trunk.leaves, ranges, self._data)
        new = Dataset.of_arrays(self._trunk, solved)
        self._dataset = new if self._dataset is None else Dataset.join([self._dataset, new])
        self.environment_steps = self._steps_per_strategy * self._dataset.num_strategies
        self._train(self._dataset)

    def policy(self) -> ArrayPolicy:
        """Continual resolving of the whole game with the network."""
        resolving = ContinualResolvingPolicy(
            self._tree, self._network, self._limit, effort=Effort(self._iterations)
        )
        policy = resolving.to_array_policy()
        return policy

    def _train(self, dataset: Dataset) -> None:
        samples = self._network.samples(dataset)
        for _ in range(self._updates_per_step):
            chosen = self._generator.integers(dataset.num_samples, size=self._training.batch_size)
            inputs, targets, is_possible = samples.batch(chosen)
            outputs = self._network.module(inputs)
            loss = torch.nn.functional.huber_loss(outputs[is_possible], targets[is_possible])
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()


class Particle(DLCFR):
    """The same with a particle network (Šustr et al. 2021), which sees no positions."""

    def __init__(self, game: ComparedGame, seed: int, **sizes: int):
        """As `DLCFR`."""
        super().__init__(game, seed, ParticleNetwork(seed=seed), **sizes)


class _CountingRNaD(RNaDSolver):
    """Counts the moves of the games that it plays."""

    num_moves = 0

    def play(self) -> Trajectories:
        """As `Learner.play`."""
        trajectories = super().play()
        self.num_moves += int(trajectories.valid.sum())
        return trajectories


class RNaD(Algorithm):
    """Our R-NaD; judged by the policy that it hands out."""

    def __init__(self, game: ComparedGame, seed: int, config: RNaDConfig | None = None):
        """Makes a fresh learner; the seed is that of the default config."""
        self._learner = _CountingRNaD(game.ours, config or RNaDConfig(seed=seed))

    def step(self) -> None:
        """One learner step."""
        self._learner.step()
        self.environment_steps = self._learner.num_moves

    def policy(self) -> ArrayPolicy:
        """The target network's policy."""
        policy = self._learner.policy()
        assert isinstance(policy, ArrayPolicy)
        return policy


class SePoT(RNaD):
    """R-NaD with a critic of transformations; judged by search everywhere."""

    def __init__(
        self,
        game: ComparedGame,
        seed: int,
        config: RNaDConfig | None = None,
        search: SearchConfig | None = None,
    ):
        """Makes a fresh learner; the seed is that of the default config."""
        self._game, self._search = game, search
        name = default_transformations(game.ours.game)
        self._learner = _CountingRNaD(
            game.ours,
            config or RNaDConfig(seed=seed),
            transformations=transformations_by_name(name, game.ours.game),
            critic=CriticConfig(seed=seed),
        )

    def policy(self) -> ArrayPolicy:
        """SePoT's search from every public state, on top of the target network's policy."""
        tree, limit = self._game.ours, self._game.depth_limit
        critic = self._learner.critic()
        return SePoTPolicy(
            tree, super().policy(), critic, limit, config=self._search
        ).to_array_policy()
