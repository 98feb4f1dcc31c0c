"""Parts of messages: how to install what is optional, and what a person may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def how_to_install(extra: str) -> str:
    """What to type for an extra of this package, which is on no index, so in a clone of it."""
    return f"""pip install -c constraints.txt -e ".[{extra}]" in the repository"""


def did_you_mean(word: str, known: Collection[str], *, more: Collection[str] = ()) -> str:
    """A question with the names that are most like a word, to follow it; empty if none are.

    Args:
      word: what a person gave.
      known: the names there are.
      more: other names that may be meant, which come first.
    """
    nearest = [*more, *difflib.get_close_matches(word, known)]
    return f"; did you mean {', or '.join(dict.fromkeys(nearest))}?" if nearest else ""
