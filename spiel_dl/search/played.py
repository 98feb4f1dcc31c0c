"""Searches in games with `Rules`, in public states reconstructed from observations.

`BlueprintSource` searches on top of both players' blueprint, from the first decision on:

  1. The histories of the public state are reconstructed by the game's `Rules`, or a sample of them
     is drawn (`search.samples`), and the game from there to the depth limit is built.
  2. The player's range is its own reach, replayed to each of its infosets there: by the searches
     on the way where there were any, and by its blueprint elsewhere.
  3. The next search starts where this one ends, or one level below a public state that is too large
     to be searched. Searches of one level are made only where the player acts.

A search reads public observations, and of the player's private ones only which infoset it is in.
"""

from __future__ import annotations

import abc
import time
from typing import NamedTuple, TypeVar

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.search.beliefs import Beliefs
from spiel_dl.search.policy import LocalStrategy, Search, Source
from spiel_dl.search.policy_rows import fixed_to
from spiel_dl.search.samples import Sample, Sampler
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.best_response import FixedStrategy, realization_plan
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.histories import TooManyHistoriesError
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.particles import rules_of
from spiel_dl.tree.sparse_tree import SparseTree, depth_of_steps, sparse_trunk
from spiel_dl.tree.trunk import Trunk

ResultT = TypeVar("ResultT")
LARGEST_SEARCH = 1_000_000
"""The most histories of a search without a bound of its own; larger ones would not end."""


class PlayedPath(NamedTuple):
    """The observations of a player at the T histories from the root to a state.

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
    states: StateBatch
    acting: np.ndarray
    depth: np.ndarray
    infoset_keys: np.ndarray
    public_keys: np.ndarray

    @property
    def decisions(self) -> list[int]:
        """The positions in which either player acts."""
        return np.flatnonzero(self.acting >= 0).tolist()

    def here(self, position: int) -> StateBatch:
        """The state at a position, batch dimension 1."""
        return self.states.take(torch.tensor([position]))


class PlayedSource(Source[PlayedPath, ResultT], abc.ABC):
    """Searches in a game with `Rules` that is not compiled.

    Attributes:
      rules: the game's rules.
      keys: the keys of its infosets and public states.
      depth_limit: how deep each search looks.
    """

    rules: Rules
    keys: InfosetKeys
    depth_limit: DepthLimit

    def __init__(self, game: AnyGame, depth_limit: DepthLimit):
        """Loads the game.

        Raises:
          ValueError: if the game has no rules, or the limit is no `DepthLimit`.
        """
        check_depth_limit(depth_limit)
        self.game = turn_based_game(game)
        self.rules = rules_of(self.game)
        self.keys = InfosetKeys(self.rules)
        self.depth_limit = depth_limit

    def path(self, state: pyspiel.State, player: int, spec: Spec | None = None) -> PlayedPath:
        """See `Source`."""
        del spec
        rules, batches = self.rules, [self.rules.initial_state()]
        for action in state.history():
            batches.append(rules.apply(batches[-1], torch.tensor([action])))
        states = type(batches[0]).concatenate(batches)
        acting = rules.current_player(states).numpy()
        rounds = rules.round_index(states).numpy()
        steps = depth_of_steps(self.depth_limit, acting[:-1], rounds[:-1], rounds[1:])
        steps[np.maximum.accumulate(acting[:-1]) < 0] = 0  # chance events before the first action
        infoset_keys, public_keys = self.keys.of_level(states)
        depth = np.concatenate([[0], np.cumsum(steps)])
        return PlayedPath(player, states, acting, depth, infoset_keys[player], public_keys)

    def key(self, path: PlayedPath, position: int) -> int:
        """See `Source`: the infoset, which determines where searches on the path started."""
        return int(path.infoset_keys[position])

    def root_key(self, path: PlayedPath, position: int) -> int:
        """See `Source`: the seed of the search's draws."""
        return self.key(path, position) % (1 << 63)

    def generator(self, seed: int, path: PlayedPath, position: int) -> np.random.Generator:
        """The random generator of a search."""
        return np.random.default_rng([seed, path.player, self.root_key(path, position)])


