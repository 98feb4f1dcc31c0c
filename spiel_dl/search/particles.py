"""`ParticleSource`: searches below bounded particles, taken from the leaves of the search before.

`algorithms.particle_search` says how.
"""

from __future__ import annotations

import dataclasses
import functools
import time

import numpy as np
import pyspiel
import torch

from spiel_dl.search.played import PlayedSource, PlayedWay
from spiel_dl.search.policy import Answer, Search
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
    bound_to,
    check_arguments,
    check_value_function,
)


class ParticleSource(PlayedSource[Solution]):
    """Searches below particles of a public state.

    Attributes:
      num_regenerations: how often particles had to be regenerated.
    """

    is_private = True

    def __init__(self, game: AnyGame, depth_limit: DepthLimit, *, budget: int, seed: int = 0):
        """Loads the game. A search starts at `budget` particles, at most; they are drawn by `seed`.

        Raises:
          ValueError: if the game has no rules, or a number is too small.
        """
        super().__init__(game, depth_limit)
        self._budget = checked_count("budget", budget, 2)
        self._seed = checked_count("seed", seed, 0)
        self.num_regenerations = 0

    def following(self, way: PlayedWay, position: int | None, kept: Solution | None) -> int | None:
        """See `Source`: where the depth limit is passed, or no particle has led."""
        if position is None or kept is None:
            return way.decisions[0]
        for later in way.decisions:
            if later <= position:
                continue
            if way.depth[later] - way.depth[position] >= self.depth_limit.value:
                return later
            is_own = way.acting[later] == way.player
            key = int(way.infoset_keys[later])
            if is_own and action_probabilities(kept, way.player, key) is None:
                return later
        return None

    def solve(
        self, way: PlayedWay, position: int, before: Solution | None, spec: Spec, search: Search
    ) -> Solution:
        """See `Source`; all of the solution is kept."""
        generator = self.generator(self._seed, way, position)
        particles = given = None
        if before is not None:
            particles, given = self._below(way, position, before, spec, generator)
        if particles is None:
            self.num_regenerations += before is not None
            particles = self._regenerate(way, position, generator)
        root = root_of_particles(particles, self.depth_limit, way.player, given)
        solution = search(dataclasses.replace(root, key=self.seed_of(way, position)))
        _ = solution.leaf_cfvs  # Values that are not finite are refused at once.
        return solution

    def answer(self, way: PlayedWay, state: pyspiel.State, kept: Solution | None) -> Answer:
        """See `Source`: the average strategy."""
        del state
        assert kept is not None
        answer = action_probabilities(kept, way.player, int(way.infoset_keys[-1]))
        assert answer is not None
        return Answer(answer)

    def num_bytes(self, kept: Solution) -> int:
        """See `Source`: that of its tree; what is cached later is left out."""
        tree = kept.trunk.tree
        names = [field for field in vars(tree) if field in type(tree).__dataclass_fields__]
        arrays = [*(getattr(tree, name) for name in names), *vars(tree.states).values()]
        return sum(each.nbytes for each in arrays if isinstance(each, (np.ndarray, torch.Tensor)))

    def _below(
        self,
        way: PlayedWay,
        position: int,
        before: Solution,
        spec: Spec,
        generator: np.random.Generator,
    ) -> tuple[Particles, np.ndarray] | tuple[None, None]:
        """Particles among the leaves of the search before; None where they are regenerated.

        Returns:
          The particles, and what the opponent gets in the infoset of each, float64 [N].
        """
        player, opponent, leaves = way.player, 1 - way.player, before.trunk.leaves
        tree = before.trunk.tree
        assert tree.public_key is not None
        first = leaves.histories[leaves.history_offsets[:-1]]
        found = np.flatnonzero(tree.public_key[first] == way.public_keys[position])
        if not len(found):
            return None, None
        public_state = int(found[0])
        candidates = leaf_particles(before, public_state)
        is_own = candidates.infoset_keys[player] == way.infoset_keys[position]
        own = candidates.chance_reach * candidates.reach[opponent] * is_own
        # Behind a gadget the opponent may come where the solution before did not expect it.
        if not (is_own if spec.resolves else own).any():
            return None, None
        worth = leaf_worth(before, opponent, public_state)
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

    def _regenerate(
        self, way: PlayedWay, position: int, generator: np.random.Generator
    ) -> Particles:
        """Random histories of the public state, half of them in the own infoset."""
        here = way.here(position)
        public = self.rules.public_tensor(here, True)[0]
        own = sample_consistent(
            self.game,
            public,
            self._budget,
            generator,
            player=way.player,
            private_tensor=self.rules.private_tensor(here, way.player, True)[0],
        )
        found = sample_consistent(self.game, public, self._budget, generator)
        keys = self.keys.of_level(found.states)[0][way.player]
        others = np.flatnonzero(keys != way.infoset_keys[position])
        candidates = own.joined(found.take(others)) if len(others) else own
        is_own = np.arange(candidates.num_particles) < own.num_particles
        return self._choose(candidates, is_own.astype(np.float64), is_own, generator)


