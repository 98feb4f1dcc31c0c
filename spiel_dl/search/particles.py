"""`ParticleSource`: searches below bounded particles, taken from the leaves of the search before.

See `algorithms.particle_search` for the algorithm.
"""

from __future__ import annotations

import dataclasses
import functools
import time

import numpy as np
import pyspiel
import torch

from spiel_dl.search.played import PlayedPath, PlayedSource
from spiel_dl.search.policy import LocalStrategy, Search
from spiel_dl.search.search import search
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.gadgets import WITHOUT_GIFTS, check_gadget
from spiel_dl.tree.beam import sample_consistent
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.sparse_tree import SparseTree, root_ranges, sparse_trunk
from spiel_dl.value_functions.base import (
    LeafValues,
    ValueFunction,
    bind_checked,
    check_arguments,
    check_value_function,
)


class ParticleSource(PlayedSource[Solution]):
    """Searches below particles of a public state."""

    is_private = True

    def __init__(self, game: AnyGame, depth_limit: DepthLimit, *, budget: int, seed: int = 0):
        """Loads the game. A search starts from at most `budget` particles, drawn with `seed`.

        Raises:
          ValueError: if the game has no rules, or a number is too small.
        """
        super().__init__(game, depth_limit)
        self._budget = checked_count("budget", budget, 2)
        self._seed = checked_count("seed", seed, 0)

    def next_start(
        self, path: PlayedPath, position: int | None, result: Solution | None
    ) -> int | None:
        """See `Source`: at the depth limit, or in an own infoset that no particle leads to."""
        if position is None or result is None:
            return path.decisions[0]
        for later in path.decisions:
            if later <= position:
                continue
            if path.depth[later] - path.depth[position] >= self.depth_limit.value:
                return later
            is_own = path.acting[later] == path.player
            key = int(path.infoset_keys[later])
            if is_own and action_probabilities(result, path.player, key) is None:
                return later
        return None

    def solve(
        self, path: PlayedPath, position: int, previous: Solution | None, spec: Spec, search: Search
    ) -> Solution:
        """See `Source`; the result is the whole solution."""
        generator = self.generator(self._seed, path, position)
        particles = opponent_values = None
        if previous is not None:
            particles, opponent_values = self._below(path, position, previous, spec, generator)
        if particles is None:
            particles = self._regenerate(path, position, generator)
        root = root_of_particles(particles, self.depth_limit, path.player, opponent_values)
        solution = search(dataclasses.replace(root, key=self.root_key(path, position)))
        _ = solution.leaf_cfvs  # Raises at once if values are not finite.
        return solution

    def local_strategy(
        self, path: PlayedPath, state: pyspiel.State, result: Solution | None
    ) -> LocalStrategy:
        """See `Source`: the average strategy."""
        del state
        assert result is not None
        probabilities = action_probabilities(result, path.player, int(path.infoset_keys[-1]))
        assert probabilities is not None
        return LocalStrategy(probabilities)

    def num_bytes(self, result: Solution) -> int:
        """See `Source`: that of its tree; what is cached later is left out."""
        tree = result.trunk.tree
        names = [field for field in vars(tree) if field in type(tree).__dataclass_fields__]
        arrays = [*(getattr(tree, name) for name in names), *vars(tree.states).values()]
        return sum(each.nbytes for each in arrays if isinstance(each, (np.ndarray, torch.Tensor)))

    def _below(
        self,
        path: PlayedPath,
        position: int,
        previous: Solution,
        spec: Spec,
        generator: np.random.Generator,
    ) -> tuple[Particles, np.ndarray] | tuple[None, None]:
        """Particles among the leaves of the search before; None: they must be regenerated.

        Returns:
          The particles, and the opponent's value in the infoset of each, float64 [N].
        """
        player, opponent, leaves = path.player, 1 - path.player, previous.trunk.leaves
        tree = previous.trunk.tree
        assert tree.public_key is not None
        first = leaves.histories[leaves.history_offsets[:-1]]
        matches = np.flatnonzero(tree.public_key[first] == path.public_keys[position])
        if not len(matches):
            return None, None
        public_state = int(matches[0])
        candidates = leaf_particles(previous, public_state)
        is_own = candidates.infoset_keys[player] == path.infoset_keys[position]
        own = candidates.chance_reach * candidates.reach[opponent] * is_own
        # Behind a gadget, the opponent's reach by the solution before may be 0.
        if not (is_own if spec.resolves else own).any():
            return None, None
        values = leaf_values(previous, opponent, public_state)
        particles = self._choose(candidates, own, is_own, generator)
        keys, rows = np.unique(candidates.infoset_keys[opponent], return_index=True)
        of_particle = np.searchsorted(keys, particles.infoset_keys[opponent])
        return particles, values[rows[of_particle]]

    def _choose(
        self,
        candidates: Particles,
        own_weights: np.ndarray,
        is_own: np.ndarray,
        generator: np.random.Generator,
    ) -> Particles:
        """Half of the budget in the own infoset, and half, or what is left, elsewhere."""
        num_others = int((~is_own).sum())
        num_own = min(int(is_own.sum()), max(self._budget // 2, self._budget - num_others))
        rows = np.flatnonzero(is_own)
        chosen = candidates.take(rows).sample(num_own, generator, own_weights[rows])
        if not num_others or num_own == self._budget:
            return chosen
        others = candidates.take(np.flatnonzero(~is_own))
        return chosen.joined(others.sample(self._budget - num_own, generator))

    def _regenerate(
        self, path: PlayedPath, position: int, generator: np.random.Generator
    ) -> Particles:
        """Random histories of the public state, half of them in the own infoset."""
        here = path.here(position)
        public = self.rules.public_tensor(here, True)[0]
        own = sample_consistent(
            self.game,
            public,
            self._budget,
            generator,
            player=path.player,
            private_tensor=self.rules.private_tensor(here, path.player, True)[0],
        )
        whole = sample_consistent(self.game, public, self._budget, generator)
        keys = self.keys.of_level(whole.states)[0][path.player]
        others = np.flatnonzero(keys != path.infoset_keys[position])
        candidates = own.joined(whole.take(others)) if len(others) else own
        is_own = np.arange(candidates.num_particles) < own.num_particles
        return self._choose(candidates, is_own.astype(np.float64), is_own, generator)


def particle_spec(value_function: ValueFunction | None, gadget: str = "unsafe") -> Spec:
    """The spec of a search below particles: a trunk whose leaves a value function values.

    Behind a gadget the cfvs of leaves are averages over the iterations, for safety (see
    `algorithms.continual_resolving`).
    """
    check_gadget(gadget, allowed=WITHOUT_GIFTS)
    values = functools.partial(_leaf_values, value_function=value_function)
    return Spec(values, gadget, averages=gadget != "unsafe")


def _leaf_values(root: Root, value_function: ValueFunction | None) -> LeafValues:
    check_value_function(root.trunk, value_function)
    assert value_function is not None
    return bind_checked(value_function, root.trunk.leaves)


def root_of_particles(
    particles: Particles,
    depth_limit: DepthLimit,
    player: int,
    opponent_values: np.ndarray | None = None,
) -> Root:
    """The root of a search below particles, at both players' reach of them.

    Args:
      particles: where it starts.
      depth_limit: where it ends, counted from the particles.
      player: the player who searches.
      opponent_values: float64 [N], for each particle the opponent's value in its infoset, given
        that it is reached; times its counterfactual reach by the particles, the given cfv. None:
        no gadget is needed.

    Raises:
      ValueError: if the trunk cannot be built.
    """
    started = time.perf_counter()
    trunk = sparse_trunk(particles, depth_limit)
    first, second = (
        reach / reach.sum() if reach.any() else reach for reach in root_ranges(trunk, particles)
    )
    cfvs = None
    if opponent_values is not None:
        own, others = (trunk.extent.roots_at(p, trunk.extent.starts) for p in (player, 1 - player))
        reach = particles.chance_reach * (first, second)[player][own]
        num_others = len(trunk.root_infosets[1 - player])
        cfvs = np.bincount(others, reach * opponent_values, minlength=num_others)
    return Root(
        trunk,
        player,
        (first, second),
        is_first=opponent_values is None,
        given_cfvs=cfvs,
        seconds={"tree": time.perf_counter() - started},
    )


def solve_below(
    particles: Particles,
    value_function: ValueFunction | None,
    depth_limit: DepthLimit,
    effort: Effort,
) -> Solution:
    """Solves the game below particles at both players' reach, without a gadget.

    Raises:
      ValueError: if the trunk cannot be built, or if the game goes on at the limit and there is no
        value function, or one that solves subgames, which a sparse tree does not have.
    """
    check_arguments(value_function, depth_limit)
    solution = search(
        root_of_particles(particles, depth_limit, 0), particle_spec(value_function), effort
    )
    _ = solution.leaf_cfvs  # Raises at once if values are not finite.
    return solution


def action_probabilities(
    solution: Solution, player: int, infoset_key: int
) -> dict[int, float] | None:
    """The average strategy in an infoset of a sparse trunk; None if no particle leads there.

    Args:
      solution: of a search below particles.
      player: the player who acts.
      infoset_key: as in `tree.from_rules.InfosetKeys`.
    """
    tree, infosets = solution.trunk.tree, solution.trunk.infosets[player]
    keys = tree.infoset_key[player, tree.first_history[player][infosets]]
    matches = np.flatnonzero(keys == infoset_key)
    if not len(matches):
        return None
    own = solution.trunk.sequence_form.treeplexes[player].sequences(int(matches[0]))
    probabilities = solution.strategies[player][own].tolist()
    actions = tree.legal_actions(player, int(infosets[matches[0]])).tolist()
    return dict(zip(actions, probabilities, strict=True))


def leaf_particles(solution: Solution, public_state: int) -> Particles:
    """All leaves of a leaf public state (a position in `trunk.leaves`) as particles."""
    leaves, tree = solution.trunk.leaves, solution.trunk.tree
    assert isinstance(tree, SparseTree)
    here = slice(*leaves.history_offsets[public_state : public_state + 2])
    ranges = solution.leaf_ranges
    reach = [ranges[p][leaves.infoset_of_history[p, here]] for p in (0, 1)]
    histories = leaves.histories[here]
    return Particles(
        tree.game,
        tree.states_of(histories),
        np.stack(reach),
        leaves.chance_reach[here].copy(),
        cached_keys=tree.infoset_key[:, histories],
    )


def leaf_values(solution: Solution, player: int, public_state: int) -> np.ndarray:
    """A player's cfvs at the leaves of a leaf public state, divided by its counterfactual reach.

    Returns:
      float64 [n], in the order of `leaf_particles`; 0 where that reach is 0.
    """
    leaves, cfvs = solution.trunk.leaves, solution.leaf_cfvs
    assert cfvs is not None
    reach = leaves.counterfactual_reach(*solution.leaf_ranges)[player]
    values = np.divide(cfvs[player], reach, out=np.zeros(len(reach)), where=reach > 0)
    here = slice(*leaves.history_offsets[public_state : public_state + 2])
    return values[leaves.infoset_of_history[player, here]]
