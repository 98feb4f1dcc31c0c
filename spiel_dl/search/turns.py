"""`TurnSource`: searches in hold'em from the turn on, where it is too large to list.

The turn is searched first, unless there is a blueprint of the whole game. Each river is searched
when it is reached, below its line of betting and its card, with a gadget: at the player's range and
the opponent's cfvs by the solution of the turn or by the blueprint.
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
from spiel_dl.search.policy import LocalStrategy, Search, SearchPolicy, Source
from spiel_dl.search.spec import Root, Solution, Spec
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.gifts import gifts_at_leaves
from spiel_dl.solvers.regret_minimization import Pair

_RELATIVE_NOISE = 1e-12


class TurnPath(NamedTuple):
    """The position of a player: on the turn, or on a river.

    Attributes:
      player: the player.
      line: the leaf of the turn above the river; -1: the state is on the turn.
      board: the number of the river's board.
    """

    player: int
    line: int
    board: int

    @property
    def decisions(self) -> list[int]:
        """The turn, and the river."""
        return [0] if self.line < 0 else [0, 1]


class SolvedTurn(NamedTuple):
    """Both players' plans on a turn, and their cfvs below it.

    Attributes:
      plans: for each player, float64 [S_p], its realization plan of the turn's sequences.
      cfvs: for each player, float64 [L_p], its cfvs where rivers start: all lines, all cards.
    """

    plans: Pair
    cfvs: Pair


class TurnSource(Source[TurnPath, SolvedTurn]):
    """Searches on the turn and on rivers.

    Attributes:
      tree: the game.
      turn: its turn.
      starts: the starts of all rivers, the leaves of the turn.
      policy: both players' policy: searched where it was, else the blueprint or uniform.
    """

    def __init__(self, turn: HoldemTrunk, blueprint: ArrayPolicy | None):
        """Takes a turn, and a policy of the whole game; None: the turn is searched, too.

        That search needs a spec with values at `starts`.
        """
        self.tree: HoldemGame = turn.tree
        self.game = self.tree.game
        lines, boards = range(len(turn.leaves.lines)), range(len(self.tree.deals.boards[1].cards))
        self.starts = RiverStarts.of(turn, lines, boards)
        self.turn = turn
        self.blueprint = blueprint
        self.policy = blueprint.copy() if blueprint else ArrayPolicy.uniform(self.tree)
        self._solved_turn: SolvedTurn | None = None
        self._cfvs_and_gifts: dict[int, Pair] = {}

    def path(self, state: pyspiel.State, player: int, spec: Spec) -> TurnPath:
        """See `Source`; of the state only the player's infoset is read."""
        del spec
        node, board, _ = self.tree.parts(player, self.tree.find_infoset(state, player))
        return TurnPath(player, int(self.turn.leaves.line_above[node]), board)

    def key(self, path: TurnPath, position: int) -> tuple[int, int]:
        """See `Source`: line and card."""
        return (path.line, path.board) if position else (-1, 0)

    def solve(
        self, path: TurnPath, position: int, previous: SolvedTurn | None, spec: Spec, search: Search
    ) -> SolvedTurn:
        """See `Source`."""
        turn = self._turn(search)
        if position:
            self._search_rivers(path.player, [path.line], [path.board], turn, search)
        return turn

    def local_strategy(
        self, path: TurnPath, state: pyspiel.State, result: SolvedTurn | None
    ) -> LocalStrategy:
        """See `Source`."""
        probabilities = self.policy.action_probabilities(state, path.player)
        return LocalStrategy(
            probabilities, result is not None and (path.line >= 0 or not self.blueprint)
        )

    def to_array_policy(self, policy: SearchPolicy) -> ArrayPolicy:
        """See `Source`; searches all rivers at once."""
        turn = self._turn(policy.search)
        lines = np.flatnonzero(self.turn.leaves.is_open).tolist()
        for player in (0, 1):
            self._search_rivers(player, lines, self.starts.boards.tolist(), turn, policy.search)
        return self.policy.copy()

    def _turn(self, search: Search) -> SolvedTurn:
        """The turn's plans and cfvs, by the blueprint or by a search that is made once."""
        if self._solved_turn is None:
            self._solved_turn = (
                self._blueprint_turn() if self.blueprint else self._search_turn(search)
            )
        return self._solved_turn

    def _search_turn(self, search: Search) -> SolvedTurn:
        leaves: Any = self.starts
        trunk: Any = dataclasses.replace(self.turn, leaves=leaves)
        solution = search(Root(trunk, 0, (np.ones(1), np.ones(1)), is_first=True))
        assert solution.averaged_cfvs is not None
        for player in (0, 1):
            own = self.turn.sequences[player]
            self.policy.strategies[player][own] = solution.strategies[player]
        return SolvedTurn(solution.plans, solution.averaged_cfvs)

    def _blueprint_turn(self) -> SolvedTurn:
        """The blueprint's plans, and cfvs of rivers by best responses to it."""
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
                response_cfvs = best_response(
                    rivers.sequence_form, player, plans[other][rivers.sequences[other]]
                ).cfv
                places = rivers.starts.within(player, starts)
                own[places] = response_cfvs[: len(places)]
            cfvs.append(own)
        return SolvedTurn(on_turn, (cfvs[0], cfvs[1]))

    def _search_rivers(
        self, player: int, lines: list[int], boards: list[int], turn: SolvedTurn, search: Search
    ) -> None:
        """Searches all rivers of some lines and cards at once, and writes them into the policy."""
        rivers = HoldemRivers.of(RiverStarts.of(self.turn, lines, boards))
        solution = search(self._root(player, rivers, turn))
        self._keep(solution, rivers)

    def _root(self, player: int, rivers: HoldemRivers, turn: SolvedTurn) -> Root:
        """The root of a search of rivers; ranges and cfvs are scaled in each river by itself."""
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
        if player not in self._cfvs_and_gifts:
            self._cfvs_and_gifts[player] = self._opponent_cfvs(player, turn)
        cfvs, gifts = self._cfvs_and_gifts[player]
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
            # A card that leaves no pair of hands has no river.
            public_states=np.unique(states, return_inverse=True)[1],
        )

    def _opponent_cfvs(self, player: int, turn: SolvedTurn) -> Pair:
        """The opponent's given cfvs where all rivers start, and its gifts: float64 [L_-p] each."""
        opponent, starts = 1 - player, self.starts
        own = turn.plans[player]
        reach = starts.reach.values_against(opponent, own[starts.sequences[player]])
        # Differences of equal sums are not exactly 0.
        reach = np.where(reach > _RELATIVE_NOISE * reach.max(), reach, 0.0)
        # Networks may value rivers at which chance's or the player's reach is 0.
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
        """Writes a solution into the policy, in infosets that the player's own plan reaches."""
        player = solution.player
        treeplex = rivers.sequence_form.treeplexes[player]
        kept = treeplex.sum_per_infoset(solution.plans[player]) > 0
        own = treeplex.sequences_of(kept)
        self.policy.strategies[player][rivers.sequences[player][own]] = solution.strategy[own]