class Block(NamedTuple):
    """The levels that a search decides, and its strategy there.

    Attributes:
      origin: the level from which blocks are counted.
      end: the first level at which the next search may start.
      infoset_keys: int64 [I], sorted: the player's infosets that its plan reaches; empty if the
        search was left out.
      strategy: float64 [I, A], the probabilities of all actions there.
      previous: the block of the search before; None: this is the first one.
    """

    origin: int
    end: int
    infoset_keys: np.ndarray
    strategy: np.ndarray
    previous: Block | None

    def find(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether infosets were searched, and their rows in `strategy`: bool [N], int64 [N]."""
        if not len(self.infoset_keys):
            return np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.int64)
        rows = np.searchsorted(self.infoset_keys, keys).clip(max=len(self.infoset_keys) - 1)
        return self.infoset_keys[rows] == keys, rows


class BlueprintSource(PlayedSource[Block]):
    """Searches on top of both players' blueprint.

    Attributes:
      blueprint: both players' policy without search, as `PolicyRows`; if the opponent has a model,
        its part is that.
      sampler: chooses the histories at which a search starts.
      first_level: the first level at which a search may start, in the depth limit's unit.
    """

    def __init__(
        self,
        game: AnyGame,
        blueprint: PolicyRows,
        depth_limit: DepthLimit,
        sampler: Sampler,
        *,
        first_level: int = 0,
        max_histories: int | None = None,
    ):
        """Loads the game.

        Searches have at most `max_histories` with their whole look-ahead; None: `LARGEST_SEARCH`.
        """
        super().__init__(game, depth_limit)
        self.blueprint = blueprint
        self.sampler, self.first_level = sampler, first_level
        self.is_private = sampler.is_private
        self._max_histories = max_histories or LARGEST_SEARCH
        self._beliefs = Beliefs(self.game, sampler.max_listed)

    def key(self, path: PlayedPath, position: int) -> int:
        """See `Source`: the public state if all searches so far hold one, else the infoset."""
        so_far = [i for i in path.decisions if i <= position]
        if not self.is_private or all(self._is_public(path, i) for i in so_far):
            return int(path.public_keys[position])
        return int(path.infoset_keys[position])

    def next_start(
        self, path: PlayedPath, position: int | None, result: Block | None
    ) -> int | None:
        """See `Source`: the first decision at or below where the search before ends."""
        may_start = path.depth >= self.first_level
        if self.depth_limit.value == 1:
            # Where only the opponent acts, a search of one level has no strategy to find.
            may_start &= np.isin(path.depth, path.depth[path.acting == path.player])
        if position is not None and result is not None:
            may_start = may_start & (path.depth >= result.end)
            may_start[: position + 1] = False
        return next((i for i in path.decisions if may_start[i]), None)

    def num_bytes(self, result: Block) -> int:
        """See `Source`; without the search before, which is a result of its own."""
        return result.infoset_keys.nbytes + result.strategy.nbytes

    def solve(
        self, path: PlayedPath, position: int, previous: Block | None, spec: Spec, search: Search
    ) -> Block:
        """See `Source`; without infosets if the search is too large or the player's range is 0."""
        depth = int(path.depth[position])
        num_levels = self.depth_limit.value
        origin = self.first_level if previous is None else previous.origin
        end = origin + ((depth - origin) // num_levels + 1) * num_levels
        try:
            root = self.root(path, position, previous, spec)
        except TooManyHistoriesError:
            root, origin, end = None, depth + 1, depth + 1
        if root is None:
            no_rows = np.zeros((0, self.game.num_distinct_actions()))
            return Block(origin, end, np.zeros(0, np.int64), no_rows, previous)
        rows = self._strategy_rows(search(root), end - depth)
        return Block(origin, end, *rows, previous)

    def local_strategy(
        self, path: PlayedPath, state: pyspiel.State, result: Block | None
    ) -> LocalStrategy:
        """See `Source`: the search's strategy; the blueprint's where its plan's reach is 0."""
        actions = state.legal_actions()
        if result is not None:
            (is_searched,), (index,) = result.find(path.infoset_keys[-1:])
            if is_searched:
                row = result.strategy[index, actions]
                return LocalStrategy(dict(zip(actions, row.tolist(), strict=True)))
        row = self.blueprint(path.here(len(path.acting) - 1), path.player)[0, actions]
        row /= row.sum()  # NumPy's generators refuse sums that are 1 in single precision only
        return LocalStrategy(dict(zip(actions, row.tolist(), strict=True)), was_searched=False)

    def root(
        self, path: PlayedPath, position: int, previous: Block | None, spec: Spec
    ) -> Root | None:
        """The root of the search at a position; None: the player's range there is 0.

        Raises:
          TooManyHistoriesError: if there are more histories than allowed.
        """
        player, opponent, times = path.player, 1 - path.player, [time.perf_counter()]
        sample = self.sample(path, position, previous, spec)
        particles = sample.particles.by_chance()
        times.append(time.perf_counter())
        trunk = sparse_trunk(particles, self.depth_limit, 1 + self._max_histories)  # plus the root
        times.append(time.perf_counter())
        reach, chance = particles.reach, particles.chance_reach
        mass = float(reach[player] @ chance)
        if mass == 0:
            return None
        starts = trunk.extent.starts
        # In single precision, a network's rows may differ slightly between histories of an infoset.
        own, prior = (
            trunk.by_root_infoset(each, starts, reach[each]) for each in (player, opponent)
        )
        own = own / mass
        is_first = position == path.decisions[0]
        both = float((reach[player] / mass * chance) @ reach[opponent])
        others = prior / both if both > 0 and not is_first else np.ones(len(prior))
        model, modelled = None, None
        if spec.p is not None:
            strategy = fixed_to(self.blueprint, trunk, opponent).strategy
            model = realization_plan(trunk.sequence_form.treeplexes[opponent], strategy, others)
            modelled = np.ones(len(trunk.infosets[opponent]), np.bool_)
        return Root(
            trunk,
            player,
            (own, others) if player == 0 else (others, own),
            is_first=is_first,
            prior=prior,
            model_plan=model,
            modelled=modelled,
            bound=self._bound(player, trunk, sample),
            key=self.root_key(path, position),
            seconds=dict(zip(("reconstruction", "tree"), np.diff(times).tolist(), strict=True)),
        )

    def sample(self, path: PlayedPath, position: int, previous: Block | None, spec: Spec) -> Sample:
        """The histories at which a search starts, with both players' reach.

        The searching player's is by its searches so far; the opponent's by the blueprint, or 1
        where nothing depends on it.

        Raises:
          TooManyHistoriesError: if there are more than allowed.
        """
        player, here = path.player, path.here(position)
        # Both players' policies are public, so their reach tells nothing that is hidden.
        belief = self._beliefs.of(
            int(path.public_keys[position]),
            self.rules.public_tensor(here, True)[0],
            self.policies(player, previous),
            changing=(player,),
            needed=(0, 1) if spec.needs_prior or self.sampler.draws else (player,),
        )
        generator = self.generator(self.sampler.seed, path, position)
        return self.sampler.choose(belief, player, here, generator)

    def policies(self, player: int, previous: Block | None) -> PolicyRows:
        """Both players' policies: the searches so far for the player, else the blueprint."""

        def rows(states: StateBatch, mover: int) -> np.ndarray:
            probabilities = self.blueprint(states, mover)
            if mover != player:
                return probabilities
            # What a blueprint returns may be its own memory.
            probabilities = probabilities.copy()
            keys, searched = self.keys.of_level(states)[0][mover], previous
            is_open = np.ones(len(keys), np.bool_)
            while searched is not None:
                is_searched, indices = searched.find(keys)
                is_searched &= is_open
                probabilities[is_searched] = searched.strategy[indices[is_searched]]
                is_open &= ~is_searched
                searched = searched.previous
            return probabilities

        return rows

    def _bound(self, player: int, trunk: Trunk[SparseTree], sample: Sample) -> FixedStrategy | None:
        """Binds the player to its blueprint below unsolved root infosets; None: all are solved."""
        if sample.is_solved is None or sample.is_solved.all():
            return None
        solved = np.zeros(len(trunk.root_infosets[player]), np.bool_)
        solved[trunk.extent.roots_at(player, trunk.extent.starts)] = sample.is_solved
        firsts = trunk.tree.first_history[player][trunk.infosets[player]]
        unsolved = ~solved[trunk.extent.roots_at(player, firsts)]
        return fixed_to(self.blueprint, trunk, player, unsolved)

    def _strategy_rows(self, solution: Solution, num_levels: int) -> tuple[np.ndarray, np.ndarray]:
        """Infoset keys and strategy of a `Block`: a solution's first levels."""
        trunk, player, bound = solution.trunk, solution.player, solution.root.bound
        tree, treeplex = trunk.tree, trunk.sequence_form.treeplexes[player]
        firsts = tree.first_history[player][trunk.infosets[player]]
        depths = self.depth_limit.depths(tree)
        kept = treeplex.sum_per_infoset(solution.plans[player]) > 0
        kept &= depths[firsts] - depths[1] < num_levels
        if bound is not None:
            kept &= ~bound.infosets
        infoset = np.repeat(np.arange(treeplex.num_infosets), treeplex.num_actions)
        num_roots = treeplex.num_root_sequences
        rows = np.zeros((treeplex.num_infosets, self.game.num_distinct_actions()))
        actions = tree.sequence_action[player][trunk.sequences[player][num_roots:]]
        rows[infoset, actions] = solution.strategy[num_roots:]
        keys = tree.infoset_key[player, firsts[kept]]
        order = np.argsort(keys)
        return keys[order], rows[kept][order]

    def _is_public(self, path: PlayedPath, position: int) -> bool:
        """Whether a search would hold the whole public state."""
        public_tensor = self.rules.public_tensor(path.here(position), True)[0]
        size = self._beliefs.size(int(path.public_keys[position]), public_tensor)
        return size is not None and self.sampler.holds(size)
