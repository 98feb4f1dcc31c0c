"""`CompiledSource`: searches in a compiled game, which is taken apart into pieces."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.policy import Answer, Search, SearchPolicy, Source
from spiel_dl.search.spec import WHOLE_GAME, Root, Solution, Spec
from spiel_dl.search.starts import Start, starts_below
from spiel_dl.solvers.best_response import FixedStrategy, best_response, realization_plan
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.strategies import check_strategy
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk, cut, cut_beyond

Starts = dict[int, Start]
"""What is known of the public states below a search."""


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
    both players come (`search.starts`). Else they come by their own policies: the player as it has
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

    def first(self, way: CompiledWay) -> int | None:
        """See `Source`."""
        return 0 if way.places else None

    def following(self, way: CompiledWay, position: int, kept: Starts) -> int | None:
        """See `Source`."""
        del kept
        return position + 1 if position + 1 < len(way.places) else None

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
            places = [p for p in self._all_places(player, policy) if (player, p) not in policy.kept]
            for batch in self._batches(player, places, policy):
                before = None
                if _goes_on(policy.spec) and batch[0] != ROOT:
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
        return self.pieces.path(int(self.pieces.of_infosets(player)[infoset]))

    def _all_places(self, player: int, policy: SearchPolicy) -> Iterable[int]:
        """Where to search before all of a player's infosets are decided, in this order."""
        if policy.spec.gadget == "joint":
            depths = self.pieces.infoset_depths[player]
            return range(0, int(depths.max(initial=-1)) + 1, self.pieces.num_kept)
        pieces = np.unique(self.pieces.of_infosets(player)).tolist()
        places = {place for piece in pieces for place in self.pieces.path(piece)}
        return sorted(places, key=lambda place: (self.pieces.start(place), place))

    def _batches(
        self, player: int, places: Iterable[int], policy: SearchPolicy
    ) -> Iterator[list[int]]:
        """Shares places out into batches to be searched side by side.

        Those of one level are, which is faster than one by one, where each knows its ranges. When
        a search stops must not depend on which others are made with it, unless all are bound to a
        model; a gadget by which the opponent chooses a root infoset wants one public state.
        """
        del player
        spec = policy.spec
        together = _comes_by_policies(spec) and (
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
            root = self._whole(player, places[0], spec)
        elif _comes_by_policies(spec):
            root = self._by_policies(player, places, spec)
        else:
            root = self._by_starts(player, places[0], before or {}, spec)
        if root is None:
            return {}
        solution = search(root) if self._first is None or root.key != ROOT else self._first
        if _goes_on(spec) and spec.p is None and root.key == ROOT:
            self._first = solution  # It is the same for both players.
        self._keep(player, solution, spec)
        return self._starts_below(player, solution, spec) if _goes_on(spec) else {}

    def _by_starts(self, player: int, piece: int, before: Starts, spec: Spec) -> Root | None:
        """A piece to which both players come as the search before says; None: the player does not.

        From the root on, nobody can have come otherwise.
        """
        trunk_of, horizon = [piece], self.pieces.horizon(self.pieces.start(piece))
        start = before.get(piece)
        if piece != ROOT and (start is None or not start.player_range.any()):
            return None
        trunk = self._cut(trunk_of, horizon, spec)
        model, modelled, unit = None, None, 1.0
        if spec.p is not None:
            model = self._model_plan(player, trunk, self._reach(1 - player, piece))
            modelled = self._above(1 - player, trunk, horizon)
            unit = 1.0 / float(self._reach(player, piece).sum())
        root = Root(
            trunk,
            player,
            (np.ones(1), np.ones(1)),
            is_first=True,
            model_plan=model,
            modelled=modelled,
            unit=unit,
            limit=self.pieces.limit(horizon),
            key=piece,
        )
        if start is None:
            return root
        others = start.opponent_range
        # The opponent's is scaled as well, lest it vanish in long games.
        ranges = (start.player_range, others / (others.sum() or 1.0))
        return dataclasses.replace(
            root,
            ranges=ranges if player == 0 else ranges[::-1],
            is_first=False,
            given_cfvs=start.opponent_cfvs,
            gifts=start.gifts,
            prior=others,
        )

    def _by_policies(self, player: int, places: list[int], spec: Spec) -> Root | None:
        """Pieces to which both players come by their policies; None: the player does not come.

        Ranges are scaled, lest they vanish in long games: with a model each player's to sum 1 in
        each piece; without one, the player's such that with chance's reach it sums to 1.
        """
        opponent, tree = 1 - player, self.tree
        plans = [self._plan(each) if each == player else self._known_plans[each] for each in (0, 1)]
        kept: list[int] = []
        histories, reach, masses = [], [], []
        for place in self._to_be_searched(player, places):
            here = self._histories(place)
            both = np.stack([plans[each][tree.sequence[each, here]] for each in (0, 1)])
            if spec.p is None:
                mass = np.ones(2)
                mass[player] = both[player] @ tree.chance_reach[here]
            else:
                mass = np.array([self._mass(each, here, both[each]) for each in (0, 1)])
            if mass.all():
                kept.append(place)
                histories.append(here)
                reach.append(both / mass[:, None])
                masses.append(float(mass.prod()))
        if not kept:
            return None
        start = self.pieces.start(kept[0])
        horizon = self.pieces.horizon(start)
        if spec.p is None:
            trunk = cut(tree, self.pieces.depth_limit, None if kept == [ROOT] else kept)
        else:
            trunk = self._cut(kept, horizon, spec)
        all_histories, all_reach = np.concatenate(histories), np.concatenate(reach, axis=1)
        own, others = (
            _by_infoset(trunk, each, all_histories, all_reach[each]) for each in (player, opponent)
        )
        prior, model, modelled, decided = others, None, None, None
        if spec.p is None:
            reached = all_reach[player] * tree.chance_reach[all_histories]
            total = float(reached @ all_reach[opponent])
            others = prior / total if total > 0 and kept != [ROOT] else np.ones(len(prior))
            decided = np.isin(self.pieces.of_infosets(player)[trunk.infosets[player]], kept)
        else:
            model = self._model_plan(player, trunk, others)
            modelled = self._above(opponent, trunk, horizon)
        numbers = np.repeat(np.arange(len(kept)), [len(here) for here in histories])
        return Root(
            trunk,
            player,
            (own, others) if player == 0 else (others, own),
            is_first=kept == [ROOT],
            prior=prior,
            public_states=_by_infoset(trunk, opponent, all_histories, numbers).astype(np.int64),
            model_plan=model,
            modelled=modelled,
            kept=decided,
            # A gap in one piece weighs less in the whole game, by the piece's mass.
            unit=1.0 if spec.p is None else 1.0 / max(masses),
            limit=self.pieces.limit(horizon),
            key=kept[0],
        )

    def _whole(self, player: int, place: int, spec: Spec) -> Root | None:
        """The whole game, where the player is bound above a level or on the way to a piece."""
        pieces, opponent, tree = self.pieces, 1 - player, self.tree
        first = tree.first_history
        if spec.gadget == "joint":
            depths = pieces.infoset_depths[player]
            bound = depths < place
            here = ~bound & (depths < place + pieces.num_kept)
            if not (tree.treeplexes[player].num_actions[here] > 1).any():
                return None
            horizon = pieces.horizon(place)
            trunk = self._cut([ROOT], horizon, spec)
            modelled = self._above(opponent, trunk, horizon)
            limit, kept = pieces.limit(horizon), ~bound
        else:
            if place not in pieces.with_choices[player]:
                return None
            horizon = pieces.horizon(pieces.start(place))
            on_path = np.isin(pieces.of_history, pieces.path(place)[:-1])
            below = pieces.below(place)
            explored = on_path | (below & (pieces.depths < horizon))
            trunk = self._whole_game
            if spec.values is not None:
                trunk = cut_beyond(tree, ~explored, pieces.limit(horizon))
            modelled = explored[first[opponent][trunk.infosets[opponent]]]
            limit, bound, kept = None, on_path[first[player]], below[first[player]]
        if spec.model_to_the_end:
            modelled = np.ones_like(modelled)
        infosets, decided = trunk.infosets[player], self.policy.strategies[player]
        return Root(
            trunk,
            player,
            (np.ones(1), np.ones(1)),
            is_first=True,
            model_plan=self._model_plan(player, trunk, np.ones(1)),
            modelled=modelled,
            bound=FixedStrategy(bound[infosets], decided[trunk.sequences[player]]),
            kept=kept[infosets],
            limit=limit,
            key=place,
        )

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
        if _comes_by_policies(spec) and spec.p is None:
            kept = kept & (treeplex.sum_per_infoset(solution.plans[player]) > 0)
        check_strategy(treeplex, strategy, kept)
        own = treeplex.sequences_of(kept)
        self.policy.strategies[player][trunk.sequences[player][own]] = strategy[own]
        self.searched[player][trunk.infosets[player][kept]] = True

    def _starts_below(self, player: int, solution: Solution, spec: Spec) -> Starts:
        """What a solution says of the public states at the end of what is kept of it."""
        root, trunk, opponent = solution.root, solution.trunk, 1 - player
        plans, given = solution.plans, root.given_cfvs
        if spec.values is None:
            start = self.pieces.start(root.key)
            end = self.pieces.first_kept(start) + self.pieces.num_kept
            piece = None if root.key == ROOT else root.key
            trunk = cut(self.tree, self.pieces.limit(end - start), piece)
        if not trunk.leaves.num_public_states:
            return {}
        treeplexes = trunk.sequence_form.treeplexes
        if spec.p is not None:
            strategy = self.policy.strategies[player][trunk.sequences[player]]
            own = realization_plan(treeplexes[player], strategy, root.ranges[player])
            model = self._model_plan(player, trunk, self._reach(opponent, root.key))
            plans = (own, model) if player == 0 else (model, own)
        elif given is not None and spec.resolves:
            # The opponent's plan as if it came by its prior, not by the gadget.
            assert root.prior is not None
            expected = realization_plan(
                treeplexes[opponent], solution.strategies[opponent], root.prior
            )
            own = plans[player]
            plans = (own, expected) if player == 0 else (expected, own)
        cfvs = solution.averaged_cfvs
        others = cfvs[opponent] if cfvs else self._cfvs_below(player, trunk, plans[player])
        limits = None
        if given is not None:
            assert root.gifts is not None
            limits = given + root.gifts
        return starts_below(trunk, player, plans, others, limits)

    def _cfvs_below(self, player: int, trunk: Trunk[GameTree], plan: np.ndarray) -> np.ndarray:
        """The opponent's best-response cfvs at leaves against what the player plans behind them."""
        leaves, opponent = trunk.leaves, 1 - player
        own = self.policy.strategies[player][leaves.subgame_sequences[player]]
        treeplex = leaves.subgames.treeplexes[player]
        below = realization_plan(treeplex, own, plan[leaves.sequences[player]])
        return best_response(leaves.subgames, opponent, below).cfv[: leaves.num_infosets(opponent)]

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

    def _histories(self, place: int) -> np.ndarray:
        """The histories at which a piece begins: int [n], increasing."""
        if place == ROOT:
            return np.zeros(1, np.int64)
        return self.tree.public_states.histories(place)

    def _mass(self, player: int, histories: np.ndarray, reach: np.ndarray) -> float:
        """A player's reach (float64 [n]) of histories of a public state, once for each infoset."""
        infosets = self.tree.public_states.augmented_infoset[player, histories]
        firsts = first_occurrence_ids(infosets)[1]
        return float(np.bincount(np.zeros(len(firsts), np.int64), reach[firsts])[0])

    def _reach(self, player: int, piece: int) -> np.ndarray:
        """A player's reach of the root infosets of a piece: float64 [R_p]."""
        plan = self._plan(player) if player in self.players else self._known_plans[player]
        if piece == ROOT:
            return plan[:1]
        histories = np.sort(self._histories(piece))
        infosets = self.tree.public_states.augmented_infoset[player, histories]
        firsts = histories[first_occurrence_ids(infosets)[1]]
        return plan[self.tree.sequence[player, firsts]]

    def _plan(self, player: int) -> np.ndarray:
        """What a player does so far, as a realization plan: float64 [S_p]."""
        return realization_plan(self.tree.treeplexes[player], self.policy.strategies[player])

    @functools.cached_property
    def _known_plans(self) -> Pair:
        first, second = map(realization_plan, self.tree.treeplexes, self.known.strategies)
        return first, second

    def _model_plan(
        self, player: int, trunk: Trunk[GameTree], root_range: np.ndarray
    ) -> np.ndarray:
        """The weights that the model of a player's opponent gives to a trunk's sequences."""
        opponent = 1 - player
        strategy = self.known.strategies[opponent][trunk.sequences[opponent]]
        return realization_plan(trunk.sequence_form.treeplexes[opponent], strategy, root_range)

    def _above(self, player: int, trunk: Trunk[GameTree], horizon: int) -> np.ndarray:
        """Which of a player's infosets in a trunk lie above a level: bool [I]."""
        return self.pieces.infoset_depths[player][trunk.infosets[player]] < horizon

    @functools.cached_property
    def _whole_game(self) -> Trunk[GameTree]:
        return cut(self.tree, BEYOND_THE_GAME)

    def _cut(self, places: Sequence[int], horizon: int, spec: Spec) -> Trunk[GameTree]:
        """What is looked at from places: down to a level, or to the end where nothing is valued."""
        is_root = list(places) == [ROOT]
        if spec.values is None:
            return self._whole_game if is_root else cut(self.tree, BEYOND_THE_GAME, places)
        limit = self.pieces.limit(horizon - self.pieces.start(places[0]))
        return cut(self.tree, limit, None if is_root else places)


class CompiledPolicy(SearchPolicy):
    """A policy that searches in a compiled game."""

    source: CompiledSource

    @property
    def tree(self) -> GameTree:
        """The compiled game."""
        return self.source.tree


def _goes_on(spec: Spec) -> bool:
    """Whether a search goes on from the solution of the one before it."""
    by_itself = spec.gadget in WHOLE_GAME or spec.given_cfvs is not None
    return not by_itself and (spec.resolves or spec.p is None)


def _comes_by_policies(spec: Spec) -> bool:
    """Whether both players come to a search by their policies."""
    return not _goes_on(spec) and spec.gadget not in WHOLE_GAME


def _by_infoset(
    trunk: Trunk[GameTree], player: int, histories: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """What histories of one root infoset of a player have in common: float64 [R_p]."""
    found = np.zeros(len(trunk.root_infosets[player]))
    found[trunk.extent.roots_at(player, histories)] = values
    return found
