"""`CompiledSource`: searches in the pieces of a compiled game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.compiled_roots import CompiledRoots, Starts
from spiel_dl.search.policy import LocalStrategy, Search, SearchPolicy, Source
from spiel_dl.search.spec import WHOLE_GAME, Solution, Spec
from spiel_dl.solvers.strategies import check_strategy
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.pieces import ROOT, Pieces


class CompiledPath(NamedTuple):
    """The places where a player searches before it decides in one of its infosets.

    A *place* is the public state in which a piece begins, or `ROOT`; with gadget "joint", a level.
    """

    player: int
    places: Sequence[int]
    infoset: int

    @property
    def decisions(self) -> list[int]:
        """All positions."""
        return list(range(len(self.places)))


class CompiledSource(Source[CompiledPath, Starts]):
    """Searches in the pieces of a compiled game.

    Where a spec takes the given cfvs from the search before, both players' ranges come from its
    solution, too (`Start`). Else they are the reaches of the player's strategy so far and of the
    opponent's blueprint or model.

    Attributes:
      pieces: the pieces of the game.
      known: both players' policy before any search: a blueprint, or for the opponent its model.
      policy: both players' policy: searched where it was, else as `known`.
      searched: for each player, bool [I_p], the infosets in which a search found its strategy.
    """

    def __init__(
        self, pieces: Pieces[GameTree], known: ArrayPolicy, players: Sequence[int] = (0, 1)
    ):
        """Makes no search yet.

        Raises:
          ValueError: if a piece would begin in a part of a public state only.
        """
        _ = pieces.of_history  # Raises that error at once.
        self.game, self.players = pieces.tree.game, tuple(players)
        self.pieces, self.known = pieces, known
        self.policy = known.copy()
        first, second = (np.zeros(t.num_infosets, np.bool_) for t in pieces.tree.treeplexes)
        self.searched = (first, second)
        self._roots = CompiledRoots(pieces, known, self.policy)
        self._first_solution: Solution | None = None

    @property
    def tree(self) -> GameTree:
        """The compiled game."""
        return self.pieces.tree

    def check_state(self, state: pyspiel.State) -> None:
        """See `Source`."""
        self.policy.check_state(state)

    def path(self, state: pyspiel.State, player: int, spec: Spec) -> CompiledPath:
        """See `Source`; of the state only the player's infoset is read."""
        infoset = self.tree.find_infoset(state, player)
        if player not in self.players:
            return CompiledPath(player, [], infoset)
        return CompiledPath(player, self._places(player, infoset, spec), infoset)

    def key(self, path: CompiledPath, position: int) -> int:
        """See `Source`: the place."""
        return path.places[position]

    def solve(
        self, path: CompiledPath, position: int, previous: Starts | None, spec: Spec, search: Search
    ) -> Starts:
        """See `Source`."""
        return self._solve(path.player, [path.places[position]], previous, spec, search)

    def local_strategy(
        self, path: CompiledPath, state: pyspiel.State, result: Starts | None
    ) -> LocalStrategy:
        """See `Source`."""
        del result
        probabilities = self.policy.action_probabilities(state, path.player)
        return LocalStrategy(probabilities, bool(self.searched[path.player][path.infoset]))

    def to_array_policy(self, policy: SearchPolicy) -> ArrayPolicy:
        """See `Source`; makes all searches that are missing, in batches."""
        for player in self.players:
            all_places = self._all_places(player, policy.spec)
            places = [place for place in all_places if (player, place) not in policy.results]
            for batch in self._batches(places, policy):
                previous = None
                if policy.spec.continues and batch[0] != ROOT:
                    previous = policy.results[player, self.pieces.path(batch[0])[-2]]
                starts = self._solve(player, batch, previous, policy.spec, policy.search)
                policy.results.update({(player, place): starts for place in batch})
        return self.policy.copy()

    def _places(self, player: int, infoset: int, spec: Spec) -> Sequence[int]:
        """The places to search before an infoset is decided, in order."""
        if spec.gadget == "joint":
            depth = int(self.pieces.infoset_depths[player][infoset])
            return range(0, depth + 1, self.pieces.num_kept)
        piece = int(self.pieces.of_infosets(player)[infoset])
        if spec.gadget == "full_trunk":
            all_places = self._all_places(player, spec)
            return all_places[: all_places.index(piece) + 1]
        return self.pieces.path(piece)

    def _all_places(self, player: int, spec: Spec) -> Sequence[int]:
        """The places to search before all of a player's infosets are decided, in order."""
        if spec.gadget == "joint":
            depths = self.pieces.infoset_depths[player]
            return range(0, int(depths.max(initial=-1)) + 1, self.pieces.num_kept)
        pieces = np.unique(self.pieces.of_infosets(player)).tolist()
        places = {place for piece in pieces for place in self.pieces.path(piece)}
        return [place for place in self.pieces.in_order if place in places]

    def _batches(self, places: Iterable[int], policy: SearchPolicy) -> Iterator[list[int]]:
        """Groups places into batches that one search solves together.

        Where ranges do not come from earlier searches, places of one level are a batch, which is
        faster. A search with a tolerance must not stop later because of the others in its batch,
        unless the opponent is bound to a model; and a gadget in which the opponent chooses a root
        infoset needs a single public state.
        """
        spec = policy.spec
        by_level = spec.uses_policy_ranges and (
            spec.p is not None or (policy.effort.tolerance is None and spec.gadget == "resolving")
        )
        levels: dict[int, list[int]] = {}
        for place in places:
            level = self.pieces.start(place) if by_level else len(levels)
            levels.setdefault(level, []).append(place)
        yield from levels.values()

    def _solve(
        self, player: int, places: list[int], previous: Starts | None, spec: Spec, search: Search
    ) -> Starts:
        """Searches from places of one depth; see `Source.solve`."""
        if spec.gadget in WHOLE_GAME:
            root = self._roots.of_whole_game(player, places[0], spec)
        elif spec.uses_policy_ranges:
            root = self._roots.by_policies(player, self._searchable(player, places), spec)
        else:
            root = self._roots.by_start(player, places[0], (previous or {}).get(places[0]), spec)
        if root is None:
            return {}
        first = self._first_solution if root.key == ROOT else None
        solution = first or search(root)
        if spec.shares_root and root.key == ROOT:
            self._first_solution = solution  # It is the same for both players.
        self._keep(player, solution, spec)
        return self._roots.starts_below(player, solution, spec) if spec.continues else {}

    def _keep(self, player: int, solution: Solution, spec: Spec) -> None:
        """Writes a solution's strategy into the policy.

        Not in infosets that the player's own plan never reaches, if ranges are its policy's.
        """
        trunk, strategy = solution.trunk, solution.strategy
        if player != solution.player:
            strategy = solution.strategies[player]
        treeplex = trunk.sequence_form.treeplexes[player]
        kept = solution.root.kept
        if kept is None:
            kept = np.ones(treeplex.num_infosets, np.bool_)
        if spec.uses_policy_ranges and spec.p is None:
            kept = kept & (treeplex.sum_per_infoset(solution.plans[player]) > 0)
        check_strategy(treeplex, strategy, kept)
        own = treeplex.sequences_of(kept)
        self.policy.strategies[player][trunk.sequences[player][own]] = strategy[own]
        self.searched[player][trunk.infosets[player][kept]] = True

    def _searchable(self, player: int, places: list[int]) -> list[int]:
        """The places, of one depth, that have a choice of the player and are not left out."""
        if self.pieces.start(places[0]) < self.pieces.first_level:
            return []
        choices = [place for place in places if place in self.pieces.with_choices[player]]
        left_out = self.pieces.left_out
        if left_out is None:
            return choices
        return [place for place in choices if not left_out[place]]


class CompiledPolicy(SearchPolicy):
    """A policy that searches in a compiled game."""

    source: CompiledSource

    @property
    def tree(self) -> GameTree:
        """The compiled game."""
        return self.source.tree
