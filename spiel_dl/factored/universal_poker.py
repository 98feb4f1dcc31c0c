"""OpenSpiel's universal_poker, for parameters with which it has the same actions as `holdem`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.games.compiled import CHANCE
from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_betting import FIRST_WAGER
from spiel_dl.games.poker import list_text
from spiel_dl.tree.information_states import Observations

_ENOUGH = 1e6  # Stacks of limit games, which no betting uses up.


def rules_of(parameters: Mapping[str, Any]) -> HoldemRules | None:
    """The hold'em rules of a game of these parameters; None: it has none.

    If the board is dealt in several rounds, OpenSpiel does not show the rounds of its cards, so
    there is no perfect recall; with `potSize` or `handReaches` it pays or deals otherwise.
    """
    rounds, is_limit = parameters["numRounds"], parameters["betting"] == "limit"
    dealt, first, blinds = (
        [int(number) for number in parameters[name].split()][:length]
        for name, length in (("numBoardCards", rounds), ("firstPlayer", rounds), ("blind", 2))
    )
    board = parameters["boardCards"]
    if board and rounds == 1:
        dealt[0] -= len(board) // 2
    bets, wagers = ("none" if parameters["bettingAbstraction"] == "fc" else "pot allin"), ""
    stacks = [float(stack) for stack in parameters["stack"].split()][:2]
    if is_limit:
        wagers = ";".join(parameters["maxRaises"].split()[:rounds])
        bets = "|".join(f"{size}c" for size in parameters["raiseSize"].split()[:rounds])
        stacks = [_ENOUGH, _ENOUGH]
    is_unsupported = (
        parameters["numPlayers"] != 2
        or parameters["potSize"] != 0
        or parameters["handReaches"] != ""
        or parameters["bettingAbstraction"] not in (("fcpa",) if is_limit else ("fcpa", "fc"))
        or sum(number > 0 for number in dealt) > 1
        or (board and rounds > 1)
        or (is_limit and not wagers)
        or (not is_limit and parameters["maxRaises"])
    )
    if is_unsupported:
        return None
    try:
        return HoldemRules(
            parameters["numRanks"],
            parameters["numSuits"],
            parameters["numHoleCards"],
            board,
            list_text(dealt),
            list_text(stacks),
            list_text(blinds),
            bets,
            f"[{wagers}]",
            0.0 if is_limit else -1.0,
            list_text([player - 1 for player in first]),
        )
    except ValueError:  # Such as stacks that blinds use up.
        return None


class UniversalPokerGame(HoldemGame):
    """The factored form of OpenSpiel's game; its tensors are OpenSpiel's."""

    def states_of(self, player: int, begin: int, end: int) -> None:
        """None: OpenSpiel's game has no `Rules`."""

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """A player's observations in the infosets from `begin` to before `end`."""
        states = self.states_of_rules(player, begin, end)
        nodes = states.node.numpy()
        legal = self.rules.tree.legal[nodes]
        missing = self.game.num_distinct_actions() - legal.shape[1]
        tensors = self._tensors(player, nodes, states.cards.numpy())
        return Observations(tensors, np.pad(legal, ((0, 0), (0, missing))))

    def _tensors(self, player: int, nodes: np.ndarray, cards: np.ndarray) -> np.ndarray:
        """The player, its cards, the board, and the actions before: kinds, and sizes of wagers."""
        tree, hole, deck = self.rules.tree, self.rules.num_hole, self.rules.num_cards
        tensors = np.zeros((len(nodes), self.game.information_state_tensor_size()), np.float32)
        tensors[:, player] = 1.0
        rows = np.arange(len(nodes))[:, None]
        hole_cards, board = cards[:, player * hole : (player + 1) * hole], cards[:, 2 * hole :]
        tensors[rows, 2 + hole_cards.astype(np.int64)] = 1.0
        tensors[np.nonzero(board >= 0)[0], 2 + deck + board[board >= 0].astype(np.int64)] = 1.0
        tensors[:, [2 + deck + card for card in self.rules.board]] = 1.0
        kinds, sizes = 2 + 2 * deck, 2 + 2 * deck + 2 * self.game.max_game_length()
        is_limit = self.game.get_parameters()["betting"] == "limit"
        for node in np.unique(nodes):
            is_at_node = nodes == node
            for place, (before, action) in enumerate(self.paths[int(node)]):
                if tree.player[before] == CHANCE:
                    continue
                # A call is 10, a wager 01, all-in 11.
                tensors[is_at_node, kinds + 2 * place] = action != FIRST_WAGER
                tensors[is_at_node, kinds + 2 * place + 1] = action >= FIRST_WAGER
                if action >= FIRST_WAGER and not is_limit:
                    after = tree.successor[before, action]
                    tensors[is_at_node, sizes + place] = tree.spent[after, tree.player[before]]
        return tensors
