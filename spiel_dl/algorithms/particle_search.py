"""`ParticlePolicy`: plays any game with `Rules` by depth-limited search below bounded particles.

Šustr et al. (2021), section 5.1, which leaves the complete algorithm for future work. In blocks:

  1. The sparse trunk below the first decision is solved, down to the depth limit.
  2. When the limit is passed, the particles of the public state reached are taken from the leaves
     there, with the reaches of the solution before: half of the budget among those of the
     player's own infoset, by chance's and the opponent's reach, and half among the others, by
     total reach. The trunk below them is solved, and so on.
  3. If the player's own infoset is not among the leaves, or chance and the opponent never come
     there by the solution before, the particles are *regenerated*: random histories of the public
     state, half of them in the own infoset, with the reaches of uniform play.

Nothing but public observations and the player's own is used.
"""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.search import sparse_solution as particle_search
from spiel_dl.search.sparse_solution import SparseSolution
from spiel_dl.solvers.regret_minimization import CFR_PLUS, Weighting
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.particles import Particles, rules_of, sample_consistent
from spiel_dl.tree.sparse_tree import depth_of_steps
from spiel_dl.value_functions.base import ValueFunction


class ParticlePolicy(openspiel_policy.Policy):
    """Both players' policies, each as if only that player used it.

    The same infoset gets the same answer whatever was asked before. Solutions are kept for the
    next questions, the latest ones.

    Attributes:
      num_regenerations: how often particles were regenerated (step 3).
    """

    def __init__(
        self,
        game: pyspiel.Game | str,
        value_function: ValueFunction | None,
        depth_limit: DepthLimit,
        *,
        budget: int = 1000,
        iterations: int = 100,
        weighting: Weighting = CFR_PLUS,
        seed: int = 0,
        max_kept: int = 16,
    ):
        """Loads the game; solves nothing yet.

        Args:
          game: a game with `Rules`, or its game string.
          value_function: values the leaves; None if the game ends above every limit.
          depth_limit: how deep each block is.
          budget: how many particles a block starts with, at most.
          iterations: of CFR, in each block.
          weighting: the variant of CFR.
          seed: of the particles.
          max_kept: how many solutions to keep.

        Raises:
          ValueError: if the game has no rules, or a number is too small.
        """
        self._game = load_turn_based(game)
        super().__init__(self._game, [0, 1])
        if budget < 2 or max_kept < 1 or iterations < 1 or seed < 0:
            raise ValueError(
                f"budget={budget} must be at least 2, max_kept={max_kept} and iterations="
                f"{iterations} at least 1, and seed={seed} not negative"
            )
        self._rules = rules_of(self._game)
        self._keys = InfosetKeys(self._rules)
        self._value_function = value_function
        self._depth_limit = depth_limit
        self._budget = budget
        self._iterations = iterations
        self._weighting = weighting
        self._seed = seed
        self._max_kept = max_kept
        self._kept: collections.OrderedDict[tuple[int, int], SparseSolution] = (
            collections.OrderedDict()
        )
        self.num_regenerations = 0

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Probabilities of all legal actions; solves what is on the way to the state.

        Args:
          state: a state in which a player acts.
          player_id: that player; None: the player to move.

        Raises:
          ValueError: if the player does not act in this state.
        """
        player = state.current_player() if player_id is None else player_id
        if player not in (0, 1) or player != state.current_player():
            raise ValueError(
                f"player {player} does not act in a state whose current player is "
                f"{state.current_player()}"
            )
        path = self._path(state, player)
        answer = self._search(path).action_probabilities(player, int(path.infoset_keys[-1]))
        assert answer is not None
        return answer

    def _path(self, state: pyspiel.State, player: int) -> _Path:
        """What a player has seen on the way to a state."""
        rules = self._rules
        batches = [rules.initial_state()]
        for action in state.history():
            batches.append(rules.apply(batches[-1], torch.tensor([action])))
        states = type(batches[0]).concatenate(batches)
        acting = rules.current_player(states).numpy()
        steps = depth_of_steps(
            rules,
            self._depth_limit,
            type(states).concatenate(batches[:-1] or batches),
            type(states).concatenate(batches[1:] or batches),
        )
        infoset_keys, public_keys = self._keys.of_level(states)
        depth = np.concatenate([[0], np.cumsum(steps)])[: len(batches)]
        return _Path(player, states, acting, depth, infoset_keys[player], public_keys)

    def _search(self, path: _Path) -> SparseSolution:
        """The solution of the block in which a path ends."""
        # A block's start is settled by what was seen on the way to it, which the infoset remembers.
        known = [
            step
            for step in np.flatnonzero(path.acting >= 0).tolist()
            if path.name(step) in self._kept
        ]
        start = known[-1] if known else int(np.flatnonzero(path.acting >= 0)[0])
        solution = self._solve(path, start, None)
        for step in range(start + 1, len(path.acting)):
            if path.acting[step] < 0:
                continue
            is_own = path.acting[step] == path.player
            key = int(path.infoset_keys[step])
            is_below = path.depth[step] - path.depth[start] >= self._depth_limit.value
            if is_below or (is_own and solution.action_probabilities(path.player, key) is None):
                solution = self._solve(path, step, solution)
                start = step
        return solution

    def _solve(self, path: _Path, step: int, before: SparseSolution | None) -> SparseSolution:
        """The solution of the block that starts at a step of a path."""
        name = path.name(step)
        if name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name]
        generator = np.random.default_rng([self._seed, path.player, name[1] % (1 << 63)])
        particles = None
        if before is not None:
            particles = self._particles_below(path, step, before, generator)
        if particles is None:
            self.num_regenerations += before is not None
            particles = self._regenerate(path, step, generator)
        solution = particle_search.solve(
            particles, self._depth_limit, self._value_function, self._iterations, self._weighting
        )
        self._kept[name] = solution
        if len(self._kept) > self._max_kept:
            self._kept.popitem(last=False)
        return solution

    def _particles_below(
        self, path: _Path, step: int, before: SparseSolution, generator: np.random.Generator
    ) -> Particles | None:
        """Step 2; None where step 3 is needed."""
        leaves = before.trunk.leaves
        first = leaves.histories[leaves.history_offsets[:-1]]
        public_key = before.tree.public_key
        assert public_key is not None
        found = np.flatnonzero(public_key[first] == path.public_keys[step])
        if not len(found):
            return None
        position = int(found[0])
        here = leaves.histories[slice(*leaves.history_offsets[position : position + 2])]
        candidates = before.leaf_particles(position)
        key = before.tree.infoset_key[path.player, here]
        is_own = key == path.infoset_keys[step]
        own = candidates.chance_reach * candidates.reach[1 - path.player] * is_own
        if not own.any():
            return None
        return self._choose(candidates, own, is_own, generator)

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

    def _regenerate(self, path: _Path, step: int, generator: np.random.Generator) -> Particles:
        """Step 3, and step 1."""
        here = path.states.take(torch.tensor([step]))
        public = self._rules.public_tensor(here, True)[0]
        own = sample_consistent(
            self._game,
            public,
            self._budget,
            generator,
            player=path.player,
            private_tensor=self._rules.private_tensor(here, path.player, True)[0],
        )
        found = sample_consistent(self._game, public, self._budget, generator)
        keys = self._keys.of_level(found.states)[0][path.player]
        others = np.flatnonzero(keys != path.infoset_keys[step])
        candidates = own.joined(found.take(others)) if len(others) else own
        is_own = np.arange(candidates.num_particles) < own.num_particles
        return self._choose(candidates, is_own.astype(np.float64), is_own, generator)


class _Path(NamedTuple):
    """What a player has seen at the T histories from the root to a state.

    Attributes:
      player: the player.
      states: the rules' states, batch dimension T. Only public tensors and the player's private
        ones may be read.
      acting: int8 [T], who acts.
      depth: int64 [T], in the depth limit's unit.
      infoset_keys: int64 [T], the player's.
      public_keys: int64 [T].
    """

    player: int
    states: Any
    acting: np.ndarray
    depth: np.ndarray
    infoset_keys: np.ndarray
    public_keys: np.ndarray

    def name(self, step: int) -> tuple[int, int]:
        """What the solution of a block that starts at a step is kept by."""
        return self.player, int(self.infoset_keys[step])
