"""SePoT on a compiled game, as a step of the continual engine: `SePoTStep`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spiel_dl.learning.critics import Critic
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search import sepot_search
from spiel_dl.search.found import Watch
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.search.sepot_search import Root, Searcher
from spiel_dl.search.step import Step
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME, DepthLimit
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk, cut
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves


class SePoTStep(Step):
    """Searches from public states of one level side by side.

    Attributes:
      config: where and how to search.
      num_searches: how many there were so far.
      num_left_to_blueprint: how many public states in which a player has choices were too large.
      searched: for each player, bool [I_p], in which infosets its strategy is one that was found.
    """

    def __init__(
        self, pieces: Pieces, blueprint: ArrayPolicy, critic: Critic | None, config: SearchConfig
    ):
        """Takes what the search is on top of.

        Args:
          pieces: how the game is taken apart.
          blueprint: a policy of both players.
          critic: of this blueprint; None if it is never asked.
          config: where and how to search.
        """
        first, second = (strategy.copy() for strategy in blueprint.strategies)
        super().__init__(pieces, ArrayPolicy(pieces.tree, (first, second)))
        self.config = config
        self.num_searches = 0
        self.num_left_to_blueprint = 0
        first, second = (np.zeros(t.num_infosets, np.bool_) for t in pieces.tree.treeplexes)
        self.searched = (first, second)
        self._blueprint = blueprint
        self._searcher = Searcher(critic, config)
        self._found: dict[tuple[int, int], _Found] = {}

    @property
    def watch(self) -> Watch | None:
        """Is told of every search; see `Step`."""
        return self._searcher.watch

    @watch.setter
    def watch(self, watch: Watch | None) -> None:
        self._searcher.watch = watch

    @property
    def num_unfinished(self) -> int:
        """How many batches of searches ended above the tolerance of their effort."""
        return self._searcher.num_unfinished

    def path(self, player: int, piece: int) -> Sequence[int]:
        """The pieces on the way, if a search depends on those before it, and the piece itself."""
        del player
        depends = self.config.own_range == "played" or self.config.continual
        return self.pieces.path(piece) if depends else [piece]

    def batches(self, player: int, places: Iterable[int]) -> Iterator[list[int]]:
        """Pieces of one level that go on from the same search, or from none."""
        if self.config.effort.tolerance is not None or self.config.gadget != "resolving":
            # When a search stops must not depend on which others are made with it, a gadget that
            # chooses one root infoset of each public state wants these in order, and ranges of
            # both players are of one public state's scale.
            yield from super().batches(player, places)
            return
        levels: dict[int, list[int]] = {}
        for place in sorted(places):
            levels.setdefault(self.pieces.start(place), []).append(place)
        for level in sorted(levels):
            groups: dict[int, list[int]] = {}
            for place in levels[level]:
                groups.setdefault(id(self._found_before(player, place)), []).append(place)
            yield from groups.values()

    def solve(self, player: int, places: list[int]) -> None:
        """Searches from pieces side by side, and keeps what was found; see `Step`."""
        before = self._found_before(player, places[0])
        starts = self._starts(player, self._with_choices(player, places))
        if starts is None:
            return
        trunk = self._cut(self.pieces.depth_limit, starts)
        root = Root(
            trunk,
            starts.histories,
            starts.reach,
            starts.pieces == [ROOT],
            self._prior(1 - player, starts.histories),
            starts.public_states,
        )
        given = None
        if self._searcher.needs_cfvs(root):
            given = self._given_cfvs(player, starts, root, before)
        leaf_values = self._searcher.leaf_values(player, trunk.leaves)
        plan = self._searcher.solve(player, root, given, leaf_values)
        self.num_searches += len(starts.pieces)
        treeplex = trunk.sequence_form.treeplexes[player]
        strategy = behaviour_strategy(treeplex, plan)
        infosets = trunk.infosets[player]
        kept = np.isin(self.pieces.of_infosets(player)[infosets], starts.pieces)
        kept &= treeplex.sum_per_infoset(plan) > 0
        self.keep(player, trunk, strategy, kept)
        self.searched[player][infosets[kept]] = True
        if self.config.continual:
            level = self.pieces.start(starts.pieces[0])
            found = _Found(level, trunk, strategy, leaf_values)
            self._found.update({(player, piece): found for piece in starts.pieces})

    def _found_before(self, player: int, piece: int) -> _Found | None:
        """What a piece goes on from; None if there was no search, or it does not matter."""
        if piece == ROOT or not self.config.continual:
            return None
        return self._found.get((player, self.pieces.path(piece)[-2]))

    def _with_choices(self, player: int, pieces: Sequence[int]) -> list[int]:
        """The pieces in which the player is to search."""
        if self.pieces.start(pieces[0]) < self.config.first_level:
            return []
        deciding = self.pieces.with_choices[player]
        left_out, found = self.pieces.left_out, []
        for piece in pieces:
            if left_out is not None and left_out[piece]:
                self.num_left_to_blueprint += piece in deciding
            elif self.config.continual or piece in deciding:
                found.append(piece)
        return found

    def _starts(self, player: int, pieces: Sequence[int]) -> _Starts | None:
        """Where pieces begin; without those to which the player never comes. None: no such one."""
        source = self.policy if self.config.own_range == "played" else self._blueprint
        plan = realization_plan(self.tree.treeplexes[player], source.strategies[player])
        kept: list[int] = []
        histories, reaches, numbers = [], [], []
        for piece in pieces:
            here = np.zeros(1, np.int64)
            if piece != ROOT:
                here = self.tree.public_states.histories(piece)
            reach = plan[self.tree.sequence[player, here]]
            mass = float(reach @ self.tree.chance_reach[here])
            if mass > 0:
                kept.append(piece)
                histories.append(here)
                # In long games reaches become tiny; a solver's tolerances are in utility units.
                reaches.append(reach / mass)
                numbers.append(np.full(len(here), len(kept) - 1))
        if not kept:
            return None
        return _Starts(
            kept, np.concatenate(histories), np.concatenate(reaches), np.concatenate(numbers)
        )

    def _prior(self, player: int, histories: np.ndarray) -> np.ndarray:
        """A player's own reach of histories by the blueprint: float64 [n]."""
        plan = realization_plan(self.tree.treeplexes[player], self._blueprint.strategies[player])
        return plan[self.tree.sequence[player, histories]]

    def _cut(self, depth_limit: DepthLimit, starts: _Starts) -> Trunk:
        return cut(self.tree, depth_limit, None if starts.pieces == [ROOT] else starts.pieces)

    def _given_cfvs(
        self, player: int, starts: _Starts, root: Root, before: _Found | None
    ) -> np.ndarray:
        """What the opponent may have instead: float64 [R_-p]."""
        if before is not None:
            return self._cfvs_of_search(player, starts, root, before)
        if self.config.given_cfvs == "best_response":
            rest = self._cut(BEYOND_THE_GAME, starts)
            strategy = self._blueprint.strategies[player]
            return self._cfvs_against(player, rest, strategy, root.own_range(player))
        return self._searcher.critic_cfvs(player, root)

    def _cfvs_of_search(
        self, player: int, starts: _Starts, root: Root, before: _Found
    ) -> np.ndarray:
        """The opponent's best-response cfvs against the search before: float64 [R_-p]."""
        opponent, own_range = 1 - player, root.own_range(player)
        end = before.level + self.pieces.depth_limit.value
        levels = end - self.pieces.start(starts.pieces[0])
        if levels > 0:
            rest = self._cut(self.pieces.limit(levels), starts)
            strategy = self._blueprint.strategies[player].copy()
            num_roots = before.trunk.sequence_form.treeplexes[player].num_root_sequences
            found = before.trunk.sequences[player][num_roots:]
            strategy[found] = before.strategy[num_roots:]
            return self._cfvs_against(player, rest, strategy, own_range)
        # The public states are some of the leaves of the search before.
        assert before.leaf_values is not None
        leaves, augmented = before.trunk.leaves, self.tree.public_states.augmented_infoset
        by_infoset = [np.zeros(augmented[p].max() + 1) for p in (0, 1)]
        by_infoset[player][root.trunk.root_infosets[player]] = own_range
        range_0, range_1 = (by_infoset[p][leaves.infosets[p]] for p in (0, 1))
        cfvs = before.leaf_values.values_for(opponent, range_0, range_1)
        by_infoset[opponent][leaves.infosets[opponent]] = cfvs
        return by_infoset[opponent][root.trunk.root_infosets[opponent]]

    def _cfvs_against(
        self, player: int, trunk: Trunk, strategy: np.ndarray, own_range: np.ndarray
    ) -> np.ndarray:
        """The opponent's best-response cfvs against a strategy of the tree (float64 [S])."""
        treeplex = trunk.sequence_form.treeplexes[player]
        plan = realization_plan(treeplex, strategy[trunk.sequences[player]], own_range)
        leaf_values = self._searcher.leaf_values(player, trunk.leaves)
        return sepot_search.opponent_cfvs(player, trunk, plan, leaf_values)


class _Starts(NamedTuple):
    """Where pieces of one level begin.

    Attributes:
      pieces: their public states, or `ROOT` alone.
      histories: int64 [n], theirs.
      reach, public_states: [n], as in `Root`.
    """

    pieces: list[int]
    histories: np.ndarray
    reach: np.ndarray
    public_states: np.ndarray


class _Found(NamedTuple):
    """What searches side by side found.

    Attributes:
      level: where they started.
      trunk: what they looked at.
      strategy: float64 [S_p], the player's average behaviour strategy there.
      leaf_values: of the trunk's leaves; None if it has none.
    """

    level: int
    trunk: Trunk
    strategy: np.ndarray
    leaf_values: MultiValuedLeaves | None
