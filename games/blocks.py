"""Blocks of pictures: dictionaries of plain values that a page can draw, and their text.

  * `{"block": "cards", "title", "cards": [{"text", "note", "mark", "actions"}]}`
  * `{"block": "grid", "title", "cells": [[cell, ...], ...]}`, cells like cards; of hexagons also
    `"shape"`, and `"note"` about their edges
  * `{"block": "table", "title", "rows": [[name, cell, ...], ...]}`
  * `{"block": "facts", "facts": [[name, value], ...]}`

A mark is a card's or cell's style. Its actions are those that a click on it may choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Block: TypeAlias = dict[str, Any]
_SHOWN_ROUNDS = 15  # as many columns as fit into a terminal


def card(text: object, actions: Sequence[int] = (), note: str = "", mark: str = "") -> Block:
    """A card, or a cell of a grid."""
    return {"text": str(text), "note": note, "mark": mark, "actions": list(actions)}


def cards(title: str, shown: Sequence[Block]) -> Block:
    """Cards side by side."""
    return {"block": "cards", "title": title, "cards": list(shown)}


def _write_cards(block: Block) -> list[str]:
    notes = [f" ({card['note']})" * bool(card["note"]) for card in block["cards"]]
    texts = [f"{c['text'] or '-'}{n}" for c, n in zip(block["cards"], notes, strict=True)]
    return [f"{block['title']}: {(', ' if any(notes) else ' ').join(texts)}"] * bool(texts)


def grid(title: str, cells: Sequence[Block], width: int) -> Block:
    """Cells in rows of a width."""
    rows = [list(cells[start : start + width]) for start in range(0, len(cells), width)]
    return {"block": "grid", "title": title, "cells": rows}


def _write_grid(block: Block) -> list[str]:
    rows = [" ".join(cell["text"] or "." for cell in row) for row in block["cells"]]
    if len(rows) == 1:
        return [f"{block['title']}: {rows[0]}"]
    numbers = " ".join(map(str, range(len(block["cells"][0]))))
    return [block["title"], f"  {numbers}", *(f"{n} {row}" for n, row in enumerate(rows))]


def table(title: str, rows: Mapping[str, Sequence[object]]) -> Block:
    """Rows of cells by their names."""
    lines = [[name, *(str(cell) for cell in row)] for name, row in rows.items()]
    return {"block": "table", "title": title, "rows": lines}


def _write_table(block: Block) -> list[str]:
    """Rows of cells in columns, the last ones only if there are many."""
    start = max(1, max(map(len, block["rows"])) - _SHOWN_ROUNDS)
    rows = [[row[0], *row[start:]] for row in block["rows"]]
    head = max(len(row[0]) for row in rows)
    width = max((len(cell) for row in rows for cell in row[1:]), default=0)
    return [
        " ".join([f"{row[0]:{head}}", *(f"{cell:>{width}}" for cell in row[1:])]).rstrip()
        for row in rows
    ]


def facts(values: Mapping[str, object]) -> Block:
    """Values by their names."""
    return {"block": "facts", "facts": [[name, str(value)] for name, value in values.items()]}


def _write_facts(block: Block) -> list[str]:
    return [f"{name}: {value}" for name, value in block["facts"]]


_WRITERS = {
    "cards": _write_cards,
    "grid": _write_grid,
    "table": _write_table,
    "facts": _write_facts,
}


def write(block: Block) -> list[str]:
    """A block as lines of text."""
    return _WRITERS[block["block"]](block)
