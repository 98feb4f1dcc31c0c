"""Parts of error messages: how to install an extra, and names similar to a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def how_to_install(extra: str) -> str:
    """The command that installs an extra of this package in a clone, as it is on no index."""
    return f"""pip install -c constraints.txt -e ".[{extra}]" in the repository"""


def did_you_mean(word: str, known: Collection[str], *, more: Collection[str] = ()) -> str:
    """A question that suggests the names most similar to a mistyped one; empty if none are.

    Args:
      word: the mistyped name.
      known: all valid names.
      more: other suggestions, which come first.
    """
    nearest = [*more, *difflib.get_close_matches(word, known)]
    return f"; did you mean {', or '.join(dict.fromkeys(nearest))}?" if nearest else ""
