"""The games that are being played: in memory, few enough, and forgotten when nobody comes back."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from spiel_dl.serve.table import Place
from spiel_dl.serve.thinking import Player


@dataclasses.dataclass(eq=False)
class Session:
    """A game that a person plays.

    Attributes:
      key: by which the page asks for it; who does not know it cannot guess it.
      place: where the game stands.
      opponent: who the person plays against.
      seed: of chance and of the opponent's choices.
      about: what is to be said of the game.
      lock: held while the game goes on.
    """

    key: str
    place: Place
    opponent: Player
    seed: int
    about: dict[str, Any]
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)


class UnknownGameError(Exception):
    """There is no such game, or it was forgotten."""


class Sessions:
    """All games, up to a number, for a while after they were last looked at."""

    def __init__(
        self,
        max_games: int,
        max_age: float,
        now: Callable[[], float] = time.monotonic,
    ):
        """Begins without games.

        Args:
          max_games: how many are kept; if there are more, the one that nobody has looked at for
            longest is forgotten.
          max_age: seconds after which a game that nobody has looked at is forgotten.
          now: says the time in seconds.

        Raises:
          ValueError: if a number is not positive.
        """
        if max_games < 1 or not max_age > 0:
            raise ValueError(f"max_games={max_games} and max_age={max_age} must be positive")
        self._max_games, self._max_age, self._now = max_games, max_age, now
        self._kept: OrderedDict[str, tuple[Session, float]] = OrderedDict()

    def add(self, place: Place, opponent: Player, seed: int, about: dict[str, Any]) -> Session:
        """A new game."""
        session = Session(secrets.token_urlsafe(16), place, opponent, seed, about)
        self._kept[session.key] = session, self._now()
        self._forget()
        return session

    def find(self, key: str) -> Session:
        """The game of a key; UnknownGameError if it is not there."""
        self._forget()
        if key not in self._kept:
            raise UnknownGameError("this game is not there any more; begin another one")
        session, _ = self._kept.pop(key)
        self._kept[key] = session, self._now()
        return session

    def remove(self, key: str) -> None:
        """Forgets a game, if it is there."""
        self._kept.pop(key, None)

    def __len__(self) -> int:
        """How many games there are."""
        return len(self._kept)

    def _forget(self) -> None:
        """Forgets what is too old or too much; those looked at last stand last."""
        oldest = self._now() - self._max_age
        while self._kept:
            key, (_, touched) = next(iter(self._kept.items()))
            if touched >= oldest and len(self._kept) <= self._max_games:
                return
            del self._kept[key]
