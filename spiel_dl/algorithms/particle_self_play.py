"""`ParticleSelfPlay`: trains a particle network by the search that uses it.

Šustr et al. (2021), section 5.1, in the manner of Brown et al. (2020), "Combining Deep
Reinforcement Learning and Search for Imperfect-Information Games". A game of self-play:

  1. Chance moves up to the first decision; there are all histories of that public state, or a
     random part of them.
  2. The sparse trunk below the particles is solved with the network at its leaves. If it is not
     the first, its root gives a sample: the sparse belief, and the values found for it.
  3. One of the leaf public states is drawn, by its reach or, for exploration, evenly; a bounded
     number of its leaves, which share some infosets, become the next particles. Back to 2, until
     the game ends above the limit.

As in Moravčík et al. (2017), "DeepStack", a sample's values are made zero-sum: what both players
would win together at their beliefs is taken from them. And no value is beyond what the game's
utilities allow.

For exploration, a player's range may be replaced by a random one, so that the network also learns
about beliefs to which good play does not lead. A range of mass 0 is always replaced.
"""

from __future__ import annotations

import collections
import math

import numpy as np
import scipy.optimize

from spiel_dl.optimization import Descent, LearningRate
from spiel_dl.search import sparse_solution
from spiel_dl.search.sparse_solution import SparseSolution
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.particles import Particles, rules_of, sample_consistent
from spiel_dl.tree.sparse_tree import sparse_trunk
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_samples import SparseSample, join_samples


