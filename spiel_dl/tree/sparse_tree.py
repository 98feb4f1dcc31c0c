"""Sparse depth-limited trees: the game below some histories of public states, and no others.

Šustr et al. (2021), section 6: the look-ahead tree is built from the selected particles only, and
from all that can follow them above the depth limit. It never sees the rest of the game, so its size
depends on the number of particles and on the limit alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NoReturn

import numpy as np
import torch

from spiel_dl.games.rules import StateBatch
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.from_rules import Growth, Level, histories_of
from spiel_dl.tree.histories import (
    CHANCE_PLAYER,
    TERMINAL_PLAYER,
    Histories,
    TooManyHistoriesError,
    check_index,
)
from spiel_dl.tree.particles import Particles, rules_of
from spiel_dl.tree.trunk import Trunk, cut

_MAX_HISTORIES = 10_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class SparseTree(CompiledTree):
    """The histories that follow some particles, down to a depth limit.

    History 0 is not one of the game's. There, chance chooses a particle; particle i is history
    i + 1. The leaves are the histories without successors. Infosets of leaves have no actions, so
    the tree must be cut before it is solved.

    Attributes:
      states: the rules' states of all histories, batch dimension H; the game's root as row 0.
    """

    states: StateBatch

    @property
    def utility_range(self) -> float:
        """The game's; no terminal history may be in the tree."""
        return float(self.game.rules.max_utility - self.game.rules.min_utility)

    def states_of(self, histories: np.ndarray) -> StateBatch:
        """The rules' states of histories (int [N]), as one batch."""
        return self.states.take(torch.from_numpy(np.asarray(histories, np.int64)))

    def state(self, history: int) -> NoReturn:
        """Not available: raises ValueError. `states` has the rules' states."""
        raise ValueError("a sparse tree keeps no OpenSpiel states; read its `states` instead")

    def infoset_string(self, player: int, infoset: int) -> str:
        """What a player knows in a decision infoset; ValueError if there is none such."""
        check_index("infoset", infoset, self.num_infosets(player))
        row = int(self.first_history[player][infoset])
        one = self.states.take(slice(row, row + 1))
        strings: list[str] = rules_of(self.game).information_state_strings(one, player)
        return strings[0]


def sparse_trunk(
    particles: Particles, depth_limit: DepthLimit, max_histories: int = _MAX_HISTORIES
) -> Trunk[SparseTree]:
    """The trunk below particles, down to a depth limit counted from them.

    Args:
      particles: where it starts; different histories, a player to act in each. They may be of
        several public states, which are then solved side by side.
      depth_limit: where it ends.
      max_histories: refuse trees with more histories than this.

    Returns:
      The trunk of a `SparseTree`. Its root sequences are the particles' infosets; their ranges are
      `root_ranges`.

    Raises:
      ValueError: if the limit is no `DepthLimit`, if no player acts in a particle, or if the tree
        becomes too large.
    """
    check_depth_limit(depth_limit)
    rules = rules_of(particles.game)
    if (rules.current_player(particles.states) < 0).any():
        raise ValueError("a player must act in every particle; particles start where one does")
    histories, states = _enumerate(particles, depth_limit, max_histories)
    tree = SparseTree.from_histories(histories, states=states)
    tops = tree.public_states.of_history[1 : particles.num_particles + 1]
    return cut(tree, depth_limit, np.unique(tops).tolist())


def root_ranges(trunk: Trunk[SparseTree], particles: Particles) -> tuple[np.ndarray, np.ndarray]:
    """Both players' ranges at the root of a sparse trunk: float64 [R_p] each.

    Raises:
      ValueError: if a player's reach differs within one of its infosets.
    """
    ranges = []
    for player in (0, 1):
        starts = trunk.extent.starts
        reach = trunk.by_root_infoset(player, starts, particles.reach[player])
        root = trunk.extent.roots_at(player, starts)
        if not np.allclose(reach[root], particles.reach[player], rtol=1e-9, atol=0.0):
            raise ValueError(
                f"particles that player {player} cannot tell apart differ in its reach; give each "
                "the reach of the infoset"
            )
        ranges.append(reach)
    return ranges[0], ranges[1]


def depth_of_steps(
    depth_limit: DepthLimit, player: np.ndarray, rounds_before: np.ndarray, rounds_after: np.ndarray
) -> np.ndarray:
    """By how much single steps go deeper, in a limit's unit: int64 [B].

    Args:
      depth_limit: whose unit counts.
      player: int [B], who acts. Where chance acts, a player must have acted before, because plies
        do not count chance events at the start of a game.
      rounds_before: int [B], how many rounds are over before the step.
      rounds_after: int [B], the same after it.
    """
    if depth_limit.plies is not None:
        return np.ones(len(player), np.int64)
    if depth_limit.moves is not None:
        return (player >= 0).astype(np.int64)
    return (rounds_after - rounds_before).astype(np.int64)


def _enumerate(
    particles: Particles, depth_limit: DepthLimit, max_histories: int
) -> tuple[Histories, StateBatch]:
    """All histories of a sparse tree, breadth first, and their states."""

    def joined(parts: Iterable[Level], num_seen: int, number: int) -> Level:
        """A whole level; what is too large is refused before all of it is listed."""
        found = []
        for part in parts:
            found.append(part)
            num_seen += part.size
            if num_seen > max_histories:
                raise TooManyHistoriesError(
                    f"{particles.game}: more than max_histories={max_histories:,} histories below "
                    f"{particles.num_particles:,} particles ({num_seen:,} seen, the last one at "
                    f"depth {number}). Give fewer particles or a smaller depth limit than "
                    f"{depth_limit}."
                )
        return Level.joined(found)

    growth, size = Growth(rules_of(particles.game)), particles.num_particles
    depth = np.zeros(size, np.int64)  # Counted from the particles, in the depth limit's unit.
    tops = growth.level(
        particles.states, 1, depth, np.arange(size), particles.chance_reach, keeps_ends=True
    )
    levels, first = [_root(growth, particles), joined([tops], 1, 1)], 1
    while True:
        level, number = levels[-1], len(levels)
        columns, num_seen = level.columns, first + level.size
        player = columns["player"]
        is_leaf = (depth >= depth_limit.value) & (player >= 0)
        grows = np.flatnonzero((player != TERMINAL_PLAYER) & ~is_leaf)
        if not len(grows):
            break
        states, reach = level.states, columns["chance_reach"][grows]
        if len(grows) < level.size:
            states = states.take(torch.from_numpy(grows))
        parts = growth.below(states, first + grows, reach, number, keeps_ends=True)
        levels.append(joined(parts, num_seen, number))
        after = levels[-1].columns
        parent = after["parent"] - first
        steps = depth_of_steps(
            depth_limit, player[parent], columns["rounds_over"][parent], after["rounds_over"]
        )
        depth, first = depth[parent] + steps, num_seen
    states = type(levels[0].states).concatenate([level.states for level in levels])
    return histories_of(particles.game, [level.columns for level in levels]), states


def _root(growth: Growth, particles: Particles) -> Level:
    """History 0: chance acts, in a public state of its own."""
    nothing = np.full(1, -1)
    one = particles.states.take(slice(1))
    columns = growth.level(one, 0, nothing, nothing, np.ones(1)).columns
    columns["player"] = np.full_like(columns["player"], CHANCE_PLAYER)
    # Any other key than that of the particles' public state.
    columns["public_key"] = columns["public_key"] ^ 1
    return Level(rules_of(particles.game).initial_state(), columns)
