"""Nodes of a solved endgame of hold'em as JSON-serialisable objects, for pages.

```python
game = dl.poker.endgame(board="QsJh2h4d5c", pot=20, stacks=(90, 90), ranges=("22+,A2s+", "TT+,AQ"))
solution = PokerSolution(dl.solve(game, seconds=5, variant="lcfr"))
view = look(solution, [])      # the first decision
view = look(solution, [1, 2])  # player 0 has checked, player 1 has bet
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spiel_dl.games.compiled import CHANCE, TERMINAL
from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_betting import CALL, FOLD, NOBODY
from spiel_dl.games.holdem_cards import RANKS, card_text
from spiel_dl.play.poker_solution import Place, PokerSolution, Side

_MAX_NODES_IN_PAGE = 400


def look(solution: PokerSolution, path: Sequence[int]) -> dict[str, Any]:
    """A node and both players' hands there, as JSON-serialisable objects.

    Returns:
      path; player, who acts (-1 chance, -4 nobody); board; pot and left, chips in the pot and
      behind; folded, who has (-1: nobody); actions, each with its number, name, kind, amount
      and, over all hands, frequency; cards, numbers and names of those that may be dealt, and
      values, each player's mean value after them (None: not known); sides, see `side_view`.

    Raises:
      ValueError: if the path is not possible.
    """
    place = solution.place(path)
    rules, tree, node = solution.game.rules, solution.game.rules.tree, place.node
    player, sides = int(tree.player[node]), [solution.side(place, p) for p in (0, 1)]
    cards = solution.cards_left(place.dealt) if player == CHANCE else []
    return {
        "path": list(path),
        "player": player,
        "board": [card_text(card) for card in (*rules.board, *place.dealt)],
        "pot": _round(tree.spent[node].sum()),
        "left": [
            _round(s - t) for s, t in zip(rules.betting.stacks, tree.spent[node], strict=True)
        ],
        "folded": int(tree.folded[node]) if player == TERMINAL else NOBODY,
        "actions": _actions(solution, place, sides) if player >= 0 else [],
        "cards": [_card(solution, path, card) for card in cards],
        "sides": [side_view(side) for side in sides],
    }


def _card(solution: PokerSolution, path: Sequence[int], card: int) -> dict[str, Any]:
    """A card that may be dealt, and both players' mean values after it."""
    place = solution.place([*path, card])
    sides = [solution.side(place, player) for player in (0, 1)]
    values = [_means(side, np.arange(len(side.cards))).get("value") for side in sides]
    return {"card": card, "name": card_text(card), "values": values}


def _actions(solution: PokerSolution, place: Place, sides: list[Side]) -> list[dict[str, Any]]:
    """The legal actions of a decision."""
    tree, node = solution.game.rules.tree, place.node
    player = int(tree.player[node])
    side = sides[player]
    assert side.strategy is not None
    frequency = _mean(side.strategy, side.reach * side.possible)
    legal = np.flatnonzero(tree.legal[node]).tolist()
    actions = []
    for action, share in zip(legal, frequency.tolist(), strict=True):
        after = tree.spent[tree.successor[node, action]]
        is_all_in = after[player] >= solution.game.rules.betting.stacks[player] - 1e-9
        name = _action_name(action, tree.spent[node], after, player, place.before, is_all_in)
        actions.append({"action": action, **name, "frequency": _round(share)})
    return actions


def all_paths(rules: HoldemRules) -> list[list[int]]:
    """The paths of all nodes of an endgame, parents before children.

    Raises:
      ValueError: if they are too many for one page.
    """
    tree, paths = rules.tree, []
    cards = [card for card in range(rules.num_cards) if card not in rules.board]
    waiting = [(list[int](), rules.betting.num_private, cards)]
    while waiting:
        path, node, left = waiting.pop(0)
        paths.append(path)
        successors = tree.successor[node].tolist()
        legal = np.flatnonzero(tree.legal[node]).tolist()
        waiting += [([*path, action], successors[action], left) for action in legal]
        if tree.player[node] == CHANCE:
            waiting += [([*path, c], successors[0], [d for d in left if d != c]) for c in left]
        if len(paths) + len(waiting) > _MAX_NODES_IN_PAGE:
            raise ValueError(
                f"the game has more than {_MAX_NODES_IN_PAGE} nodes, too many for one page; use "
                "a river, or fewer sizes, or look at it by `spiel-dl serve`"
            )
    return paths


def page(solution: PokerSolution, title: str, quality: str) -> dict[str, Any]:
    """All nodes of a solution, for a page that needs no server, see `public_tree_page.POKER`.

    Args:
      solution: of a game with few nodes, such as a river.
      title: of the page.
      quality: description of the solution's exploitability.

    Raises:
      ValueError: if there are too many nodes.
    """
    paths = all_paths(solution.game.rules)
    nodes = {".".join(map(str, path)): look(solution, path) for path in paths}
    return {"title": title, "quality": quality, "nodes": nodes}


