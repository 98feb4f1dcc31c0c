"""Ranges, cfvs and values of public states: kuhn_poker by hand, others by walking states."""

from __future__ import annotations

import collections

import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl import ArrayPolicy, DepthLimit, GameTree
from spiel_dl.play import public_tree_view
from spiel_dl.play.public_tree_view import PublicTreeView, view_public_tree
from spiel_dl.policies import opponent_models

WHOLE = DepthLimit(moves=100)
GOOFSPIEL = "goofspiel(num_cards=4,imp_info=True,points_order=descending)"
PYTHON_GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"


def look(game: str, limit: DepthLimit = WHOLE, seed: int = 3) -> tuple[ArrayPolicy, PublicTreeView]:
    policy = opponent_models.random_policy(GameTree.from_game(game), seed)
    return policy, view_public_tree(policy.tree, policy, limit, "random")


def test_kuhn_poker_by_hand() -> None:
    """The uniform policy. Cards J < Q < K, one of six deals each; player 0 passes or bets."""
    policy = ArrayPolicy.uniform(GameTree.from_game("kuhn_poker"))
    view = view_public_tree(policy.tree, policy, WHOLE, "uniform")
    assert [state.name for state in view.public_states] == [
        "start", "chance: hidden", "chance: hidden", "player 0: Pass", "player 0: Bet",
        "player 1: Bet",
    ]  # fmt: skip
    assert [state.parent for state in view.public_states] == [-1, 0, 1, 2, 2, 3]
    assert [state.players for state in view.public_states] == [(-1,), (-1,), (0,), (1,), (1,), (0,)]
    assert [state.num_histories for state in view.public_states] == [1, 3, 6, 6, 6, 6]
    assert [state.reach for state in view.public_states] == pytest.approx([1, 1, 1, 0.5, 0.5, 0.25])
    assert view.nash_conv == pytest.approx(11 / 12)
    # Equal cards on average: the bettor wins 1 when the other folds, half the time.
    #   pass: half pass-pass, 0 on average; half bet: 0's fold -1, call 0 -> -1/4 on average.
    #   bet: 1 folds half the time, +1; calls, 0 on average -> 1/2.
    assert view.value == pytest.approx((-1 / 4 + 1 / 2) / 2)
    bet = view.public_states[4]
    assert bet.value == pytest.approx(1 / 2)
    assert bet.range_mass == pytest.approx((3 / 2, 3))
    # Player 0 with the king has bet: two deals of 1/6 each; it wins 1 or 2.
    king = bet.infosets[0][2]
    assert (king.string, king.own) == ("2b", "K")
    assert (king.range, king.actions) == (0.5, ())
    assert king.opponent_reach == pytest.approx(1 / 3)
    assert king.cfv == pytest.approx(1 / 3 * 3 / 2)
    assert king.value == pytest.approx(3 / 2)
    # Player 1 with the queen: deals JQ and KQ, each with 0's reach 1/2. Folding loses 1; calling
    # wins 2 from the jack and loses 2 to the king.
    queen = next(infoset for infoset in bet.infosets[1] if infoset.string == "1b")
    assert queen.range == 1
    assert queen.opponent_reach == pytest.approx(1 / 6)
    assert [(action.name, action.probability) for action in queen.actions] == [
        ("Pass", 0.5), ("Bet", 0.5)
    ]  # fmt: skip
    assert [action.value for action in queen.actions] == pytest.approx([-1, 0])
    assert [action.cfv for action in queen.actions] == pytest.approx([-1 / 6, 0])
    assert queen.cfv == pytest.approx(-1 / 12)
    assert queen.value == pytest.approx(-1 / 2)


class Walk:
    """The same numbers by a recursion over states that knows nothing of compiled games.

    Infosets are told apart by depth and string; what is found: own reach, the others' reach, cfv,
    and for decisions the cfv of each action.
    """

    def __init__(self, game: pyspiel.Game, policy: openspiel_policy.Policy):
        self.policy = policy
        self.range: dict[tuple[int, str], float] = {}
        self.opponent_reach: dict[tuple[int, str], float] = collections.defaultdict(float)
        self.cfv: dict[tuple[int, str], float] = collections.defaultdict(float)
        self.action_cfv: dict[tuple[int, str, int], float] = collections.defaultdict(float)
        self.value = self.visit(game.new_initial_state(), (1.0, 1.0), 1.0)

    def visit(self, state: pyspiel.State, reach: tuple[float, float], chance: float) -> float:
        if state.is_terminal():
            return state.returns()[0]
        mover = state.current_player()
        if mover == pyspiel.PlayerId.CHANCE:
            values = [
                (probability, self.visit(state.child(action), reach, chance * probability))
                for action, probability in state.chance_outcomes()
            ]
        else:
            values = []
            string = state.information_state_string(mover)
            sign = 1 if mover == 0 else -1
            for action, probability in self.policy.action_probabilities(state).items():
                below = (reach[0] * probability, reach[1])
                if mover == 1:
                    below = (reach[0], reach[1] * probability)
                value = self.visit(state.child(action), below, chance)
                values.append((probability, value))
                self.action_cfv[mover, string, action] += sign * value * chance * reach[1 - mover]
        value = sum(probability * each for probability, each in values)
        for player in (0, 1):
            key = (player, state.information_state_string(player))
            others = chance * reach[1 - player]
            self.range[key] = reach[player]
            self.opponent_reach[key] += others
            self.cfv[key] += others * (value if player == 0 else -value)
        return value


