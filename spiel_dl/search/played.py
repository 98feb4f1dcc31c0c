"""Searches along a game that is played: what a player has seen, and public states reconstructed.

`BlueprintSource` searches on top of policies that are known beforehand, from the first decision on
wherever a search can be made:

  1. Histories of the public state are reconstructed by the game's `Rules`, or a sample of them is
     drawn (`search.samples`), and the game from there to the depth limit is built.
  2. The player's range is its own reach, replayed along the past of each of its infosets there: by
     the searches on the way where there were any, and by its blueprint elsewhere.
  3. Where the last search ends, or one level below a public state that is too large to be searched,
     the next one begins.

The searching player reads public observations, and of its own infoset only which it is.
"""

from __future__ import annotations

import abc
import dataclasses
import time
from typing import NamedTuple, TypeVar

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.search.beliefs import Beliefs
from spiel_dl.search.policy import Answer, Search, Source
from spiel_dl.search.policy_rows import fixed_to
from spiel_dl.search.samples import Sample, Sampler
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.best_response import FixedStrategy, realization_plan
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.counts import check_counts
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.histories import TooManyHistoriesError
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.particles import rules_of
from spiel_dl.tree.pieces import check_scheme
from spiel_dl.tree.sparse_tree import SparseTree, depth_of_steps, sparse_trunk
from spiel_dl.tree.trunk import Trunk

KeptT = TypeVar("KeptT")
MOST = 1_000_000
"""Without a bound, searches of more histories than this are left out; they would not end."""


class PlayedWay(NamedTuple):
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
    states: StateBatch
    acting: np.ndarray
    depth: np.ndarray
    infoset_keys: np.ndarray
    public_keys: np.ndarray

    @property
    def decisions(self) -> list[int]:
        """The positions on the way in which either player acts; `acting` says who."""
        return np.flatnonzero(self.acting >= 0).tolist()

    def here(self, position: int) -> StateBatch:
        """The state at a position, batch dimension 1."""
        return self.states.take(torch.tensor([position]))


class PlayedSource(Source[PlayedWay, KeptT], abc.ABC):
    """Searches in a game with `Rules`, which is not compiled.

    Attributes:
      rules: the game's rules.
      keys: tells its infosets and public states apart.
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

    def way(self, state: pyspiel.State, player: int, spec: Spec | None = None) -> PlayedWay:
        """See `Source`."""
        del spec
        rules, batches = self.rules, [self.rules.initial_state()]
        for action in state.history():
            batches.append(rules.apply(batches[-1], torch.tensor([action])))
        states = type(batches[0]).concatenate(batches)
        acting = rules.current_player(states).numpy()
        rounds = rules.round_index(states).numpy()
        steps = depth_of_steps(self.depth_limit, acting[:-1], rounds[:-1], rounds[1:])
        steps[np.maximum.accumulate(acting[:-1]) < 0] = 0  # what chance does at the start
        infoset_keys, public_keys = self.keys.of_level(states)
        depth = np.concatenate([[0], np.cumsum(steps)])
        return PlayedWay(player, states, acting, depth, infoset_keys[player], public_keys)

    def key(self, way: PlayedWay, position: int) -> int:
        """See `Source`: the infoset. What was seen settles where searches started on the way."""
        return int(way.infoset_keys[position])

    def seed_of(self, way: PlayedWay, position: int) -> int:
        """What is drawn for a search goes by this; always the same for what it is the search of."""
        return self.key(way, position) % (1 << 63)

    def generator(self, seed: int, way: PlayedWay, position: int) -> np.random.Generator:
        """Draws for a search."""
        return np.random.default_rng([seed, way.player, self.seed_of(way, position)])


class Found(NamedTuple):
    """What is kept of a search along a game, down to where the next one may begin.

    Attributes:
      origin: the level from which on blocks are counted.
      end: the level at which the next search may begin.
      infoset_keys: int64 [I], sorted: the player's infosets to which its plan comes. None are
        there if there was no search.
      strategy: float64 [I, A], the probabilities of all actions there.
      before: what was kept before on the way; None if this is the first.
    """

    origin: int
    end: int
    infoset_keys: np.ndarray
    strategy: np.ndarray
    before: Found | None

    def rows_of(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which infosets are among those that were searched, and their places: bool, int [N]."""
        if not len(self.infoset_keys):
            return np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.int64)
        place = np.searchsorted(self.infoset_keys, keys).clip(max=len(self.infoset_keys) - 1)
        return self.infoset_keys[place] == keys, place