def particle_spec(value_function: ValueFunction | None, gadget: str = "unsafe") -> Spec:
    """What is solved below particles: a trunk whose leaves a value function values.

    Behind a gadget the cfvs of leaves are averages over the iterations, to which a player can hold
    its opponent (`algorithms.continual_resolving` says why).
    """
    check_gadget(gadget, allowed=WITHOUT_GIFTS)
    values = functools.partial(_at_leaves, value_function=value_function)
    return Spec(values, gadget, averages=gadget != "unsafe")


def _at_leaves(root: Root, value_function: ValueFunction | None) -> LeafValues:
    check_value_function(root.trunk, value_function)
    assert value_function is not None
    return bound_to(value_function, root.trunk.leaves)


def root_of_particles(
    particles: Particles, depth_limit: DepthLimit, player: int, given: np.ndarray | None = None
) -> Root:
    """The root of a search below particles, to which both players come with their reaches.

    Args:
      particles: where it starts.
      depth_limit: where it ends, counted from the particles.
      player: who searches.
      given: float64 [N], for each particle what the opponent could get in its infoset there, once
        that is reached. Times its counterfactual reach of the particles alone, it is the given cfv.
        None: the opponent cannot have come otherwise.

    Raises:
      ValueError: if the trunk cannot be built.
    """
    started = time.perf_counter()
    trunk = sparse_trunk(particles, depth_limit)
    first, second = (
        reach / reach.sum() if reach.any() else reach for reach in root_ranges(trunk, particles)
    )
    cfvs = None
    if given is not None:
        own, others = (trunk.extent.roots_at(p, trunk.extent.starts) for p in (player, 1 - player))
        reach = particles.chance_reach * (first, second)[player][own]
        num_others = len(trunk.root_infosets[1 - player])
        cfvs = np.bincount(others, reach * given, minlength=num_others)
    return Root(
        trunk,
        player,
        (first, second),
        is_first=given is None,
        given_cfvs=cfvs,
        seconds={"tree": time.perf_counter() - started},
    )


def solve_below(
    particles: Particles,
    value_function: ValueFunction | None,
    depth_limit: DepthLimit,
    effort: Effort,
) -> Solution:
    """Solves the game below particles at both players' reaches, without a gadget.

    Raises:
      ValueError: if the trunk cannot be built, or if the game goes on at the limit and there is no
        value function, or one that solves subgames, which a sparse tree does not have.
    """
    check_arguments(value_function, depth_limit)
    solution = search(
        root_of_particles(particles, depth_limit, 0), particle_spec(value_function), effort
    )
    _ = solution.leaf_cfvs  # Values that are not finite are refused at once.
    return solution


def action_probabilities(
    solution: Solution, player: int, infoset_key: int
) -> dict[int, float] | None:
    """The average strategy in an infoset of a sparse trunk; None if no particle leads there.

    Args:
      solution: of a search below particles.
      player: who acts.
      infoset_key: as in `tree.from_rules.InfosetKeys`.
    """
    tree, infosets = solution.trunk.tree, solution.trunk.infosets[player]
    keys = tree.infoset_key[player, tree.first_history[player][infosets]]
    found = np.flatnonzero(keys == infoset_key)
    if not len(found):
        return None
    own = solution.trunk.sequence_form.treeplexes[player].sequences(int(found[0]))
    probabilities = solution.strategies[player][own].tolist()
    actions = tree.legal_actions(player, int(infosets[found[0]])).tolist()
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
        known_keys=tree.infoset_key[:, histories],
    )


def leaf_worth(solution: Solution, player: int, public_state: int) -> np.ndarray:
    """What a player gets at the leaves of a leaf public state, once its infoset is reached.

    Returns:
      float64 [n], in the order of `leaf_particles`; 0 where chance and the opponent never come.
    """
    leaves, cfvs = solution.trunk.leaves, solution.leaf_cfvs
    assert cfvs is not None
    reach = leaves.counterfactual_reach(*solution.leaf_ranges)[player]
    values = np.divide(cfvs[player], reach, out=np.zeros(len(reach)), where=reach > 0)
    here = slice(*leaves.history_offsets[public_state : public_state + 2])
    return values[leaves.infoset_of_history[player, here]]