@pytest.mark.parametrize("game", ["leduc_poker", GOOFSPIEL])
def test_numbers_are_those_of_a_walk_over_states(game: str) -> None:
    policy, view = look(game)
    walk = Walk(policy.tree.game, policy.to_tabular())
    assert view.value == pytest.approx(walk.value, abs=1e-12)
    timed = set()
    for state in view.public_states:
        if state.players == (-1,):
            continue  # Before and after a hidden deal, strings of leduc_poker are the same.
        for player in (0, 1):
            for infoset in state.infosets[player]:
                key = (player, infoset.string)
                assert key not in timed
                timed.add(key)
                assert infoset.range == pytest.approx(walk.range[key], abs=1e-12)
                assert infoset.opponent_reach == pytest.approx(walk.opponent_reach[key], abs=1e-12)
                assert infoset.cfv == pytest.approx(walk.cfv[key], abs=1e-12)
                assert infoset.value == pytest.approx(walk.cfv[key] / walk.opponent_reach[key])
                for action in infoset.actions:
                    expected = walk.action_cfv[(*key, action.id)]
                    assert action.cfv == pytest.approx(expected, abs=1e-12)
    decisions = sum(policy.tree.num_infosets(player) for player in (0, 1))
    shown = sum(bool(i.actions) for s in view.public_states for own in s.infosets for i in own)
    assert shown == decisions


def test_what_is_never_reached_has_no_value() -> None:
    tree = GameTree.from_game("kuhn_poker")
    never_bet = tuple((tree.sequence_action[player] <= 0).astype(float) for player in (0, 1))
    view = view_public_tree(tree, ArrayPolicy(tree, (never_bet[0], never_bet[1])), WHOLE, "passes")
    bet = view.public_states[4]
    assert (bet.reach, bet.value) == (0, None)
    assert bet.range_mass == (0, 3)
    own, others = bet.infosets[0][2], bet.infosets[1][2]
    assert own.value == pytest.approx(1)
    assert (others.opponent_reach, others.cfv, others.value) == (0, 0, None)
    assert [action.value for action in others.actions] == [None, None]


def test_the_depth_limit_ends_the_tree() -> None:
    policy, whole = look(PYTHON_GOOFSPIEL)
    view = view_public_tree(policy.tree, policy, DepthLimit(rounds=1), "random")
    leaves = [state for state in view.public_states if state.is_leaf]
    # Won, drawn and lost.
    assert len(leaves) == 3
    assert {state.depth for state in leaves} == {1}
    assert {state.depth for state in view.public_states} == {0, 1}
    by_number = {state.number: state for state in whole.public_states}
    for state in view.public_states:
        same = by_number[state.number]
        assert (state.reach, state.infosets) == (same.reach, same.infosets)
        assert state.parent in {-1} | {other.number for other in view.public_states}
    assert not any(state.is_leaf for state in whole.public_states)
    assert view.depth_limit == "1 rounds"


def test_too_large_trees_are_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = GameTree.from_game("leduc_poker")
    uniform = ArrayPolicy.uniform(tree)
    monkeypatch.setattr(public_tree_view, "MAX_PUBLIC_STATES", 192)
    with pytest.raises(ValueError, match=r"193 public states down to 100 moves.*smaller depth"):
        view_public_tree(tree, uniform, WHOLE, "uniform")
    monkeypatch.undo()
    monkeypatch.setattr(public_tree_view, "MAX_INFOSETS", 50)
    with pytest.raises(ValueError, match=r"infosets down to 100 moves.*more than 50\. Give"):
        view_public_tree(tree, uniform, WHOLE, "uniform")
    with pytest.raises(ValueError, match="has no rounds"):
        view_public_tree(tree, uniform, DepthLimit(rounds=1), "uniform")