def _action_name(
    action: int,
    spent: np.ndarray,
    after: np.ndarray,
    player: int,
    before: float,
    is_all_in: bool,
) -> dict[str, Any]:
    """An action's name at a poker table, its kind, chips, and percent of the pot."""
    facing = float(spent[1 - player] - spent[player])
    paid = float(after[player] - spent[player])
    if action == FOLD:
        return {"name": "Fold", "kind": "fold", "amount": 0.0}
    if action == CALL:
        if facing <= 0:
            return {"name": "Check", "kind": "call", "amount": 0.0}
        return {"name": f"Call {paid:g}", "kind": "call", "amount": _round(paid)}
    pot_fraction = (paid - facing) / (float(spent.sum()) + facing)
    total_on_street = round(float(after[player]) - before, 4)
    verb = "All-in" if is_all_in else "Raise to" if facing > 0 else "Bet"
    return {
        "name": f"{verb} {total_on_street:g}",
        "kind": "wager",
        "amount": _round(paid),
        "percent": _round(100 * pot_fraction),
    }


def cell_name(cards: Sequence[int]) -> str:
    """The name of a hand's cell in the grid of 13 x 13, such as "AKs", "AKo" or "77"."""
    (low, suit), (high, other) = sorted(divmod(int(card), 4) for card in cards)
    kind = "" if low == high else "s" if suit == other else "o"
    return RANKS[high] + RANKS[low] + kind


def range_view(weights: np.ndarray) -> dict[str, Any]:
    """A range (float64 [52, 52]) in the grid: total combos, and the mean weight of each cell."""
    pairs = np.argwhere(np.triu(np.ones(weights.shape), 1) > 0)
    cells: dict[str, list[float]] = {}
    for first, second in pairs.tolist():
        cells.setdefault(cell_name((first, second)), []).append(weights[first, second])
    return {
        "combos": _weight(np.triu(weights).sum()),
        "cells": {name: _weight(sum(cell) / len(cell)) for name, cell in cells.items()},
    }


def side_view(side: Side) -> dict[str, Any]:
    """A player's hands as JSON-serialisable objects.

    Returns:
      combos, the sum of reach; live, the number of hands; equity, value and strategy, means over
      all hands; cells, the same of each cell of the grid; hands, by cells, each with cards, reach,
      equity, cfv, value, strategy, values (of actions) and strength. None: not defined.
    """
    order = sorted(
        range(len(side.cards)), key=lambda n: tuple(sorted(side.cards[n].tolist(), reverse=True))
    )
    names = [cell_name(cards) for cards in side.cards]
    cells: dict[str, list[int]] = {}
    for number in reversed(order):
        cells.setdefault(names[number], []).append(number)
    hands = {name: [_hand(side, number) for number in cell] for name, cell in cells.items()}
    all_hands = np.arange(len(side.cards))
    return {
        **_means(side, all_hands),
        "cells": {name: _means(side, np.array(cell)) for name, cell in cells.items()},
        "hands": hands,
    }


def _hand(side: Side, number: int) -> dict[str, Any]:
    """The entries of one hand."""
    first, second = sorted(side.cards[number].tolist(), reverse=True)
    hand: dict[str, Any] = {
        "cards": card_text(first) + card_text(second),
        "reach": _weight(side.reach[number]),
        "equity": _round(side.equity[number]),
    }
    if len(side.strength):
        hand["strength"] = int(side.strength[number])
    if side.cfv is not None and side.value is not None:
        hand["cfv"] = float(f"{side.cfv[number]:.3g}")
        hand["value"] = _round(side.value[number])
    if side.strategy is not None and side.action_values is not None:
        hand["strategy"] = [_round(each) for each in side.strategy[:, number]]
        hand["values"] = [_round(each) for each in side.action_values[:, number]]
    return hand


def _means(side: Side, numbers: np.ndarray) -> dict[str, Any]:
    """Means over some hands, weighted by their probability given the opponent's range."""
    weights = (side.reach * side.possible)[numbers]
    means: dict[str, Any] = {
        "combos": _weight(side.reach[numbers].sum()),
        "live": len(numbers),
        "equity": _round(_mean(side.equity[numbers], weights)),
    }
    if side.value is not None:
        means["value"] = _round(_mean(side.value[numbers], weights))
    if side.strategy is not None:
        means["strategy"] = [_round(each) for each in _mean(side.strategy[:, numbers], weights)]
    return means


def _mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted means over the last axis; NaN if all weights are 0."""
    total = weights.sum()
    if total <= 0:
        return np.full(values.shape[:-1], np.nan)
    means: np.ndarray = np.where(weights > 0, values, 0.0) @ weights / total
    return means


def _weight(number: float) -> float:
    """A weight of hands, of which tiny ones are kept."""
    return float(f"{number:.6g}")


def _round(number: Any) -> float | None:
    """A number rounded to four decimal places; None for NaN."""
    return None if np.isnan(number) else round(float(number), 4)
