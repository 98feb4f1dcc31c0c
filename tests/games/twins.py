"""Tools to hold a game against its OpenSpiel twin; they know nothing but `pyspiel` states."""

from __future__ import annotations

import collections
from collections.abc import Callable

import numpy as np
import pyspiel
import scipy.optimize
import scipy.sparse

from tests.games.openspiel_conformance import possible_actions

InfostateString = Callable[[pyspiel.State, int], str]


def assert_same_game(ours: pyspiel.Game, twin: pyspiel.Game) -> int:
    """Compares two sequential games at every history, both players' infosets included.

    Args:
      ours: a game.
      twin: the game it should equal, action ids included.

    Returns:
      The number of histories compared, so that a test can tell that there were as many as expected.
    """
    partitions = (_Bijection(), _Bijection())
    count = 0
    stack = [(ours.new_initial_state(), twin.new_initial_state())]
    while stack:
        mine, yours = stack.pop()
        count += 1
        assert_same_state(mine, yours)
        for player in (0, 1):
            pair = [state.information_state_string(player) for state in (mine, yours)]
            partitions[player].add(*pair)
        if not mine.is_terminal():
            actions = possible_actions(mine)
            stack.extend((mine.child(action), yours.child(action)) for action in actions)
    return count


def assert_same_state(mine: pyspiel.State, yours: pyspiel.State) -> None:
    """Who acts, what is possible and how likely, and the returns are the same."""
    where = f"after {mine.history()}"
    assert mine.current_player() == yours.current_player(), where
    assert possible_actions(mine) == possible_actions(yours), where
    if mine.is_chance_node():
        np.testing.assert_allclose(mine.chance_outcomes(), yours.chance_outcomes(), atol=1e-15)
    assert mine.returns() == yours.returns(), where


def game_value(game: pyspiel.Game) -> float:
    """Player 0's value of a two-player zero-sum game with perfect recall, by a sequence-form LP.

    Maximises player 0's guaranteed value over its realization plans; the constraints say that
    player 1 best-responds at each of its infosets (Koller, Megiddo, von Stengel 1994).
    """
    form = _SequenceForm(game)
    num_plans = len(form.actions[0])
    infosets = {infoset: index for index, infoset in enumerate(form.parents[1])}
    num_variables = num_plans + len(infosets) + 1
    # Rows: for each sequence of player 1, the value of its infoset is at most what follows it.
    bounds = scipy.sparse.lil_matrix((len(form.actions[1]), num_variables))
    for (mine, yours), payoff in form.payoffs.items():
        bounds[form.actions[1][yours], form.actions[0][mine]] -= payoff
    for sequence, row in form.actions[1].items():
        value_of = infosets[sequence[0]] if sequence else len(infosets)
        bounds[row, num_plans + value_of] += 1
    for infoset, parent in form.parents[1].items():
        bounds[form.actions[1][parent], num_plans + infosets[infoset]] -= 1
    # Rows: the empty sequence weighs 1, an infoset's sequences as much as their parent.
    plan = scipy.sparse.lil_matrix((1 + len(form.parents[0]), num_variables))
    plan[0, form.actions[0][()]] = 1
    rows = {infoset: 1 + index for index, infoset in enumerate(form.parents[0])}
    for infoset, parent in form.parents[0].items():
        plan[rows[infoset], form.actions[0][parent]] -= 1
    for sequence, column in form.actions[0].items():
        if sequence:
            plan[rows[sequence[0]], column] += 1
    solution = scipy.optimize.linprog(
        c=-np.eye(1, num_variables, num_variables - 1)[0],
        A_ub=bounds.tocsr(),
        b_ub=np.zeros(bounds.shape[0]),
        A_eq=plan.tocsr(),
        b_eq=np.eye(1, plan.shape[0])[0],
        bounds=[(0, None)] * num_plans + [(None, None)] * (len(infosets) + 1),
    )
    assert solution.success, solution.message
    return -solution.fun


class _Bijection:
    """Checks that two ways to name things tell the same things apart."""

    def __init__(self) -> None:
        self._to_second: dict[str, str] = {}
        self._to_first: dict[str, str] = {}

    def add(self, first: str, second: str) -> None:
        """Asserts that both names were met together or not at all."""
        assert self._to_second.setdefault(first, second) == second, f"{first!r} joins two of theirs"
        assert self._to_first.setdefault(second, first) == first, f"{second!r} is split in two"


class _SequenceForm:
    """A game's sequence form, read off its states.

    Attributes:
      actions: per player, every sequence, an (infoset, action) or (), and its index.
      parents: per player, every infoset and the sequence that leads to it.
      payoffs: player 0's expected returns of every pair of sequences that end a game.
    """

    def __init__(self, game: pyspiel.Game):
        self.actions: tuple[dict, dict] = ({(): 0}, {(): 0})
        self.parents: tuple[dict, dict] = ({}, {})
        self.payoffs: dict[tuple, float] = collections.defaultdict(float)
        self._visit(game.new_initial_state(), ((), ()), 1.0)

    def _visit(self, state: pyspiel.State, sequences: tuple, chance_reach: float) -> None:
        if state.is_terminal():
            self.payoffs[sequences] += chance_reach * state.player_return(0)
        elif state.is_chance_node():
            for outcome, probability in state.chance_outcomes():
                self._visit(state.child(outcome), sequences, chance_reach * probability)
        else:
            player = state.current_player()
            infoset = state.information_state_string()
            parent = self.parents[player].setdefault(infoset, sequences[player])
            assert parent == sequences[player], "imperfect recall"
            for action in state.legal_actions():
                sequence = (infoset, action)
                self.actions[player].setdefault(sequence, len(self.actions[player]))
                both = (sequence, sequences[1]) if player == 0 else (sequences[0], sequence)
                self._visit(state.child(action), both, chance_reach)
