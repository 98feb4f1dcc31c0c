"""Sparse depth-limited trees: the game below some histories of public states only.

Šustr et al. (2021), section 6: the look-ahead tree has the selected particles and all their
descendants above the depth limit, so its size depends only on the number of particles and the
limit, not on the rest of the game.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import NoReturn

import numpy as np
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.from_rules import Level, LevelBuilder, histories_of
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

    History 0 is added to the game's: chance chooses a particle there; particle i is history i + 1.
    The leaves are the histories without successors. Infosets of leaves have no actions, so the tree
    must be cut before it is solved.

    Attributes:
      states: the rules' states of all histories, batch dimension H; the game's root as row 0.
    """

    states: StateBatch

    @property
    def utility_range(self) -> float:
        """The game's, because the tree may have no terminal histories."""
        return float(self.game.rules.max_utility - self.game.rules.min_utility)

    def states_of(self, histories: np.ndarray) -> StateBatch:
        """The rules' states of histories (int [N]), as one batch."""
        return self.states.take(torch.from_numpy(np.asarray(histories, np.int64)))

    def state(self, history: int) -> NoReturn:
        """Not available: raises ValueError. `states` has the rules' states."""
        raise ValueError("a sparse tree keeps no OpenSpiel states; read its `states` instead")

    def infoset_string(self, player: int, infoset: int) -> str:
        """The information state string of a decision infoset; ValueError if there is none."""
        check_index("infoset", infoset, self.num_infosets(player))
        return _string_of_row(
            rules_of(self.game), self.states, int(self.first_history[player][infoset]), player
        )


def sparse_trunk(
    particles: Particles, depth_limit: DepthLimit, max_histories: int = _MAX_HISTORIES
) -> Trunk[SparseTree]:
    """The trunk below particles, down to a depth limit counted from them.

    Args:
      particles: the histories where it starts, all different, with a player to act. They may be of
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
    name = functools.partial(_string_of_row, rules, states)
    tree = SparseTree.from_histories(histories, name, states=states)
    public_states = tree.public_states.of_history[1 : particles.num_particles + 1]
    return cut(tree, depth_limit, np.unique(public_states).tolist())


def root_ranges(trunk: Trunk[SparseTree], particles: Particles) -> tuple[np.ndarray, np.ndarray]:
    """Both players' ranges at the root of a sparse trunk: float64 [R_p] each.

    Raises:
      ValueError: if particles in one infoset of a player differ in its reach.
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
    """The depth that single steps add, in a limit's unit: int64 [B].

    Args:
      depth_limit: the limit that gives the unit.
      player: int [B], who acts. Where chance acts, a player must have acted before, because plies
        do not count chance events at the start of a game.
      rounds_before: int [B], number of finished rounds before the step.
      rounds_after: int [B], the same after it.
    """
    if depth_limit.plies is not None:
        return np.ones(len(player), np.int64)
    if depth_limit.moves is not None:
        return (player >= 0).astype(np.int64)
    return (rounds_after - rounds_before).astype(np.int64)


def _string_of_row(rules: Rules, states: StateBatch, row: int, player: int) -> str:
    """A player's information state string in one row of a batch."""
    return rules.information_state_strings(states.take(slice(row, row + 1)), player)[0]


def _enumerate(
    particles: Particles, depth_limit: DepthLimit, max_histories: int
) -> tuple[Histories, StateBatch]:
    """All histories of a sparse tree, breadth first, and their states."""

    def joined(parts: Iterable[Level], num_seen: int, number: int) -> Level:
        """A whole level; one that is too large is refused before all of it is listed."""
        listed = []
        for part in parts:
            listed.append(part)
            num_seen += part.size
            if num_seen > max_histories:
                raise TooManyHistoriesError(
                    f"{particles.game}: more than max_histories={max_histories:,} histories below "
                    f"{particles.num_particles:,} particles ({num_seen:,} seen, the last one at "
                    f"depth {number}). Give fewer particles or a smaller depth limit than "
                    f"{depth_limit}."
                )
        return Level.joined(listed)

    builder, size = LevelBuilder(rules_of(particles.game)), particles.num_particles
    depth = np.zeros(size, np.int64)  # Counted from the particles, in the depth limit's unit.
    particle_level = builder.level(
        particles.states, 1, depth, np.arange(size), particles.chance_reach, keep_terminal=True
    )
    levels, first_of_level = [_root(builder, particles), joined([particle_level], 1, 1)], 1
    while True:
        level, number = levels[-1], len(levels)
        columns, num_seen = level.columns, first_of_level + level.size
        player = columns["player"]
        is_leaf = (depth >= depth_limit.value) & (player >= 0)
        expanded = np.flatnonzero((player != TERMINAL_PLAYER) & ~is_leaf)
        if not len(expanded):
            break
        states, reach = level.states, columns["chance_reach"][expanded]
        if len(expanded) < level.size:
            states = states.take(torch.from_numpy(expanded))
        parts = builder.successors(
            states, first_of_level + expanded, reach, number, keep_terminal=True
        )
        levels.append(joined(parts, num_seen, number))
        next_columns = levels[-1].columns
        parent = next_columns["parent"] - first_of_level
        steps = depth_of_steps(
            depth_limit, player[parent], columns["rounds_over"][parent], next_columns["rounds_over"]
        )
        depth, first_of_level = depth[parent] + steps, num_seen
    states = type(levels[0].states).concatenate([level.states for level in levels])
    return histories_of(particles.game, [level.columns for level in levels]), states


def _root(builder: LevelBuilder, particles: Particles) -> Level:
    """History 0, a chance node in a public state of its own."""
    no_parent = np.full(1, -1)
    any_state = particles.states.take(slice(1))
    columns = builder.level(any_state, 0, no_parent, no_parent, np.ones(1)).columns
    columns["player"] = np.full_like(columns["player"], CHANCE_PLAYER)
    # It must differ from the key of the particles' public state.
    columns["public_key"] = columns["public_key"] ^ 1
    return Level(rules_of(particles.game).initial_state(), columns)
