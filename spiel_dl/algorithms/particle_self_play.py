"""`ParticleSelfPlay`: trains a particle network in self-play by the search that uses it.

Šustr et al. (2021), section 5.1, in the manner of Brown et al. (2020), "Combining Deep
Reinforcement Learning and Search for Imperfect-Information Games". A game of self-play:

  1. Chance moves up to the first decision. The particles are all histories of that public state, or
     a random sample of them.
  2. The sparse trunk below the particles is solved with the network at its leaves. Unless it is the
     first, each public state at its root gives a sample: the sparse belief, and the values found
     for it.
  3. Some of the leaf public states are drawn, by reach or, for exploration, evenly; of each, a
     bounded number of leaves, which share some infosets, become the next particles. Back to 2,
     until the game ends above the limit.

The papers follow one public state at a time. Here several are followed side by side and solved at
once, as one game, with the network evaluated on all their leaves together; so a sample costs a
fraction of the time.

As in Moravčík et al. (2017), "DeepStack", a sample's values are made zero-sum: the sum of both
players' values at their beliefs is subtracted from them. And no value is beyond what the game's
utilities allow.

For exploration, a player's range may be replaced by a random one, so that the network also learns
about beliefs to which good play does not lead. A range of mass 0 is always replaced.

    learner = ParticleSelfPlay("python_goofspiel_ii(num_cards=5)", None, DepthLimit(rounds=1))
    learner.run(100)
    policy = learner.policy()  # searches among particles; an open_spiel Policy
"""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.learning.config import checked_config
from spiel_dl.learning.learner import Learner
from spiel_dl.networks.learning_rate import LearningRate
from spiel_dl.networks.optimization import Descent
from spiel_dl.search.particles import leaf_particles, solve_below
from spiel_dl.search.spec import Solution
from spiel_dl.solvers.effort import Effort
from spiel_dl.system.parameters import check_types
from spiel_dl.tree.beam import sample_consistent
from spiel_dl.tree.counts import check_counts
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.drawing import draw
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.particles import Particles, rules_of
from spiel_dl.tree.sparse_tree import sparse_trunk
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_samples import (
    SparseSample,
    join_samples,
    pack_samples,
    possible_cfvs,
    unpack_samples,
)

FILE_KIND = "particle_learner"
"""The `kind` of a checkpoint, in its header."""
BUFFER = "buffer."
"""The prefix of the names of a checkpoint's arrays of samples, see `pack_samples`."""


@dataclasses.dataclass(frozen=True)
class ParticleSelfPlayConfig:
    """How to play and to learn. A learner step is a game.

    Attributes:
      width: public states that a game follows side by side, at most.
      budget: particles of each of them, at most.
      iterations: iterations of CFR+ in each search.
      exploration: probability of a random range, for each player in each search, and of drawing the
        next public state evenly.
      buffer_size: how many of the newest samples are kept.
      batch_size: samples in a step of Adam.
      steps_per_game: steps of Adam after each game.
      learning_rate: Adam's learning rate in the first game.
      final_learning_rate: Adam's learning rate from game `decay_steps` on; it falls exponentially
        until then. None: it does not fall.
      decay_steps: over how many games the learning rate falls.
      max_tree_histories: games of at most so many histories are compiled to measure the network.
      seed: seed of chance, particles, exploration and batches.
    """

    width: int = 16
    budget: int = 1000
    iterations: int = 100
    exploration: float = 0.25
    buffer_size: int = 10_000
    batch_size: int = 64
    steps_per_game: int = 8
    learning_rate: float = 1e-3
    final_learning_rate: float | None = 1e-4
    decay_steps: int = 1000
    max_tree_histories: int = 200_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_types(self)
        check_counts(self, 1, "width", "iterations", "buffer_size", "batch_size", "steps_per_game")
        check_counts(self, 1, "decay_steps", "max_tree_histories")
        check_counts(self, 2, "budget")  # as the search that plays with the network demands
        check_counts(self, 0, "seed")
        if not 0 <= self.exploration <= 1:
            raise ValueError(f"exploration={self.exploration} must be between 0 and 1")
        self.rate()  # raises if the rates are wrong

    def rate(self) -> LearningRate:
        """Adam's learning rate by the number of its steps."""
        num_steps = self.decay_steps * self.steps_per_game
        return LearningRate(self.learning_rate, self.final_learning_rate, num_steps)

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        return dataclasses.asdict(self)