class ParticleSelfPlay:
    """Self-play of one network.

    Attributes:
      game: the game.
      network: the network, which changes with every step.
      num_games: games played.
      buffer: the newest samples.
    """

    def __init__(
        self,
        game: AnyGame,
        network: ParticleNetwork,
        depth_limit: DepthLimit,
        *,
        budget: int = 1000,
        iterations: int = 100,
        exploration: float = 0.25,
        buffer_size: int = 10_000,
        batch_size: int = 64,
        steps_per_game: int = 8,
        learning_rate: float = 1e-3,
        final_learning_rate: float = 1e-4,
        num_games: int = 1000,
        seed: int = 0,
    ):
        """Loads the game; plays nothing yet.

        Args:
          game: the game, its game string, or the compiled game.
          network: learns; it may be fresh.
          depth_limit: how deep each search is.
          budget: particles that a search starts with, at most.
          iterations: iterations of CFR+ in each search.
          exploration: probability of a random range, for each player in each search, and of drawing
            the next public state evenly.
          buffer_size: how many samples are kept, the newest ones.
          batch_size: samples in a step of Adam.
          steps_per_game: steps of Adam after each game.
          learning_rate: Adam's learning rate in the first game.
          final_learning_rate: Adam's learning rate from game `num_games` on; it falls exponentially
            until then.
          num_games: over how many games the learning rate falls.
          seed: seed of chance, particles, exploration and batches.

        Raises:
          ValueError: if the game has no rules, or if a number is out of range.
        """
        counts = {
            "budget": budget,
            "iterations": iterations,
            "buffer_size": buffer_size,
            "batch_size": batch_size,
            "steps_per_game": steps_per_game,
            "num_games": num_games,
        }
        for name, count in counts.items():
            if count < 1:
                raise ValueError(f"{name}={count} must be at least 1")
        if not 0 <= exploration <= 1:
            raise ValueError(f"exploration={exploration} must be between 0 and 1")
        self._rate = LearningRate(learning_rate, final_learning_rate, num_games)
        self.network = network
        self.num_games = 0
        self.buffer: collections.deque[SparseSample] = collections.deque(maxlen=buffer_size)
        self.game = turn_based_game(game)
        self._rules = rules_of(self.game)
        self._depth_limit = depth_limit
        self._budget = budget
        self._effort = Effort(iterations)
        self._exploration = exploration
        self._batch_size = batch_size
        self._steps_per_game = steps_per_game
        self._generator = np.random.default_rng(seed)
        self._descent: Descent | None = None

    @property
    def learning_rate(self) -> float:
        """Of Adam, after the games played so far."""
        return self._rate.at(self.num_games)

    def step(self) -> float:
        """Plays a game, learns, and returns the mean squared error of the steps taken.

        Raises:
          ValueError: if the game ends above the first limit, so that there is nothing to learn, or
            if the loss becomes NaN or infinite.
        """
        self.buffer.extend(self.play())
        self.num_games += 1
        if not self.buffer:
            raise ValueError(
                f"{self.game} gave no samples: it ends above the depth limit of "
                f"{self._depth_limit}, or right below it; choose a smaller limit"
            )
        losses = [self._learn() for _ in range(self._steps_per_game)]
        return float(np.mean(losses))

    def play(self) -> list[SparseSample]:
        """One game; the samples on its way."""
        samples: list[SparseSample] = []
        limit = self._depth_limit
        particles = first = self._start()
        while True:
            if self.network.domain is None:
                self.network.initialize(sparse_trunk(particles, limit).leaves)
            solution = sparse_solution.solve(particles, self.network, limit, self._effort)
            if particles is not first:
                samples.append(self._sample(solution))
            if not solution.trunk.leaves.num_public_states:
                return samples
            particles = self._next(solution)

    def _start(self) -> Particles:
        """Step 1."""
        state = self.game.new_initial_state()
        while state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(self._generator.choice(outcomes, p=probabilities)))
        public_tensor = self._rules.public_tensor(state.batch, True)[0]
        return sample_consistent(self.game, public_tensor, self._budget, self._generator)

    def _sample(self, solution: SparseSolution) -> SparseSample:
        """What a solution says about its root."""
        particles, features = solution.particles, self.network.features
        roots = solution.trunk.root_of_history[:, 1 : particles.num_particles + 1]
        beliefs = [
            plan[: len(cfv)] for plan, cfv in zip(solution.plans, solution.root_cfvs, strict=True)
        ]
        rows, reaches = [], []
        for player in (0, 1):
            firsts = particles.take(first_occurrence_ids(roots[player])[1]).states
            rows.append(features.infostates(self._rules, firsts, player))
            others = particles.chance_reach * beliefs[1 - player][roots[1 - player]]
            reaches.append(np.bincount(roots[player], others))
        belief, reach, cfv = map(np.concatenate, (beliefs, reaches, solution.root_cfvs))
        cfv = _possible_cfvs(belief, reach, cfv, self.game.max_utility())
        arrays = (array.astype(np.float32) for array in (belief, reach, cfv))
        return SparseSample(
            features.public(self._rules, particles.take(np.zeros(1, np.int64)).states)[0],
            np.concatenate(rows),
            *arrays,
        )

    def _next(self, solution: SparseSolution) -> Particles:
        """Step 3."""
        leaves, generator = solution.trunk.leaves, self._generator
        reach = np.add.reduceat(solution.leaf_reach(), leaves.history_offsets[:-1])
        if generator.random() < self._exploration or not reach.any():
            reach = np.ones(leaves.num_public_states)
        public_state = int(generator.choice(len(reach), p=reach / reach.sum()))
        reached = solution.leaf_particles(public_state)
        here = slice(*leaves.history_offsets[public_state : public_state + 2])
        for player in (0, 1):
            if generator.random() < self._exploration or not reached.reach[player].any():
                infoset = leaves.infoset_of_history[player, here]
                ranges = generator.exponential(size=leaves.num_infosets(player))
                reached.reach[player] = ranges[infoset]
        infosets = leaves.infoset_of_history[:, here]
        return reached.sample_infosets(infosets, self._budget, generator)

    def _learn(self) -> float:
        """A step of Adam; its samples' weighted mean squared error, in utility units squared."""
        if self._descent is None:
            # The parameters exist since the network was bound in the first game.
            self._descent = Descent(self.network.module.parameters(), self._rate)
        chosen = self._generator.integers(len(self.buffer), size=self._batch_size)
        samples = [self.buffer[i] for i in chosen.tolist()]
        inputs, targets, weights = join_samples(
            samples, self.network.device, conditional=self.network.conditional
        )
        errors = self.network.module(inputs) - targets
        loss = (weights * errors.square()).sum() / weights.sum()
        value = loss.item()
        if not math.isfinite(value):
            raise ValueError(
                f"the loss is {value} after {self.num_games} games; use a smaller learning rate "
                f"than {self._rate.first}"
            )
        self._descent.step(loss, at=self.num_games)
        return value


def _possible_cfvs(
    belief: np.ndarray, reach: np.ndarray, cfv: np.ndarray, utility: float
) -> np.ndarray:
    """The cfvs nearest to these that are zero-sum and within the game's utilities: float64 [K].

    What both players would win together, and what is beyond the utilities, is the network's error.
    Learned from, it would grow from search to search. Each infoset gives up the same amount once it
    is reached.

    Args:
      belief: float64 [K], both players' infosets.
      reach: float64 [K], counterfactual.
      cfv: float64 [K].
      utility: the largest of the game, positive.
    """
    once_reached = np.divide(cfv, reach, out=np.zeros_like(cfv), where=reach > 0)

    def less(amount: float) -> np.ndarray:
        return reach * (once_reached - amount).clip(-utility, utility)

    if not belief @ reach:
        return less(0.0)
    # All lose, or all win, the largest utility.
    bounds = once_reached.min() - utility, once_reached.max() + utility
    return less(scipy.optimize.brentq(lambda amount: belief @ less(amount), *bounds, xtol=1e-12))
