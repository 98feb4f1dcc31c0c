"""`TurnSource`: searches in hold'em from the turn on, where it is too large to list.

The turn is searched first, or a blueprint of the whole game is known instead. Each river is
searched when it is reached, below its line of betting and its card: with a gadget, at the player's
range and the cfvs that the opponent has there by what was found before.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.factored.holdem_rivers import HoldemRivers, RiverStarts
from spiel_dl.factored.holdem_trunk import HoldemTrunk
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.policy import Answer, Search, SearchPolicy, Source
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.gifts import gifts_at_leaves
from spiel_dl.solvers.regret_minimization import Pair

_RELATIVE_NOISE = 1e-12


class TurnWay(NamedTuple):
    """What a player has seen: the turn, and then a river.

    Attributes:
      player: the player.
      line: which leaf of the turn the river is below; -1: the state is on the turn.
      board: the number of the river's board.
    """

    player: int
    line: int
    board: int

    @property
    def decisions(self) -> list[int]:
        """The turn, and the river."""
        return [0] if self.line < 0 else [0, 1]


class Turn(NamedTuple):
    """What is known of a turn.

    Attributes:
      plans: for each player, float64 [S_p], its realization plan of the turn's sequences.
      cfvs: for each player, float64 [L_p], its cfvs where rivers start: all lines, all cards.
    """

    plans: Pair
    cfvs: Pair


class TurnSource(Source[TurnWay, Turn]):
    """Searches on the turn and on rivers.

    Attributes:
      tree: the game.
      turn: its turn, whose leaves are `starts`.
      starts: of all rivers.
      policy: what both players do as far as it was searched; the blueprint elsewhere, or uniform.
    """

    def __init__(self, turn: HoldemTrunk, blueprint: ArrayPolicy | None):
        """Takes a turn, and a policy of the whole game that is known; None: the turn is searched.

        Without one, a spec must say what leaves are worth, by lines and cards.
        """
        self.tree: HoldemGame = turn.tree
        self.game = self.tree.game
        lines, boards = range(len(turn.leaves.lines)), range(len(self.tree.deals.boards[1].cards))
        self.starts = RiverStarts.of(turn, lines, boards)
        self.turn = turn
        self.blueprint = blueprint
        first, second = (
            (blueprint or ArrayPolicy.uniform(self.tree)).strategies[player].copy()
            for player in (0, 1)
        )
        self.policy = ArrayPolicy(self.tree, (first, second))
        self._found: Turn | None = None
        self._given: dict[int, Pair] = {}

    def way(self, state: pyspiel.State, player: int, spec: Spec) -> TurnWay:
        """See `Source`; where the infoset lies is read, and nothing else."""
        del spec
        node, board, _ = self.tree.parts(player, self.tree.find_infoset(state, player))
        return TurnWay(player, int(self.turn.leaves.line_above[node]), board)

    def key(self, way: TurnWay, position: int) -> tuple[int, int]:
        """See `Source`: line and card."""
        return (way.line, way.board) if position else (-1, 0)

    def solve(
        self, way: TurnWay, position: int, before: Turn | None, spec: Spec, search: Search
    ) -> Turn:
        """See `Source`."""
        turn = self._turn(search)
        if position:
            self._search_rivers(way.player, [way.line], [way.board], turn, search)
        return turn

    def answer(self, way: TurnWay, state: pyspiel.State, kept: Turn | None) -> Answer:
        """See `Source`."""
        probabilities = self.policy.action_probabilities(state, way.player)
        return Answer(probabilities, kept is not None and (way.line >= 0 or not self.blueprint))

    def to_array_policy(self, policy: SearchPolicy) -> ArrayPolicy:
        """See `Source`; makes all searches, side by side."""
        turn = self._turn(policy.search)
        lines = np.flatnonzero(self.turn.leaves.is_open).tolist()
        for player in (0, 1):
            self._search_rivers(player, lines, self.starts.boards.tolist(), turn, policy.search)
        first, second = (strategy.copy() for strategy in self.policy.strategies)
        return ArrayPolicy(self.tree, (first, second))

    def _turn(self, search: Search) -> Turn:
        """What is known of the turn, after it was searched if need be."""
        if self._found is None:
            self._found = self._by_blueprint() if self.blueprint else self._searched(search)
        return self._found

    def _searched(self, search: Search) -> Turn:
        leaves: Any = self.starts
        trunk: Any = dataclasses.replace(self.turn, leaves=leaves)
        solution = search(Root(trunk, 0, (np.ones(1), np.ones(1)), is_first=True))
        assert solution.averaged_cfvs is not None
        for player in (0, 1):
            own = self.turn.sequences[player]
            self.policy.strategies[player][own] = solution.strategies[player]
        return Turn(solution.plans, solution.averaged_cfvs)

    def _by_blueprint(self) -> Turn:
        """What both players get on rivers by best responses to the blueprint."""
        assert self.blueprint is not None
        strategies = self.blueprint.strategies
        plans = [realization_plan(self.tree.treeplexes[p], strategies[p]) for p in (0, 1)]
        on_turn = (plans[0][self.turn.sequences[0]], plans[1][self.turn.sequences[1]])
        lines = np.flatnonzero(self.turn.leaves.is_open).tolist()
        cfvs = []
        for player in (0, 1):
            other, starts = 1 - player, self.starts
            own = starts.showdowns.values_against(player, on_turn[other][starts.sequences[other]])
            if lines:
                rivers = HoldemRivers.of(RiverStarts.of(self.turn, lines, starts.boards.tolist()))
                found = best_response(
                    rivers.sequence_form, player, plans[other][rivers.sequences[other]]
                ).cfv
                places = rivers.starts.within(player, starts)
                own[places] = found[: len(places)]
            cfvs.append(own)
        return Turn(on_turn, (cfvs[0], cfvs[1]))

    def _search_rivers(
        self, player: int, lines: list[int], boards: list[int], turn: Turn, search: Search
    ) -> None:
        """Searches all rivers of some lines and cards side by side; writes them to the policy."""
        rivers = HoldemRivers.of(RiverStarts.of(self.turn, lines, boards))
        solution = search(self._root(player, rivers, turn))
        self._keep(solution, rivers)

    def _root(self, player: int, rivers: HoldemRivers, turn: Turn) -> Root:
        """Rivers, and what is known there; numbers are scaled in each as if it were the game."""
        starts, opponent = rivers.starts, 1 - player
        deals = self.tree.deals
        ranges: list[np.ndarray] = []
        masses: list[np.ndarray] = []
        for each in (0, 1):
            own = turn.plans[each][starts.sequences[each]]
            hands = np.tile(deals.boards[1].live[each].hand[starts.hands[each]], len(starts.lines))
            weights = deals.hands[each].weights[hands]
            states, number = starts.public_states[each], starts.num_public_states
            masses.append(np.bincount(states, own * weights, minlength=number))
            ranges.append(own)
        masses[player] = masses[player] * (deals.scale * deals.boards[1].chance)
        scales = [np.divide(1.0, m, out=np.zeros_like(m), where=m > 0) for m in masses]
        prior = ranges[opponent]
        first, second = (ranges[p] * scales[p][starts.public_states[p]] for p in (0, 1))
        if player not in self._given:
            self._given[player] = self._given_to(player, turn)
        cfvs, gifts = self._given[player]
        states = starts.public_states[opponent]
        places, scale = starts.within(opponent, self.starts), scales[player][states]
        trunk: Any = rivers
        return Root(
            trunk,
            player,
            (first, second),
            given_cfvs=cfvs[places] * scale,
            gifts=gifts[places] * scale,
            prior=prior,
            public_states=states,
        )

    def _given_to(self, player: int, turn: Turn) -> Pair:
        """The opponent's cfvs where all rivers start, and its gifts: float64 [L_-p] each."""
        opponent, starts = 1 - player, self.starts
        own = turn.plans[player]
        reach = starts.reach.values_against(opponent, own[starts.sequences[player]])
        # Sums of what was added and taken away again are not quite 0.
        reach = np.where(reach > _RELATIVE_NOISE * reach.max(), reach, 0.0)
        # Nothing can be earned where chance and the player never come; networks may say otherwise.
        cfvs = np.where(reach > 0, turn.cfvs[opponent], 0.0)
        both = [np.zeros(len(each)) for each in turn.cfvs]
        both[opponent] = cfvs
        valued = self.turn.sequence_form.with_constants(starts.sequences, (both[0], both[1]))
        gifts = gifts_at_leaves(
            self.turn.sequence_form.treeplexes[opponent],
            best_response(valued, opponent, own).cfv,
            np.zeros(1),
            starts.sequences[opponent],
            reach,
        )
        return cfvs, gifts

    def _keep(self, solution: Solution, rivers: HoldemRivers) -> None:
        """Writes what was found where the player comes by its own plan."""
        player = solution.player
        treeplex = rivers.sequence_form.treeplexes[player]
        kept = treeplex.sum_per_infoset(solution.plans[player]) > 0
        own = treeplex.sequences_of(kept)
        self.policy.strategies[player][rivers.sequences[player][own]] = solution.strategy[own]
