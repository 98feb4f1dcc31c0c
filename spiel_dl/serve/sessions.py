"""The games that are being played, in memory: limited in number, and deleted when unused."""

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
      key: secret identifier in the page's requests.
      place: the game's current position.
      opponent: the opponent's policy.
      seed: of chance and of the opponent's choices.
      about: description of the game.
      lock: held while a request changes the game.
    """

    key: str
    place: Place
    opponent: Player
    seed: int
    about: dict[str, Any]
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)


class UnknownGameError(Exception):
    """There is no such game, or it was deleted."""


class Sessions:
    """All games, up to a maximum number, for a limited time after their last request."""

    def __init__(
        self,
        max_games: int,
        max_age: float,
        now: Callable[[], float] = time.monotonic,
    ):
        """Begins without games.

        Args:
          max_games: number of games that are kept; the least recently used are deleted.
          max_age: seconds since its last request after which a game is deleted.
          now: returns the time in seconds.

        Raises:
          ValueError: if a number is not positive.
        """
        if max_games < 1 or not max_age > 0:
            raise ValueError(f"max_games={max_games} and max_age={max_age} must be positive")
        self._max_games, self._max_age, self._now = max_games, max_age, now
        self._sessions: OrderedDict[str, tuple[Session, float]] = OrderedDict()

    def add(self, place: Place, opponent: Player, seed: int, about: dict[str, Any]) -> Session:
        """Adds a new game."""
        session = Session(secrets.token_urlsafe(16), place, opponent, seed, about)
        self._sessions[session.key] = session, self._now()
        self._delete_old()
        return session

    def find(self, key: str) -> Session:
        """The game of a key; UnknownGameError if there is none."""
        self._delete_old()
        if key not in self._sessions:
            raise UnknownGameError("this game is not there any more; begin another one")
        session, _ = self._sessions.pop(key)
        self._sessions[key] = session, self._now()
        return session

    def remove(self, key: str) -> None:
        """Deletes a game, if there is one."""
        self._sessions.pop(key, None)

    def __len__(self) -> int:
        """Number of games."""
        return len(self._sessions)

    def _delete_old(self) -> None:
        """Deletes games that are too old or too many; the most recently used are last."""
        oldest = self._now() - self._max_age
        while self._sessions:
            key, (_, last_used) = next(iter(self._sessions.items()))
            if last_used >= oldest and len(self._sessions) <= self._max_games:
                return
            del self._sessions[key]