class ParticleSelfPlay(Learner):
    """Self-play of one network; a learner step is a game.

    Attributes:
      depth_limit: how deep each search is.
      network: the network, which changes with every step.
      buffer: the newest samples.
    """

    name = "particle"
    file_kind = FILE_KIND
    terms = ("loss",)
    steps_per_check = 1
    config: ParticleSelfPlayConfig

    def __init__(
        self,
        game: AnyGame,
        network: ParticleNetwork | None,
        depth_limit: DepthLimit,
        config: ParticleSelfPlayConfig | None = None,
    ):
        """Loads the game, and makes the network's parameters if there are none; plays nothing yet.

        Args:
          game: the game, its game string, or the compiled game.
          network: the network to train; it may be fresh. None: a fresh one that is conditional and
            sees positions, which learns most from the same games.
          depth_limit: how deep each search is.
          config: how to play and to learn; None: the defaults.

        Raises:
          ValueError: if the game has no rules, if it ends above the limit, if the network is of
            another game, or if an argument has another type.
        """
        if not isinstance(network, ParticleNetwork | None):
            raise ValueError(
                f"network={network!r} must be a ParticleNetwork, or None for a fresh one; it comes "
                "before the depth limit"
            )
        config = checked_config(config, ParticleSelfPlayConfig, type(self).__name__)
        super().__init__(turn_based_game(game), config)
        self.network = network or ParticleNetwork(
            features=InfostateFeatures(positions=True), conditional=True, seed=self.config.seed
        )
        self.depth_limit = depth_limit
        self.buffer: collections.deque[SparseSample] = collections.deque(
            maxlen=self.config.buffer_size
        )
        self._rules = rules_of(self.game)
        self._effort = Effort(self.config.iterations)
        # The generator is made anew, so that this draw does not change the games.
        self._generator = np.random.default_rng(self.config.seed)
        self.network.initialize(sparse_trunk(self._root_particles(), depth_limit).leaves)
        self._generator = np.random.default_rng(self.config.seed)
        self._descent = Descent(self.network.module.parameters(), self.config.rate())

    def _advance(self) -> torch.Tensor:
        """Plays a game, and learns; raises a ValueError if there is nothing to learn."""
        self.buffer.extend(self.play())
        if not self.buffer:
            raise ValueError(
                f"{self.game} gave no samples: it ends right below the depth limit of "
                f"{self.depth_limit}; choose a smaller limit"
            )
        losses = [self._learn() for _ in range(self.config.steps_per_game)]
        return torch.stack(losses).mean(dim=0, keepdim=True)

    def policy(self) -> ParticlePolicy:
        """Both players' policy by search with the network, which later steps change."""
        return ParticlePolicy(
            self.game,
            self.network,
            self.depth_limit,
            budget=self.config.budget,
            effort=self._effort,
            seed=self.config.seed,
        )

    def metrics(self) -> dict[str, float]:
        """As `Learner.metrics`, with the `samples` in the buffer; `loss` is their squared error."""
        return {**super().metrics(), "samples": len(self.buffer)}

    def settings(self) -> dict[str, Any]:
        """All settings of the learner, as JSON can hold them."""
        features = {"features": self.network.features.name}
        return {**self.config.to_json(), **self.network.settings(), **features}

    def _extra_state(self) -> dict[str, np.ndarray]:
        """The generator's state as JSON, and the samples, compressed."""
        generator_state = json.dumps(self._generator.bit_generator.state).encode()
        samples = {f"{BUFFER}{name}": a for name, a in pack_samples(self.buffer).items()}
        return {**samples, "generator": np.frombuffer(generator_state, np.uint8)}

    def _load_extra_state(self, state: Mapping[str, np.ndarray]) -> None:
        names = pack_samples([])
        if missing := {"generator", *(BUFFER + name for name in names)} - state.keys():
            raise ValueError(f"the state has no {', '.join(sorted(missing))}; it is not whole")
        samples = unpack_samples({name: state[BUFFER + name] for name in names})
        self._generator = _generator_of(state["generator"])
        self.buffer.clear()
        self.buffer.extend(samples)

    def _identity(self) -> dict[str, Any]:
        return {**super()._identity(), "depth_limit": str(self.depth_limit)}

    def _tensors(self) -> dict[str, torch.Tensor]:
        """All tensors that a checkpoint holds, by name."""
        tensors = {}
        for name, parameter in self.network.module.named_parameters():
            tensors[f"network.{name}"] = parameter.detach()
            tensors |= self._descent.state(parameter, f"adam.{name}.")
        return tensors

    def play(self) -> list[SparseSample]:
        """Plays one game; returns its samples."""
        samples: list[SparseSample] = []
        public_states = self._next_particles(self._solve([self._root_particles()]))
        while public_states:
            solution = self._solve(public_states)
            first = 0
            for particles in public_states:
                samples.append(self._sample(particles, first, solution))
                first += particles.num_particles
            public_states = self._next_particles(solution)
        return samples

    def _solve(self, public_states: list[Particles]) -> Solution:
        """Solves step 2, for several public states at once."""
        particles, *others = public_states
        return solve_below(particles.joined(*others), self.network, self.depth_limit, self._effort)

    def _root_particles(self) -> Particles:
        """The particles of step 1."""
        state = self.game.new_initial_state()
        while state.is_chance_node():
            state.apply_action(draw(dict(state.chance_outcomes()), self._generator.random()))
        public_tensor = self._rules.public_tensor(state.batch, True)[0]
        return sample_consistent(self.game, public_tensor, self.config.budget, self._generator)

    def _sample(self, particles: Particles, first: int, solution: Solution) -> SparseSample:
        """The sample of the root public state whose first particle is the solution's `first`."""
        features = self.network.features
        starts = first + np.arange(1, particles.num_particles + 1)
        roots, rows, places = zip(
            *(
                np.unique(
                    solution.trunk.extent.roots_at(player, starts),
                    return_index=True,
                    return_inverse=True,
                )
                for player in (0, 1)
            ),
            strict=True,
        )
        ranges = [solution.plans[player][roots[player]] for player in (0, 1)]
        masses = [float(own_range.sum()) for own_range in ranges]
        beliefs = [ranges[player] / masses[player] for player in (0, 1)]
        infostates, reaches, cfvs = [], [], []
        for player in (0, 1):
            states = particles.take(rows[player]).states
            infostates.append(features.infostates(self._rules, states, player))
            opponent_reach = particles.chance_reach * beliefs[1 - player][places[1 - player]]
            reaches.append(np.bincount(places[player], opponent_reach))
            cfvs.append(solution.root_cfvs[player][roots[player]] / masses[1 - player])
        belief, reach, cfv = map(np.concatenate, (beliefs, reaches, cfvs))
        cfv = possible_cfvs(belief, reach, cfv, self.game.max_utility())
        arrays = (array.astype(np.float32) for array in (belief, reach, cfv))
        return SparseSample(
            features.public(self._rules, particles.take(np.zeros(1, np.int64)).states)[0],
            np.concatenate(infostates),
            *arrays,
        )

    def _next_particles(self, solution: Solution) -> list[Particles]:
        """The next particles, of each public state drawn in step 3; none at the end."""
        leaves, generator = solution.trunk.leaves, self._generator
        count = leaves.num_public_states
        if count <= self.config.width:
            return [self._particles_below(solution, public_state) for public_state in range(count)]
        reach = np.add.reduceat(solution.leaf_reach, leaves.history_offsets[:-1])
        # Some evenness, so that enough public states have positive probability.
        even = self.config.exploration if reach.all() else max(self.config.exploration, 1e-6)
        share = (1 - even) * reach / (reach.sum() or 1.0) + even / count
        chosen = generator.choice(count, self.config.width, replace=False, p=share / share.sum())
        return [
            self._particles_below(solution, int(public_state)) for public_state in np.sort(chosen)
        ]

    def _particles_below(self, solution: Solution, public_state: int) -> Particles:
        """Some particles of a leaf public state, with the players' ranges or random ones."""
        leaves, generator = solution.trunk.leaves, self._generator
        particles = leaf_particles(solution, public_state)
        here = slice(*leaves.history_offsets[public_state : public_state + 2])
        for player in (0, 1):
            reach = particles.reach[player]
            if generator.random() < self.config.exploration or not reach.any():
                infoset = leaves.infoset_of_history[player, here]
                reach = generator.exponential(size=leaves.num_infosets(player))[infoset]
            # Scaled, so that public states of small reach count as much as others from here on.
            particles.reach[player] = reach / reach.max()
        infosets = leaves.infoset_of_history[:, here]
        return particles.sample_infosets(infosets, self.config.budget, generator)

    def _learn(self) -> torch.Tensor:
        """One step of Adam; its samples' weighted mean squared error, in utility units squared."""
        indices = self._generator.integers(len(self.buffer), size=self.config.batch_size)
        samples = [self.buffer[i] for i in indices.tolist()]
        inputs, targets, weights = join_samples(
            samples, self.network.device, conditional=self.network.conditional
        )
        errors = self.network.module(inputs) - targets
        loss: torch.Tensor = (weights * errors.square()).sum() / weights.sum()
        self._descent.step(loss)
        return loss.detach()


def _generator_of(state: np.ndarray) -> np.random.Generator:
    """The generator of a state as JSON, uint8 [n], see `_extra_state`."""
    generator = np.random.default_rng(0)
    try:
        generator.bit_generator.state = json.loads(np.asarray(state).tobytes())
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"the state's generator is none ({error}); it is not whole") from None
    return generator
