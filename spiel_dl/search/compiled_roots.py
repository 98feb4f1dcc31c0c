"""`CompiledRoots`: makes the roots of searches in a compiled game."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.best_response import FixedStrategy, best_response, realization_plan
from spiel_dl.solvers.gifts import gifts_at_leaves
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk, cut, cut_beyond


class Start(NamedTuple):
    """Both players' ranges and the opponent's given cfvs in a public state where a search starts.

    The player's range is scaled to sum 1, if it is not 0, and the opponent's cfvs and gifts with
    it, so that numbers do not vanish in long games.

    Attributes:
      player_range: float64 [R_p], by its own strategy so far.
      opponent_range: float64 [R_-p], by the opponent's strategies in the solutions before, or by
        its model.
      opponent_cfvs: float64 [R_-p], the given cfvs, in the opponent's utility.
      gifts: float64 [R_-p], how much each of these may rise at no loss of safety.
    """

    player_range: np.ndarray
    opponent_range: np.ndarray
    opponent_cfvs: np.ndarray
    gifts: np.ndarray


Starts = dict[int, Start]
"""From each leaf public state of a search to the start of the next search there."""


class CompiledRoots:
    """Makes the roots of a `CompiledSource`."""

    def __init__(self, pieces: Pieces[GameTree], known: ArrayPolicy, policy: ArrayPolicy):
        """Takes the pieces of the game, and both players' policies before any search and so far.

        The last one is read anew for every root.
        """
        self._tree = pieces.tree
        self.pieces, self.known, self.policy = pieces, known, policy

    def by_start(self, player: int, piece: int, start: Start | None, spec: Spec) -> Root | None:
        """The root of a piece by the search before; None: the player's range is 0.

        At the game's root there is no search before, and no gadget is needed.
        """
        horizon = self.pieces.horizon(self.pieces.start(piece))
        if piece != ROOT and (start is None or not start.player_range.any()):
            return None
        trunk = self._cut([piece], horizon, spec)
        model, modelled, unit = None, None, 1.0
        if spec.p is not None:
            model = self._model_plan(player, trunk)
            modelled = self._is_above(1 - player, trunk, horizon)
            unit = 1.0 / float(trunk.root_range(player, self._plan(player)).sum())
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
        prior = start.opponent_range
        # The opponent's is scaled as well, lest it vanish in long games.
        ranges = (start.player_range, prior / (prior.sum() or 1.0))
        return dataclasses.replace(
            root,
            ranges=ranges if player == 0 else ranges[::-1],
            is_first=False,
            given_cfvs=start.opponent_cfvs,
            gifts=start.gifts,
            prior=prior,
        )

    def by_policies(self, player: int, places: list[int], spec: Spec) -> Root | None:
        """The root of several pieces at both policies' ranges; None: the player's is 0 in all.

        Ranges are scaled, lest they vanish in long games: with a model each player's to sum 1 in
        each piece; without one, the player's such that with chance's reach it sums to 1. Where the
        opponent's model never comes, its range is 1 everywhere: the opponent may not follow it. At
        p = 1, such pieces are left out.
        """
        opponent, tree = 1 - player, self._tree
        plans = [self._plan(each) if each == player else self._known_plans[each] for each in (0, 1)]
        reached: list[int] = []
        histories, reach, masses = [], [], []
        for place in places:
            here = self._histories(place)
            both = np.stack([plans[each][tree.sequence[each, here]] for each in (0, 1)])
            if spec.p is None:
                mass = np.ones(2)
                mass[player] = both[player] @ tree.chance_reach[here]
            else:
                mass = np.array([self._range_sum(each, here, both[each]) for each in (0, 1)])
                if mass[opponent] == 0 and spec.p < 1:
                    both[opponent], mass[opponent] = 1.0, 1.0
            if mass.all():
                reached.append(place)
                histories.append(here)
                reach.append(both / mass[:, None])
                masses.append(float(mass.prod()))
        if not reached:
            return None
        start = self.pieces.start(reached[0])
        horizon = self.pieces.horizon(start)
        if spec.p is None:
            trunk = cut(tree, self.pieces.depth_limit, None if reached == [ROOT] else reached)
        else:
            trunk = self._cut(reached, horizon, spec)
        all_histories, all_reach = np.concatenate(histories), np.concatenate(reach, axis=1)
        own, others = (
            trunk.by_root_infoset(each, all_histories, all_reach[each])
            for each in (player, opponent)
        )
        prior, model, modelled, decided = others, None, None, None
        if spec.p is None:
            external_reach = all_reach[player] * tree.chance_reach[all_histories]
            total = float(external_reach @ all_reach[opponent])
            others = prior / total if total > 0 and reached != [ROOT] else np.ones(len(prior))
            decided = np.isin(self.pieces.of_infosets(player)[trunk.infosets[player]], reached)
        else:
            model = self._model_plan(player, trunk, others)
            modelled = self._is_above(opponent, trunk, horizon)
        numbers = np.repeat(np.arange(len(reached)), [len(here) for here in histories])
        return Root(
            trunk,
            player,
            (own, others) if player == 0 else (others, own),
            is_first=reached == [ROOT],
            prior=prior,
            public_states=trunk.by_root_infoset(opponent, all_histories, numbers).astype(np.int64),
            model_plan=model,
            modelled=modelled,
            kept=decided,
            # A gap in one piece weighs less in the whole game, by the piece's mass.
            unit=1.0 if spec.p is None else 1.0 / max(masses),
            limit=self.pieces.limit(horizon),
            key=reached[0],
        )

    def of_whole_game(self, player: int, place: int, spec: Spec) -> Root | None:
        """The game's root, the player bound where the gadget says so (see `WHOLE_GAME`).

        None: the player has no choice at the place.
        """
        pieces, opponent, tree = self.pieces, 1 - player, self._tree
        first = tree.first_history
        if spec.gadget == "joint":
            depths = pieces.infoset_depths[player]
            bound = depths < place
            here = ~bound & (depths < place + pieces.num_kept)
            if not (tree.treeplexes[player].num_actions[here] > 1).any():
                return None
            horizon = pieces.horizon(place)
            trunk = self._cut([ROOT], horizon, spec)
            modelled = self._is_above(opponent, trunk, horizon)
            limit, kept = pieces.limit(horizon), ~bound
        else:
            if place not in pieces.with_choices[player]:
                return None
            horizon = pieces.horizon(pieces.start(place))
            below = pieces.below(place)
            if spec.gadget == "full":
                decided_before = np.isin(pieces.of_history, pieces.path(place)[:-1])
                explored = decided_before | (below & (pieces.depths < horizon))
            else:
                decided_before, explored = self._decided_before(place, horizon)
            trunk = self._whole_game
            if spec.values is not None:
                trunk = cut_beyond(tree, ~explored, pieces.limit(horizon))
            modelled = explored[first[opponent][trunk.infosets[opponent]]]
            limit, bound, kept = None, decided_before[first[player]], below[first[player]]
        if spec.model_to_the_end:
            modelled = np.ones_like(modelled)
        infosets, decided = trunk.infosets[player], self.policy.strategies[player]
        return Root(
            trunk,
            player,
            (np.ones(1), np.ones(1)),
            is_first=True,
            model_plan=self._model_plan(player, trunk),
            modelled=modelled,
            bound=FixedStrategy(bound[infosets], decided[trunk.sequences[player]]),
            kept=kept[infosets],
            limit=limit,
            key=place,
        )

    def _decided_before(self, place: int, horizon: int) -> Pair:
        """The histories in pieces before a place, and those above the horizon of a search so far.

        Returns:
          Two arrays, bool [H]. The second one includes the search at the place itself.
        """
        pieces = self.pieces
        before = pieces.in_order[: pieces.in_order.index(place)]
        same_level = [each for each in before if pieces.horizon(pieces.start(each)) == horizon]
        explored = (pieces.depths < horizon) & pieces.below(place, *same_level)
        explored |= pieces.depths < horizon - pieces.num_kept
        return np.isin(pieces.of_history, before), explored

    def starts_below(self, player: int, solution: Solution, spec: Spec) -> Starts:
        """The starts of the next searches, at the end of the levels that a solution decides."""
        root, trunk, opponent = solution.root, solution.trunk, 1 - player
        plans, given_cfvs = solution.plans, root.given_cfvs
        if spec.values is None:
            start = self.pieces.start(root.key)
            end = self.pieces.first_kept(start) + self.pieces.num_kept
            piece = None if root.key == ROOT else root.key
            trunk = cut(self._tree, self.pieces.limit(end - start), piece)
            plans = _plans_in_part(solution, trunk)
        elif self.pieces.num_kept < self.pieces.depth_limit.value and len(trunk.leaves.histories):
            raise ValueError(
                "scheme='sliding' begins the next search inside of what the one before looked at, "
                "which values of leaves do not tell; use scheme='block', a depth limit of 1 level, "
                "or no values"
            )
        if not trunk.leaves.num_public_states:
            return {}
        treeplexes = trunk.sequence_form.treeplexes
        if spec.p is not None:
            strategy = self.policy.strategies[player][trunk.sequences[player]]
            own = realization_plan(treeplexes[player], strategy, root.ranges[player])
            model = self._model_plan(player, trunk)
            plans = (own, model) if player == 0 else (model, own)
        elif given_cfvs is not None and spec.resolves:
            # The opponent's plan at its prior range, not at the gadget's.
            assert root.prior is not None
            strategy = behaviour_strategy(treeplexes[opponent], plans[opponent])
            at_prior = realization_plan(treeplexes[opponent], strategy, root.prior)
            own = plans[player]
            plans = (own, at_prior) if player == 0 else (at_prior, own)
        cfvs = solution.averaged_cfvs
        opponent_cfvs = cfvs[opponent] if cfvs else self._cfvs_below(player, trunk, plans[player])
        limits = None
        if given_cfvs is not None:
            assert root.gifts is not None
            limits = given_cfvs + root.gifts
        return _starts_below(trunk, player, plans, opponent_cfvs, limits)

    def _cfvs_below(self, player: int, trunk: Trunk[GameTree], plan: np.ndarray) -> np.ndarray:
        """The opponent's best-response cfvs at leaves against the player's policy below them."""
        leaves, opponent = trunk.leaves, 1 - player
        own = self.policy.strategies[player][leaves.subgame_sequences[player]]
        treeplex = leaves.subgames.treeplexes[player]
        below = realization_plan(treeplex, own, plan[leaves.sequences[player]])
        return best_response(leaves.subgames, opponent, below).cfv[: leaves.num_infosets(opponent)]

    def _histories(self, place: int) -> np.ndarray:
        """The histories at which a piece begins: int [n], increasing."""
        if place == ROOT:
            return np.zeros(1, np.int64)
        return self._tree.public_states.histories(place)

    def _range_sum(self, player: int, histories: np.ndarray, reach: np.ndarray) -> float:
        """The sum of a player's range in a public state, by its reach of histories, float64 [n]."""
        infosets = self._tree.public_states.augmented_infoset[player, histories]
        firsts = first_occurrence_ids(infosets)[1]
        return float(np.bincount(np.zeros(len(firsts), np.int64), reach[firsts])[0])

    def _plan(self, player: int) -> np.ndarray:
        """The realization plan of a player's policy so far: float64 [S_p]."""
        return realization_plan(self._tree.treeplexes[player], self.policy.strategies[player])

    @functools.cached_property
    def _known_plans(self) -> Pair:
        first, second = map(realization_plan, self._tree.treeplexes, self.known.strategies)
        return first, second

    def _model_plan(
        self, player: int, trunk: Trunk[GameTree], root_range: np.ndarray | None = None
    ) -> np.ndarray:
        """The realization plan of the opponent's model in a trunk: float64 [S_-p].

        It starts at a range of the opponent; None: the model's own.
        """
        opponent = 1 - player
        if root_range is None:
            root_range = trunk.root_range(opponent, self._known_plans[opponent])
        strategy = self.known.strategies[opponent][trunk.sequences[opponent]]
        return realization_plan(trunk.sequence_form.treeplexes[opponent], strategy, root_range)

    def _is_above(self, player: int, trunk: Trunk[GameTree], horizon: int) -> np.ndarray:
        """Which of a player's infosets in a trunk lie above a level: bool [I]."""
        return self.pieces.infoset_depths[player][trunk.infosets[player]] < horizon

    @functools.cached_property
    def _whole_game(self) -> Trunk[GameTree]:
        return cut(self._tree, BEYOND_THE_GAME)

    def _cut(self, places: Sequence[int], horizon: int, spec: Spec) -> Trunk[GameTree]:
        """The trunk below places down to a level; without leaf values, to the end of the game."""
        is_root = list(places) == [ROOT]
        if spec.values is None:
            return self._whole_game if is_root else cut(self._tree, BEYOND_THE_GAME, places)
        limit = self.pieces.limit(horizon - self.pieces.start(places[0]))
        return cut(self._tree, limit, None if is_root else places)


