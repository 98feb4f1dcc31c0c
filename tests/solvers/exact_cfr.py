"""CFR in exact rational arithmetic, by recursion over OpenSpiel states; slow and independent."""

from fractions import Fraction

import pyspiel

Table = dict[str, dict[int, Fraction]]


class ExactCFR:
    """CFR or CFR+ with alternating updates; every number is a Fraction."""

    def __init__(self, game: pyspiel.Game, plus: bool):
        self._root = game.new_initial_state()
        self._plus = plus
        self._iteration = 0
        self.regret: Table = {}
        self.strategy: Table = {}
        self.average: Table = {}
        self._player: dict[str, int] = {}
        self._add_infosets(self._root)

    def run(self, num_iterations: int) -> None:
        for _ in range(num_iterations):
            self._iteration += 1
            for player in (0, 1):
                self._traverse(self._root, player, [Fraction(1), Fraction(1)])
                self._match_regrets(player)

    def _add_infosets(self, state: pyspiel.State) -> None:
        if state.is_terminal():
            return
        if not state.is_chance_node():
            player, actions = state.current_player(), state.legal_actions()
            key = state.information_state_string(player)
            self._player[key] = player
            self.regret[key] = dict.fromkeys(actions, Fraction(0))
            self.average[key] = dict.fromkeys(actions, Fraction(0))
            self.strategy[key] = dict.fromkeys(actions, Fraction(1, len(actions)))
        for action in state.legal_actions():
            self._add_infosets(state.child(action))

    def _traverse(self, state: pyspiel.State, player: int, reach: list[Fraction]) -> Fraction:
        """Player's value of a state; reach is (the player's, everybody else's)."""
        if state.is_terminal():
            return Fraction(state.returns()[player])
        if state.is_chance_node():
            value = Fraction(0)
            for action, probability in state.chance_outcomes():
                chance = Fraction(probability).limit_denominator(1000)
                below = [reach[0], reach[1] * chance]
                value += chance * self._traverse(state.child(action), player, below)
            return value
        key = state.information_state_string(state.current_player())
        strategy = self.strategy[key]
        own = state.current_player() == player
        values = {}
        for action, probability in strategy.items():
            factors = (probability, 1) if own else (1, probability)
            below = [reach[0] * factors[0], reach[1] * factors[1]]
            values[action] = self._traverse(state.child(action), player, below)
        value = sum((strategy[a] * values[a] for a in strategy), Fraction(0))
        if own:
            weight = self._iteration if self._plus else 1
            for action in strategy:
                self.regret[key][action] += reach[1] * (values[action] - value)
                self.average[key][action] += weight * reach[0] * strategy[action]
        return value

    def _match_regrets(self, player: int) -> None:
        for key, regret in self.regret.items():
            if self._player[key] != player:
                continue
            if self._plus:
                regret = self.regret[key] = {a: max(r, Fraction(0)) for a, r in regret.items()}
            total = sum((max(r, Fraction(0)) for r in regret.values()), Fraction(0))
            for action, r in regret.items():
                uniform = Fraction(1, len(regret))
                self.strategy[key][action] = max(r, Fraction(0)) / total if total else uniform