@dataclasses.dataclass(frozen=True)
class Schedule:
    """When searches are made along a game.

    Attributes:
      scheme: "block" searches again where the last search ends, and keeps all that it found;
        "sliding" searches again at every level.
      first_level: the first level at which a search may start, in the depth limit's unit.
      max_histories: the most histories of a search, those of its whole look-ahead; None: `MOST`.
    """

    scheme: str = "block"
    first_level: int = 0
    max_histories: int | None = None

    def __post_init__(self) -> None:
        check_scheme(self.scheme)
        check_counts(self, 0, "first_level")


class BlueprintSource(PlayedSource[Found]):
    """Searches on top of policies that are known of both players.

    Attributes:
      blueprint: what both players do where it was not searched, as `PolicyRows`; the opponent's
        model, if there is one.
      sampler: how the histories are chosen at which a search starts.
      schedule: when searches are made.
      num_drawn: how many searches started from public states that were not listed.
    """

    def __init__(
        self,
        game: AnyGame,
        blueprint: PolicyRows,
        depth_limit: DepthLimit,
        sampler: Sampler,
        *,
        schedule: Schedule | None = None,
    ):
        """Loads the game."""
        super().__init__(game, depth_limit)
        self.blueprint = blueprint
        self.sampler, self.schedule = sampler, schedule or Schedule()
        self.is_private = sampler.is_private
        self.num_left_to_blueprint = self.num_drawn = 0
        self._num_kept = depth_limit.value if self.schedule.scheme == "block" else 1
        self._most = self.schedule.max_histories or MOST
        self._beliefs = Beliefs(self.game, sampler.max_listed)

    @property
    def num_regenerations(self) -> int:
        """How often a draw was made anew, by uniform play; see `search.beliefs`."""
        return self._beliefs.num_regenerations

    def key(self, way: PlayedWay, position: int) -> int:
        """See `Source`: the public state, if searches on the way are those of public states."""
        on_the_way = [i for i in way.decisions if i <= position]
        if not self.is_private or all(self._is_public(way, i) for i in on_the_way):
            return int(way.public_keys[position])
        return int(way.infoset_keys[position])

    def following(self, way: PlayedWay, position: int | None, kept: Found | None) -> int | None:
        """See `Source`: the first decision at or below where the search before ends."""
        starts = iter(self._starts(way))
        if position is None or kept is None:
            return next(starts, None)
        return next((i for i in starts if i > position and way.depth[i] >= kept.end), None)

    def num_bytes(self, kept: Found) -> int:
        """See `Source`; that of the search before is counted there."""
        return kept.infoset_keys.nbytes + kept.strategy.nbytes

    def solve(
        self, way: PlayedWay, position: int, before: Found | None, spec: Spec, search: Search
    ) -> Found:
        """See `Source`. Nothing is found if the search is too large, or the player never comes."""
        depth = int(way.depth[position])
        origin = self.schedule.first_level if before is None else before.origin
        end = origin + ((depth - origin) // self._num_kept + 1) * self._num_kept
        try:
            root = self.root(way, position, before, spec)
        except TooManyHistoriesError:
            root, origin, end = None, depth + 1, depth + 1
        if root is None:
            self.num_left_to_blueprint += 1
            nothing = np.zeros((0, self.game.num_distinct_actions()))
            return Found(origin, end, np.zeros(0, np.int64), nothing, before)
        return Found(origin, end, *self._kept(search(root), end - depth), before)

    def answer(self, way: PlayedWay, state: pyspiel.State, kept: Found | None) -> Answer:
        """See `Source`: the search's strategy; the blueprint's where its plan never comes."""
        actions = state.legal_actions()
        if kept is not None:
            (is_found,), (place,) = kept.rows_of(way.infoset_keys[-1:])
            if is_found:
                row = kept.strategy[place, actions]
                return Answer(dict(zip(actions, row.tolist(), strict=True)))
        row = self.blueprint(way.here(len(way.acting) - 1), way.player)[0, actions]
        row /= row.sum()  # NumPy's generators refuse what single precision leaves of 1
        return Answer(dict(zip(actions, row.tolist(), strict=True)), was_searched=False)

    def root(self, way: PlayedWay, position: int, before: Found | None, spec: Spec) -> Root | None:
        """Where the search at a position starts; None: the player never comes there.

        Raises:
          TooManyHistoriesError: if there are more histories than allowed.
        """
        player, opponent, times = way.player, 1 - way.player, [time.perf_counter()]
        sample = self.sample(way, position, before, spec)
        particles = sample.particles.by_chance()
        times.append(time.perf_counter())
        trunk = sparse_trunk(particles, self.depth_limit, 1 + self._most)  # with its history 0
        times.append(time.perf_counter())
        reach, chance = particles.reach, particles.chance_reach
        mass = float(reach[player] @ chance)
        if mass == 0:
            return None
        starts = trunk.extent.starts
        # Networks in single precision need not say quite the same in all histories of an infoset.
        own, prior = (
            trunk.by_root_infoset(each, starts, reach[each]) for each in (player, opponent)
        )
        own = own / mass
        is_first = position == way.decisions[0]
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
            key=self.seed_of(way, position),
            seconds=dict(zip(("reconstruction", "tree"), np.diff(times).tolist(), strict=True)),
        )

    def sample(self, way: PlayedWay, position: int, before: Found | None, spec: Spec) -> Sample:
        """The histories at which a search starts, with both players' reach.

        The searching player's is its own, as it plays; the opponent's, by what is known of it, is
        asked for only where it matters, and 1 elsewhere.

        Raises:
          TooManyHistoriesError: if there are more than allowed.
        """
        player, here = way.player, way.here(position)
        # What is known is known of both players; reading it tells nothing of what is hidden.
        belief = self._beliefs.of(
            int(way.public_keys[position]),
            self.rules.public_tensor(here, True)[0],
            self.policies(player, before),
            changing=(player,),
            asked=(0, 1) if spec.asks_prior or self.sampler.draws else (player,),
        )
        self.num_drawn += belief.num_histories is None
        generator = self.generator(self.sampler.seed, way, position)
        return self.sampler.choose(belief, player, here, generator)

    def policies(self, player: int, before: Found | None) -> PolicyRows:
        """What both players do: the one who searches as it found before, else what is known."""

        def rows(states: StateBatch, mover: int) -> np.ndarray:
            found = self.blueprint(states, mover)
            if mover != player:
                return found
            keys, kept = self.keys.of_level(states)[0][mover], before
            is_open = np.ones(len(keys), np.bool_)
            while kept is not None:
                is_found, place = kept.rows_of(keys)
                is_found &= is_open
                found[is_found] = kept.strategy[place[is_found]]
                is_open &= ~is_found
                kept = kept.before
            return found

        return rows

    def _bound(self, player: int, trunk: Trunk[SparseTree], sample: Sample) -> FixedStrategy | None:
        """The player's blueprint below its root infosets that are not solved; None: all are."""
        if sample.is_solved is None or sample.is_solved.all():
            return None
        solved = np.zeros(len(trunk.root_infosets[player]), np.bool_)
        solved[trunk.extent.roots_at(player, trunk.extent.starts)] = sample.is_solved
        firsts = trunk.tree.first_history[player][trunk.infosets[player]]
        others = ~solved[trunk.extent.roots_at(player, firsts)]
        return fixed_to(self.blueprint, trunk, player, others)

    def _kept(self, solution: Solution, num_levels: int) -> tuple[np.ndarray, np.ndarray]:
        """Infoset keys and strategy of a `Found`, of the levels that are kept."""
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

    def _starts(self, way: PlayedWay) -> list[int]:
        """The positions on a way at which a search may start."""
        may_start = way.depth >= self.schedule.first_level
        return [position for position in way.decisions if may_start[position]]

    def _is_public(self, way: PlayedWay, position: int) -> bool:
        """Whether a search would be that of the whole public state."""
        public_tensor = self.rules.public_tensor(way.here(position), True)[0]
        size = self._beliefs.size(int(way.public_keys[position]), public_tensor)
        return size is not None and self.sampler.holds(size)
