"""Nodes of a solved endgame of hold'em as JSON can say them, for pages.

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

from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_betting import CALL, CHANCE, FOLD, NOBODY, TERMINAL
from spiel_dl.games.holdem_cards import RANKS, card_text
from spiel_dl.play.poker_solution import Place, PokerSolution, Side

_MOST_IN_A_PAGE = 400


def look(solution: PokerSolution, path: Sequence[int]) -> dict[str, Any]:
    """A node, and both players' hands there, as JSON can say it.

    Returns:
      path; player, who acts (-1 chance, -4 nobody); board; pot and left, chips in the pot and
      behind; folded, who has (-1: nobody); actions, each with its number, name, kind, amount
      and, over all hands, frequency; cards, numbers and names of those that may be dealt, and
      values, what each player gets after them (None: not known); sides, see `side_view`.

    Raises:
      ValueError: if the path is not possible.
    """
    place = solution.place(path)
    rules, tree, node = solution.game.rules, solution.game.rules.tree, place.node
    player, sides = int(tree.player[node]), [solution.side(place, each) for each in (0, 1)]
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
        "sides": [side_view(each) for each in sides],
    }


def _card(solution: PokerSolution, path: Sequence[int], card: int) -> dict[str, Any]:
    """A card that may be dealt, and both players' mean values then."""
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
    found = []
    for action, share in zip(legal, frequency.tolist(), strict=True):
        after = tree.spent[tree.successor[node, action]]
        is_all_in = after[player] >= solution.game.rules.betting.stacks[player] - 1e-9
        name = _action_name(action, tree.spent[node], after, player, place.before, is_all_in)
        found.append({"action": action, **name, "frequency": _round(share)})
    return found


def all_paths(rules: HoldemRules) -> list[list[int]]:
    """All nodes of an endgame, those before others first.

    Raises:
      ValueError: if they are too many for one page.
    """
    tree, found = rules.tree, []
    cards = [card for card in range(rules.num_cards) if card not in rules.board]
    waiting = [(list[int](), rules.betting.num_private, cards)]
    while waiting:
        path, node, left = waiting.pop(0)
        found.append(path)
        after = tree.successor[node].tolist()
        legal = np.flatnonzero(tree.legal[node]).tolist()
        waiting += [([*path, action], after[action], left) for action in legal]
        if tree.player[node] == CHANCE:
            waiting += [([*path, c], after[0], [each for each in left if each != c]) for c in left]
        if len(found) + len(waiting) > _MOST_IN_A_PAGE:
            raise ValueError(
                f"the game has more than {_MOST_IN_A_PAGE} nodes, too many for one page; use "
                "a river, or fewer sizes, or look at it by `spiel-dl serve`"
            )
    return found


def page(solution: PokerSolution, title: str, quality: str) -> dict[str, Any]:
    """All nodes of a solution, for a page that needs no server, see `public_tree_page.POKER`.

    Args:
      solution: of a game of few nodes, as rivers are.
      title: of the page.
      quality: how good the solution is, in words.

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
    """What an action is called at a table: its name, kind, chips, and percent of the pot."""
    facing = float(spent[1 - player] - spent[player])
    paid = float(after[player] - spent[player])
    if action == FOLD:
        return {"name": "Fold", "kind": "fold", "amount": 0.0}
    if action == CALL:
        if facing <= 0:
            return {"name": "Check", "kind": "call", "amount": 0.0}
        return {"name": f"Call {paid:g}", "kind": "call", "amount": _round(paid)}
    of_pot = (paid - facing) / (float(spent.sum()) + facing)
    to = round(float(after[player]) - before, 4)
    verb = "All-in" if is_all_in else "Raise to" if facing > 0 else "Bet"
    return {
        "name": f"{verb} {to:g}",
        "kind": "wager",
        "amount": _round(paid),
        "percent": _round(100 * of_pot),
    }


def cell_name(cards: Sequence[int]) -> str:
    """The name of a hand's cell in the grid of 13 x 13, such as "AKs", "AKo" or "77"."""
    (low, suit), (high, other) = sorted(divmod(int(card), 4) for card in cards)
    kind = "" if low == high else "s" if suit == other else "o"
    return RANKS[high] + RANKS[low] + kind


def range_view(weights: np.ndarray) -> dict[str, Any]:
    """A range (float64 [52, 52]) in the grid: combos in all, and cells, the mean weight of each."""
    pairs = np.argwhere(np.triu(np.ones(weights.shape), 1) > 0)
    cells: dict[str, list[float]] = {}
    for first, second in pairs.tolist():
        cells.setdefault(cell_name((first, second)), []).append(weights[first, second])
    return {
        "combos": _round(np.triu(weights).sum()),
        "cells": {name: _round(sum(found) / len(found)) for name, found in cells.items()},
    }


def side_view(side: Side) -> dict[str, Any]:
    """A player's hands as JSON can say it.

    Returns:
      combos, what the reach sums to; live, how many hands; equity, value and strategy, means over
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
    hands = {name: [_hand(side, number) for number in found] for name, found in cells.items()}
    every = np.arange(len(side.cards))
    return {
        **_means(side, every),
        "cells": {name: _means(side, np.array(found)) for name, found in cells.items()},
        "hands": hands,
    }


def _hand(side: Side, number: int) -> dict[str, Any]:
    """One hand."""
    first, second = sorted(side.cards[number].tolist(), reverse=True)
    found: dict[str, Any] = {
        "cards": card_text(first) + card_text(second),
        "reach": _round(side.reach[number]),
        "equity": _round(side.equity[number]),
    }
    if len(side.strength):
        found["strength"] = int(side.strength[number])
    if side.cfv is not None and side.value is not None:
        found["cfv"] = float(f"{side.cfv[number]:.3g}")
        found["value"] = _round(side.value[number])
    if side.strategy is not None and side.action_values is not None:
        found["strategy"] = [_round(each) for each in side.strategy[:, number]]
        found["values"] = [_round(each) for each in side.action_values[:, number]]
    return found


def _means(side: Side, numbers: np.ndarray) -> dict[str, Any]:
    """Some hands together: means by how likely they are, the opponent's cards considered."""
    weights = (side.reach * side.possible)[numbers]
    found: dict[str, Any] = {
        "combos": _round(side.reach[numbers].sum()),
        "live": len(numbers),
        "equity": _round(_mean(side.equity[numbers], weights)),
    }
    if side.value is not None:
        found["value"] = _round(_mean(side.value[numbers], weights))
    if side.strategy is not None:
        found["strategy"] = [_round(each) for each in _mean(side.strategy[:, numbers], weights)]
    return found


def _mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Means over the last axis; not a number where nothing has weight."""
    total = weights.sum()
    if total <= 0:
        return np.full(values.shape[:-1], np.nan)
    found: np.ndarray = np.where(weights > 0, values, 0.0) @ weights / total
    return found


def _round(number: Any) -> float | None:
    """A number as it is shown: at most four digits behind the point; None: not a number."""
    return None if np.isnan(number) else round(float(number), 4)
