"""What a player of a game sees, as a picture of cards and boards that a page can draw.

Like `views`, a picture is made of the public pieces and of the player's own private pieces, never
of the state. It is a list of blocks, which are dictionaries of plain values:

  * `{"block": "cards", "title", "cards": [{"text", "note", "mark", "actions"}]}`
  * `{"block": "grid", "title", "cells": [[cell, ...], ...]}`, cells like cards; of hexagons also
    `"shape"`, and `"note"` about their edges
  * `{"block": "table", "title", "rows": [[name, cell, ...], ...]}`
  * `{"block": "facts", "facts": [[name, value], ...]}`

A mark says how a card or cell looks. Its actions are those that a click on it may mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from spiel_dl.games import (
    battleships,
    goofspiel_ii,
    leduc,
    liars_dice,
    oshi_zumo_ii,
    phantom,
    rules,
    views,
)
from spiel_dl.games.sights import Sight, index_of, indices_of, see

Block: TypeAlias = dict[str, Any]


def picture(
    game_rules: rules.Rules, state: rules.StateBatch, player: int, actions: Collection[int]
) -> list[Block]:
    """What a player sees in a state (batch dimension 1); empty for games that are not drawn.

    Args:
      game_rules: the game.
      state: the state.
      player: 0 or 1.
      actions: what the player may do now; empty while it waits.

    Raises:
      ValueError: if there is no such player.
    """
    sight = see(game_rules, state, player)
    draw = _PICTURES.get(type(game_rules))
    return draw(game_rules, sight, set(actions)) if draw else []


def _card(text: object, actions: Sequence[int] = (), note: str = "", mark: str = "") -> Block:
    return {"text": str(text), "note": note, "mark": mark, "actions": list(actions)}


def _cards(title: str, cards: Sequence[Block]) -> Block:
    return {"block": "cards", "title": title, "cards": list(cards)}


def _grid(title: str, cells: Sequence[Block], width: int) -> Block:
    rows = [list(cells[start : start + width]) for start in range(0, len(cells), width)]
    return {"block": "grid", "title": title, "cells": rows}


def _table(title: str, rows: Mapping[str, Sequence[object]]) -> Block:
    lines = [[name, *(str(cell) for cell in row)] for name, row in rows.items()]
    return {"block": "table", "title": title, "rows": lines}


def _facts(facts: Mapping[str, object]) -> Block:
    return {"block": "facts", "facts": [[name, str(value)] for name, value in facts.items()]}


def _draw_goofspiel(
    game_rules: goofspiel_ii.GoofspielIIRules, sight: Sight, actions: set[int]
) -> list[Block]:
    points = [index_of(total) for total in sight.now["point_totals"]]
    turned_up, bids = views.goofspiel_rounds(sight)
    rows, _ = views.rounds_of_bids(sight, {"point card": turned_up}, bids)
    is_open = len(rows["winner"]) < len(turned_up)
    hand = np.flatnonzero(sight.now["hand"]).tolist()
    blocks = [
        _facts({"Your points": points[sight.player], "Opponent's": points[1 - sight.player]}),
        _cards(
            "To be won",
            [_card(turned_up[-1], note="points", mark="prize")] if is_open else [],
        ),
        _cards("Your hand", [_card(card + 1, [card] if card in actions else []) for card in hand]),
    ]
    return [*blocks, _table("Rounds", rows)] if rows["round"] else blocks


def _draw_oshi_zumo(
    game_rules: oshi_zumo_ii.OshiZumoIIRules, sight: Sight, actions: set[int]
) -> list[Block]:
    marks = {"W": ("\u25cf", "wrestler"), "#": ("", "off"), ".": ("", "tile")}
    field = [marks[each] for each in views.wrestlers_field(game_rules, sight)]
    bids: list[object] = ["" if bid < 0 else bid for bid in indices_of(sight.past["bids"])]
    rows, _ = views.rounds_of_bids(sight, {}, bids)
    side = ("right \u2192", "\u2190 left")[sight.player]
    blocks = [
        _grid(f"You push to the {side}", [_card(t, mark=m) for t, m in field], len(field)),
        _facts({"Your coins": index_of(sight.now["coins"])}),
    ]
    if actions:
        blocks.append(_cards("Bid", [_card(a, [a], mark="coin") for a in sorted(actions)]))
    return [*blocks, _table("Rounds", rows)] if rows["round"] else blocks


_BOARD_MARKS = {".": "water", "*": "miss", "X": "hit", "#": "sunk"}


def _draw_battleships(
    game_rules: battleships.BattleshipsRules, sight: Sight, actions: set[int]
) -> list[Block]:
    tiles, width = game_rules.num_tiles, game_rules.board_width
    boards = [list(marks) for marks in views.marks_of_boards(game_rules, sight)]
    blocks = []
    for title, marks, kinds in zip(
        ("Your board", "Opponent's board"), boards, ((1, 2), (0,)), strict=True
    ):
        cells = []
        for tile, mark in enumerate(marks):
            may = [kind * tiles + tile for kind in kinds if kind * tiles + tile in actions]
            is_own = title == "Your board" and mark.isalpha()
            look = ("hit" if mark.isupper() else "ship") if is_own else _BOARD_MARKS[mark]
            text = {"miss": "\u00b7", "hit": "\u2715", "sunk": "\u2716"}.get(look, "")
            cells.append(_card(mark.lower() if look == "ship" else text, may, mark=look))
        blocks.append(_grid(title, cells, width))
    sizes = enumerate(game_rules.ship_sizes)
    fleet = ", ".join(f"{chr(ord('a') + ship)} of {size}" for ship, size in sizes)
    return [*blocks, _facts({"Ships": fleet})]


def _draw_leduc(game_rules: leduc.LeducRules, sight: Sight, actions: set[int]) -> list[Block]:
    del actions  # They are buttons.
    chips = [index_of(put) for put in sight.now["contributions"]]
    cards = []
    for note, piece in (("yours", "private_card"), ("public", "public_card")):
        card = index_of(sight.past[piece])
        cards.append(_card_of_leduc(game_rules, card, note))
    cards.append(_card("?", note="theirs", mark="back"))
    rows = dict(views.betting(game_rules, sight))
    return [
        _cards("Cards", cards),
        _facts({"You put in": chips[sight.player], "Opponent": chips[1 - sight.player]}),
        _table("Betting", {name: [moves or "\u2013"] for name, moves in rows.items()}),
    ]


def _card_of_leduc(game_rules: leduc.LeducRules, card: int, note: str) -> Block:
    if card < 0:
        return _card("", note=note, mark="back")
    rank, _, suit = views.card_name(game_rules, card).partition(" of ")
    sign = dict(zip(views.SUITS, "\u2660\u2665\u2666\u2663", strict=True)).get(suit, "")
    mark = "red" if suit in ("hearts", "diamonds") else "plain"
    return _card(f"{rank}{sign}", note=note, mark=mark)


def _draw_liars_dice(
    game_rules: liars_dice.LiarsDiceRules, sight: Sight, actions: set[int]
) -> list[Block]:
    del actions  # They are buttons.
    rows: dict[str, list[object]] = {"who": [], "bid": []}
    for who, bid in views.bids_made(game_rules, sight):
        rows["who"].append(who)
        rows["bid"].append(bid)
    dice = [_card(face, note="yours", mark="plain") for face in views.own_dice(sight)]
    dice += [_card("?", note="theirs", mark="back")] * game_rules.num_dice
    blocks = [_cards("Dice", dice)]
    return [*blocks, _table("Bids", rows)] if rows["bid"] else blocks


def _draw_phantom(game_rules: phantom.PhantomRules, sight: Sight, actions: set[int]) -> list[Block]:
    own = "xo"[sight.player]
    cells = []
    for cell, mark in enumerate(views.marks_of_cells(sight)):
        look = "tile" if mark == "." else "own" if mark == own else "other"
        text = "" if mark == "." else mark
        cells.append(_card(text, [cell] if cell in actions else [], mark=look))
    grid = _grid(f"You lay {own}", cells, game_rules.num_columns)
    if game_rules.board.is_hexagonal:
        edges = ("the top and the bottom edge", "the left and the right edge")
        mine, theirs = edges[sight.player], edges[1 - sight.player]
        grid["shape"] = f"hex of-player-{sight.player}"
        grid["note"] = f"You join {mine}, in blue; your opponent joins {theirs}, in orange."
    return [grid, _facts(dict(views.phantom_facts(game_rules, sight)))]


_PICTURES: dict[type, Callable[[Any, Sight, set[int]], list[Block]]] = {
    goofspiel_ii.GoofspielIIRules: _draw_goofspiel,
    oshi_zumo_ii.OshiZumoIIRules: _draw_oshi_zumo,
    battleships.BattleshipsRules: _draw_battleships,
    leduc.LeducRules: _draw_leduc,
    phantom.PhantomRules: _draw_phantom,
    liars_dice.LiarsDiceRules: _draw_liars_dice,
}
