"""Writes a public tree as an HTML page: a single file that needs no network connection.

`#state-17` at the end of the page's address selects public state 17.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from spiel_dl.system.messages import how_to_install
from spiel_dl.system.tensor_files import atomic_path

_TREE = "public_tree.html"
POKER = "poker_solved.html"
"""Templates: of a public tree, and of a solved endgame of hold'em."""


def render(view: Mapping[str, Any], template: str = _TREE) -> str:
    """The page's HTML.

    Args:
      view: from `play.public_tree_view.PublicTreeView.to_json` or `play.poker_view.page`.
      template: file name of the template.

    Raises:
      ValueError: if a number is infinite or NaN.
      ImportError: if jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(f"pages need jinja2: {how_to_install('runs')}") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("spiel_dl", "play/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Smaller numbers are rounding errors of 0.
    environment.filters["rounded"] = lambda number: 0.0 if abs(number) < 1e-12 else number
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.get_template(template).render(view=view)


def write(path: str | os.PathLike[str], view: Mapping[str, Any], template: str = _TREE) -> None:
    """Writes the page of a view to a file, completely or not at all; errors are `render`'s."""
    page = render(view, template)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
