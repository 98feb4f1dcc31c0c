"""Search below bounded particles, as a step along the game: `ParticleStep`."""

from __future__ import annotations

import numpy as np
import pyspiel
import torch

from spiel_dl.search import sparse_solution
from spiel_dl.search.found import Found
from spiel_dl.search.played import PlayedAnswer, PlayedPath, PlayedStep
from spiel_dl.search.sparse_solution import Resolver, SparseSolution
from spiel_dl.solvers.effort import Effort, check_no_tolerance
from spiel_dl.solvers.gadgets import WITHOUT_GIFTS, check_gadget
from spiel_dl.tree.beam import sample_consistent
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.particles import Particles
from spiel_dl.value_functions.base import ValueFunction, check_arguments


class ParticleStep(PlayedStep[SparseSolution]):
    """Solves blocks of the game below particles; `algorithms.particle_search` says how.

    Attributes:
      num_regenerations: how often particles had to be regenerated.
    """

    def __init__(
        self,
        game: AnyGame,
        value_function: ValueFunction | None,
        depth_limit: DepthLimit,
        *,
        budget: int,
        gadget: str,
        effort: Effort,
        seed: int,
    ):
        """Loads the game; see `algorithms.particle_search.ParticlePolicy`."""
        check_arguments(value_function, depth_limit)
        check_no_tolerance(effort)
        super().__init__(game, depth_limit)
        if budget < 2 or seed < 0:
            raise ValueError(f"budget={budget} must be at least 2, and seed={seed} not negative")
        check_gadget(gadget, allowed=WITHOUT_GIFTS)
        self.num_regenerations = 0
        self._value_function = value_function
        self._budget = budget
        self._gadget = gadget
        self._effort = effort
        self._seed = seed

    def first(self, path: PlayedPath) -> int:
        """The first decision; see `PlayedStep`."""
        return path.decisions[0]

    def following(self, path: PlayedPath, start: int, solution: SparseSolution) -> int | None:
        """Where the depth limit is passed, or no particle has led; see `PlayedStep`."""
        for position in path.decisions:
            if position <= start:
                continue
            if path.depth[position] - path.depth[start] >= self.depth_limit.value:
                return position
            key = int(path.infoset_keys[position])
            is_own = path.acting[position] == path.player
            if is_own and solution.action_probabilities(path.player, key) is None:
                return position
        return None

    def solve(self, path: PlayedPath, start: int, before: SparseSolution | None) -> SparseSolution:
        """Solves the block that starts at a position of the path; see `PlayedStep`."""
        key = int(path.infoset_keys[start])
        generator = np.random.default_rng([self._seed, path.player, key % (1 << 63)])
        particles = given = None
        if before is not None:
            particles, given = self._below(path, start, before, generator)
        if particles is None:
            self.num_regenerations += before is not None
            particles = self._regenerate(path, start, generator)
        resolver = None
        if self._gadget != "unsafe":
            resolver = Resolver(path.player, self._gadget, given)
        solution = sparse_solution.solve(
            particles, self._value_function, self.depth_limit, self._effort, resolver
        )
        if self.watch is not None:
            found = Found(path.player, solution.trunk, solution.plans, solution.leaf_cfvs)
            self.watch(found)
        return solution

    def answer(
        self, path: PlayedPath, state: pyspiel.State, solution: SparseSolution
    ) -> PlayedAnswer:
        """The average strategy at the end of the path; see `PlayedStep`."""
        del state
        answer = solution.action_probabilities(path.player, int(path.infoset_keys[-1]))
        assert answer is not None
        return PlayedAnswer(answer)

    def num_bytes(self, solution: SparseSolution) -> int:
        """That of its tree; see `PlayedStep`."""
        return solution.num_bytes

    def _below(
        self, path: PlayedPath, step: int, before: SparseSolution, generator: np.random.Generator
    ) -> tuple[Particles, np.ndarray] | tuple[None, None]:
        """Step 2, the opponent's given values as in `Resolver`; None where step 3 is needed."""
        leaves = before.trunk.leaves
        first = leaves.histories[leaves.history_offsets[:-1]]
        public_key = before.tree.public_key
        assert public_key is not None
        found = np.flatnonzero(public_key[first] == path.public_keys[step])
        if not len(found):
            return None, None
        position = int(found[0])
        candidates = before.leaf_particles(position)
        is_own = candidates.infoset_keys[path.player] == path.infoset_keys[step]
        own = candidates.chance_reach * candidates.reach[1 - path.player] * is_own
        # Behind a gadget the opponent may come where the solution before did not expect it.
        if not (own if self._gadget == "unsafe" else is_own).any():
            return None, None
        opponent = 1 - path.player
        worth = before.leaf_values(opponent, position)
        particles = self._choose(candidates, own, is_own, generator)
        keys, rows = np.unique(candidates.infoset_keys[opponent], return_index=True)
        of_particle = np.searchsorted(keys, particles.infoset_keys[opponent])
        return particles, worth[rows[of_particle]]

    def _choose(
        self,
        candidates: Particles,
        own_weights: np.ndarray,
        is_own: np.ndarray,
        generator: np.random.Generator,
    ) -> Particles:
        """Half of the budget for the own infoset, half for all others, or what they leave."""
        num_others = int((~is_own).sum())
        num_own = min(int(is_own.sum()), max(self._budget // 2, self._budget - num_others))
        rows = np.flatnonzero(is_own)
        chosen = candidates.take(rows).sample(num_own, generator, own_weights[rows])
        if not num_others or num_own == self._budget:
            return chosen
        others = candidates.take(np.flatnonzero(~is_own))
        return chosen.joined(others.sample(self._budget - num_own, generator))

    def _regenerate(self, path: PlayedPath, step: int, generator: np.random.Generator) -> Particles:
        """Step 3, and step 1."""
        here = path.states.take(torch.tensor([step]))
        public = self.rules.public_tensor(here, True)[0]
        own = sample_consistent(
            self.game,
            public,
            self._budget,
            generator,
            player=path.player,
            private_tensor=self.rules.private_tensor(here, path.player, True)[0],
        )
        found = sample_consistent(self.game, public, self._budget, generator)
        keys = self.keys.of_level(found.states)[0][path.player]
        others = np.flatnonzero(keys != path.infoset_keys[step])
        candidates = own.joined(found.take(others)) if len(others) else own
        is_own = np.arange(candidates.num_particles) < own.num_particles
        return self._choose(candidates, is_own.astype(np.float64), is_own, generator)
