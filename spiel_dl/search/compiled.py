"""`CompiledSource`: searches in a compiled game, which is taken apart into pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.compiled_roots import CompiledRoots, Starts, comes_by_policies, goes_on
from spiel_dl.search.policy import Answer, Search, SearchPolicy, Source
from spiel_dl.search.spec import WHOLE_GAME, Solution, Spec
from spiel_dl.solvers.strategies import check_strategy
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.pieces import ROOT, Pieces


class CompiledWay(NamedTuple):
    """The places where a player searches on the way to one of its infosets.

    A *place* is the public state in which a piece begins, or `ROOT`; with gadget "joint", a level.
    """

    player: int
    places: Sequence[int]
    infoset: int

    @property
    def decisions(self) -> list[int]:
        """All positions."""
        return list(range(len(self.places)))


class CompiledSource(Source[CompiledWay, Starts]):
    """Searches in the pieces of a compiled game.

    Where a spec leaves the given cfvs to the search before, its solution says with which ranges
    both players come (`Start`). Else they come by their own policies: the player as it has
    played so far, and the opponent by what is known of it: a blueprint, or a model.

    Attributes:
      pieces: how the game is taken apart.
      known: a policy of both players that is known beforehand.
      policy: what both players do as far as it was searched; the known policy elsewhere.
      searched: for each player, bool [I_p], in which infosets its strategy was found by a search.
    """

    def __init__(
        self, pieces: Pieces[GameTree], known: ArrayPolicy, players: Sequence[int] = (0, 1)
    ):
        """Takes the game apart.

        Raises:
          ValueError: if a piece would begin in a part of a public state only.
        """
        _ = pieces.of_history  # A game that cannot be taken apart so is refused at once.
        self.game, self.players = pieces.tree.game, tuple(players)
        self.pieces, self.known = pieces, known
        first, second = (strategy.copy() for strategy in known.strategies)
        self.policy = ArrayPolicy(pieces.tree, (first, second))
        first, second = (np.zeros(t.num_infosets, np.bool_) for t in pieces.tree.treeplexes)
        self.searched = (first, second)
        self._roots = CompiledRoots(pieces, known, self.policy)
        self._first: Solution | None = None

    @property
    def tree(self) -> GameTree:
        """The compiled game."""
        return self.pieces.tree

    def check_state(self, state: pyspiel.State) -> None:
        """See `Source`."""
        self.policy.check_state(state)

    def way(self, state: pyspiel.State, player: int, spec: Spec) -> CompiledWay:
        """See `Source`; where the infoset lies is read, and nothing else."""
        infoset = self.tree.find_infoset(state, player)
        if player not in self.players:
            return CompiledWay(player, [], infoset)
        return CompiledWay(player, self._places(player, infoset, spec), infoset)

    def key(self, way: CompiledWay, position: int) -> int:
        """See `Source`: the place."""
        return way.places[position]

    def solve(
        self, way: CompiledWay, position: int, before: Starts | None, spec: Spec, search: Search
    ) -> Starts:
        """See `Source`."""
        return self._solve(way.player, [way.places[position]], before, spec, search)

    def answer(self, way: CompiledWay, state: pyspiel.State, kept: Starts | None) -> Answer:
        """See `Source`."""
        del kept
        probabilities = self.policy.action_probabilities(state, way.player)
        return Answer(probabilities, bool(self.searched[way.player][way.infoset]))

    def to_array_policy(self, policy: SearchPolicy) -> ArrayPolicy:
        """See `Source`; makes the searches that were not asked for yet."""
        for player in self.players:
            every = self._all_places(player, policy.spec)
            places = [place for place in every if (player, place) not in policy.kept]
            for batch in self._batches(places, policy):
                before = None
                if goes_on(policy.spec) and batch[0] != ROOT:
                    before = policy.kept[player, self.pieces.path(batch[0])[-2]]
                kept = self._solve(player, batch, before, policy.spec, policy.search)
                policy.kept.update({(player, place): kept for place in batch})
        first, second = (strategy.copy() for strategy in self.policy.strategies)
        return ArrayPolicy(self.tree, (first, second))

    def _places(self, player: int, infoset: int, spec: Spec) -> Sequence[int]:
        """Where to search before a decision infoset is decided, in this order."""
        if spec.gadget == "joint":
            depth = int(self.pieces.infoset_depths[player][infoset])
            return range(0, depth + 1, self.pieces.num_kept)
        piece = int(self.pieces.of_infosets(player)[infoset])
        if spec.gadget == "full_trunk":
            every = self._all_places(player, spec)
            return every[: every.index(piece) + 1]
        return self.pieces.path(piece)

    def _all_places(self, player: int, spec: Spec) -> Sequence[int]:
        """Where to search before all of a player's infosets are decided, in this order."""
        if spec.gadget == "joint":
            depths = self.pieces.infoset_depths[player]
            return range(0, int(depths.max(initial=-1)) + 1, self.pieces.num_kept)
        pieces = np.unique(self.pieces.of_infosets(player)).tolist()
        places = {place for piece in pieces for place in self.pieces.path(piece)}
        return [place for place in self.pieces.in_order if place in places]

    def _batches(self, places: Iterable[int], policy: SearchPolicy) -> Iterator[list[int]]:
        """Shares places out into batches to be searched side by side.

        Those of one level are, which is faster than one by one, where each knows its ranges. When
        a search stops must not depend on which others are made with it, unless all are bound to a
        model; a gadget by which the opponent chooses a root infoset wants one public state.
        """
        spec = policy.spec
        together = comes_by_policies(spec) and (
            spec.p is not None or (policy.effort.tolerance is None and spec.gadget == "resolving")
        )
        levels: dict[int, list[int]] = {}
        for place in places:
            level = self.pieces.start(place) if together else len(levels)
            levels.setdefault(level, []).append(place)
        yield from levels.values()

    def _solve(
        self, player: int, places: list[int], before: Starts | None, spec: Spec, search: Search
    ) -> Starts:
        """Searches from places that begin at one depth; see `Source`."""
        if spec.gadget in WHOLE_GAME:
            root = self._roots.of_whole_game(player, places[0], spec)
        elif comes_by_policies(spec):
            root = self._roots.by_policies(player, self._to_be_searched(player, places), spec)
        else:
            root = self._roots.by_start(player, places[0], (before or {}).get(places[0]), spec)
        if root is None:
            return {}
        solution = search(root) if self._first is None or root.key != ROOT else self._first
        if goes_on(spec) and spec.p is None and root.key == ROOT:
            self._first = solution  # It is the same for both players.
        self._keep(player, solution, spec)
        return self._roots.starts_below(player, solution, spec) if goes_on(spec) else {}

    def _keep(self, player: int, solution: Solution, spec: Spec) -> None:
        """Writes what was found into the policy.

        What is known stays where the player does not come by its own plan.
        """
        trunk, strategy = solution.trunk, solution.strategy
        if player != solution.player:
            strategy = solution.strategies[player]
        treeplex = trunk.sequence_form.treeplexes[player]
        kept = solution.root.kept
        if kept is None:
            kept = np.ones(treeplex.num_infosets, np.bool_)
        if comes_by_policies(spec) and spec.p is None:
            kept = kept & (treeplex.sum_per_infoset(solution.plans[player]) > 0)
        check_strategy(treeplex, strategy, kept)
        own = treeplex.sequences_of(kept)
        self.policy.strategies[player][trunk.sequences[player][own]] = strategy[own]
        self.searched[player][trunk.infosets[player][kept]] = True

    def _to_be_searched(self, player: int, places: list[int]) -> list[int]:
        """Those of some places of one depth in which the player has something to decide."""
        if self.pieces.start(places[0]) < self.pieces.first_level:
            return []
        deciding = [place for place in places if place in self.pieces.with_choices[player]]
        left_out = self.pieces.left_out
        if left_out is None:
            return deciding
        self.num_left_to_blueprint += int(left_out[deciding].sum())
        return [place for place in deciding if not left_out[place]]


class CompiledPolicy(SearchPolicy):
    """A policy that searches in a compiled game."""

    source: CompiledSource

    @property
    def tree(self) -> GameTree:
        """The compiled game."""
        return self.source.tree
