"""SePoT in games of any size: search from public states on the way, which are reconstructed.

Kubíček et al. (2023), section 4.2: the first search may start anywhere. From the root on, where
the last search ends, or one level below a public state that is too large to be searched:

  1. All histories of the public state are reconstructed, and the game from there to the depth limit
     is built. If there are more histories than allowed, the blueprint answers.
  2. The player's range is its own reach, replayed along the past of each of its infosets there: by
     the searches on the way where there were any, and by the blueprint elsewhere.
  3. The opponent's given cfvs are what the critic says.
  4. The game is solved (`search.sepot_search`).

The searching player reads public observations, and of its own infoset only which it is.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import StateBatch
from spiel_dl.learning.critics import Critic
from spiel_dl.search.beliefs import replayed_reach
from spiel_dl.search.found import Watch
from spiel_dl.search.played import PlayedAnswer, PlayedPath, PlayedPolicy, PlayedStep
from spiel_dl.search.policy_rows import AnyBlueprint, TensorPolicy, acting_blueprint
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.search.sepot_search import Root, Searcher
from spiel_dl.solvers.best_response import FixedStrategy
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import TooManyHistoriesError
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.public_states import Reconstruction
from spiel_dl.tree.sparse_tree import sparse_trunk
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves

MOST = 1_000_000
"""Without a bound, searches of more histories than this are left out; they would not end."""


class Seconds(NamedTuple):
    """What a search took.

    Attributes:
      reconstruction: finding the public state's histories, and the player's range.
      tree: building the game down to the depth limit.
      critic: values of the histories at the root and at the leaves.
      solution: CFR; of a trunk that grows, all that comes after the values of its first leaves.
    """

    reconstruction: float
    tree: float
    critic: float
    solution: float


class Plan(NamedTuple):
    """What was found for a trunk.

    Attributes:
      plan: float64 [S_p], the searching player's realization plan.
      fixed: where the player was bound; None: nowhere.
      trunk: in what it was found.
      valued_at: by `time.perf_counter`, when the values of histories were known.
    """

    plan: np.ndarray
    fixed: FixedStrategy | None
    trunk: Trunk
    valued_at: float


class PlayedSolution(NamedTuple):
    """What a search found, down to where the next one may begin.

    Attributes:
      origin: the level from which on blocks are counted.
      end: the level at which the next search may begin.
      infoset_keys: int64 [I], sorted: the player's infosets to which its plan comes. None are
        there if there was no search.
      strategy: float64 [I, A], the probabilities of all actions there.
      before: what was found before on the way; None if this is the first.
    """

    origin: int
    end: int
    infoset_keys: np.ndarray
    strategy: np.ndarray
    before: PlayedSolution | None

    def rows_of(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which infosets are among those that were searched, and their places: bool, int [N]."""
        if not len(self.infoset_keys):
            return np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.int64)
        place = np.searchsorted(self.infoset_keys, keys).clip(max=len(self.infoset_keys) - 1)
        return self.infoset_keys[place] == keys, place


