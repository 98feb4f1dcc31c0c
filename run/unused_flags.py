"""Refuses flags that would be accepted and then ignored."""

from collections.abc import Iterable

from absl import app, flags


def refuse(names: Iterable[str], reason: str) -> None:
    """Raises a UsageError if any of some flags was given.

    Args:
      names: of the flags.
      reason: why they would be of no use, as the end of a sentence that begins with them.
    """
    given = [f"--{name}" for name in names if flags.FLAGS[name].present]
    if given:
        raise app.UsageError(f"{', '.join(given)}: {reason}")
