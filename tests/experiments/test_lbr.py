"""Local best response against a recursion over OpenSpiel's states that follows the paper."""

from __future__ import annotations

import collections

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers python_leduc)
from experiments.responses import lbr
from spiel_dl import ArrayPolicy, compile_game
from spiel_dl.algorithms import exploitability
from spiel_dl.play.registry import load_array_policy

GAMES = ["kuhn_poker", "leduc_poker"]


def passive_and_fold(state: pyspiel.State) -> tuple[int, int | None]:
    """The action that checks or calls, and the one that folds against a bet."""
    if state.get_game().get_type().short_name == "kuhn_poker":
        faces_bet = len(state.history()) > 2 and state.history()[-1] == 1
        return (1, 0) if faces_bet else (0, None)
    return 1, 0 if 0 in state.legal_actions() else None


def rollout(state: pyspiel.State, player: int) -> float:
    """The player's expected utility if everybody checks or calls from here on."""
    if state.is_terminal():
        return state.returns()[player]
    if state.is_chance_node():
        return sum(p * rollout(state.child(a), player) for a, p in state.chance_outcomes())
    return rollout(state.child(passive_and_fold(state)[0]), player)


def after_own_action(state: pyspiel.State, player: int, model: ArrayPolicy) -> float:
    """As `rollout`, but an opponent who now faces a bet folds as often as the model."""
    if state.is_terminal() or state.is_chance_node() or state.current_player() == player:
        return rollout(state, player)
    fold = passive_and_fold(state)[1]
    if fold is None:
        return rollout(state, player)
    folds = model.action_probabilities(state)[fold]
    return folds * state.child(fold).returns()[player] + (1 - folds) * rollout(state, player)


def local_choices(model: ArrayPolicy, player: int) -> dict[str, dict[int, float]]:
    """For each infoset of the player that the model reaches: the weighted value of each action."""
    values: dict[str, dict[int, float]] = collections.defaultdict(
        lambda: collections.defaultdict(float)
    )
    stack = [(model.tree.game.new_initial_state(), 1.0)]
    while stack:
        state, reach = stack.pop()
        if state.is_terminal() or not reach:
            continue
        if state.is_chance_node():
            stack += [(state.child(a), reach * p) for a, p in state.chance_outcomes()]
        elif state.current_player() == player:
            row = values[state.information_state_string()]
            for action in state.legal_actions():
                child = state.child(action)
                row[action] += reach * after_own_action(child, player, model)
                stack.append((child, reach))
        else:
            answer = model.action_probabilities(state)
            stack += [(state.child(a), reach * p) for a, p in answer.items()]
    return values


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["uniform", "random:2", "cfr:5"])
def test_every_choice_is_the_local_best(game: str, player: int, name: str) -> None:
    model = load_array_policy(name, game)
    response = lbr.local_best_response(model.tree, player, model)
    expected = local_choices(model, player)
    for infoset in range(model.tree.num_infosets(player)):
        row = expected.get(model.tree.infoset_string(player, infoset))
        actions = model.tree.legal_actions(player, infoset).tolist()
        own = response.strategies[player][model.tree.treeplexes[player].sequences(infoset)]
        if row is None:
            assert own == pytest.approx([1 / len(actions)] * len(actions))
            continue
        assert sorted(own) == [0.0] * (len(actions) - 1) + [1.0]
        chosen = row[actions[int(own.argmax())]]
        assert chosen == pytest.approx(max(row.values()), abs=1e-12)
    assert len(expected) > 0


HOLDEM = (
    "python_holdem(num_ranks=3,num_suits=2,num_hole_cards=1,board_cards=[0;1],bets=2c|4c,"
    "stacks=[99;99],blinds=[1;1],max_wagers=[2;2],min_wager=0.0)"
)


@pytest.mark.parametrize("twin", ["python_leduc", HOLDEM], ids=["leduc", "holdem"])
def test_twins_agree(twin: str) -> None:
    """The package's own games with the cards and bets of leduc_poker, where suits are dealt."""
    earned = []
    for name in ("leduc_poker", twin):
        tree = compile_game(name)
        model = ArrayPolicy.uniform(tree)
        for player in (0, 1):
            response = lbr.local_best_response(tree, player, model)
            earned.append(exploitability.expected_value(tree, response))
    assert earned[:2] == pytest.approx(earned[2:], abs=1e-12)


def test_other_games_are_refused() -> None:
    with pytest.raises(ValueError, match="must know which actions fold and call"):
        lbr.local_best_response("matrix_rps", 0, ArrayPolicy.uniform(compile_game("matrix_rps")))