class SePoTPlayedStep(PlayedStep[PlayedSolution]):
    """Searches from the root on, wherever that is possible.

    Attributes:
      seconds: what the last search took; None before the first one.
      num_searches: how many searches were made.
      num_left_to_blueprint: how many were not: there were too many histories, the player never
        comes there, or the search would not be safe and is to be.
      blueprint: what the search is on top of, as an `ActingPolicy`.
    """

    def __init__(
        self,
        game: AnyGame,
        blueprint: AnyBlueprint,
        critic: Critic | None,
        depth_limit: DepthLimit,
        config: SearchConfig,
    ):
        """Loads the game; see `algorithms.sepot.SePoTPlayPolicy`."""
        super().__init__(game, depth_limit)
        if config.continual or config.given_cfvs == "best_response":
            raise ValueError(
                f"{config}: where public states are reconstructed, given cfvs are the critic's; "
                "use continual=False and given_cfvs='transformations' or 'critic', or compile the "
                "game"
            )
        self.seconds: Seconds | None = None
        self.num_searches = 0
        self.num_left_to_blueprint = 0
        self.blueprint = acting_blueprint(blueprint)
        self._rows = TensorPolicy(self.rules, self.blueprint)
        self._searcher = Searcher(critic, config)
        self._num_kept = depth_limit.value if config.scheme == "block" else 1
        bounds = (config.max_histories, config.max_root_histories, MOST)
        most = min(bound for bound in bounds if bound is not None)
        self._reconstruction = Reconstruction(self.game, most)

    @property
    def watch(self) -> Watch | None:
        """Is told of every search; see `PlayedStep`."""
        return self._searcher.watch

    @watch.setter
    def watch(self, watch: Watch | None) -> None:
        self._searcher.watch = watch

    @property
    def num_unfinished(self) -> int:
        """How many searches ended above the tolerance of their effort."""
        return self._searcher.num_unfinished

    def name(self, path: PlayedPath, position: int) -> int:
        """A search is that of a public state; see `PlayedStep`."""
        return int(path.public_keys[position])

    def first(self, path: PlayedPath) -> int:
        """The first decision; see `PlayedStep`."""
        return self.starts(path)[0]

    def starts(self, path: PlayedPath) -> list[int]:
        """The positions on a path in which a search may begin."""
        return path.decisions

    def following(self, path: PlayedPath, start: int, solution: PlayedSolution) -> int | None:
        """The first decision at which the next search may begin; see `PlayedStep`."""
        later = (i for i in self.starts(path) if i > start and path.depth[i] >= solution.end)
        return next(later, None)

    def num_bytes(self, solution: PlayedSolution) -> int:
        """That of what was found in this search, not of those before it; see `PlayedStep`."""
        return solution.infoset_keys.nbytes + solution.strategy.nbytes

    def solve(self, path: PlayedPath, start: int, before: PlayedSolution | None) -> PlayedSolution:
        """One search, if it can be made; see `PlayedStep`."""
        depth, config = int(path.depth[start]), self._searcher.config
        keys, rows = np.zeros(0, np.int64), np.zeros((0, self.game.num_distinct_actions()))
        if depth < config.first_level:
            return PlayedSolution(config.first_level, config.first_level, keys, rows, before)
        origin = config.first_level if before is None else before.origin
        end = origin + ((depth - origin) // self._num_kept + 1) * self._num_kept
        try:
            found = self._search(path, start, before, end - depth)
        except TooManyHistoriesError:
            self.num_left_to_blueprint += 1
            return PlayedSolution(depth + 1, depth + 1, keys, rows, before)
        if found is None:
            self.num_left_to_blueprint += 1
        else:
            self.num_searches += 1
            keys, rows = found
        return PlayedSolution(origin, end, keys, rows, before)

    def answer(
        self, path: PlayedPath, state: pyspiel.State, solution: PlayedSolution
    ) -> PlayedAnswer:
        """The plan's strategy; the blueprint's where it never comes. See `PlayedStep`."""
        actions = state.legal_actions()
        (is_found,), (place,) = solution.rows_of(path.infoset_keys[-1:])
        if is_found:
            row = solution.strategy[place, actions]
        else:
            here = path.states.take(torch.tensor([len(path.acting) - 1]))
            row = self._rows(here, path.player)[0, actions]
            row /= row.sum()  # NumPy's generators refuse what single precision leaves of 1
        return PlayedAnswer(dict(zip(actions, row.tolist(), strict=True)), bool(is_found))

    def _search(
        self, path: PlayedPath, start: int, before: PlayedSolution | None, num_levels: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Infoset keys and strategy of a `PlayedSolution`; None where the player never comes.

        Args:
          path: what was seen.
          start: the position of the path where the search starts.
          before: the solution before it.
          num_levels: how many levels from there on are kept.

        Raises:
          TooManyHistoriesError: if there are more than allowed.
        """
        player, times, config = path.player, [time.perf_counter()], self._searcher.config
        particles = self.histories(path, start, before)
        reach = particles.reach[player]
        times.append(time.perf_counter())
        # Its history 0 is none of the game's.
        trunk = sparse_trunk(particles, self.depth_limit, 1 + (config.max_histories or MOST))
        times.append(time.perf_counter())
        mass = float(reach @ particles.chance_reach)
        if mass == 0:
            return None
        histories = np.arange(1, particles.num_particles + 1)
        prior = particles.reach[1 - player] if self._asks_prior else None
        root = Root(trunk, histories, reach / mass, start == path.decisions[0], prior)
        found = self.plan(path, start, root)
        times += [found.valued_at, time.perf_counter()]
        self.seconds = Seconds(*np.diff(times).tolist())
        return self._kept(player, found, num_levels)

    def plan(self, path: PlayedPath, start: int, root: Root) -> Plan:
        """Solves the game from where a search starts down to the depth limit."""
        player = path.player
        leaf_values = self._searcher.leaf_values(player, root.trunk.leaves)
        fixed = self.fixed(path, start, root)
        given = None
        if self._searcher.needs_cfvs(root):
            given = self.given_cfvs(player, root, leaf_values)
        valued_at = time.perf_counter()
        plan = self._searcher.solve(player, root, given, leaf_values, fixed)
        return Plan(plan, fixed, root.trunk, valued_at)

    def given_cfvs(
        self, player: int, root: Root, leaf_values: MultiValuedLeaves | None
    ) -> np.ndarray:
        """What the opponent may have instead of entering: float64 [R_-p]."""
        del leaf_values
        return self._searcher.critic_cfvs(player, root)

    def histories(self, path: PlayedPath, start: int, before: PlayedSolution | None) -> Particles:
        """What a search starts from: histories of the public state, with reaches.

        Of the searching player, the reach is its own, as it plays; the opponent's, by the
        blueprint, is asked for only where it matters to the gadget, and 1 elsewhere.

        Raises:
          TooManyHistoriesError: if there are more than allowed.
        """
        player = path.player
        here = path.states.take(torch.tensor([start]))
        public_tensor = self.rules.public_tensor(here, True)[0]
        found = self._reconstruction.histories(public_tensor)
        if not found.complete:
            most = self._reconstruction.limit
            raise TooManyHistoriesError(f"more than {most:,} histories in a public state")
        keys, policies = self.keys.of_level(found.states)[0], self.policies(player, before)
        reach = np.ones((2, found.states.batch_size))
        # The blueprint is known for both players; reading it tells nothing of what is hidden.
        for each in (0, 1) if self._asks_prior else (player,):
            reach[each] = replayed_reach(self.game, keys[each], found.actions, each, policies)
        return Particles(self.game, found.states, reach, found.chance_reach.numpy())

    def fixed(self, path: PlayedPath, start: int, root: Root) -> FixedStrategy | None:
        """Where the searching player is bound to its blueprint; None: nowhere."""
        del path, start, root
        return None

    @property
    def _asks_prior(self) -> bool:
        """Whether the opponent's own reach of histories is asked for."""
        return self._searcher.config.asks_prior

    def _kept(self, player: int, found: Plan, num_levels: int) -> tuple[np.ndarray, np.ndarray]:
        """Infoset keys and strategy of a `PlayedSolution`, of the levels that are kept."""
        trunk, plan, fixed = found.trunk, found.plan, found.fixed
        tree, treeplex = trunk.tree, trunk.sequence_form.treeplexes[player]
        firsts = tree.first_history[player][trunk.infosets[player]]
        depths = self.depth_limit.depths(tree)
        kept = (depths[firsts] - depths[1] < num_levels) & (treeplex.sum_per_infoset(plan) > 0)
        if fixed is not None:
            kept &= ~fixed.infosets
        infoset = np.repeat(np.arange(treeplex.num_infosets), treeplex.num_actions)
        num_roots = treeplex.num_root_sequences
        rows = np.zeros((treeplex.num_infosets, self.game.num_distinct_actions()))
        actions = tree.sequence_action[player][trunk.sequences[player][num_roots:]]
        rows[infoset, actions] = behaviour_strategy(treeplex, plan)[num_roots:]
        keys = tree.infoset_key[player, firsts[kept]]
        order = np.argsort(keys)
        return keys[order], rows[kept][order]

    def policies(self, player: int, before: PlayedSolution | None) -> PolicyRows:
        """What both players do: the one who searches as it found before, else the blueprint."""

        def rows(states: StateBatch, mover: int) -> np.ndarray:
            found = self._rows(states, mover)
            if mover != player or self._searcher.config.own_range == "blueprint":
                return found
            keys, solution = self.keys.of_level(states)[0][mover], before
            is_open = np.ones(len(keys), np.bool_)
            while solution is not None:
                is_found, place = solution.rows_of(keys)
                is_found &= is_open
                found[is_found] = solution.strategy[place[is_found]]
                is_open &= ~is_found
                solution = solution.before
            return found

        return rows


class SePoTPlayedPolicy(PlayedPolicy[PlayedSolution]):
    """A policy whose searches are those of SePoT or of what is derived from it.

    Attributes:
      step: what is solved where the search starts anew.
    """

    step: SePoTPlayedStep

    @property
    def seconds(self) -> Seconds | None:
        """What the last search took; None before the first one."""
        return self.step.seconds

    @property
    def num_searches(self) -> int:
        """How many searches were made."""
        return self.step.num_searches

    @property
    def num_left_to_blueprint(self) -> int:
        """How many searches were not made, because they were too large."""
        return self.step.num_left_to_blueprint

    @property
    def num_unfinished(self) -> int:
        """How many searches ended above the tolerance of their effort."""
        return self.step.num_unfinished
