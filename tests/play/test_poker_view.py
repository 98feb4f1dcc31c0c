"""Solutions of endgames, node by node, beside what the game itself says."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import torch

import spiel_dl as dl
from spiel_dl import ArrayPolicy, expected_value
from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.factored.families import factored_game
from spiel_dl.games.compiled import CHANCE, TERMINAL
from spiel_dl.games.holdem_cards import hand_strengths, parse_cards
from spiel_dl.play import poker_view
from spiel_dl.play.poker_solution import PokerSolution
from spiel_dl.play.poker_view import all_paths, cell_name, look, page, range_view

RIVER = "QsJh2h4d5c"


def solved(board: str, ranges: tuple[str, str], bets: str, iterations: int = 20) -> PokerSolution:
    game = dl.poker.endgame(board=board, pot=20, stacks=(90, 90), ranges=ranges, bets=bets)
    solver = CFRSolver(factored_game(game, num_threads=1), variant="lcfr")
    solver.run(iterations)
    return PokerSolution(solver.average_policy())


@pytest.fixture(scope="module")
def river() -> PokerSolution:
    return solved(RIVER, ("QQ+, A5s-A2s:0.5, KQ, 76s", "JJ, AQ, 54s"), "50%, allin")


@pytest.fixture(scope="module")
def turn() -> PokerSolution:
    return solved("QsJh2h4d", ("QQ, A5s:0.5, 7h6h", "AQ, JJ, 7s6s"), "75%")


def nodes(solution: PokerSolution, num_rivers: int = 3) -> list[list[int]]:
    """All nodes on some river cards."""
    found, waiting = [], [[]]
    while waiting:
        path = waiting.pop()
        found.append(path)
        view = look(solution, path)
        steps = [action["action"] for action in view["actions"]]
        steps += [each["card"] for each in view["cards"]][:: len(view["cards"]) // num_rivers or 1]
        waiting += [[*path, step] for step in steps]
    return found


@pytest.mark.parametrize("name", ["river", "turn"])
def test_values_of_both_players_share_the_pot(name: str, request: pytest.FixtureRequest) -> None:
    """One side's values come from its own infosets, the other's from its last sequences."""
    solution, checked = request.getfixturevalue(name), 0
    for path in nodes(solution):
        place = solution.place(path)
        sides = [solution.side(place, player) for player in (0, 1)]
        weights = [side.reach * side.possible for side in sides]
        assert weights[0].sum() == pytest.approx(weights[1].sum(), rel=1e-9, abs=1e-12)
        if weights[0].sum() <= 1e-9:
            continue
        pot = solution.game.rules.tree.spent[place.node].sum()
        equity, value = [], []
        for side, weight in zip(sides, weights, strict=True):
            own = weight > 0
            equity.append(side.equity[own] @ weight[own] / weight.sum())
            if side.value is not None:
                value.append(side.value[own] @ weight[own] / weight.sum())
        assert sum(equity) == pytest.approx(1.0, abs=1e-9)
        if value:
            assert sum(value) == pytest.approx(pot, abs=1e-8)
            checked += 1
    assert checked > 20


@pytest.mark.parametrize("name", ["river", "turn"])
def test_an_action_is_worth_what_follows_it(name: str, request: pytest.FixtureRequest) -> None:
    solution, checked = request.getfixturevalue(name), 0
    tree = solution.game.rules.tree
    for path in nodes(solution):
        place = solution.place(path)
        player = int(tree.player[place.node])
        if player < 0:
            continue
        side = solution.side(place, player)
        assert side.action_values is not None
        np.testing.assert_allclose(side.strategy.sum(axis=0), 1.0)
        known = side.possible > 0
        np.testing.assert_allclose(
            (side.strategy * side.action_values).sum(axis=0)[known], side.value[known], atol=1e-8
        )
        for number, action in enumerate(np.flatnonzero(tree.legal[place.node]).tolist()):
            after = solution.place([*path, action])
            if tree.player[after.node] == CHANCE:
                continue
            paid = tree.spent[after.node, player] - tree.spent[place.node, player]
            below = solution.side(after, player)
            np.testing.assert_allclose(
                below.value[known] - paid, side.action_values[number][known], atol=1e-7
            )
            checked += 1
    assert checked > 20


def test_before_a_card_the_value_is_the_mean_over_cards(turn: PokerSolution) -> None:
    side = turn.side(turn.place([1]), 1)  # Player 1 checks behind, and the river comes.
    checking = dict(zip(map(tuple, side.cards.tolist()), side.action_values[0], strict=True))
    total = dict.fromkeys(checking, 0.0)
    weight = dict.fromkeys(checking, 0.0)
    for card in turn.cards_left(()):
        below = turn.side(turn.place([1, 1, card]), 1)
        rows = zip(map(tuple, below.cards.tolist()), below.value, below.possible, strict=True)
        for hand, value, possible in rows:
            if possible > 0:
                total[hand] += possible * value
                weight[hand] += possible
    known = [hand for hand in checking if weight[hand] > 0 and np.isfinite(checking[hand])]
    assert len(known) > 10
    for hand in known:
        assert checking[hand] == pytest.approx(total[hand] / weight[hand], abs=1e-8)


def test_cards_say_what_both_get_after_them(turn: PokerSolution) -> None:
    view = look(turn, [1, 1])
    assert len(view["cards"]) == 48
    for each in view["cards"][::7]:
        assert sum(each["values"]) == pytest.approx(view["pot"], abs=1e-3)
        below = look(turn, [1, 1, each["card"]])["sides"]
        assert each["values"] == [side["value"] for side in below]


def test_the_first_node_is_worth_what_the_game_is(river: PokerSolution) -> None:
    strategies = CFRSolver(river.game, variant="lcfr")
    strategies.run(20)
    value = expected_value(river.game, strategies.average_policy())
    assert look(river, [])["sides"][0]["value"] == pytest.approx(10 + value, abs=1e-3)


def test_equities_are_those_of_all_showdowns(turn: PokerSolution) -> None:
    first, second = (turn.side(turn.place([]), player) for player in (0, 1))
    board = parse_cards("QsJh2h4d")
    deals = turn.game.deals
    for number in range(0, len(first.cards), 3):
        own = tuple(first.cards[number].tolist())
        won = total = 0.0
        for other, weight in zip(second.cards.tolist(), second.reach, strict=True):
            if set(own) & set(other):
                continue
            rivers = [c for c in range(52) if c not in (*own, *other, *board)]
            rows = torch.tensor([[*own, *board, c, *other] for c in rivers])
            mine = hand_strengths(rows[:, :7])
            theirs = hand_strengths(rows[:, 2:])
            won += weight * float(((mine > theirs) + 0.5 * (mine == theirs)).sum())
            total += weight * len(rivers)
        assert first.equity[number] == pytest.approx(won / total, abs=1e-9)
    assert deals.boards[1].chance == pytest.approx(1 / 44)


def test_counterfactual_values_are_those_of_the_package(river: PokerSolution) -> None:
    """At the root, they sum to the value, and folding to a wager loses what is in the pot."""
    side = river.side(river.place([]), 0)
    total = (look(river, [])["sides"][0]["value"] - 10) * 1.0
    assert side.cfv.sum() == pytest.approx(total, abs=1e-3)
    path = [2]
    assert look(river, path)["actions"][0]["name"] == "Fold"
    facing = river.side(river.place(path), 1)
    assert facing.action_values is not None
    known = facing.possible > 0
    np.testing.assert_allclose(facing.action_values[0][known], 0.0, atol=1e-9)


def test_a_node_as_json(river: PokerSolution) -> None:
    view = look(river, [])
    assert json.loads(json.dumps(view, allow_nan=False)) == view
    assert view["board"] == ["Qs", "Jh", "2h", "4d", "5c"]
    assert (view["pot"], view["left"], view["player"]) == (20, [90, 90], 0)
    assert [action["name"] for action in view["actions"]] == ["Check", "Bet 10", "All-in 90"]
    assert [action.get("percent") for action in view["actions"]] == [None, 50, 450]
    assert sum(action["frequency"] for action in view["actions"]) == pytest.approx(1, abs=1e-3)
    side = view["sides"][0]
    # Three queens are left, and clubs, diamonds and hearts of A4 and A5 in part.
    assert (side["cells"]["QQ"]["combos"], side["cells"]["A5s"]["combos"]) == (3, 1.5)
    assert {hand["cards"] for hand in side["hands"]["QQ"]} == {"QhQd", "QhQc", "QdQc"}
    assert [len(hand["strategy"]) for hand in side["hands"]["QQ"]] == [3, 3, 3]
    assert "strategy" not in view["sides"][1]
    raised = look(river, [2, 3])
    assert [action["name"] for action in raised["actions"]] == ["Fold", "Call 80"]
    assert look(river, [2])["actions"][2]["name"] == "Raise to 30"
    fold = look(river, [2, 0])
    assert (fold["player"], fold["folded"]) == (TERMINAL, 1)
    # The better hand has the higher number, and equal ones the same.
    strengths, other = (
        {hand["cards"]: hand["strength"] for hands in each["hands"].values() for hand in hands}
        for each in view["sides"]
    )
    assert strengths["QhQd"] == strengths["QdQc"] > strengths["AsAh"] > strengths["7s6s"]
    assert strengths["QhQd"] > other["JsJd"] > strengths["AsAh"]


def test_what_is_not_possible_is_refused(river: PokerSolution, turn: PokerSolution) -> None:
    with pytest.raises(ValueError, match="step 0 of \\[0\\] is no legal action"):
        look(river, [0])
    with pytest.raises(ValueError, match="no legal action"):
        look(river, [1, 1, 1])
    with pytest.raises(ValueError, match="no card that may be dealt"):
        look(turn, [1, 1, parse_cards("Qs")[0]])
    with pytest.raises(ValueError, match="too many for one page"):
        all_paths(turn.game.rules)
    with pytest.raises(ValueError, match="only solutions of factored hold'em"):
        PokerSolution(ArrayPolicy.uniform(dl.compile_game("kuhn_poker")))
    unequal = "python_holdem(board=QsJh2h4d5c,board_cards=[0],stacks=[50;50],blinds=[5;10])"
    with pytest.raises(ValueError, match="not four suits and equal blinds"):
        PokerSolution(ArrayPolicy.uniform(factored_game(unequal)))


def test_pages_have_all_nodes(river: PokerSolution) -> None:
    view = page(river, "title", "quality")
    assert set(view["nodes"]) == {".".join(map(str, path)) for path in nodes(river)}


def test_nodes_behind_cards_are_among_all_of_them(
    turn: PokerSolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poker_view, "_MAX_NODES_IN_PAGE", 10_000)
    found = all_paths(turn.game.rules)
    assert all(path in found for path in nodes(turn))
    dealt = {turn.place(path).dealt for path in found}
    assert dealt == {(), *((card,) for card in turn.cards_left([]))}


def test_cells_are_the_grid_of_hands() -> None:
    counts: dict[str, int] = {}
    for pair in itertools.combinations(range(52), 2):
        counts[cell_name(pair)] = counts.get(cell_name(pair), 0) + 1
    assert len(counts) == 169
    assert (counts["AA"], counts["AKs"], counts["72o"]) == (6, 4, 12)
    weights = np.zeros((52, 52))
    first, second = parse_cards("AsKs")
    weights[first, second] = weights[second, first] = 0.5
    found = range_view(weights)
    assert (found["combos"], found["cells"]["AKs"], found["cells"]["AKo"]) == (0.5, 0.125, 0.0)