def _plans_in_part(solution: Solution, trunk: Trunk) -> Pair:
    """A solution's plans in a part of its trunk with the same roots: float64 [S_p] each."""
    plans = []
    for player, plan in enumerate(solution.plans):
        num_roots = len(trunk.root_infosets[player])
        own, whole = (each.sequences[player][num_roots:] for each in (trunk, solution.trunk))
        below_roots = plan[num_roots:][np.searchsorted(whole, own)]
        plans.append(np.concatenate([plan[:num_roots], below_roots]))
    return plans[0], plans[1]


def _starts_below(
    trunk: Trunk,
    player: int,
    plans: Pair,
    opponent_cfvs: np.ndarray,
    root_limits: np.ndarray | None,
) -> dict[int, Start]:
    """The starts of searches in the leaf public states of a solved piece.

    Args:
      trunk: the piece.
      player: the player who searches.
      plans: for each player, float64 [S_p], its realization plan in the piece.
      opponent_cfvs: float64 [L_-p], the opponent's counterfactual values at the leaves.
      root_limits: float64 [R_-p], the largest cfvs that the opponent may have at the piece's roots,
        gifts included; what it lacks to them may be gifts below. None: there are no gifts.
    """
    opponent, leaves = 1 - player, trunk.leaves
    ranges = [plans[p][leaves.sequences[p]] for p in (0, 1)]
    reach = leaves.counterfactual_reach(ranges[0], ranges[1])[opponent]
    # Networks may value leaves at which chance's or the player's reach is 0.
    opponent_cfvs = np.where(reach > 0, opponent_cfvs, 0.0)
    values = _opponent_values(trunk, player, plans[player], opponent_cfvs)
    root_gifts = np.zeros(trunk.sequence_form.treeplexes[opponent].num_root_sequences)
    if root_limits is not None:
        root_gifts = np.maximum(root_limits - values[: len(root_gifts)], 0.0)
    gifts = gifts_at_leaves(
        trunk.sequence_form.treeplexes[opponent],
        values,
        root_gifts,
        leaves.sequences[opponent],
        reach,
    )
    starts = {}
    for position, public_state in enumerate(leaves.public_states.tolist()):
        own, others = (
            slice(*leaves.infoset_offsets[p][position : position + 2]) for p in (player, opponent)
        )
        mass = ranges[player][own].sum()
        scale = 1.0 / mass if mass > 0 else 0.0
        starts[public_state] = Start(
            ranges[player][own] * scale,
            ranges[opponent][others],
            opponent_cfvs[others] * scale,
            gifts[others] * scale,
        )
    return starts


def _opponent_values(
    trunk: Trunk, player: int, plan: np.ndarray, opponent_cfvs: np.ndarray
) -> np.ndarray:
    """The opponent's best-response cfvs in a piece, leaves at their cfvs: float64 [S_-p]."""
    opponent, leaves = 1 - player, trunk.leaves
    cfvs = [np.zeros(leaves.num_infosets(p)) for p in (0, 1)]
    cfvs[opponent] = opponent_cfvs
    valued = trunk.sequence_form.with_constants(leaves.sequences, (cfvs[0], cfvs[1]))
    return best_response(valued, opponent, plan).cfv
